/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/rewrite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/make/relocate.h"
#include "cli/optimise/fused_job.h"
#include "cli/optimise/job_parts.h"
#include "cli/optimise/predecessors.h"

struct writer {
    struct program *p;
    bool raw;
    bool moved;       /* the names of files change */
    const char *path; /* the new job file; null or "-": names relative to the working directory */
    struct predecessors *after;
    char **names;  /* of steps: invented names, or null */
    size_t number; /* of the next invented name */
};

enum { PART_NAME_MAX = 32 };

/* Names of jobs */

static char *name_of(const struct writer *writer, size_t step)
{
    char *own = writer->p->steps[step].job->common.name;

    return own ? own : writer->names[step];
}

static bool is_taken(const struct program *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++) {
        const char *other = p->steps[i].job->common.name;

        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* Gives names to the jobs without name that another job waits for. */
static int invent_names(struct writer *writer)
{
    const struct program *p = writer->p;

    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; p->steps[i].alive && k < writer->after[i].count; k++) {
            const size_t before = writer->after[i].list[k];
            char name[32];

            if (name_of(writer, before))
                continue;
            do
                snprintf(name, sizeof(name), "fused%zu", writer->number++);
            while (is_taken(p, name));
            writer->names[before] = strdup(name);
            if (!writer->names[before])
                return -1;
        }
    }
    return 0;
}

/* Names of files */

static bool same_directory(const struct job_file *file, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    char directory[4096] = ".";
    struct stat a, b;

    if (slash && (size_t)(slash - path) < sizeof(directory))
        snprintf(directory, sizeof(directory), "%.*s", slash == path ? 1 : (int)(slash - path),
                 path);
    return stat(file->directory, &a) == 0 && stat(directory, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Replaces the name of a file by a new string on the heap, relative to the new job file. */
static int rename_file(const struct writer *writer, char **name, struct fault *fault)
{
    struct job_spec scratch;
    int status = 0;

    if (!*name)
        return 0;
    job_spec_init(&scratch);
    scratch.src.file = writer->moved ? job_file_path(writer->p->file, *name) : strdup(*name);
    if (!scratch.src.file)
        status = fault_no_memory(fault);
    else if (writer->moved && writer->path && strcmp(writer->path, "-") != 0)
        status = relocate(&scratch, writer->path, fault);
    *name = NULL;
    if (status == 0) {
        *name = scratch.src.file;
        scratch.src.file = NULL;
    }
    job_spec_finish(&scratch);
    return status;
}

static char **files_of(struct job_spec *spec, size_t i)
{
    char **const files[] = {&spec->src.file, &spec->dst.file, &spec->dst.params,
                            &spec->expect.golden.file};

    return i < sizeof(files) / sizeof(files[0]) ? files[i] : NULL;
}

static int rename_files(const struct writer *writer, struct job_spec *spec, struct fault *fault)
{
    int status = 0;

    for (size_t i = 0; files_of(spec, i); i++) {
        char **file = files_of(spec, i);

        if (status == 0)
            status = rename_file(writer, file, fault);
        else
            *file = NULL; /* borrowed */
    }
    return status;
}

static void free_files(struct job_spec *spec)
{
    for (size_t i = 0; files_of(spec, i); i++)
        free(*files_of(spec, i));
}

/* Jobs */

/* Invents a name of a part. */
static void name_part(struct writer *writer, char out[PART_NAME_MAX])
{
    do
        snprintf(out, PART_NAME_MAX, "fused%zu", writer->number++);
    while (is_taken(writer->p, out));
}

static int write_job(const struct writer *writer, struct job_spec *spec, struct jsonw *w,
                     struct fault *fault)
{
    const int status = rename_files(writer, spec, fault);

    if (status == 0)
        job_file_write(w, NULL, spec);
    free_files(spec);
    return status;
}

/* Writes the parts of a step. The last part has the name of the step, and waits for the other
 * parts. */
static int write_parts(struct writer *writer, size_t number, char **after, size_t after_count,
                       struct jsonw *w, struct fault *fault)
{
    const struct program_step *step = &writer->p->steps[number];
    char names[SPLIT_PARTS_MAX][PART_NAME_MAX];
    int status = 0;

    for (size_t i = 0; i < step->part_count && status == 0; i++) {
        const bool last = i + 1 == step->part_count;
        struct job_spec spec = *step->job;
        struct quant quant = {0};

        name_part(writer, names[i]);
        spec.common.name = last ? name_of(writer, number) : names[i];
        spec.after = after;
        spec.after_count = after_count + (last ? i : 0);
        for (size_t k = 0; k < i && last; k++)
            after[after_count + k] = names[k];
        status = fused_job_take_part(writer->p, writer->raw, number, i, &spec, &quant)
                     ? fault_no_memory(fault)
                     : write_job(writer, &spec, w, fault);
        quant_alloc(&quant, 0);
    }
    return status;
}

static int write_step(struct writer *writer, size_t number, struct jsonw *w, struct fault *fault)
{
    const struct program_step *step = &writer->p->steps[number];
    const struct predecessors *after = &writer->after[number];
    struct job_spec spec = *step->job; /* borrows everything but the names of files */
    char *names[JOB_AFTER_MAX + SPLIT_PARTS_MAX];
    struct quant quant = {0};
    int status;

    for (size_t i = 0; i < after->count; i++)
        names[i] = name_of(writer, after->list[i]);
    if (step->part_count > 0)
        return write_parts(writer, number, names, after->count, w, fault);
    if (step->chosen != 0 &&
        fused_job_take(writer->p, writer->raw, number, &step->routes[step->chosen], &spec, &quant))
        return fault_no_memory(fault);
    spec.common.name = name_of(writer, number);
    spec.after = names;
    spec.after_count = after->count;
    status = write_job(writer, &spec, w, fault);
    quant_alloc(&quant, 0);
    return status;
}

/* Buffers */

/* Copies the buffers without those that only removed jobs used. Returns null without memory. */
static struct buffer_spec *kept_buffers(const struct program *p, size_t *count)
{
    const struct job_list *list = &p->file->list;
    struct buffer_spec *kept = calloc(list->buffer_count + 1, sizeof(*kept));
    bool *used = calloc(list->buffer_count + 1, sizeof(*used));

    *count = 0;
    for (size_t i = 0; i < p->count && kept && used; i++) {
        const struct program_step *step = &p->steps[i];
        const struct job_spec *source =
            step->route_count > 0 ? p->steps[step->routes[step->chosen].base].job : step->job;

        if (step->alive && source->src.buffer)
            used[source->src.buffer_index] = true;
        if (step->alive && step->job->dst.buffer)
            used[step->job->dst.buffer_index] = true;
    }
    for (size_t i = 0; i < list->buffer_count && kept && used; i++) {
        if (used[i] || (p->stores[i].write_count == 0 && !p->stores[i].read))
            kept[(*count)++] = list->buffers[i];
    }
    if (!used) {
        free(kept);
        kept = NULL;
    }
    free(used);
    return kept;
}

static size_t count_alive(const struct program *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        count += p->steps[i].alive;
    return count;
}

static int write_all(struct writer *writer, struct jsonw *w, struct fault *fault)
{
    const struct program *p = writer->p;
    size_t buffers;
    struct buffer_spec *kept = kept_buffers(p, &buffers);
    const bool alone = buffers == 0 && count_alive(p) == 1;
    int status = 0;

    if (!kept)
        return fault_no_memory(fault);
    jsonw_init_lines(w, buffers > 0 ? 2 : 1);
    if (buffers > 0) {
        jsonw_object_begin(w, NULL);
        buffer_specs_write(w, kept, buffers);
    }
    if (!alone)
        jsonw_array_begin(w, buffers > 0 ? "jobs" : NULL);
    for (size_t i = 0; i < p->count && status == 0; i++) {
        if (p->steps[i].alive)
            status = write_step(writer, i, w, fault);
    }
    if (!alone)
        jsonw_array_end(w);
    if (buffers > 0)
        jsonw_object_end(w);
    free(kept);
    if (status == 0 && !jsonw_text(w))
        status = fault_no_memory(fault);
    return status;
}

/* Keeps the removed jobs that a job waits for. */
static void keep_before(struct program *p, size_t full)
{
    for (size_t i = 0; i <= full; i++) {
        if (!p->steps[i].alive && p->steps[i].needed == NOT_KEPT)
            p->steps[i].needed = KEPT_AFTER;
    }
}

int rewrite(struct program *p, bool raw, const char *path, struct jsonw *w, bool *again,
            struct fault *fault)
{
    struct writer writer = {.p = p,
                            .raw = raw,
                            .moved = path && !same_directory(p->file, path),
                            .path = path,
                            .names = calloc(p->count, sizeof(*writer.names))};
    size_t full = NONE;
    int status = 0;

    jsonw_init(w);
    *again = false;
    if (!writer.names || predecessors_find(p, &writer.after, &full) || invent_names(&writer))
        status = fault_no_memory(fault);
    if (status == 0 && full != NONE) {
        keep_before(p, full);
        *again = true;
    } else if (status == 0) {
        status = write_all(&writer, w, fault);
    }
    for (size_t i = 0; writer.names && i < p->count; i++)
        free(writer.names[i]);
    free(writer.names);
    predecessors_finish(writer.after, p->count);
    return status;
}
