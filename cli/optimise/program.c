/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/program.h"

#include <errno.h>
#include <fnmatch.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/explained.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "cli/term/cancel.h"
#include "proto/grow.h"

size_t program_alive(const struct program *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        count += p->steps[i].alive;
    return count;
}

const char *kept_text(enum kept kept)
{
    static const char *const texts[] = {
#define KEPT_TEXT(name, text) [name] = (text),
        KEPT_TABLE(KEPT_TEXT)
#undef KEPT_TEXT
    };

    return texts[kept];
}

/* Stores */

/* Finds the store of a file by its place. */
struct store_table {
    void *stores; /* tree of pointers to the stores of files */
};

/* Makes the stores of all buffers, and allocates stores for the files of all jobs. */
static int begin_stores(struct program *p, struct fault *fault)
{
    const struct job_list *list = &p->file->list;

    p->stores = calloc(list->buffer_count + 4 * list->count, sizeof(*p->stores));
    if (!p->stores)
        return fault_no_memory(fault);
    for (size_t i = 0; i < list->buffer_count; i++)
        p->stores[p->store_count++] = (struct store){.is_buffer = true, .buffer = i};
    return 0;
}

/* Finds or adds the store of a path. */
static int store_of_path(struct program *p, struct store_table *table, const char *path,
                         size_t *found, struct fault *fault)
{
    struct store *added = &p->stores[p->store_count];

    if (!place_of(path, &added->place))
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%.128s: %s", path, strerror(errno));
    struct store *const *node = tsearch(added, &table->stores, place_compare);
    if (!node)
        return fault_no_memory(fault);
    p->store_count += *node == added;
    *found = (size_t)(*node - p->stores);
    return 0;
}

static int store_of(struct program *p, struct store_table *table, const struct tensor_spec *spec,
                    const char *path, size_t *found, struct fault *fault)
{
    if (!spec->buffer)
        return store_of_path(p, table, path, found, fault);
    *found = spec->buffer_index;
    return 0;
}

static int add_write(struct store *store, const struct write *write, struct fault *fault)
{
    if (list_grow(&store->writes, store->write_count, &store->write_capacity, sizeof(*write)))
        return fault_no_memory(fault);
    store->writes[store->write_count++] = *write;
    return 0;
}

/* Finds the store of a file that is neither source nor destination of a move, and marks the store
 * as fixed. Without a path, *store is NONE. */
static int fix(struct program *p, struct store_table *table, const char *path, size_t *store,
               struct fault *fault)
{
    *store = NONE;
    if (!path)
        return 0;
    if (store_of_path(p, table, path, store, fault))
        return -1;
    p->stores[*store].fixed = true;
    return 0;
}

/* Steps */

static void take_source(struct program_step *step, const struct explained_side *side, uint32_t elem)
{
    step->source = (struct move_source){.address = side->offset, .rank = side->rank};
    for (uint32_t d = 0; d < side->rank; d++) {
        step->source.shape[d] = side->shape[d];
        step->source.stride[d] = (uint64_t)side->strides[d] * elem;
    }
}

static void take_map(struct program_step *step, const struct explained *explained)
{
    const mli_explanation *move = &explained->move;

    step->map = index_map_of(move, explained->src.offset, explained->dst.offset);
    for (uint32_t d = 0; d < move->rank; d++) {
        step->first[move->axis[d].dst_dim] = move->axis[d].first;
        step->step[move->axis[d].dst_dim] = move->axis[d].step;
    }
}

static bool is_in_memory(const struct program *p, const struct tensor_spec *spec)
{
    return spec->memory[0] != '\0' ||
           (spec->buffer && p->file->list.buffers[spec->buffer_index].memory[0] != '\0');
}

/* Finds the reasons why a job must not change, or must not be removed. */
static void find_pins(const struct program *p, struct program_step *step)
{
    const struct job_spec *job = step->job;

    if (job->expect.kind != EXPECT_NOTHING)
        step->needed = KEPT_EXPECT;
    if (job->dst.params)
        step->needed = KEPT_PARAMS;
    if (is_in_memory(p, &job->src) || is_in_memory(p, &job->dst))
        step->needed = KEPT_MEMORY;
    if (is_staged(job))
        step->needed = KEPT_STAGE;
    step->frozen = job->expect.kind == EXPECT_ERROR || step->needed == KEPT_MEMORY ||
                   step->needed == KEPT_STAGE;
}

static int take_resolved(struct program *p, struct store_table *table, struct program_step *step,
                         const struct resolved *r, struct fault *fault)
{
    const struct job_spec *job = step->job;
    struct explained explained;
    size_t expect;

    if (explained_init(&explained, p->file, r, job->common.channels, fault) ||
        explained_check_apart(&explained, r, fault) ||
        store_of(p, table, &job->src, r->src_path, &step->src, fault) ||
        store_of(p, table, &job->dst, r->dst_path, &step->dst, fault) ||
        fix(p, table, r->params_path, &step->params, fault) ||
        fix(p, table, r->expect_path, &expect, fault))
        return -1;
    step->header = r->src.header;
    if (npy_folds(&step->header)) {
        step->needed = KEPT_WIDE;
        step->frozen = true;
    }
    step->dst_data = explained.dst.offset;
    step->raw_src = job->src.buffer || tensor_spec_format(&job->src) == FILE_FORMAT_RAW;
    step->creates = !job->dst.update && !job->dst.buffer;
    take_map(step, &explained);
    memcpy(step->dst_shape, r->result.shape, sizeof(step->dst_shape));
    memcpy(step->dst_strides, r->result.mem_stride, sizeof(step->dst_strides));
    take_source(step, &explained.src, explained.move.elem);
    p->stores[step->src].read = true;
    /* Offsets in an unpacked archive member are not offsets in the file. */
    if (file_format_is_archive(tensor_spec_format(&job->src)))
        p->stores[step->src].fixed = true;
    const struct write write = {(size_t)(step - p->steps), index_map_written(&step->map)};
    return add_write(&p->stores[step->dst], &write, fault);
}

static int take_job(struct program *p, struct store_table *table, struct program_step *step,
                    struct produced *produced, struct fault *fault)
{
    struct resolved r;
    const bool failed = resolved_plan(&r, p->file, step->job, produced, fault) ||
                        take_resolved(p, table, step, &r, fault) ||
                        resolved_produce(&r, produced, fault);

    resolved_finish(&r);
    return failed ? -1 : 0;
}

/*
 * Takes a job that must fail: it writes nothing, but its error may depend on the files that it
 * names.
 */
static int take_failing_job(struct program *p, struct store_table *table, struct program_step *step,
                            struct fault *fault)
{
    const char *const files[] = {step->job->src.file, step->job->dst.file};
    struct fault unknown;
    size_t store;

    step->src = step->dst = step->params = NONE;
    for (size_t i = 0; i < 2; i++) {
        char *path = files[i] ? job_file_path(p->file, files[i]) : NULL;

        if (files[i] && !path)
            return fault_no_memory(fault);
        /* A missing directory may be the expected error. */
        if (path)
            fix(p, table, path, &store, &unknown);
        free(path);
    }
    return 0;
}

static int take_steps(struct program *p, struct store_table *table, struct fault *fault)
{
    struct produced produced = {.without_golden = true};
    int status = 0;

    for (size_t i = 0; i < p->file->list.count && status == 0; i++) {
        struct program_step *step = &p->steps[p->count++];

        step->index = p->file->list.order[i];
        step->job = &p->file->list.jobs[step->index];
        find_pins(p, step);
        if (step->job->expect.kind == EXPECT_ERROR)
            status = take_failing_job(p, table, step, fault);
        else
            status = take_job(p, table, step, &produced, fault);
        if (status)
            fault_prefix(fault, step->job->pointer);
        else if (cancel_requested())
            status = cancel_fault(fault);
    }
    produced_finish(&produced);
    return status;
}

/* Intermediate results */

static bool matches(const char *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    }
    return false;
}

/*
 * Returns the name of a store for messages; the name of a file is the name that its first writer
 * gives.
 */
static const char *name_of(const struct program *p, const struct store *store)
{
    if (store->is_buffer)
        return p->file->list.buffers[store->buffer].name;
    return p->steps[store->writes[0].step].job->dst.file;
}

static bool is_intermediate(const struct program *p, const struct store *store,
                            const struct program_intermediates *which)
{
    const char *name;

    if (store->write_count == 0 || store->fixed)
        return false;
    name = name_of(p, store);
    if (!store->is_buffer && !p->steps[store->writes[0].step].creates)
        return false;
    if (!store->read)
        return matches(which->dropped, which->dropped_count, name);
    return store->is_buffer || which->all || matches(which->patterns, which->pattern_count, name);
}

/* Returns the reason why the writers of a store stay. */
static enum kept why_needed(const struct program *p, const struct store *store)
{
    if (!store->read)
        return store->is_buffer ? KEPT_UNREAD : KEPT_OUTPUT;
    return p->steps[store->writes[0].step].creates ? KEPT_OUTPUT : KEPT_UPDATED;
}

static void find_needed(struct program *p, const struct program_intermediates *which)
{
    for (size_t i = 0; i < p->store_count; i++) {
        struct store *store = &p->stores[i];

        store->intermediate = is_intermediate(p, store, which);
        for (size_t k = 0; k < store->write_count && !store->intermediate; k++) {
            struct program_step *step = &p->steps[store->writes[k].step];

            if (step->needed == NOT_KEPT)
                step->needed = why_needed(p, store);
        }
    }
}

static void keep_store(void *store)
{
    (void)store;
}

int program_init(struct program *program, const struct job_file *file,
                 const struct program_intermediates *intermediates, struct fault *fault)
{
    struct store_table table = {0};

    *program = (struct program){.file = file};
    program->steps = calloc(file->list.count, sizeof(*program->steps));
    if (!program->steps)
        return fault_no_memory(fault);
    const bool failed = begin_stores(program, fault) || take_steps(program, &table, fault);
    if (!failed)
        find_needed(program, intermediates);
    tdestroy(table.stores, keep_store);
    return failed ? -1 : 0;
}

int program_reload(struct job_file *file, const struct program *p, const struct jsonw *w,
                   struct fault *fault)
{
    const struct text text = {.bytes = w->data, .length = w->length};

    return job_file_load_text(file, p->file->is_file ? p->file->path : "-", &text, fault);
}

void program_finish(struct program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        free(program->steps[i].routes);
        free(program->steps[i].parts);
    }
    for (size_t i = 0; i < program->store_count; i++)
        free(program->stores[i].writes);
    free(program->steps);
    free(program->stores);
    *program = (struct program){0};
}
