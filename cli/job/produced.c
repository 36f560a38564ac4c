/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/produced.h"
#include "cli/file/calls.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

static void drop(void *node)
{
    struct produced_file *file = node;

    close_open(file->file.fd);
    free(file);
}

void produced_finish(struct produced *produced)
{
    tdestroy(produced->files, drop);
    *produced = (struct produced){0};
}

/* Returns the entry for the file of this place, without a descriptor, or null if out of memory. */
static struct produced_file *make_room(struct produced *produced, const struct place *place)
{
    struct produced_file *added = malloc(sizeof(*added));

    if (!added)
        return NULL;
    *added = (struct produced_file){.place = *place, .file = {.fd = -1}};
    struct produced_file *const *node = tsearch(added, &produced->files, place_compare);
    if (!node || *node != added)
        drop(added);
    if (node)
        close_open((*node)->file.fd);
    return node ? *node : NULL;
}

int produced_add(struct produced *produced, const char *path, const struct tensor_file *file,
                 int fd)
{
    struct place place;
    int error = place_of_planned(path, &place) ? 0 : errno;

    if (place_is_impossible(error) && fd < 0)
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
    struct produced_file wanted;

    *found = NULL;
    if (!produced->files)
        return 0;
    if (!place_of_planned(path, &wanted.place))
        return place_is_impossible(errno) ? 0 : -1;
    struct produced_file *const *node = tfind(&wanted, &produced->files, place_compare);
    *found = node ? &(*node)->file : NULL;
    return 0;
}
