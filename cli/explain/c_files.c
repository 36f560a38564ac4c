/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/c_files.h"

#include <stdlib.h>
#include <string.h>

void c_files_init(struct c_files *files, size_t uses)
{
    *files = (struct c_files){.sorted = calloc(uses + 1, sizeof *files->sorted),
                              .ordered = calloc(uses + 1, sizeof *files->ordered)};
    files->failed = !files->sorted || !files->ordered;
}

void c_files_finish(struct c_files *files)
{
    free(files->sorted);
    free(files->ordered);
    *files = (struct c_files){0};
}

void c_files_add(struct c_files *files, const char *name, uint64_t offset)
{
    if (!files->failed)
        files->sorted[files->count] =
            (struct c_file){.name = name, .base = offset, .use = files->count};
    files->count += !files->failed;
}

/* By name; uses of one file by their order. */
static int compare_names(const void *a, const void *b)
{
    const struct c_file *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->use > y->use) - (x->use < y->use);
}

static int compare_uses(const void *a, const void *b)
{
    const struct c_file *x = *(struct c_file *const *)a, *y = *(struct c_file *const *)b;

    return (x->use > y->use) - (x->use < y->use);
}

/* Keeps the first use of each file, with the lowest offset of all its uses. */
static void merge(struct c_files *files)
{
    size_t kept = 0;

    for (size_t i = 0; i < files->count; i++) {
        const struct c_file *use = &files->sorted[i];
        struct c_file *before = kept > 0 ? &files->sorted[kept - 1] : NULL;

        if (!before || strcmp(before->name, use->name) != 0)
            files->sorted[kept++] = *use;
        else if (use->base < before->base)
            before->base = use->base;
    }
    files->count = kept;
}

void c_files_sort(struct c_files *files)
{
    if (files->failed)
        return;
    qsort(files->sorted, files->count, sizeof *files->sorted, compare_names);
    merge(files);
    for (size_t i = 0; i < files->count; i++)
        files->ordered[i] = &files->sorted[i];
    qsort(files->ordered, files->count, sizeof *files->ordered, compare_uses);
    for (size_t i = 0; i < files->count; i++)
        files->ordered[i]->use = i;
}

static int compare_name(const void *name, const void *file)
{
    return strcmp(name, ((const struct c_file *)file)->name);
}

const struct c_file *c_files_find(const struct c_files *files, const char *name)
{
    return bsearch(name, files->sorted, files->count, sizeof *files->sorted, compare_name);
}
