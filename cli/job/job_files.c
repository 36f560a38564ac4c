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

const char *job_shown(char out[JOB_SHOWN_MAX], const struct job_spec *job)
{
    if (job->common.name)
        snprintf(out, JOB_SHOWN_MAX, "\"%s\"", job->common.name);
    else
        snprintf(out, JOB_SHOWN_MAX, "%s", job->pointer);
    return out;
}

/* The files that the jobs write. */

struct written {
    char *place; /* equal for all paths of the file; owned */
    struct job_spec *job;
    size_t position;  /* of the job, in the order of running */
    bool fails;       /* the job expects an error: it writes nothing */
    const char *name; /* dst.file or dst.params; borrowed */
};

struct outputs {
    struct job_file *file;
    struct written *list;
    char **place; /* of the dst of each job; borrowed; null: none */
    size_t count;
    bool shared; /* two jobs write the same file */
};

/* Writes a file's directory and the rest of its path as a string on the heap. Null: no file can be
 * at the path, and the job itself will fail; or out of memory (ENOMEM). */
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

static int add_written(struct outputs *outputs, size_t position, const char *name)
{
    struct job_spec *job = &outputs->file->list.jobs[outputs->file->list.order[position]];
    char *place = name ? place_text_of(outputs->file, name) : NULL;

    if (!place)
        return name && errno == ENOMEM ? -1 : 0;
    if (name == job->dst.file)
        outputs->place[job - outputs->file->list.jobs] = place;
    outputs->list[outputs->count++] =
        (struct written){place, job, position, job->expect.kind == EXPECT_ERROR, name};
    return 0;
}

/* Orders files by their place, then those of jobs that write something first, in the order of
 * running. */
static int by_place(const void *left, const void *right)
{
    const struct written *a = left, *b = right;
    const int order = strcmp(a->place, b->place);

    if (order || a->fails != b->fails)
        return order ? order : a->fails - b->fails;
    return (a->position > b->position) - (a->position < b->position);
}

static bool is_dst(const struct written *written)
{
    return written->name == written->job->dst.file;
}

/* Returns whether a job writes a part of the tensor that the first job makes. */
static bool is_part(const struct written *first, const struct written *later)
{
    return is_dst(first) && is_dst(later) && later->position > first->position &&
           tensor_spec_makes(&first->job->dst) && tensor_spec_makes(&later->job->dst);
}

/* Requires that both jobs describe the same tensor. */
static int check_part(const struct written *first, const struct written *later, struct fault *fault)
{
    const struct tensor_spec *a = &first->job->dst, *b = &later->job->dst;
    char pointer[FAULT_POINTER_MAX], maker[JOB_SHOWN_MAX], shape[PRINT_TEXT_MAX];

    if (a->desc.rank == b->desc.rank && a->offset == b->offset &&
        memcmp(a->desc.shape, b->desc.shape, sizeof(a->desc.shape)) == 0 &&
        memcmp(a->desc.strides, b->desc.strides, sizeof(a->desc.strides)) == 0 &&
        tensor_spec_format(a) == tensor_spec_format(b))
        return 0;
    snprintf(pointer, sizeof(pointer), "%s/dst/shape", later->job->pointer);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "dst.shape: the job %s makes %s with the shape %s; all jobs that write parts "
                     "of it must give the same shape, format, offset and strides",
                     job_shown(maker, first->job), first->name,
                     print_shape(shape, a->desc.rank, a->desc.shape));
}

/* Refuses a job that would replace the file of an earlier job. A later job may write the same file
 * of parameters if it writes the same tensor. */
static int check_pair(const struct outputs *outputs, const struct written *first,
                      const struct written *later, struct fault *fault)
{
    const struct job_spec *jobs = outputs->file->list.jobs;
    const char *a = outputs->place[first->job - jobs], *b = outputs->place[later->job - jobs];
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
        member, job_shown(two, later->job), print_path(shown, later->name),
        job_shown(one, first->job),
        is_dst(later) && is_dst(first)
            ? ", or give both the same dst.shape: the first makes the tensor, the "
              "other writes a part"
            : "");
}

/* Compares the first job that writes a file with the jobs that write it later. Returns null, or the
 * first entry that is at fault. */
static const struct written *join(struct outputs *outputs, const struct written *group,
                                  size_t count, struct fault *fault)
{
    const struct job_spec *jobs = outputs->file->list.jobs;
    const size_t first = (size_t)(group->job - jobs);

    for (size_t i = 0; i < count && !group->fails; i++) {
        const bool part = i > 0 && is_part(group, &group[i]);

        if (part && !group[i].fails && check_part(group, &group[i], fault))
            return &group[i];
        if (part)
            group[i].job->dst.update = group[i].job->dst.part = true;
        if (group[i].fails)
            continue;
        if (check_pair(outputs, group, &group[i], fault))
            return &group[i];
        if (is_dst(&group[i]))
            outputs->file->output[group[i].job - jobs] = first;
        outputs->shared |= i > 0 && is_dst(&group[i]);
    }
    return NULL;
}

/* Returns the first job that writes the file of a src, as an index; SIZE_MAX: no job does. */
static size_t writer_of(const struct outputs *outputs, const char *place)
{
    size_t low = 0, high = outputs->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(outputs->list[middle].place, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct written *found = &outputs->list[low];
    if (low == outputs->count || strcmp(found->place, place) != 0 || !is_dst(found))
        return SIZE_MAX;
    return outputs->file->output[found->job - outputs->file->list.jobs];
}

static int find_inputs(struct outputs *outputs)
{
    struct job_file *file = outputs->file;

    for (size_t i = 0; i < file->list.count; i++) {
        const char *name = file->list.jobs[i].src.file;
        char *place = name ? place_text_of(file, name) : NULL;

        if (name && !place && errno == ENOMEM)
            return -1;
        file->input[i] = place ? writer_of(outputs, place) : SIZE_MAX;
        free(place);
    }
    return 0;
}

/* Adds the files of all jobs, and sorts them by their place. */
static int list_outputs(struct outputs *outputs)
{
    struct job_file *file = outputs->file;

    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->list.order[i]];

        file->output[i] = SIZE_MAX;
        if (add_written(outputs, i, job->dst.file) ||
            (job->expect.kind != EXPECT_ERROR && add_written(outputs, i, job->dst.params)))
            return -1;
    }
    if (outputs->count > 0)
        qsort(outputs->list, outputs->count, sizeof(*outputs->list), by_place);
    return 0;
}

/* Joins the jobs of each file. Of several faults, the fault of the first job counts. */
static int join_all(struct outputs *outputs, struct fault *fault)
{
    const struct written *first = NULL;

    for (size_t i = 0, size; i < outputs->count; i += size) {
        for (size = 1; i + size < outputs->count &&
                       strcmp(outputs->list[i].place, outputs->list[i + size].place) == 0;)
            size++;
        struct fault found;
        const struct written *wrong = join(outputs, &outputs->list[i], size, &found);
        if (wrong && (!first || wrong->position < first->position)) {
            first = wrong;
            *fault = found;
        }
    }
    if (first)
        return -1;
    return outputs->shared && find_inputs(outputs) ? fault_no_memory(fault) : 0;
}

/* Fills file->output and file->input. Returns 0 or -1. */
static int find_outputs(struct job_file *file, struct fault *fault)
{
    const size_t count = file->list.count;
    struct outputs outputs = {.file = file,
                              .list = calloc(2 * count, sizeof(*outputs.list)),
                              .place = calloc(count, sizeof(*outputs.place))};
    int status = 0;

    file->output = calloc(count, sizeof(*file->output));
    file->input = calloc(count, sizeof(*file->input));
    if (!outputs.list || !outputs.place || !file->output || !file->input || list_outputs(&outputs))
        status = fault_no_memory(fault);
    else
        status = join_all(&outputs, fault);
    for (size_t i = 0; i < outputs.count; i++)
        free(outputs.list[i].place);
    free(outputs.list);
    free(outputs.place);
    if (!outputs.shared) {
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
    if (parse(file, text, fault) == 0 && (file->list.count == 1 || find_outputs(file, fault) == 0))
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
    char *joined = job_file_path(file, path);

    print_path(out, joined ? joined : path);
    free(joined);
    return out;
}
