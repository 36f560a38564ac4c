/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/make/relocate.h"
#include "cli/optimise/job_parts.h"
#include "cli/optimise/program.h"
#include "cli/tensor/dtype.h"
#include "cli/tensor/tensor_file.h"
#include "proto/grow.h"

/*
 * The member "after" of the jobs that stay. A job that waited for a removed job waits for the
 * predecessors of the removed job; and a job that overwrites the source of a fused move waits for
 * this move, which may read it later than the removed job did.
 */

struct predecessors {
    size_t *list; /* steps, ascending */
    size_t count, capacity;
};

static int add(struct predecessors *to, size_t step)
{
    size_t at = to->count;

    while (at > 0 && to->list[at - 1] > step)
        at--;
    if (at > 0 && to->list[at - 1] == step)
        return 0;
    if (list_grow(&to->list, to->count, &to->capacity, sizeof(*to->list)))
        return -1;
    for (size_t i = to->count; i > at; i--)
        to->list[i] = to->list[i - 1];
    to->list[at] = step;
    to->count++;
    return 0;
}

/* Adds step `before`, or, if it was removed, its predecessors. */
static int add_or_inherit(const struct program *p, const struct predecessors *found,
                          struct predecessors *to, size_t before)
{
    if (p->steps[before].alive)
        return add(to, before);
    for (size_t i = 0; i < found[before].count; i++) {
        if (add(to, found[before].list[i]))
            return -1;
    }
    return 0;
}

/* Makes later steps that overwrite the source of a fused move wait for this move. */
static int protect(struct program *p, struct predecessors *found, size_t fused)
{
    const struct route *route = &p->steps[fused].routes[p->steps[fused].chosen];
    const struct store *store = &p->stores[p->steps[route->base].src];
    const struct byte_set read = index_map_read(&route->map);

    for (size_t i = reach_first_write(store, fused + 1); i < store->write_count; i++) {
        const struct write *write = &store->writes[i];

        if (p->steps[write->step].alive && write->bytes.begin < byte_set_end(&read) &&
            read.begin < byte_set_end(&write->bytes) && add(&found[write->step], fused))
            return -1;
        if (found[write->step].count > JOB_AFTER_MAX)
            break;
    }
    return 0;
}

static bool uses_after(const struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->steps[i].job->after_count > 0)
            return true;
    }
    return false;
}

static int find_all(struct program *p, struct predecessors *found, const size_t *step_of,
                    size_t *full)
{
    for (size_t i = 0; i < p->count && *full == NONE; i++) {
        const struct program_step *step = &p->steps[i];

        for (size_t k = 0; k < step->job->after_count; k++) {
            if (add_or_inherit(p, found, &found[i], step_of[step->job->before[k]]))
                return -1;
        }
        if (step->alive && step->chosen != 0 && protect(p, found, i))
            return -1;
        if (found[i].count > JOB_AFTER_MAX)
            *full = i;
    }
    return 0;
}

/*
 * Finds the predecessors of each step of the program: (*found)[i] are those of step i, even if
 * step i is removed. Sets *full to a step with more than JOB_AFTER_MAX predecessors, or to NONE.
 * Returns 0, or -1 if out of memory.
 */
static int predecessors_find(struct program *p, struct predecessors **found, size_t *full)
{
    size_t *step_of = malloc(p->count * sizeof(*step_of));
    int status = 0;

    *full = NONE;
    *found = calloc(p->count, sizeof(**found));
    if (!step_of || !*found)
        status = -1;
    for (size_t i = 0; i < p->count && status == 0; i++)
        step_of[p->steps[i].index] = i;
    if (status == 0 && uses_after(p))
        status = find_all(p, *found, step_of, full);
    free(step_of);
    return status;
}

static void predecessors_finish(struct predecessors *found, size_t count)
{
    for (size_t i = 0; found && i < count; i++)
        free(found[i].list);
    free(found);
}

/* Describes the source of a fused move, which reads the file or buffer of another step. */
static void describe_source(struct tensor_spec *src, const struct program_step *step,
                            const struct program_step *base, const struct fused_move *move)
{
    const struct dtype *dtype = dtype_of_header(&step->header);
    struct tensor_desc *desc = &src->desc;
    const struct tensor_spec *own = &step->job->src;

    *src = base->job->src;
    desc->has_type = own->desc.has_type;
    desc->type = own->desc.type;
    if (!desc->has_type && (base->raw_src || move->free ||
                            npy_default_type(&base->header) != npy_default_type(&step->header))) {
        desc->has_type = true;
        desc->type = npy_default_type(&step->header);
    }
    src->dtype = NULL;
    if ((base->raw_src || move->free) && dtype != dtype_of_type(desc->type))
        src->dtype = dtype->name;
    if (!move->free)
        return;
    if (!src->buffer)
        src->format = FILE_FORMAT_RAW;
    src->offset = move->source.address;
    desc->rank = move->source.rank;
    memcpy(desc->shape, move->source.shape, sizeof(move->source.shape));
    desc->stride_count = 0;
    desc->has_strides = false;
    int32_t packed[TENSOR_RANK_MAX];
    tensor_strides(desc->rank, desc->shape, NULL, packed);
    for (uint32_t d = 0; d < desc->rank; d++) {
        desc->strides[d] = (int32_t)(move->source.stride[d] / base->header.item_size);
        if (desc->shape[d] > 1 && desc->strides[d] != packed[d])
            desc->has_strides = true;
    }
}

/*
 * Sets source and cfg of *spec, a borrowed copy of the job of step `number`, to those of a route.
 * `raw`: as in fusion_find(). Sets *quant to parameters of the source that the caller frees, or
 * leaves it unchanged. Returns 0 or -1 (out of memory).
 */
static int fused_job_take(const struct program *p, bool raw, size_t number,
                          const struct route *route, struct job_spec *spec, struct quant *quant)
{
    const struct program_step *step = &p->steps[number];
    bool own;
    const struct program_step *base = &p->steps[route->base];
    struct job_common *common = &spec->common;
    struct fused_move move;

    route_form(p, step, route, raw, &move);
    common->op = JOB_OP_MOV;
    spec->slice = NULL;
    memcpy(move.common.cfg.dst_offset, common->cfg.dst_offset, sizeof(common->cfg.dst_offset));
    memcpy(move.common.cfg.dst_mem_stride, common->cfg.dst_mem_stride,
           sizeof(common->cfg.dst_mem_stride));
    move.common.lengths.dst_offset = common->lengths.dst_offset;
    move.common.lengths.dst_mem_stride = common->lengths.dst_mem_stride;
    common->cfg = move.common.cfg;
    common->lengths = move.common.lengths;
    describe_source(&spec->src, step, base, &move);
    if (route_quant(step, &move, &spec->src.desc.quant, &own))
        return -1;
    if (own)
        *quant = spec->src.desc.quant;
    return 0;
}

/* Makes *spec the job of a part of the step, whose destination is a tensor with the shape of the
 * whole result. Else like fused_job_take(). */
static int fused_job_take_part(const struct program *p, bool raw, size_t number, size_t part,
                               struct job_spec *spec, struct quant *quant)
{
    const struct program_step *step = &p->steps[number];
    const struct route route = {.map = split_map(step, part), .base = number};
    struct tensor_desc *dst = &spec->dst.desc;
    const uint32_t rank = step->map.rank;

    if (dst->rank == 0) {
        dst->rank = rank;
        dst->has_strides = true;
        dst->stride_count = rank;
        memcpy(dst->shape, step->dst_shape, sizeof(step->dst_shape));
        memcpy(dst->strides, step->dst_strides, sizeof(step->dst_strides));
    }
    for (uint32_t d = 0; d < rank; d++)
        spec->common.cfg.dst_offset[d] += (uint32_t)step->parts[part].lo[d];
    spec->common.lengths.dst_offset = (uint8_t)rank;
    return fused_job_take(p, raw, number, &route, spec, quant);
}

struct writer {
    struct program *p;
    bool raw;
    bool moved;       /* true: the names of files become relative to another directory */
    const char *path; /* the new job file; null or "-": names relative to the working directory */
    struct predecessors *after;
    char **names;  /* invented name of each step's job, or null */
    size_t number; /* number for the next invented name */
};

enum { INVENTED_NAME_MAX = 32 };

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

/* Invents the name of a job. */
static void invent_name(struct writer *writer, char out[INVENTED_NAME_MAX])
{
    do
        snprintf(out, INVENTED_NAME_MAX, "fused%zu", writer->number++);
    while (is_taken(writer->p, out));
}

/* Gives names to the jobs without name that another job waits for. */
static int invent_names(struct writer *writer)
{
    const struct program *p = writer->p;

    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; p->steps[i].alive && k < writer->after[i].count; k++) {
            const size_t before = writer->after[i].list[k];
            char name[INVENTED_NAME_MAX];

            if (name_of(writer, before))
                continue;
            invent_name(writer, name);
            writer->names[before] = strdup(name);
            if (!writer->names[before])
                return -1;
        }
    }
    return 0;
}

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
    const bool relative = writer->moved && writer->path && strcmp(writer->path, "-") != 0;

    if (!*name)
        return 0;
    *name = writer->moved ? job_file_path(writer->p->file, *name) : strdup(*name);
    if (!*name)
        return fault_no_memory(fault);
    return relative ? relocate_name(name, writer->path, fault) : 0;
}

static char **files_of(struct job_spec *spec, size_t i)
{
    char **const files[] = {&spec->src.file, &spec->dst.file, &spec->dst.params,
                            &spec->expect.golden.file, &spec->expect.golden.params};

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
    char names[SPLIT_PARTS_MAX][INVENTED_NAME_MAX];
    int status = 0;

    for (size_t i = 0; i < step->part_count && status == 0; i++) {
        const bool last = i + 1 == step->part_count;
        struct job_spec spec = *step->job;
        struct quant quant = {0};

        invent_name(writer, names[i]);
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
    struct job_spec spec = *step->job; /* borrows all members except the names of files */
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

/* Returns a copy of the list of buffers, without the buffers that only removed jobs used. Returns
 * null if out of memory. */
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

static int write_all(struct writer *writer, struct jsonw *w, struct fault *fault)
{
    const struct program *p = writer->p;
    size_t buffers;
    struct buffer_spec *kept = kept_buffers(p, &buffers);
    const bool alone = buffers == 0 && program_alive(p) == 1;
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

/* Keeps the removed jobs up to step `full`, which would have to wait for too many jobs. */
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
