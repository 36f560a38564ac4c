/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/case_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/stored.h"
#include "cli/make/relocate.h"

/* Writes a path that is relative to the job files. */
static int localise(const struct import_output *output, const char *path, char out[CASE_PATH_MAX],
                    struct fault *fault)
{
    struct job_spec job;
    char *place = NULL;
    int result = -1;

    job_spec_init(&job);
    job.src.file = strdup(path);
    if (!job.src.file || asprintf(&place, "%s/x", output->hidden) < 0) {
        place = NULL;
        fault_no_memory(fault);
    } else if (relocate(&job, place, fault) == 0) {
        result = 0;
        snprintf(out, CASE_PATH_MAX, "%s", job.src.file);
    }
    free(place);
    job_spec_finish(&job);
    return result;
}

/* Names the file that holds a constant in place. */
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

int case_source_of(struct import *import, size_t index, struct import_output *output,
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

mli_element_type case_type(const struct npy_header *header, bool quantised)
{
    if (quantised && header->kind != 'f' && header->item_size == 1)
        return MLI_EL_SA_8;
    return npy_default_type(header);
}

/* Returns whether the move sees the source in the shape of its file. */
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

static void set_window(const struct move *move, mli_mov_cfg_t *cfg)
{
    for (uint32_t d = 0; d < move->axis_count; d++) {
        const struct move_axis *axis = &move->axes[d];
        const uint64_t padded = axis->pre + axis->extent + axis->post;
        const uint64_t size = (axis->count - 1) * axis->step + 1;

        cfg->padding_pre[d] = (uint8_t)axis->pre;
        cfg->padding_post[d] = (uint8_t)axis->post;
        cfg->offset[d] = (uint32_t)axis->offset;
        cfg->sub_sample_step[d] = (uint32_t)axis->step;
        /* A size of 0 means up to the end. */
        if ((padded - axis->offset - 1) / axis->step + 1 != axis->count)
            cfg->size[d] = (uint32_t)size;
        cfg->perm_dim[d] = (uint8_t)move->order[d];
    }
}

void case_source_job(struct case_source *source, const struct move *move, uint32_t unit,
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
    set_window(move, &job->common.cfg);
}

/* Quantisation */

/* Converts a scale to mantissa / 2^shift. Returns false if no such numbers are near. */
static bool convert(float scale, int64_t zero, int16_t *mantissa, int8_t *shift,
                    int16_t *zero_point)
{
    int exponent;
    const double fraction = frexp((double)scale, &exponent);
    long rounded = lrint(ldexp(fraction, 15));

    if (!(scale > 0) || isinf(scale) || zero < INT16_MIN || zero > INT16_MAX)
        return false;
    if (rounded > INT16_MAX) { /* 0.99999 becomes 1 */
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

int case_quantise(struct tensor_desc *desc, const struct model_tensor *tensor,
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
