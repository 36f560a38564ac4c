/* SPDX-License-Identifier: BSD-3-Clause */
#include "produced.h"

#include <stdlib.h>
#include <string.h>

void produced_finish(struct produced *produced)
{
    for (size_t i = 0; i < produced->count; i++)
        free(produced->files[i].path);
    free(produced->files);
    *produced = (struct produced){0};
}

static int grow(struct produced *produced)
{
    size_t capacity = produced->capacity ? 2 * produced->capacity : 16;
    struct produced_file *files = realloc(produced->files, capacity * sizeof(*files));
    if (!files)
        return -1;
    produced->files = files;
    produced->capacity = capacity;
    return 0;
}

int produced_add(struct produced *produced, const char *path, const struct tensor_file *file)
{
    if (produced->count == produced->capacity && grow(produced))
        return -1;
    struct produced_file *added = &produced->files[produced->count];
    *added = (struct produced_file){.path = strdup(path), .file = *file};
    if (!added->path || !place_of(added->path, &added->place)) {
        free(added->path);
        return -1;
    }
    added->file.fd = -1;
    produced->count++;
    return 0;
}

bool produced_find(const struct produced *produced, const char *path, struct tensor_file *file)
{
    struct place place;
    if (produced->count == 0 || !place_of(path, &place))
        return false;
    for (size_t i = produced->count; i-- > 0;) {
        if (place_same(&produced->files[i].place, &place)) {
            *file = produced->files[i].file;
            file->path = path;
            print_path(file->shown, path);
            return true;
        }
    }
    return false;
}
