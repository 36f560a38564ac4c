/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job_files.h"

#include <errno.h>
#include <stdint.h>
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

    return is_standard_input(path) || place_is_descriptor(path) ||
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

const char *job_shown(char out[JOB_SHOWN_MAX], const struct job_spec *job)
{
    if (job->common.name)
        snprintf(out, JOB_SHOWN_MAX, "\"%s\"", job->common.name);
    else
        snprintf(out, JOB_SHOWN_MAX, "%s", job->pointer);
    return out;
}

/* The files that several jobs use. */

enum use_kind { USE_WRITE, USE_FAIL /* the job expects an error: it writes nothing */, USE_READ };

struct use {
    char *place; /* equal for all paths of the file; owned */
    struct job_spec *job;
    size_t position; /* of the job, in the order of running */
    enum use_kind kind;
    const char *name; /* src.file, dst.file or dst.params; borrowed */
};

struct uses {
    struct job_file *file;
    struct use *list;
    char **place; /* of the dst of each job; borrowed; null: none */
    size_t count;
    bool shared; /* two jobs write the same file */
};

/* Writes a file's directory and the rest of its path as a string on the heap. Returns null with
 * errno set if that fails. */
static char *place_text_of(const struct job_file *file, const char *name)
{
    char *path = job_file_path(file, name), *text = NULL;
    struct place place;

    if (path && place_of_planned(path, &place) &&
        asprintf(&text, "%ju/%ju/%s", (uintmax_t)place.device, (uintmax_t)place.inode, place.name) <
            0)
        text = NULL;
    const int error = errno;
    free(path);
    errno = error;
    return text;
}

static int add_use(struct uses *uses, size_t position, const char *name, enum use_kind kind)
{
    struct job_spec *job = &uses->file->list.jobs[uses->file->list.order[position]];
    char *place = name ? place_text_of(uses->file, name) : NULL;

    /* If no file can be at the path, the job itself will fail. */
    if (!place)
        return name && !place_is_impossible(errno) ? -errno : 0;
    if (name == job->dst.file)
        uses->place[job - uses->file->list.jobs] = place;
    uses->list[uses->count++] = (struct use){place, job, position, kind, name};
    return 0;
}

/* Orders files by their place, then writes first, in the order of running. */
static int by_place(const void *left, const void *right)
{
    const struct use *a = left, *b = right;
    const int order = strcmp(a->place, b->place);

    if (order || a->kind != b->kind)
        return order ? order : (int)a->kind - (int)b->kind;
    return (a->position > b->position) - (a->position < b->position);
}

static bool is_dst(const struct use *use)
{
    return use->name == use->job->dst.file;
}

/* Returns whether a job writes a part of the tensor that the first job makes. */
static bool is_part(const struct use *first, const struct use *later)
{
    return is_dst(first) && is_dst(later) && later->position > first->position &&
           tensor_spec_makes(&first->job->dst) && tensor_spec_makes(&later->job->dst);
}

/* Requires that both jobs describe the same tensor. */
static int check_part(const struct job_file *file, const struct use *first, const struct use *later,
                      struct fault *fault)
{
    const struct tensor_spec *a = &first->job->dst, *b = &later->job->dst;
    char pointer[FAULT_POINTER_MAX], maker[JOB_SHOWN_MAX], shape[PRINT_TEXT_MAX];
    char shown[PRINT_PATH_MAX];

    if (a->desc.rank == b->desc.rank && a->offset == b->offset &&
        memcmp(a->desc.shape, b->desc.shape, sizeof(a->desc.shape)) == 0 &&
        memcmp(a->desc.strides, b->desc.strides, sizeof(a->desc.strides)) == 0 &&
        tensor_spec_format(a) == tensor_spec_format(b))
        return 0;
    snprintf(pointer, sizeof(pointer), "%s/dst/shape", later->job->pointer);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "dst.shape: the job %s makes %s with the shape %s; all jobs that write parts "
                     "of it must give the same shape, format, offset and strides",
                     job_shown(maker, first->job), job_file_shown(shown, file, first->name),
                     print_shape(shape, a->desc.rank, a->desc.shape));
}

/* Refuses a job that would replace the file of an earlier job. A later job may write the same file
 * of parameters if it writes the same tensor. */
static int check_pair(const struct uses *uses, const struct use *first, const struct use *later,
                      struct fault *fault)
{
    const struct job_spec *jobs = uses->file->list.jobs;
    const char *a = uses->place[first->job - jobs], *b = uses->place[later->job - jobs];
    const char *member = is_dst(later) ? "file" : "params";
    char pointer[FAULT_POINTER_MAX], one[JOB_SHOWN_MAX], two[JOB_SHOWN_MAX], shown[PRINT_PATH_MAX];

    if (first->job == later->job || (is_dst(later) ? is_dst(first) && later->job->dst.update
                                                   : !is_dst(first) && a && b && strcmp(a, b) == 0))
        return 0;
    snprintf(pointer, sizeof(pointer), "%s/dst/%s", later->job->pointer, member);
    return fault_set(
        fault, FAULT_INVALID_PARAMS, pointer,
        "dst.%s: the job %s would replace %s, which the job %s writes; give each job a "
        "file of its own%s",
        member, job_shown(two, later->job), job_file_shown(shown, uses->file, later->name),
        job_shown(one, first->job),
        is_dst(later) && is_dst(first)
            ? ", or give both the same dst.shape: the first makes the tensor, the "
              "other writes a part"
            : "");
}

/* Compares the first job that writes a file with the jobs that use it later. Returns null, or the
 * first use that is at fault. */
static const struct use *join(struct uses *uses, const struct use *group, size_t count,
                              struct fault *fault)
{
    struct job_file *file = uses->file;
    const size_t first = (size_t)(group->job - file->list.jobs);

    for (size_t i = 0; i < count && group->kind == USE_WRITE; i++) {
        const struct use *use = &group[i];
        const size_t index = (size_t)(use->job - file->list.jobs);

        if (i > 0 && use->kind != USE_READ && is_part(group, use)) {
            if (use->kind == USE_WRITE && check_part(file, group, use, fault))
                return use;
            use->job->dst.update = use->job->dst.part = true;
        }
        if (use->kind == USE_WRITE && check_pair(uses, group, use, fault))
            return use;
        if (use->kind == USE_WRITE && is_dst(use)) {
            file->output[index] = first;
            uses->shared |= i > 0;
        } else if (use->kind == USE_READ && is_dst(group)) {
            file->input[index] = first;
        }
    }
    return NULL;
}

/* Adds the files of all jobs, and sorts them by their place. */
static int list_uses(struct uses *uses, struct fault *fault)
{
    struct job_file *file = uses->file;

    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->list.order[i]];
        const bool fails = job->expect.kind == EXPECT_ERROR;

        file->output[i] = file->input[i] = SIZE_MAX;
        int error = add_use(uses, i, job->dst.file, fails ? USE_FAIL : USE_WRITE);

        if (!error)
            error = add_use(uses, i, fails ? NULL : job->dst.params, USE_WRITE);
        if (!error)
            error = add_use(uses, i, job->src.file, USE_READ);
        if (error)
            return fault_set(fault, FAULT_IO_ERROR, job->pointer,
                             "a file of the job cannot be looked up: %s", strerror(-error));
    }
    if (uses->count > 0)
        qsort(uses->list, uses->count, sizeof(*uses->list), by_place);
    return 0;
}

/* Joins the jobs of each file. Of several faults, the fault of the first job counts. */
static int join_all(struct uses *uses, struct fault *fault)
{
    const struct use *first = NULL;

    for (size_t i = 0, size; i < uses->count; i += size) {
        for (size = 1; i + size < uses->count &&
                       strcmp(uses->list[i].place, uses->list[i + size].place) == 0;)
            size++;
        struct fault found;
        const struct use *wrong = join(uses, &uses->list[i], size, &found);
        if (wrong && (!first || wrong->position < first->position)) {
            first = wrong;
            *fault = found;
        }
    }
    return first ? -1 : 0;
}

/* Fills file->output and file->input. Returns 0 or -1. */
static int find_uses(struct job_file *file, struct fault *fault)
{
    const size_t count = file->list.count;
    struct uses uses = {.file = file,
                        .list = calloc(3 * count, sizeof(*uses.list)),
                        .place = calloc(count, sizeof(*uses.place))};
    int status = 0;

    file->output = calloc(count, sizeof(*file->output));
    file->input = calloc(count, sizeof(*file->input));
    if (!uses.list || !uses.place || !file->output || !file->input)
        status = fault_no_memory(fault);
    else if (list_uses(&uses, fault) || join_all(&uses, fault))
        status = -1;
    for (size_t i = 0; i < uses.count; i++)
        free(uses.list[i].place);
    free(uses.list);
    free(uses.place);
    if (!uses.shared) {
        free(file->output);
        free(file->input);
        file->output = file->input = NULL;
    }
    return status;
}

int job_file_load_text(struct job_file *file, const char *path, const struct text *text,
                       struct fault *fault)
{
    *file = (struct job_file){.path = path};
    if (parse(file, text, fault) == 0 && (file->list.count == 1 || find_uses(file, fault) == 0))
        return 0;
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
    free(file->output);
    free(file->input);
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
    const bool here = path[0] == '/' || strcmp(file->directory, ".") == 0;
    const bool root = strcmp(file->directory, "/") == 0;
    char joined[PATH_MAX]; /* no allocation, so that the name is shown even if memory runs out */

    snprintf(joined, sizeof(joined), "%s%s%s", here ? "" : file->directory, here || root ? "" : "/",
             path);
    place_simplify(joined);
    print_path(out, strcmp(joined, "-") == 0 && !file->has_streams ? "./-" : joined);
    return out;
}
