/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/place.h"
#include "proto/file/job_spec.h"

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Returns whether a path names a stream, as /dev/stdin, a fifo, and /dev/fd/63 of `<(...)` do:
 * files of its jobs have nothing to do with its directory. */
static bool is_stream(const char *path)
{
    struct stat status;

    return is_standard_input(path) || strncmp(path, "/dev/", strlen("/dev/")) == 0 ||
           strncmp(path, "/proc/", strlen("/proc/")) == 0 ||
           (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

/* Refuses a tensor file, which its first bytes identify. */
static int refuse_tensor(const char *path, const struct text *text, struct fault *fault)
{
    static const char npy[] = "\x93NUMPY", zip[] = "PK\3\4";
    const char *kind = NULL;

    if (text->length >= strlen(npy) && memcmp(text->bytes, npy, strlen(npy)) == 0)
        kind = "a .npy file";
    else if (text->length >= strlen(zip) && memcmp(text->bytes, zip, strlen(zip)) == 0)
        kind = "a zip archive, like a .npz file";
    else if (text->length > 8 && text->bytes[7] == 0 && text->bytes[8] == '{')
        kind = "a .safetensors file"; /* 8 bytes for the header's length, then the header */
    if (!kind)
        return 0;
    if (is_standard_input(path))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is %s, not a job file", kind);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "it is %s, not a job file; `mlictl show %.128s` prints it", kind, path);
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

const char *job_file_label(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}

static int parse(struct job_file *file, const struct text *text, struct fault *fault)
{
    file->directory = is_stream(file->path) ? strdup(".") : directory_of(file->path);
    if (!file->directory)
        return fault_no_memory(fault);
    if (refuse_tensor(file->path, text, fault))
        return -1;
    file->is_file = !is_stream(file->path);
    file->path = job_file_label(file->path);
    return job_file_parse(text->bytes, text->length, &file->list, fault);
}

/* A job's name and its index in the list. */
struct named {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Fills file->after. The parser has checked that every name exists. */
static int find_predecessors(struct job_file *file)
{
    size_t named_count = 0;
    struct named *names = calloc(file->list.count, sizeof(*names));

    file->after = calloc(file->list.count, sizeof(*file->after));
    int result = names && file->after ? 0 : -1;
    for (size_t i = 0; i < file->list.count && !result; i++) {
        if (file->list.jobs[i].common.name)
            names[named_count++] = (struct named){file->list.jobs[i].common.name, i};
    }
    if (!result)
        qsort(names, named_count, sizeof(*names), compare_names);
    for (size_t i = 0; i < file->list.count && !result; i++) {
        const struct job_spec *job = &file->list.jobs[i];
        if (job->after_count == 0)
            continue;
        file->after[i] = calloc(job->after_count, sizeof(size_t));
        result = file->after[i] ? 0 : -1;
        for (size_t k = 0; k < job->after_count && !result; k++) {
            struct named wanted = {.name = job->after[k]};
            const struct named *found =
                bsearch(&wanted, names, named_count, sizeof(*names), compare_names);
            file->after[i][k] = found ? found->index : i;
        }
    }
    free(names);
    return result;
}

/*
 * Fills file->order, depth first in file order: predecessors are placed just before a job unless
 * they have been placed already. `path` is the chain of jobs that wait for one another; next[] is
 * the number of predecessors that a job's loop has visited. Jobs have no cycles.
 */
static int find_order(struct job_file *file)
{
    size_t count = file->list.count, placed = 0;
    size_t *path = calloc(count, sizeof(*path));
    size_t *next = calloc(count, sizeof(*next));
    bool *done = calloc(count, sizeof(*done));

    file->order = calloc(count, sizeof(*file->order));
    int result = path && next && done && file->order ? 0 : -1;
    for (size_t i = 0; i < count && !result; i++) {
        size_t depth = 0;
        if (!done[i])
            path[depth++] = i;
        while (depth > 0) {
            size_t job = path[depth - 1];
            if (next[job] < file->list.jobs[job].after_count) {
                size_t before = file->after[job][next[job]++];
                if (!done[before] && before != job)
                    path[depth++] = before;
            } else {
                done[job] = true;
                file->order[placed++] = job;
                depth--;
            }
        }
    }
    free(path);
    free(next);
    free(done);
    return result;
}

int job_file_load_text(struct job_file *file, const char *path, const struct text *text,
                       struct fault *fault)
{
    *file = (struct job_file){.path = path};
    if (parse(file, text, fault))
        goto fail;
    if (find_predecessors(file) || find_order(file)) {
        fault_no_memory(fault);
        goto fail;
    }
    return 0;
fail:
    job_file_finish(file);
    return -1;
}

int job_file_load(struct job_file *file, const char *path, struct fault *fault)
{
    struct text text = {0};
    int status = is_standard_input(path) ? text_read(&text, STDIN_FILENO, JOB_FILE_BYTES_MAX, fault)
                                         : text_load(&text, path, JOB_FILE_BYTES_MAX, false, fault);

    if (status == 0)
        status = job_file_load_text(file, path, &text, fault);
    else
        *file = (struct job_file){0};
    text_finish(&text);
    return status;
}

void job_file_finish(struct job_file *file)
{
    for (size_t i = 0; file->after && i < file->list.count; i++)
        free(file->after[i]);
    free(file->after);
    free(file->order);
    job_list_finish(&file->list);
    free(file->directory);
    *file = (struct job_file){0};
}

char *job_file_path(const struct job_file *file, const char *path)
{
    char *joined = NULL;
    const char *slash = strcmp(file->directory, "/") == 0 ? "" : "/";

    if (strcmp(path, "-") == 0 && file->has_streams)
        return strdup(path);
    if (path[0] == '/' || strcmp(file->directory, ".") == 0)
        joined = strdup(path);
    else if (asprintf(&joined, "%s%s%s", file->directory, slash, path) < 0)
        joined = NULL;
    if (joined)
        place_simplify(joined);
    if (!joined || strcmp(joined, "-") != 0)
        return joined;
    free(joined);
    return strdup("./-");
}

const char *job_file_shown(char out[PRINT_PATH_MAX], const struct job_file *file, const char *path)
{
    char *joined = job_file_path(file, path);

    print_path(out, joined ? joined : path);
    free(joined);
    return out;
}
