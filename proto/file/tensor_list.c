/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/tensor_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/grow.h"
#include "proto/json/json.h"
#include "proto/json/utf8.h"

enum { NAMES_TEXT_MAX = 144, NAME_SHOWN_MAX = 64 };

void tensor_list_finish(struct tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->entries[i].name);
        free(list->entries[i].shape);
        free(list->entries[i].refusal);
    }
    free(list->entries);
    free(list->by_name);
    *list = (struct tensor_list){0};
}

struct tensor_entry *tensor_list_add(struct tensor_list *list, const char *name)
{
    struct tensor_entry *entry;

    if (list_grow(&list->entries, list->count, &list->capacity, sizeof *entry))
        return NULL;
    entry = &list->entries[list->count];
    *entry = (struct tensor_entry){.name = strdup(name)};
    if (!entry->name)
        return NULL;
    list->count++;
    return entry;
}

int tensor_entry_set_shape(struct tensor_entry *entry, const uint64_t *shape, size_t rank)
{
    uint64_t *copy = NULL;

    if (rank > 0) {
        copy = calloc(rank, sizeof *copy);
        if (!copy)
            return -1;
        memcpy(copy, shape, rank * sizeof *copy);
    }
    free(entry->shape);
    entry->shape = copy;
    entry->rank = rank;
    return 0;
}

int tensor_entry_refuse(struct tensor_entry *entry, const struct fault *why)
{
    free(entry->refusal);
    entry->refusal = strdup(why->text);
    return entry->refusal ? 0 : -1;
}

/* Returns 0 if a job can move a tensor of this shape, else -1 with the reason. */
static int check_shape(const struct tensor_entry *entry, struct fault *why)
{
    if (entry->rank < 1 || entry->rank > TENSOR_RANK_MAX)
        return fault_set(why, FAULT_INVALID_PARAMS, NULL,
                         "it has %zu dimensions; a tensor that is moved has 1 to %d", entry->rank,
                         TENSOR_RANK_MAX);
    for (size_t i = 0; i < entry->rank; i++) {
        if (entry->shape[i] == 0)
            return fault_set(why, FAULT_INVALID_PARAMS, NULL,
                             "shape[%zu] is 0: a tensor without elements cannot be moved", i);
        if (entry->shape[i] > UINT32_MAX)
            return fault_set(why, FAULT_INVALID_PARAMS, NULL,
                             "shape[%zu] is %" PRIu64 ", at most %" PRIu32 " can be moved", i,
                             entry->shape[i], UINT32_MAX);
    }
    return 0;
}

int tensor_entry_judge(struct tensor_entry *entry, char kind, uint32_t size)
{
    struct npy_header *header = &entry->header;
    struct fault why;

    header->data_offset = entry->place;
    if (check_shape(entry, &why) < 0)
        return tensor_entry_refuse(entry, &why);
    npy_set_dtype(header, kind, size);
    header->rank = (uint32_t)entry->rank;
    for (size_t i = 0; i < entry->rank; i++)
        header->shape[i] = (uint32_t)entry->shape[i];
    header->data_size = entry->bytes;
    return 0;
}

/*
 * Writes NumPy's name of a dtype, such as "int16" for "<i2". Copies a dtype that no job can move.
 * Also copies a big-endian dtype of a tensor that no job can move, because such tensors are
 * compared byte by byte.
 */
static void name_dtype(const char *descr, bool refused, char out[TENSOR_DTYPE_MAX])
{
    struct npy_header header = {.rank = 0};
    struct fault unused;
    const bool known = npy_read_dtype(descr, &header, &unused) == 0;

    snprintf(out, TENSOR_DTYPE_MAX, "%s",
             known && !(refused && header.big_endian) ? dtype_of_header(&header)->name : descr);
}

int tensor_entry_outline(const void *bytes, size_t length, uint64_t file_size,
                         struct tensor_entry *entry, struct fault *fault)
{
    struct npy_outline outline;
    struct fault why;
    const size_t begin = npy_outline(bytes, length, file_size, &outline, fault);

    if (begin == 0)
        return -1;
    entry->bytes = file_size - begin;
    if (tensor_entry_set_shape(entry, outline.shape, outline.rank) < 0)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a shape");
    if (npy_parse(bytes, length, file_size, &entry->header, &why) < 0) {
        entry->header = (struct npy_header){.data_offset = begin};
        if (tensor_entry_refuse(entry, &why) < 0)
            return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a message");
    }
    name_dtype(outline.descr, entry->refusal != NULL, entry->dtype);
    return 0;
}

int tensor_name_shown(const char *name)
{
    size_t length = strlen(name);

    return (int)(length > NAME_SHOWN_MAX ? utf8_cut(name, NAME_SHOWN_MAX) : length);
}

static int compare_names(const void *left, const void *right)
{
    const struct tensor_entry *a = *(const struct tensor_entry *const *)left;
    const struct tensor_entry *b = *(const struct tensor_entry *const *)right;

    return strcmp(a->name, b->name);
}

int tensor_list_sort(struct tensor_list *list, struct fault *fault)
{
    free(list->by_name);
    list->by_name = calloc(list->count + 1, sizeof *list->by_name);
    if (!list->by_name)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for %zu names", list->count);
    for (size_t i = 0; i < list->count; i++)
        list->by_name[i] = &list->entries[i];
    qsort(list->by_name, list->count, sizeof *list->by_name, compare_names);
    for (size_t i = 1; i < list->count; i++) {
        const char *name = list->by_name[i]->name;

        if (strcmp(list->by_name[i - 1]->name, name) == 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "two tensors are named \"%.*s\"",
                             tensor_name_shown(name), name);
    }
    return 0;
}

struct tensor_entry *tensor_list_find(const struct tensor_list *list, const char *name)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct tensor_entry *entry = list->by_name[middle];
        int order = strcmp(name, entry->name);

        if (order == 0)
            return entry;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Writes the first names with commas between them, up to the size of `out`. */
static const char *some_names(const struct tensor_list *list, char out[NAMES_TEXT_MAX])
{
    static const char more[] = ", ...";
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->entries[i].name;
        int size = tensor_name_shown(name);
        size_t needed = (size_t)size + sizeof ", \"\"...";

        if (length + needed + sizeof more > NAMES_TEXT_MAX) {
            strcpy(out + length, more);
            break;
        }
        length += (size_t)sprintf(out + length, "%s\"%.*s%s\"", i ? ", " : "", size, name,
                                  name[size] ? "..." : "");
    }
    return out;
}

/* Returns the name of a tensor that `name` most likely misspells, or null. */
static const char *find_near(const struct tensor_list *list, const char *name)
{
    const char **names = calloc(list->count + 1, sizeof *names);
    const char *near = NULL;

    if (!names)
        return NULL;
    for (size_t i = 0; i < list->count; i++)
        names[i] = list->entries[i].name;
    near = nearest_word(name, names);
    free(names);
    return near;
}

struct tensor_entry *tensor_list_choose(const struct tensor_list *list, const char *name,
                                        struct fault *fault)
{
    static const char pointer[] = "/tensor";
    struct tensor_entry *entry = name ? tensor_list_find(list, name) : NULL;
    char names[NAMES_TEXT_MAX];
    const char *near;

    if (entry)
        return entry;
    if (!name && list->count == 1)
        return &list->entries[0];
    if (list->count == 0) {
        fault_set(fault, FAULT_INVALID_PARAMS, name ? pointer : NULL, "it holds no tensor");
        return NULL;
    }
    if (!name) {
        fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                  "it holds %zu tensors; name one of them: %s", list->count,
                  some_names(list, names));
        return NULL;
    }
    near = find_near(list, name);
    if (near)
        fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                  "it holds no tensor \"%.*s\"; did you mean \"%s\"?", tensor_name_shown(name),
                  name, near);
    else
        fault_set(fault, FAULT_INVALID_PARAMS, pointer, "it holds no tensor \"%.*s\"; there %s %s",
                  tensor_name_shown(name), name, list->count == 1 ? "is" : "are",
                  some_names(list, names));
    return NULL;
}
