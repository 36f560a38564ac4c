/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/explained.h"

#include <string.h>

#include "mli_helpers_api.h"

enum { PAGE = 4096 };

/* Half of all addresses are no program's, and these two lie far apart in there. */
#define ADDRESS_BITS (sizeof(uintptr_t) * 8)
#define SRC_BASE     ((uintptr_t)1 << (ADDRESS_BITS - 1))
#define DST_BASE     (SRC_BASE | (uintptr_t)1 << (ADDRESS_BITS - 2))

/* As far into a page as the first element is in its file, which is how it is mapped. */
static const uint8_t *base_of(uintptr_t pages, uint64_t offset)
{
    return (const uint8_t *)(pages + (uintptr_t)(offset % PAGE));
}

static uint32_t capacity_of(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void take_file(struct explained_side *side, const char *name, const struct tensor_file *file)
{
    const struct npy_header *header = &file->header;
    side->file = name;
    side->rank = header->rank;
    memcpy(side->shape, header->shape, sizeof(side->shape));
    memcpy(side->strides, file->strides, sizeof(side->strides));
    side->offset = header->data_offset;
    side->bytes = header->data_size;
    side->quant_axis = -1;
}

/* Raw bytes that are updated, whatever their shape, go on to the end of the file. */
static bool is_shapeless(const struct resolved *r)
{
    return r->job->dst.update && r->before.header.rank == 0;
}

static void take_files(struct explained *e, const struct resolved *r)
{
    const struct job *job = r->job;
    take_file(&e->src, job->src.file, &r->src);
    take_file(&e->dst, job->dst.file, &r->whole);
    if (is_shapeless(r))
        e->dst.bytes = (uint64_t)r->whole.stat.st_size - e->dst.offset;
    e->update = job->dst.update;
    e->src_base = base_of(SRC_BASE, e->src.offset);
    e->dst_base = base_of(DST_BASE, e->dst.offset);
}

/* Per-axis parameters go into memory of the result's own, as in the service. */
static int own_parameters(struct explained *e, const struct resolved *r, mli_tensor *dst,
                          struct quant *own, struct fault *fault)
{
    const struct quant *given = &r->wire.src.desc.quant;
    if (given->count == 0 || given->axis < 0)
        return 0;
    e->src.quant_axis = given->axis;
    for (uint32_t i = 0; i < r->result.rank; i++) {
        if (r->wire.cfg.perm_dim[i] == given->axis)
            e->dst.quant_axis = (int32_t)i;
    }
    uint32_t count = r->result.shape[e->dst.quant_axis];
    if (quant_alloc(own, count))
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    dst->el_params.sa.scale.mem.pi16 = own->scale;
    dst->el_params.sa.scale.capacity = capacity_of((uint64_t)count * sizeof(*own->scale));
    dst->el_params.sa.zero_point.mem.pi16 = own->zero_point;
    dst->el_params.sa.zero_point.capacity = capacity_of((uint64_t)count * sizeof(*own->zero_point));
    dst->el_params.sa.scale_frac_bits.mem.pi8 = own->scale_frac_bits;
    dst->el_params.sa.scale_frac_bits.capacity = count;
    return 0;
}

static int explain_move(struct explained *e, const struct resolved *r, struct fault *fault)
{
    mli_tensor src = {0}, dst = {0};
    struct quant own = {0};
    tensor_desc_to_mli(&r->wire.src.desc, &src);
    src.data.mem.pi8 = (int8_t *)(uintptr_t)e->src_base;
    src.data.capacity = capacity_of(e->src.bytes);
    dst.data.mem.pi8 = (int8_t *)(uintptr_t)e->dst_base;
    dst.data.capacity = capacity_of(e->dst.bytes);
    memcpy(dst.mem_stride, r->result.mem_stride, sizeof(dst.mem_stride));
    if (own_parameters(e, r, &dst, &own, fault))
        return -1;
    mli_status status = mli_mov_explain(&src, &r->wire.cfg, &dst, &e->move);
    quant_alloc(&own, 0);
    return status == MLI_STATUS_OK ? 0 : fault_set_refused(fault, status, mli_last_error());
}

static uint64_t rows_of(const struct mli_plan *plan)
{
    uint64_t rows = 0, product = plan->box.run > 0;
    for (size_t i = 0; i < plan->box.loops; i++)
        product *= plan->box.loop[i].count;
    rows += product;
    for (size_t s = 0; s < plan->slabs; s++) {
        product = 1;
        for (size_t i = 0; i < plan->slab[s].loops; i++)
            product *= plan->slab[s].loop[i].count;
        rows += product;
    }
    return rows;
}

static void explain_channels(struct explained *e, uint32_t channels)
{
    struct mli_plan parts[MLI_MOV_MAX_CHANNELS];
    e->engine = mli_mov_engine_name();
    mli_mov_engine_caps(&e->caps);
    e->channels = channels;
    e->parts = (uint32_t)mli_plan_split(&e->move.plan, channels, e->caps.tiny, parts);
    for (uint32_t i = 0; i < e->parts; i++)
        e->part[i] =
            (struct explained_part){.bytes = parts[i].bytes,
                                    .rows = rows_of(&parts[i]),
                                    .descriptors = mli_legalise_count(&parts[i], &e->caps)};
}

int explained_init(struct explained *e, const struct job_file *file, const struct resolved *r,
                   uint32_t channels, struct fault *fault)
{
    const struct job *job = r->job;
    *e = (struct explained){.file = file->path,
                            .pointer = job->pointer,
                            .name = job->name,
                            .op = job->op == JOB_OP_PERMUTE ? "permute" : "mov",
                            .type = element_type_name(r->wire.src.desc.type)};
    take_files(e, r);
    if (explain_move(e, r, fault))
        return -1;
    explain_channels(e, channels);
    return 0;
}
