/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/make/relocate.h"
#include "cli/tensor/dtype.h"
#include "cli/term/cancel.h"
#include "proto/file/job_spec.h"
#include "target/tile/tile_transfer.h"

/* Name of the buffer in host memory in which the tiles become one output tensor. */
#define HOST_BUFFER "out"

/* The files of the jobs. */
enum { IN, SECOND, WEIGHTS, OUT, GOLDEN, DIRECTORY, WRITER_NAMES };

/* A job file that is being written. */
struct writer {
    const struct tile_result *result;
    const char *path;
    struct jsonw w;
    char *name[WRITER_NAMES]; /* file names relative to the job file, or null */
    const struct tile_jobs *jobs;
    uint64_t host_bytes;
};

const char *tile_file_word(const struct tile_layer *layer, uint32_t operand)
{
    const char *name = tile_operand_name(layer, operand);

    return strcmp(name, "input") == 0 ? "in" : strcmp(name, "output") == 0 ? "out" : name;
}

const char *tile_file_path(const char *directory, const char *operand, uint64_t number,
                           char out[TILE_PATH_MAX])
{
    const size_t length = strlen(directory);

    snprintf(out, TILE_PATH_MAX, "%s%s%s_%" PRIu64 ".npy", directory,
             length > 0 && directory[length - 1] == '/' ? "" : "/", operand, number);
    return out;
}

/* Sets *to to a file name that is relative to the job file. A job file "-" is read by
 * `mlictl run -`, which opens relative names from the working directory. */
static int localise(const struct writer *writer, const char *name, char **to, struct fault *fault)
{
    if (!name)
        return 0;
    *to = strdup(name);
    if (!*to)
        return fault_no_memory(fault);
    return strcmp(writer->path, "-") != 0 ? relocate_name(to, writer->path, fault) : 0;
}

static int writer_init(struct writer *writer, const struct tile_result *result, const char *path,
                       struct fault *fault)
{
    const struct tile_request *r = result->request;
    uint32_t shape[MLI_MAX_RANK];
    const uint32_t rank = tile_operand_shape(&r->layer, r->layer.operands - 1, shape);
    const char *const names[] = {[IN] = r->in,
                                 [SECOND] = r->second,
                                 [WEIGHTS] = r->weights,
                                 [OUT] = r->out,
                                 [GOLDEN] = r->job.expect.golden.file,
                                 [DIRECTORY] = r->directory};

    *writer = (struct writer){.result = result, .path = path, .jobs = &result->file};
    writer->host_bytes = r->layer.element;
    for (uint32_t d = 0; d < rank; d++)
        writer->host_bytes = cost_times(writer->host_bytes, shape[d]);
    jsonw_init_lines(&writer->w, 2);
    for (size_t i = 0; i < WRITER_NAMES; i++) {
        if (localise(writer, names[i], &writer->name[i], fault))
            return -1;
    }
    return 0;
}

static void writer_finish(struct writer *writer)
{
    for (size_t i = 0; i < WRITER_NAMES; i++)
        free(writer->name[i]);
    jsonw_finish(&writer->w);
}

/* Ends the job file, and appends it to `text`. */
static int take(struct writer *writer, struct textw *text, struct fault *fault)
{
    const char *job_file;

    jsonw_array_end(&writer->w);
    jsonw_object_end(&writer->w);

    if (cancel_requested())
        return cancel_fault(fault);
    jsonw_newline(&writer->w);
    job_file = jsonw_text(&writer->w);
    if (!job_file)
        return fault_no_memory(fault);
    textw_printf(text, "%s", job_file);
    return 0;
}

/*
 * Begins the job file: writes the buffers of the plan, at their addresses, and the buffer in host
 * memory. The jobs follow.
 */
static void write_buffers(struct writer *writer, bool host)
{
    const struct tile_plan *plan = &writer->result->plan;
    const struct tile_request *r = writer->result->request;
    struct buffer_spec buffers[TILE_OPERANDS * TILE_BUFFERS_MAX + 1] = {0};
    char names[TILE_OPERANDS * TILE_BUFFERS_MAX][TILE_NAME_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < plan->layer->operands && writer->jobs; i++) {
        for (uint32_t b = 0; b < plan->buffers[i].count; b++) {
            struct buffer_spec *spec = &buffers[count];

            spec->name = names[count++];
            tile_buffer_name(plan, i, b, spec->name);
            spec->bytes = plan->buffers[i].bytes;
            if (!r->has_board)
                continue;
            snprintf(spec->memory, sizeof spec->memory, "%s", r->inside->name);
            spec->has_address = true;
            spec->address = plan->memory.base + plan->buffers[i].offset[b];
        }
    }
    if (host) {
        static char name[] = HOST_BUFFER;

        buffers[count].name = name;
        buffers[count++].bytes = writer->host_bytes;
    }
    jsonw_object_begin(&writer->w, NULL);
    buffer_specs_write(&writer->w, buffers, count);
    jsonw_array_begin(&writer->w, "jobs");
}

static void set_shape(struct tensor_desc *desc, uint32_t rank, const uint32_t *shape)
{
    desc->rank = rank;
    memcpy(desc->shape, shape, rank * sizeof *shape);
}

/* Returns the dtype of an input, or null if it is the default of the element type. */
static const char *dtype_of(const struct writer *writer, uint32_t operand)
{
    const struct tile_request *r = writer->result->request;
    const char *dtype = r->dtype[operand];

    return dtype && strcmp(dtype, dtype_of_type(r->type)->name) != 0 ? dtype : NULL;
}

/* Describes a tensor in a buffer. `name` is borrowed. */
static void set_buffer(const struct writer *writer, struct tensor_spec *spec, char *name,
                       uint32_t rank, const uint32_t *shape)
{
    spec->buffer = name;
    spec->desc.has_type = true;
    spec->desc.type = writer->result->request->type;
    set_shape(&spec->desc, rank, shape);
}

/* Describes a source in a file. `file` is borrowed. */
static void set_source(const struct writer *writer, struct tensor_spec *spec, char *file,
                       bool first)
{
    const struct tensor_spec *source = &writer->result->request->job.src;

    spec->file = file;
    spec->desc.has_type = true;
    spec->desc.type = writer->result->request->type;
    if (!first)
        return;
    spec->tensor = source->tensor;
    spec->offset = source->offset;
    if (tensor_spec_format(source) == FILE_FORMAT_RAW)
        set_shape(&spec->desc, source->desc.rank, source->desc.shape);
}

static void write_job(struct writer *writer, const struct tile_job *job)
{
    const struct tile_plan *plan = &writer->result->plan;
    const uint32_t owner = tile_job_owner(plan, job);
    const bool window = plan->layer->kind == TILE_WINDOW;
    char *files[] = {writer->name[IN], writer->name[window ? WEIGHTS : SECOND]};
    char name[TILE_NAME_MAX], buffer[TILE_NAME_MAX], path[TILE_PATH_MAX], host[] = HOST_BUFFER;
    char names[TILE_AFTER_MAX][TILE_NAME_MAX], *after[TILE_AFTER_MAX];
    struct tile_transfer transfer;
    struct job_spec spec;

    tile_transfer_init(&transfer, plan, job);
    tile_job_name(writer->jobs, job, name);
    tile_buffer_name(plan, owner, job->buffer, buffer);
    job_spec_init(&spec);
    spec.common.op = JOB_OP_MOV;
    spec.common.name = name;
    spec.common.cfg = transfer.cfg;
    job_common_set_lengths(&spec.common, transfer.rank);
    if (job->kind == TILE_JOB_LOAD) {
        set_source(writer, &spec.src, files[job->operand], job->operand == 0);
        spec.dst.buffer = buffer;
    } else {
        set_buffer(writer, &spec.src, buffer, transfer.rank, transfer.src_shape);
    }
    if (job->kind == TILE_JOB_STORE) {
        spec.dst.buffer = host;
        set_shape(&spec.dst.desc, transfer.rank, transfer.dst_shape);
    } else if (job->kind == TILE_JOB_FILE) {
        tile_file_path(writer->name[DIRECTORY], tile_file_word(plan->layer, job->operand),
                       job->number, path);
        spec.src.dtype = dtype_of(writer, job->operand);
        spec.dst.file = path;
    }
    for (uint32_t i = 0; i < job->after_count; i++) {
        tile_job_name(writer->jobs, &writer->jobs->job[job->after[i]], names[i]);
        after[i] = names[i];
    }
    spec.after = after;
    spec.after_count = job->after_count;
    job_file_write(&writer->w, NULL, &spec); /* no call of finish: *spec owns no string */
}

/*
 * Writes the job that saves the buffer in host memory. It waits for all jobs that write the
 * buffer.
 */
static void write_save(struct writer *writer, char *const *after, size_t after_count)
{
    const struct tile_layer *layer = writer->result->plan.layer;
    uint32_t shape[MLI_MAX_RANK];
    const uint32_t rank = tile_operand_shape(layer, layer->operands - 1, shape);
    char name[] = "save", host[] = HOST_BUFFER, **names = NULL;
    struct job_spec spec;

    names = calloc(after_count + 1, sizeof *names);
    if (!names) {
        writer->w.failed = true;
        return;
    }
    for (size_t i = 0; i < after_count; i++)
        names[i] = after[i];
    job_spec_init(&spec);
    spec.common.op = JOB_OP_MOV;
    spec.common.name = name;
    set_buffer(writer, &spec.src, host, rank, shape);
    if (writer->jobs) /* a stitch takes the dtype from the file of its tile */
        spec.src.dtype = dtype_of(writer, 0);
    spec.dst.file = writer->name[OUT];
    spec.expect = writer->result->request->job.expect;
    spec.expect.golden.file = writer->name[GOLDEN];
    spec.after = names;
    spec.after_count = after_count;
    job_file_write(&writer->w, NULL, &spec);
    free(names);
}

/* Copies the names of the last `wanted` stores. All earlier stores end before these. */
static size_t last_stores(const struct writer *writer, char names[][TILE_NAME_MAX], uint32_t wanted)
{
    const struct tile_jobs *jobs = writer->jobs;
    size_t count = 0;

    for (size_t i = jobs->count; i-- > 0 && count < wanted;) {
        if (jobs->job[i].kind == TILE_JOB_STORE)
            tile_job_name(jobs, &jobs->job[i], names[count++]);
    }
    return count;
}

int tile_file_jobs(struct textw *text, const struct tile_result *result, const char *path,
                   struct fault *fault)
{
    const struct tile_request *r = result->request;
    const bool stores = !r->directory, saves = stores && r->out;
    struct writer writer;
    int status = writer_init(&writer, result, path, fault);

    if (status == 0) {
        write_buffers(&writer, stores);
        for (size_t i = 0; i < result->file.count && !cancel_requested(); i++)
            write_job(&writer, &result->file.job[i]);
        if (saves) {
            /*
             * Stores from one buffer wait for one another, so it is enough to wait for the last
             * ones.
             */
            char names[TILE_BUFFERS_MAX][TILE_NAME_MAX], *after[TILE_BUFFERS_MAX];
            const size_t count = last_stores(&writer, names, result->plan.buffers[0].count);

            for (size_t i = 0; i < count; i++)
                after[i] = names[i];
            write_save(&writer, after, count);
        }
        status = take(&writer, text, fault);
    }
    writer_finish(&writer);
    return status;
}

/* A stitch is a job that places one output tile into the whole output. At most this number of them
 * run at a time, so that the last job of the file can wait for all in its `after`. */
enum { STITCHES = 32 };

static void write_stitch(struct writer *writer, const struct tile_job *job)
{
    char name[TILE_NAME_MAX], before[TILE_NAME_MAX], path[TILE_PATH_MAX], host[] = HOST_BUFFER;
    char *after[] = {before};
    struct tile_transfer transfer;
    struct job_spec spec;

    tile_transfer_init(&transfer, &writer->result->plan, job);
    snprintf(name, sizeof name, "stitch%" PRIu32, job->number);
    snprintf(before, sizeof before, "stitch%" PRIu32,
             job->number < STITCHES ? 0 : job->number - STITCHES);
    tile_file_path(writer->name[DIRECTORY], "out", job->number, path);
    job_spec_init(&spec);
    spec.common.op = JOB_OP_MOV;
    spec.common.name = name;
    spec.common.cfg = transfer.cfg;
    job_common_set_lengths(&spec.common, transfer.rank);
    set_source(writer, &spec.src, path, false);
    spec.dst.buffer = host;
    set_shape(&spec.dst.desc, transfer.rank, transfer.dst_shape);
    spec.after = after;
    spec.after_count = job->number >= STITCHES;
    job_file_write(&writer->w, NULL, &spec);
}

int tile_file_stitch(struct textw *text, const struct tile_result *result, const char *path,
                     struct fault *fault)
{
    char names[STITCHES][TILE_NAME_MAX], *after[STITCHES];
    uint32_t stores = 0, last = 0;
    struct writer writer;
    int status = writer_init(&writer, result, path, fault);

    writer.jobs = NULL; /* write no buffers of the tile plan to this job file */
    if (status == 0) {
        write_buffers(&writer, true);
        for (size_t i = 0; i < result->firmware.count && !cancel_requested(); i++) {
            if (result->firmware.job[i].kind == TILE_JOB_STORE) {
                write_stitch(&writer, &result->firmware.job[i]);
                stores++;
            }
        }
        for (; last < stores && last < STITCHES; last++) {
            snprintf(names[last], sizeof names[last], "stitch%" PRIu32, stores - 1 - last);
            after[last] = names[last];
        }
        write_save(&writer, after, last);
        status = take(&writer, text, fault);
    }
    writer_finish(&writer);
    return status;
}
