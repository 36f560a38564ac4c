/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/case_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/case_source.h"
#include "cli/import/element.h"
#include "cli/import/fused_case.h"
#include "cli/import/stored.h"
#include "cli/term/cancel.h"
#include "proto/file/buffer_spec.h"

enum { AFTER_MAX = 64, JOB_NAME_MAX = IMPORT_RESULT_MAX + 32 };

/* A movement with its moves. */
struct part {
    const struct movement *movement;
    struct import_node *node;
    struct moves moves;
    struct npy_header header;     /* of the result's file */
    char name[IMPORT_RESULT_MAX]; /* of its files, and the beginning of its jobs' names */
    bool direct;                  /* one move makes the file */
};

/* A job file that is being written. */
struct writer {
    struct import *import;
    struct import_output *output;
    struct jsonw w;
    struct part *parts;
    size_t count;
    bool chain; /* without expected results of tensors that only this case reads */
    struct fault *fault;
};

/* Returns whether the move makes the whole file of the result. */
static bool is_direct(const struct part *part)
{
    const struct move *move = &part->moves.items[0];

    if (part->moves.count != 1 || part->moves.filled || move->axis_count != part->header.rank)
        return false;
    for (uint32_t i = 0; i < move->axis_count; i++) {
        const struct move_axis *axis = &move->axes[move->order[i]];

        if (axis->count != part->header.shape[i] || axis->at != 0)
            return false;
    }
    return true;
}

static int add_part(struct writer *writer, struct import_node *node,
                    const struct movement *movement)
{
    struct part *more = reallocarray(writer->parts, writer->count + 1, sizeof(*more)), *part;

    if (!more)
        return fault_no_memory(writer->fault);
    writer->parts = more;
    part = &more[writer->count];
    *part = (struct part){.movement = movement, .node = node};
    writer->count++;
    if (moves_of(movement, &part->moves) || moves_fold(&part->moves))
        return fault_no_memory(writer->fault);
    stored_header(movement->dtype, movement->result_rank, movement->result, &part->header);
    import_result(node, movement, part->name);
    part->direct = is_direct(part);
    return 0;
}

/* Computes the expected result, and writes it. */
static int write_expected(struct writer *writer, const struct part *part)
{
    struct element_store *store = &writer->import->store;
    const struct movement *movement = part->movement;
    const uint8_t **sources = calloc(movement->source_count, sizeof(*sources));
    uint8_t *elements = malloc((size_t)part->header.data_size + 1);
    const uint8_t *expected = store->expected[movement->output];
    struct npy_header header = part->header;
    char name[JOB_NAME_MAX + 16];
    int result = sources && elements ? 0 : fault_no_memory(writer->fault);

    for (size_t i = 0; sources && i < movement->source_count && result == 0; i++) {
        sources[i] = element_store_get(store, movement->sources[i].tensor, writer->fault);
        result = sources[i] ? 0 : -1;
    }
    if (result == 0) {
        element_compute(movement, sources, elements);
        snprintf(name, sizeof(name), "%s.golden", part->name);
        result = import_output_tensor(writer->output, name, &header, expected ? expected : elements,
                                      writer->fault);
    }
    if (result == 0) {
        result = element_store_put(store, movement->output, elements, writer->fault);
        elements = NULL;
    }
    free(sources);
    free(elements);
    return result;
}

/* Writes the file with which a result is filled before a border other than zeros. */
static int write_fill(struct writer *writer, const struct part *part)
{
    const uint32_t size = part->movement->dtype->size;
    struct npy_header header = part->header;
    uint8_t *elements = malloc((size_t)header.data_size + 1);
    char name[JOB_NAME_MAX + 16];
    int result;

    if (!elements)
        return fault_no_memory(writer->fault);
    for (uint64_t at = 0; at < header.data_size; at += size)
        memcpy(elements + at, part->movement->fill, size);
    snprintf(name, sizeof(name), "%s.fill", part->name);
    result = import_output_tensor(writer->output, name, &header, elements, writer->fault);
    free(elements);
    return result;
}

/* Names of jobs */

static void job_name(const struct part *part, size_t move, char out[JOB_NAME_MAX])
{
    if (part->direct)
        snprintf(out, JOB_NAME_MAX, "%s", part->name);
    else
        snprintf(out, JOB_NAME_MAX, "%s.move%zu", part->name, move);
}

static void add_after(struct job_spec *job, char names[][JOB_NAME_MAX], char **list,
                      const char *name)
{
    snprintf(names[job->after_count], JOB_NAME_MAX, "%s", name);
    list[job->after_count] = names[job->after_count];
    job->after_count++;
    job->after = list;
}

/* Jobs */

/* Returns whether a job has to compare the result of a part. */
static bool is_compared(const struct writer *writer, const struct part *part)
{
    return !writer->chain || writer->import->needed[part->movement->output] ||
           !writer->import->used[part->movement->output];
}

static void expect_file(const struct writer *writer, const struct part *part, struct job_spec *job,
                        char path[CASE_PATH_MAX], char golden[CASE_PATH_MAX])
{
    snprintf(path, CASE_PATH_MAX, "%s.npy", part->name);
    snprintf(golden, CASE_PATH_MAX, IMPORT_DATA "/%s.golden.npy", part->name);
    job->dst.file = path;
    if (!is_compared(writer, part))
        return;
    job->expect.kind = EXPECT_FILE;
    job->expect.golden.file = golden;
}

/* Sets the place of a move in the buffer of a result. */
static void place_in_buffer(const struct part *part, const struct move *move, struct job_spec *job)
{
    struct tensor_desc *desc = &job->dst.desc;
    uint64_t stride = 1, elements = 1;
    bool packed = move->dst_base == 0, whole = true;

    for (uint32_t i = move->axis_count; i-- > 0;) {
        const struct move_axis *axis = &move->axes[move->order[i]];

        packed = packed && axis->dst_stride == stride;
        whole = whole && axis->at == 0 && axis->count == axis->dst_extent;
        stride *= axis->dst_extent;
        elements *= axis->dst_extent;
    }
    packed = packed && elements * part->moves.unit == part->header.data_size;
    if (packed && whole)
        return;
    job->dst.offset = packed ? 0 : move->dst_base * part->moves.unit;
    desc->rank = packed ? move->axis_count : 0;
    desc->stride_count = move->axis_count;
    desc->has_strides = !packed;
    for (uint32_t i = 0; i < move->axis_count; i++) {
        const struct move_axis *axis = &move->axes[move->order[i]];

        desc->shape[i] = (uint32_t)axis->dst_extent;
        desc->strides[i] = (int32_t)axis->dst_stride;
        if (packed)
            job->common.cfg.dst_offset[i] = (uint32_t)axis->at;
        else
            job->dst.offset += axis->at * axis->dst_stride * part->moves.unit;
    }
}

static int write_move(struct writer *writer, struct part *part, size_t number)
{
    const struct move *move = &part->moves.items[number];
    const size_t tensor = part->movement->sources[move->source].tensor;
    const struct model_tensor *from = &writer->import->model->tensors[tensor];
    char name[JOB_NAME_MAX], names[3][JOB_NAME_MAX], *after[3], other[JOB_NAME_MAX];
    char path[CASE_PATH_MAX], golden[CASE_PATH_MAX], params[CASE_PATH_MAX];
    struct case_source source;
    struct job_spec job;
    int result;

    if (case_source_of(writer->import, tensor, writer->output, &source, writer->fault))
        return -1;
    job_spec_init(&job);
    job.common.op = JOB_OP_MOV;
    job_name(part, number, name);
    job.common.name = name;
    case_source_job(&source, move, part->moves.unit, &job);
    result = case_quantise(&job.src.desc, from, &source.header,
                           part->direct && job.src.format != FILE_FORMAT_RAW);
    part->node->quant_left_out = part->node->quant_left_out || result == 1;
    if (part->direct) {
        expect_file(writer, part, &job, path, golden);
        if (job.src.desc.quant.count > 1 && is_compared(writer, part)) {
            snprintf(params, sizeof(params), "%s.params.json", part->name);
            job.dst.params = params;
        }
    } else {
        job.dst.buffer = part->name;
        place_in_buffer(part, move, &job);
    }
    job_common_set_lengths(&job.common, move->axis_count);
    if (import_maker(writer->import, tensor, other))
        add_after(&job, names, after, other);
    if (part->moves.filled) {
        snprintf(other, sizeof(other), "%s.fill", part->name);
        add_after(&job, names, after, other);
    }
    if (part->moves.count > AFTER_MAX &&
        number > 0) { /* the moves of a long list run in sequence */
        job_name(part, number - 1, other);
        add_after(&job, names, after, other);
    }
    if (result >= 0)
        job_file_write(&writer->w, NULL, &job); /* all strings are borrowed */
    tensor_desc_finish(&job.src.desc);
    return result < 0 ? fault_no_memory(writer->fault) : 0;
}

static void write_fill_job(struct writer *writer, struct part *part)
{
    char name[JOB_NAME_MAX], path[CASE_PATH_MAX];
    struct job_spec job;

    job_spec_init(&job);
    job.common.op = JOB_OP_MOV;
    snprintf(name, sizeof(name), "%s.fill", part->name);
    snprintf(path, sizeof(path), IMPORT_DATA "/%s.fill.npy", part->name);
    job.common.name = name;
    job.src.file = path;
    job.dst.buffer = part->name;
    job_file_write(&writer->w, NULL, &job);
}

/* Writes the job that saves the buffer of a result. */
static int write_save(struct writer *writer, struct part *part)
{
    const size_t moves = part->moves.count;
    char name[JOB_NAME_MAX], names[AFTER_MAX][JOB_NAME_MAX], *after[AFTER_MAX];
    char path[CASE_PATH_MAX], golden[CASE_PATH_MAX], other[JOB_NAME_MAX];
    const size_t source = part->movement->sources[0].tensor;
    struct job_spec job;
    int result;

    job_spec_init(&job);
    job.common.op = JOB_OP_MOV;
    snprintf(name, sizeof(name), "%s", part->name);
    job.common.name = name;
    job.src.buffer = part->name;
    job.src.dtype = dtype_of_header(&part->header)->name;
    job.src.desc.has_type = true;
    job.src.desc.type = case_type(&part->header, false);
    job.src.desc.rank = part->header.rank;
    memcpy(job.src.desc.shape, part->header.shape, sizeof(part->header.shape));
    result =
        case_quantise(&job.src.desc, &writer->import->model->tensors[source], &part->header, false);
    expect_file(writer, part, &job, path, golden);
    for (size_t i = moves > AFTER_MAX ? moves - 1 : 0; i < moves; i++) {
        job_name(part, i, other);
        add_after(&job, names, after, other);
    }
    if (moves == 0 && part->moves.filled) {
        snprintf(other, sizeof(other), "%s.fill", part->name);
        add_after(&job, names, after, other);
    }
    if (result >= 0)
        job_file_write(&writer->w, NULL, &job);
    tensor_desc_finish(&job.src.desc);
    return result < 0 ? fault_no_memory(writer->fault) : 0;
}

static int write_part(struct writer *writer, struct part *part)
{
    if (cancel_requested())
        return cancel_fault(writer->fault);
    if (part->moves.filled) {
        if (!writer->chain && write_fill(writer, part))
            return -1;
        write_fill_job(writer, part);
    }
    for (size_t i = 0; i < part->moves.count; i++) {
        if (write_move(writer, part, i))
            return -1;
    }
    if (!part->direct && write_save(writer, part))
        return -1;
    return writer->chain ? 0 : write_expected(writer, part);
}

static int write_buffers(struct writer *writer)
{
    struct buffer_spec *buffers = calloc(writer->count + 1, sizeof(*buffers));
    size_t count = 0;

    if (!buffers)
        return fault_no_memory(writer->fault);
    for (size_t i = 0; i < writer->count; i++) {
        if (!writer->parts[i].direct) {
            buffers[count].name = writer->parts[i].name;
            buffers[count++].bytes = writer->parts[i].header.data_size;
        }
    }
    buffer_specs_write(&writer->w, buffers, count);
    free(buffers);
    return 0;
}

static int write_jobs(struct writer *writer)
{
    jsonw_object_begin(&writer->w, NULL);
    if (write_buffers(writer))
        return -1;
    jsonw_array_begin(&writer->w, "jobs");
    for (size_t i = 0; i < writer->count; i++) {
        if (write_part(writer, &writer->parts[i]))
            return -1;
    }
    jsonw_array_end(&writer->w);
    jsonw_object_end(&writer->w);
    jsonw_newline(&writer->w);
    return 0;
}

/* Writes the text as the job file of the case. */
static int save(struct writer *writer, const struct import_node *root)
{
    const char *text = jsonw_text(&writer->w);
    char name[JOB_NAME_MAX];

    if (!text)
        return fault_no_memory(writer->fault);
    snprintf(name, sizeof(name), "%s.json", root->name);
    return import_output_text(writer->output, name, text, strlen(text), writer->fault);
}

/* Writes the chain of the case as a second text, and lets fused_case_write() make fewer jobs of it.
 */
static int fuse(struct writer *writer, struct import_node *root)
{
    if (!writer->import->request->fuse || root->next == MODEL_ABSENT)
        return 0;
    writer->chain = true;
    jsonw_reset(&writer->w);
    if (write_jobs(writer))
        return -1;
    if (!jsonw_text(&writer->w))
        return fault_no_memory(writer->fault);
    return fused_case_write(writer->import, root, writer->output, &writer->w, writer->fault);
}

int case_file_write(struct import *import, size_t root, struct import_output *output,
                    struct fault *fault)
{
    struct writer writer = {.import = import, .output = output, .fault = fault};
    struct import_node *first = &import->nodes[root];
    int result = 0;

    jsonw_init_lines(&writer.w, 2);
    for (size_t i = root; i != MODEL_ABSENT && result == 0; i = import->nodes[i].next) {
        struct import_node *node = &import->nodes[i];

        for (size_t k = 0; k < node->list.count && result == 0; k++)
            result = add_part(&writer, node, &node->list.movements[k]);
    }
    if (result == 0)
        result = write_jobs(&writer) || save(&writer, first) || fuse(&writer, first) ? -1 : 0;
    for (size_t i = 0; i < writer.count; i++)
        moves_finish(&writer.parts[i].moves);
    free(writer.parts);
    jsonw_finish(&writer.w);
    element_store_forget(&import->store);
    return result;
}
