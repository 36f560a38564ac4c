/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/make/relocate.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term/exit_code.h"
#include "proto/file/job_spec.h"

/* A path, split into names that point into `text`. */
struct parts {
    char *text;
    const char **names;
    size_t count;
};

static void parts_finish(struct parts *parts)
{
    free(parts->text);
    free(parts->names);
    *parts = (struct parts){0};
}

/*
 * Splits base/path into names (`base` is a real path; null: path alone). Drops empty names, ".",
 * and each ".." that only leaves directories of `base`, which are not links. Returns 0 or -1.
 */
static int parts_init(struct parts *parts, const char *base, const char *path)
{
    *parts = (struct parts){0};
    size_t base_length = base ? strlen(base) : 0, length = base_length + strlen(path) + 2;
    parts->text = malloc(length);
    parts->names = calloc(length, sizeof(*parts->names));
    if (!parts->text || !parts->names)
        return -1;
    if (base)
        strcpy(parts->text, base);
    parts->text[base_length] = '/';
    strcpy(parts->text + base_length + 1, path);
    bool real = true;
    char *rest = NULL;
    for (char *name = strtok_r(parts->text, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
        bool up = strcmp(name, "..") == 0;
        if (strcmp(name, ".") == 0)
            continue;
        if (up && real) {
            parts->count -= parts->count > 0;
            continue;
        }
        /* Components of `path` may be symbolic links. */
        real = real && name < parts->text + base_length;
        parts->names[parts->count++] = name;
    }
    return 0;
}

static char *join(const struct parts *directory, const struct parts *file)
{
    size_t same = 0, size = 1;

    while (same < directory->count && same + 1 < file->count &&
           strcmp(directory->names[same], file->names[same]) == 0)
        same++;
    size_t up = directory->count - same;
    for (size_t i = same; i < file->count; i++)
        size += strlen(file->names[i]) + 1;
    char *path = malloc(size + up * strlen("../"));
    if (!path)
        return NULL;
    char *at = path;
    for (size_t i = 0; i < up; i++)
        at = stpcpy(at, "../");
    for (size_t i = same; i < file->count; i++) {
        at = stpcpy(at, file->names[i]);
        if (i + 1 < file->count)
            *at++ = '/';
    }
    *at = '\0';
    return path;
}

/* Replaces a file name of the job. */
static int rewrite(char **name, const char *working, const struct parts *directory,
                   struct fault *fault)
{
    struct parts file;

    if (!*name || **name == '/')
        return 0;
    char *path = parts_init(&file, working, *name) ? NULL : join(directory, &file);
    parts_finish(&file);
    if (!path)
        return fault_no_memory(fault);
    free(*name);
    *name = path;
    if (strlen(path) > JOB_PATH_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the file name would exceed %d bytes: %s", JOB_PATH_MAX, path);
    return 0;
}

/* Returns the real path of the directory of `path`, on the heap; or null with errno set. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return realpath(".", NULL);
    char *name = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    char *real = name ? realpath(name, NULL) : NULL;
    free(name);
    return real;
}

static int relocate_names(char **const names[], size_t count, const char *path, struct fault *fault)
{
    char *working = realpath(".", NULL), *target = working ? directory_of(path) : NULL;
    struct parts directory = {0};
    int status = -1;

    if (!working)
        fault_set(fault, exit_code_fault(errno, FAULT_INVALID_PARAMS), NULL,
                  "cannot find the path of the working directory: %s", strerror(errno));
    else if (!target)
        fault_set(fault, exit_code_fault(errno, FAULT_INVALID_PARAMS), NULL,
                  "%s: its directory must exist: %s", path, strerror(errno));
    else if (parts_init(&directory, NULL, target))
        fault_no_memory(fault);
    else
        status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        status = rewrite(names[i], working, &directory, fault);
    parts_finish(&directory);
    free(working);
    free(target);
    return status;
}

int relocate_name(char **name, const char *path, struct fault *fault)
{
    return relocate_names(&name, 1, path, fault);
}

int relocate(struct job_spec *job, const char *path, struct fault *fault)
{
    char **const names[] = {&job->src.file, &job->dst.file, &job->expect.golden.file};

    return relocate_names(names, 3, path, fault);
}
