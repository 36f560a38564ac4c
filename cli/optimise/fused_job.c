/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/fused_job.h"

#include <string.h>

#include "cli/optimise/job_parts.h"
#include "cli/optimise/routes.h"
#include "cli/tensor/dtype.h"
#include "cli/tensor/tensor_file.h"

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
    memcpy(desc->shape, move->source.shape, sizeof(desc->shape));
    desc->stride_count = 0;
    for (uint32_t d = 0; d < desc->rank; d++)
        desc->strides[d] = (int32_t)(move->source.stride[d] / base->header.item_size);
    desc->has_strides = false;
    int32_t packed[MLI_MAX_RANK];
    tensor_strides(desc->rank, desc->shape, NULL, packed);
    for (uint32_t d = 0; d < desc->rank; d++) {
        if (desc->shape[d] > 1 && desc->strides[d] != packed[d])
            desc->has_strides = true;
    }
}

int fused_job_take(const struct program *p, bool raw, size_t number, const struct route *route,
                   struct job_spec *spec, struct quant *quant)
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

int fused_job_take_part(const struct program *p, bool raw, size_t number, size_t part,
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
        memcpy(dst->shape, step->dst_shape, sizeof(dst->shape));
        memcpy(dst->strides, step->dst_strides, sizeof(dst->strides));
    }
    for (uint32_t d = 0; d < rank; d++)
        spec->common.cfg.dst_offset[d] += (uint32_t)step->parts[part].lo[d];
    spec->common.lengths.dst_offset = (uint8_t)rank;
    return fused_job_take(p, raw, number, &route, spec, quant);
}
