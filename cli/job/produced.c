/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/produced.h"
#include "cli/file/calls.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static void drop(struct produced_file *file)
{
    close_open(file->file.fd);
    file->file.fd = -1;
}

void produced_finish(struct produced *produced)
{
    for (size_t i = 0; i < produced->count; i++)
        drop(&produced->files[i]);
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

static struct produced_file *find(const struct produced *produced, const struct place *place)
{
    if (produced->count == 0)
        return NULL;
    for (size_t next = *head_of(produced, place); next; next = produced->files[next - 1].next) {
        if (place_same(&produced->files[next - 1].place, place))
            return &produced->files[next - 1];
    }
    return NULL;
}

/* Returns an entry for the file of this place, or null if out of memory. */
static struct produced_file *make_room(struct produced *produced, const struct place *place)
{
    struct produced_file *found = find(produced, place);

    if (found) {
        drop(found);
        return found;
    }
    if (produced->count == produced->capacity && grow(produced))
        return NULL;
    found = &produced->files[produced->count];
    found->place = *place;
    enter(produced, produced->count++);
    return found;
}

/* Returns whether no file can be at the path: then no earlier job has written a file there. */
static bool is_no_path(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG ||
           error == EACCES;
}

int produced_add(struct produced *produced, const char *path, const struct tensor_file *file,
                 int fd)
{
    struct place place;
    int error = place_of_planned(path, &place) ? 0 : errno;

    if (is_no_path(error) && fd < 0)
        return 0;
    struct produced_file *added = error ? NULL : make_room(produced, &place);

    if (!added) {
        close_open(fd);
        return error ? -error : -ENOMEM;
    }
    added->file = *file;
    added->file.path = NULL; /* the caller owns the path */
    added->file.fd = fd;
    return 0;
}

int produced_find(const struct produced *produced, const char *path,
                  const struct tensor_file **found)
{
    const struct produced_file *file;
    struct place place;

    *found = NULL;
    if (produced->count == 0)
        return 0;
    if (!place_of_planned(path, &place))
        return is_no_path(errno) ? 0 : -1;
    file = find(produced, &place);
    *found = file ? &file->file : NULL;
    return 0;
}
