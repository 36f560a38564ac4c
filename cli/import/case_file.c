/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/element.h"
#include "cli/import/element_store.h"
#include "cli/import/import.h"
#include "cli/make/relocate.h"
#include "cli/optimise/optimise.h"
#include "cli/term/cancel.h"
#include "proto/file/job_spec.h"

/* Writes `path` to `out`, relative to the directory of the job files. */
static int localise(const struct import_output *output, const char *path, char out[CASE_PATH_MAX],
                    struct fault *fault)
{
    char *name = strdup(path), *place = NULL;
    int result = -1;

    if (!name || asprintf(&place, "%s/x", output->hidden) < 0) {
        place = NULL;
        fault_no_memory(fault);
    } else if (relocate_name(&name, place, fault) == 0) {
        result = 0;
        snprintf(out, CASE_PATH_MAX, "%s", name);
    }
    free(place);
    free(name);
    return result;
}

/* Sets file and offset of a constant that jobs read from the model's files, without a copy. */
static int name_constant(struct import *import, const struct model_tensor *tensor,
                         struct import_output *output, struct case_source *source,
                         struct fault *fault)
{
    const char *path = import->request->path, *slash = strrchr(path, '/');
    char outside[CASE_PATH_MAX];

    source->offset = tensor->offset;
    if (tensor->place == MODEL_OUTSIDE) {
        snprintf(outside, sizeof(outside), "%.*s%s", slash ? (int)(slash - path + 1) : 0, path,
                 tensor->location);
        path = outside;
    } else {
        source->readable = stored_as_is(tensor->dtype, tensor->rank);
        source->tensor = tensor->name;
        if (file_format_of_name(path) != import->model->format)
            source->format = import->model->format;
    }
    return localise(output, path, source->file, fault);
}

/* Finds the file of a tensor. Writes the file if it does not exist. Returns 0 or -1. */
static int case_source_of(struct import *import, size_t index, struct import_output *output,
                          struct case_source *source, struct fault *fault)
{
    const struct model_tensor *tensor = &import->model->tensors[index];
    uint64_t shape[MOVEMENT_RANK_MAX];
    char name[IMPORT_NAME_MAX], result[IMPORT_RESULT_MAX];
    const uint8_t *elements;

    *source = (struct case_source){.offset = NPY_FORMAT_SIZE};
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = (uint64_t)tensor->dims[d].extent;
    stored_header(tensor->dtype, tensor->rank, shape, &source->header);
    if (import_maker(import, index, result)) {
        snprintf(source->file, sizeof(source->file), "%s.npy", result);
        source->readable = true;
        return 0;
    }
    if (tensor->place == MODEL_IN_FILE || tensor->place == MODEL_OUTSIDE)
        return name_constant(import, tensor, output, source, fault);
    source->readable = true;
    import_name(name, index, import->model->tensor_count, "tensor", tensor->name);
    snprintf(source->file, sizeof(source->file), IMPORT_DATA "/%s.npy", name);
    if (import->written[index])
        return 0;
    elements = element_store_get(&import->store, index, fault);
    if (!elements || import_output_tensor(output, name, &source->header, elements, fault))
        return -1;
    import->written[index] = true;
    return 0;
}

/* Returns the element type of a job's tensor for the elements that a .npy header describes. */
static mli_element_type case_type(const struct npy_header *header, bool quantised)
{
    if (quantised && header->kind != 'f' && header->item_size == 1)
        return MLI_EL_SA_8;
    return npy_default_type(header);
}

/* Returns whether the move reads the whole tensor with the shape that the file states. */
static bool is_natural(const struct case_source *source, const struct move *move)
{
    uint64_t stride = 1;

    if (!source->readable || move->src_base != 0 || move->axis_count != source->header.rank)
        return false;
    for (uint32_t d = move->axis_count; d-- > 0; stride *= move->axes[d].extent) {
        if (move->axes[d].extent != source->header.shape[d] || move->axes[d].src_stride != stride)
            return false;
    }
    return true;
}

/* Returns whether the source of a move is packed. */
static bool is_packed(const struct move *move)
{
    uint64_t stride = 1;

    for (uint32_t d = move->axis_count; d-- > 0; stride *= move->axes[d].extent) {
        if (move->axes[d].src_stride != stride)
            return false;
    }
    return true;
}

/* Fills job->src and all members of cfg except dst_offset. Strings in job->src are borrowed. */
static void case_source_job(struct case_source *source, const struct move *move, uint32_t unit,
                            struct job_spec *job)
{
    struct tensor_spec *src = &job->src;

    src->file = source->file;
    if (is_natural(source, move)) {
        src->tensor = source->tensor;
        src->format = source->format;
    } else {
        src->format = FILE_FORMAT_RAW;
        src->offset = source->offset + move->src_base * unit;
        src->desc.has_type = true;
        src->desc.type = case_type(&source->header, false);
        src->dtype = dtype_of_header(&source->header)->name;
        src->desc.rank = src->desc.stride_count = move->axis_count;
        src->desc.has_strides = !is_packed(move);
        for (uint32_t d = 0; d < move->axis_count; d++) {
            src->desc.shape[d] = (uint32_t)move->axes[d].extent;
            src->desc.strides[d] = (int32_t)move->axes[d].src_stride;
        }
    }
    move_to_cfg(move, &job->common.cfg);
}

/* Converts scale to mantissa / 2^shift. Returns false if a job's fields cannot hold the result. */
static bool convert(float scale, int64_t zero, int16_t *mantissa, int8_t *shift,
                    int16_t *zero_point)
{
    int exponent;
    const double fraction = frexp((double)scale, &exponent);
    long rounded = lrint(ldexp(fraction, 15));

    if (!(scale > 0) || isinf(scale) || zero < INT16_MIN || zero > INT16_MAX)
        return false;
    if (rounded > INT16_MAX) { /* a fraction such as 0.99999 was rounded to 1 */
        rounded /= 2;
        exponent++;
    }
    if (15 - exponent < INT8_MIN || 15 - exponent > INT8_MAX)
        return false;
    *mantissa = (int16_t)rounded;
    *shift = (int8_t)(15 - exponent);
    *zero_point = (int16_t)zero;
    return true;
}

/* Copies the quantisation of a tensor to a job. Returns 0, 1 if a job cannot have these
 * parameters, or -1 (no memory). */
static int case_quantise(struct tensor_desc *desc, const struct model_tensor *tensor,
                         const struct npy_header *header, bool whole)
{
    const struct model_quant *from = &tensor->quant;
    struct quant *quant = &desc->quant;

    if (from->count == 0 || header->kind == 'f' || header->item_size == 2)
        return from->count != 0;
    if (from->count > 1 &&
        (!whole || from->axis >= MLI_MAX_RANK || (uint32_t)from->axis >= header->rank ||
         header->shape[from->axis] != from->count))
        return 1;
    if (quant_alloc(quant, from->count))
        return -1;
    quant->axis = from->count > 1 ? from->axis : -1;
    for (uint32_t i = 0; i < from->count; i++) {
        if (!convert(from->scale[i], from->zero_point[i], &quant->scale[i],
                     &quant->scale_frac_bits[i], &quant->zero_point[i])) {
            free(quant->scale);
            *quant = (struct quant){.axis = -1};
            return 1;
        }
    }
    desc->has_type = true;
    desc->type = case_type(header, true);
    return 0;
}

static int save_fused_case(struct import *import, struct import_node *root,
                           struct import_output *output, const struct optimised *result,
                           struct fault *fault)
{
    char name[IMPORT_NAME_MAX + 16];

    root->chain_jobs = result->before.jobs;
    root->fused_jobs = result->after.jobs;
    if (result->after.jobs >= result->before.jobs)
        return 0;
    import->fused++;
    snprintf(name, sizeof(name), "%s.fused.json", root->name);
    return import_output_text(output, name, result->text.data, result->text.length, fault);
}

/*
 * Fuses the jobs of the job file `chain`, and writes NAME.fused.json if this saves jobs. Sets
 * root->chain_jobs and root->fused_jobs. Returns 0, or -1 with the fault.
 */
static int fused_case_write(struct import *import, struct import_node *root,
                            struct import_output *output, const struct jsonw *chain,
                            struct fault *fault)
{
    const struct optimise_request request = {
        .intermediates = {.all = true}, .raw = true, .options = import->request->options};
    const struct text text = {.bytes = chain->data, .length = chain->length};
    struct optimised result;
    struct job_file file;
    char *path = NULL;
    int status;

    if (asprintf(&path, "%s/%s.fused.json", output->hidden, root->name) < 0)
        return fault_no_memory(fault);
    status = job_file_load_text(&file, path, &text, fault);
    if (status == 0) {
        status = optimise(&result, &file, &request, fault);
        if (status == 0)
            status = save_fused_case(import, root, output, &result, fault);
        optimised_finish(&result);
        job_file_finish(&file);
    }
    free(path);
    return status;
}

enum { AFTER_MAX = 64, JOB_NAME_MAX = IMPORT_RESULT_MAX + 32 };

/* A movement with its moves. */
struct part {
    const struct movement *movement;
    struct import_node *node;
    struct moves moves;
    struct npy_header header;     /* header of the file of the result */
    char name[IMPORT_RESULT_MAX]; /* the names of the part's files and jobs begin with it */
    bool direct;                  /* true: one move writes the whole file of the result */
};

/* A job file that is being written. */
struct writer {
    struct import *import;
    struct import_output *output;
    struct jsonw w;
    struct part *parts;
    size_t count;
    bool chain; /* true: leaves out the expected results of tensors that only this case reads */
    struct fault *fault;
};

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

/* Writes the expected result: the given elements (--data), or else the computed elements. */
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

/* Writes the file with which write_fill_job() fills the result before its moves. */
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

/* Returns whether a job has to compare the result of a part. */
static bool is_compared(const struct writer *writer, const struct part *part)
{
    return !writer->chain || writer->import->needed[part->movement->output] ||
           !writer->import->used[part->movement->output];
}

/* Sets the expected result, with the parameters that the model gives it. Returns 0 or -1. */
static int expect_file(const struct writer *writer, const struct part *part, struct job_spec *job,
                       char path[CASE_PATH_MAX], char golden[CASE_PATH_MAX])
{
    const struct model_tensor *output = &writer->import->model->tensors[part->movement->output];
    struct tensor_desc *wanted = &job->expect.golden.desc;

    snprintf(path, CASE_PATH_MAX, "%s.npy", part->name);
    snprintf(golden, CASE_PATH_MAX, IMPORT_DATA "/%s.golden.npy", part->name);
    job->dst.file = path;
    if (!is_compared(writer, part))
        return 0;
    job->expect.kind = EXPECT_FILE;
    job->expect.golden.file = golden;
    const int result =
        job->src.desc.quant.count > 0 ? case_quantise(wanted, output, &part->header, true) : 0;
    job->expect.has_params = wanted->quant.count > 0;
    return result < 0 ? -1 : 0;
}

/* Sets the offset, shape and strides with which a move writes the buffer of a result. */
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
        result = expect_file(writer, part, &job, path, golden) ? -1 : result;
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
        number > 0) { /* each move waits for the previous move, the save job for the last */
        job_name(part, number - 1, other);
        add_after(&job, names, after, other);
    }
    if (result >= 0)
        job_file_write(&writer->w, NULL, &job); /* the strings of job are borrowed */
    tensor_desc_finish(&job.src.desc);
    tensor_desc_finish(&job.expect.golden.desc);
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

/* Writes the job that saves the buffer of a result to its file. */
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
    result = expect_file(writer, part, &job, path, golden) ? -1 : result;
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
    tensor_desc_finish(&job.expect.golden.desc);
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

static int save_case_file(struct writer *writer, const struct import_node *root)
{
    const char *text = jsonw_text(&writer->w);
    char name[JOB_NAME_MAX];

    if (!text)
        return fault_no_memory(writer->fault);
    snprintf(name, sizeof(name), "%s.json", root->name);
    return import_output_text(writer->output, name, text, strlen(text), writer->fault);
}

/*
 * Writes the jobs of the case again, which now compare only the final results and the results that
 * the graph or nodes without a case read, and fuses these jobs.
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
        result =
            write_jobs(&writer) || save_case_file(&writer, first) || fuse(&writer, first) ? -1 : 0;
    for (size_t i = 0; i < writer.count; i++)
        moves_finish(&writer.parts[i].moves);
    free(writer.parts);
    jsonw_finish(&writer.w);
    element_store_forget(&import->store);
    return result;
}
