/* SPDX-License-Identifier: BSD-3-Clause */
#include "produced.h"

#include <stdint.h>
#include <stdlib.h>

void produced_finish(struct produced *produced)
{
    free(produced->files);
    free(produced->heads);
    *produced = (struct produced){0};
}

/* FNV-1a. */
static size_t hash(const struct place *place)
{
    uint64_t value = 0xcbf29ce484222325 ^ place->device ^ place->inode;
    for (const char *c = place->name; *c; c++)
        value = (value ^ (unsigned char)*c) * 0x100000001b3;
    return (size_t)(value ^ value >> 32);
}

static size_t *head_of(const struct produced *produced, const struct place *place)
{
    return &produced->heads[hash(place) & (produced->capacity - 1)];
}

static void enter(struct produced *produced, size_t index)
{
    size_t *head = head_of(produced, &produced->files[index].place);
    produced->files[index].next = *head;
    *head = index + 1;
}

static int grow(struct produced *produced)
{
    size_t capacity = produced->capacity ? 2 * produced->capacity : 16;
    struct produced_file *files = realloc(produced->files, capacity * sizeof(*files));
    if (!files)
        return -1;
    produced->files = files;
    size_t *heads = calloc(capacity, sizeof(*heads));
    if (!heads)
        return -1;
    free(produced->heads);
    produced->heads = heads;
    produced->capacity = capacity;
    for (size_t i = 0; i < produced->count; i++)
        enter(produced, i);
    return 0;
}

int produced_add(struct produced *produced, const char *path, const struct tensor_file *file)
{
    if (produced->count == produced->capacity && grow(produced))
        return -1;
    struct produced_file *added = &produced->files[produced->count];
    added->file = *file;
    added->file.fd = -1;
    if (!place_of(path, &added->place))
        return -1;
    enter(produced, produced->count++);
    return 0;
}

bool produced_find(const struct produced *produced, const char *path, struct tensor_file *file)
{
    struct place place;
    if (produced->count == 0 || !place_of(path, &place))
        return false;
    for (size_t next = *head_of(produced, &place); next; next = produced->files[next - 1].next) {
        const struct produced_file *found = &produced->files[next - 1];
        if (place_same(&found->place, &place)) {
            *file = found->file;
            file->path = path;
            print_path(file->shown, path);
            return true;
        }
    }
    return false;
}
