/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/safetensors.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"

/* The depth is 3: arrays in objects in the root. */
static const struct json_limits limits = {
    .bytes = SAFETENSORS_HEADER_MAX, .depth = 3, .values = SAFETENSORS_VALUES_MAX};

static const char metadata_key[] = "__metadata__";
static const int64_t number_max = (INT64_C(1) << 53) - 1;

/*
 * The dtypes: name in the file, name in NumPy (with ml_dtypes), bits, and the kind of the
 * equivalent dtype in npy.h, 0 if no job can move the dtype.
 */
static const struct word {
    const char *word, *name;
    uint32_t bits;
    char kind;
} words[] = {
    {"BOOL", "bool", 8, 'b'},
    {"U8", "uint8", 8, 'u'},
    {"I8", "int8", 8, 'i'},
    {"F8_E4M3", "float8_e4m3", 8, 'u'},
    {"F8_E5M2", "float8_e5m2", 8, 'u'},
    {"F8_E8M0", "float8_e8m0", 8, 'u'},
    {"F8_E4M3FNUZ", "float8_e4m3fnuz", 8, 'u'},
    {"F8_E5M2FNUZ", "float8_e5m2fnuz", 8, 'u'},
    {"U16", "uint16", 16, 'u'},
    {"I16", "int16", 16, 'i'},
    {"F16", "float16", 16, 'f'},
    {"BF16", "bfloat16", 16, 'u'},
    {"U32", "uint32", 32, 'u'},
    {"I32", "int32", 32, 'i'},
    {"F32", "float32", 32, 'f'},
    {"U64", "uint64", 64, 'u'},
    {"I64", "int64", 64, 'i'},
    {"F64", "float64", 64, 'f'},
    {"C64", "complex64", 64, 'c'},
    {"F6_E2M3", "float6_e2m3", 6, 0},
    {"F6_E3M2", "float6_e3m2", 6, 0},
    {"F4", "float4_e2m1", 4, 0},
};

static const struct word *find_dtype(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) == 0)
            return &words[i];
    }
    return NULL;
}

static int no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for the tensors' names");
}

int safetensors_length(const unsigned char *prefix, uint64_t file_size, size_t *length,
                       struct fault *fault)
{
    uint64_t size = 0;

    if (file_size < SAFETENSORS_PREFIX + sizeof "{}" - 1)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%" PRIu64 " bytes are too few for a .safetensors file", file_size);
    for (int i = SAFETENSORS_PREFIX; i-- > 0;)
        size = size << 8 | prefix[i];
    if (size > file_size - SAFETENSORS_PREFIX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "not a .safetensors file, or truncated: its header of %" PRIu64
                         " bytes ends beyond the file's %" PRIu64,
                         size, file_size);
    if (size > SAFETENSORS_HEADER_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "its header has %" PRIu64 " bytes; the limit is %d", size,
                         SAFETENSORS_HEADER_MAX);
    *length = (size_t)size;
    return 0;
}

/* One tensor. */

/* Fills the tensor's header or its refusal: a tensor that no job can move does not make the file
 * invalid. */
static int judge(struct tensor_entry *entry, const struct word *dtype, const char *word)
{
    struct fault why;

    entry->header.data_offset = entry->place;
    if (dtype && dtype->kind)
        return tensor_entry_judge(entry, dtype->kind, dtype->bits / 8);
    fault_set(&why, FAULT_INVALID_PARAMS, NULL,
              "dtype %s is not supported; dtypes of 8, 16, 32 and 64 bits of safetensors are",
              word);
    return tensor_entry_refuse(entry, &why);
}

static int read_numbers(const struct json *array, uint64_t *numbers)
{
    struct json item = {0};

    while (json_next(array, &item)) {
        int64_t number;

        if (json_int(&item, 0, number_max, &number) < 0)
            return -1;
        numbers[item.index] = (uint64_t)number;
    }
    return 0;
}

static int read_shape(struct tensor_entry *entry, const struct json *shape)
{
    if (json_array(shape, &entry->rank) < 0)
        return -1;
    entry->shape = calloc(entry->rank + 1, sizeof *entry->shape);
    return entry->shape ? read_numbers(shape, entry->shape) : no_memory(shape->fault);
}

static int read_offsets(const struct json *offsets, uint64_t range[2])
{
    size_t count;

    if (json_array(offsets, &count) < 0)
        return -1;
    if (count != 2)
        return json_complain(offsets, "%zu numbers given; begin and end are required", count);
    if (read_numbers(offsets, range) < 0)
        return -1;
    return range[0] <= range[1] ? 0 : json_complain(offsets, "the end is before the beginning");
}

/* Compares the tensor's size with shape and dtype. A tensor of unknown dtype may have any size. */
static int check_size(const struct tensor_entry *entry, const struct word *dtype,
                      const struct json *value)
{
    uint64_t bits = dtype ? dtype->bits : 0;

    for (size_t i = 0; i < entry->rank; i++) {
        if (__builtin_mul_overflow(bits, entry->shape[i], &bits))
            return json_complain(value, "the shape has more elements than any file can hold");
    }
    if (dtype && (bits % 8 != 0 || bits / 8 != entry->bytes))
        return json_complain(
            value, "shape and dtype need %" PRIu64 " bits, but data_offsets hold %" PRIu64 " bytes",
            bits, entry->bytes);
    return 0;
}

static int read_tensor(struct tensor_list *list, const struct json *value, uint64_t data)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets", NULL};
    struct json dtype = json_member(value, "dtype"), shape = json_member(value, "shape");
    struct json offsets = json_member(value, "data_offsets");
    const struct word *known;
    struct tensor_entry *entry;
    const char *word;
    uint64_t range[2] = {0, 0};

    if (json_object(value, keys) < 0 || json_string(&dtype, TENSOR_DTYPE_MAX - 1, &word) < 0)
        return -1;
    entry = tensor_list_add(list, value->key);
    if (!entry)
        return no_memory(value->fault);
    if (read_shape(entry, &shape) < 0 || read_offsets(&offsets, range) < 0)
        return -1;
    known = find_dtype(word);
    snprintf(entry->dtype, sizeof entry->dtype, "%s", known ? known->name : word);
    entry->bytes = range[1] - range[0];
    if (__builtin_add_overflow(data, range[0], &entry->place))
        return json_complain(&offsets, "beyond the size of any file");
    if (check_size(entry, known, value) < 0)
        return -1;
    return judge(entry, known, word) < 0 ? no_memory(value->fault) : 0;
}

/* All tensors of a header: their names and places. */

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses duplicate keys like json_object(), but does not limit the number of members. */
static int check_keys(const struct json *object)
{
    struct json member = {0};
    const char **keys;
    size_t count = 0;
    int status = 0;

    while (json_next(object, &member))
        count++;
    keys = calloc(count + 1, sizeof *keys);
    if (!keys)
        return no_memory(object->fault);
    member = (struct json){0};
    while (json_next(object, &member))
        keys[member.index] = member.key;
    qsort(keys, count, sizeof *keys, compare_text);
    for (size_t i = 1; i < count && status == 0; i++) {
        if (strcmp(keys[i - 1], keys[i]) == 0)
            status = json_complain(object, "\"%.*s\" is given twice", tensor_name_shown(keys[i]),
                                   keys[i]);
    }
    free(keys);
    return status;
}

static int check_metadata(const struct json *object)
{
    struct json member = {0};
    const char *text;

    if (!json_is_object(object))
        return json_complain(object, "an object is required");
    while (json_next(object, &member)) {
        if (json_text(&member, SAFETENSORS_HEADER_MAX, &text) < 0)
            return -1;
    }
    return check_keys(object);
}

static int compare_places(const void *left, const void *right)
{
    const struct tensor_entry *a = *(const struct tensor_entry *const *)left;
    const struct tensor_entry *b = *(const struct tensor_entry *const *)right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Requires each tensor to begin where the previous one ends, and the last to end with the file. */
static int check_places(const struct tensor_entry *const *sorted, size_t count, uint64_t data,
                        uint64_t file_size, struct fault *fault)
{
    uint64_t end = data;

    for (size_t i = 0; i < count; i++) {
        const struct tensor_entry *entry = sorted[i];

        if (entry->place < end)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "the tensors \"%.*s\" and \"%.*s\" overlap",
                             tensor_name_shown(sorted[i - 1]->name), sorted[i - 1]->name,
                             tensor_name_shown(entry->name), entry->name);
        if (entry->place > end)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "%" PRIu64 " bytes before the tensor \"%.*s\" belong to no tensor",
                             entry->place - end, tensor_name_shown(entry->name), entry->name);
        if (__builtin_add_overflow(end, entry->bytes, &end))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "the tensor \"%.*s\" ends beyond the size of any file",
                             tensor_name_shown(entry->name), entry->name);
    }
    if (end != file_size)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "its tensors end at byte %" PRIu64 ", the file at %" PRIu64, end,
                         file_size);
    return 0;
}

static int check_layout(const struct tensor_list *list, uint64_t data, uint64_t file_size,
                        struct fault *fault)
{
    const struct tensor_entry **sorted = calloc(list->count + 1, sizeof *sorted);
    int status;

    if (!sorted)
        return no_memory(fault);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->entries[i];
    qsort(sorted, list->count, sizeof *sorted, compare_places);
    status = check_places(sorted, list->count, data, file_size, fault);
    free(sorted);
    return status;
}

static int read_root(struct tensor_list *list, const struct json *root, uint64_t data)
{
    struct json member = {0};

    if (check_keys(root) < 0)
        return -1;
    while (json_next(root, &member)) {
        if ((strcmp(member.key, metadata_key) == 0 ? check_metadata(&member)
                                                   : read_tensor(list, &member, data)) < 0)
            return -1;
    }
    return 0;
}

/* Moves line and column into the message, because they refer to the header, not to the job file. */
static void place_in_header(struct fault *fault)
{
    char column[32] = "";

    if (fault->code == FAULT_INTERNAL)
        return;
    if (fault->line > 0)
        snprintf(column, sizeof column, "line %u, column %u: ", fault->line, fault->column);
    fault_set(fault, FAULT_INVALID_PARAMS, NULL, "in its header: %s%s", column, fault->text);
}

int safetensors_parse(const char *text, size_t length, uint64_t file_size, struct tensor_list *list,
                      struct fault *fault)
{
    uint64_t data = SAFETENSORS_PREFIX + (uint64_t)length;
    struct json root;
    int status;

    *list = (struct tensor_list){0};
    if (length == 0 || text[0] != '{')
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "not a .safetensors file: its header does not begin with '{'");
    status = json_parse(text, length, &limits, &root, fault);
    if (status == 0) {
        status = read_root(list, &root, data);
        json_free(&root);
    }
    if (status < 0)
        place_in_header(fault);
    else if (check_layout(list, data, file_size, fault) < 0 || tensor_list_sort(list, fault) < 0)
        status = -1;
    if (status < 0)
        tensor_list_finish(list);
    return status;
}
