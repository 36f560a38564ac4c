/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/geometry.h"

#include "libmli/src/build.h"
#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "libmli/src/overlap.h"
#include "libmli/src/tensor.h"

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return b == 1 ? a : (a + b - 1) / b; /* a stays below 2^34 and b below 2^32 */
}

static uint64_t at_most(uint64_t value, uint64_t bound)
{
    return value < bound ? value : bound;
}

/* Returns the number of the first sample at or beyond padded coordinate `coordinate`. */
static uint64_t sample_at(uint64_t coordinate, uint64_t offset, uint64_t step)
{
    return coordinate <= offset ? 0 : ceil_div(coordinate - offset, step);
}

/* The source or the destination. Dimensions are added from the innermost outwards. */
struct side {
    uint64_t packed;          /* stride of the next dimension if no stride is given */
    uint64_t first, elements; /* offset of the first accessed element; span of all accessed ones */
    bool strides_fit, fits;   /* the strides, and the accessed elements, fit in 64 bits */
};

/* Adds a dimension with the coordinates from `first` to `first` + `span`. */
static inline void side_reach(struct side *side, uint64_t first, uint64_t span, uint64_t stride)
{
    if ((first > 0 && !checked_mul_add(first, stride, &side->first)) ||
        !checked_mul_add(span, stride, &side->elements))
        side->fits = false;
}

/* Sets *extent to the accessed bytes; false if 64 bits are too few. */
static inline bool side_extent(const struct side *side, uint32_t elem, struct extent *extent)
{
    uint64_t end;

    extent->begin =
        side->first * elem; /* the start needs no check: it is below the end, which is checked */
    return side->fits && checked_add(side->first, side->elements, &end) &&
           checked_mul(end, elem, &extent->end);
}

/* Computes a window with padding or subsampling. Not inlined, so that other windows are fast. */
static __attribute__((noinline)) void sample_window(struct geometry *g, struct axis *axis,
                                                    uint64_t pre, uint64_t shape, uint64_t offset)
{
    axis->count = ceil_div(axis->count, axis->step);
    axis->lo = at_most(sample_at(pre, offset, axis->step), axis->count);
    axis->hi = at_most(sample_at(pre + shape, offset, axis->step), axis->count);
    axis->first = offset + axis->lo * axis->step - pre;
    if (axis->hi - axis->lo < axis->count)
        g->pads = true;
    if (axis->lo == axis->hi)
        g->reads = false;
}

/* Pads, crops and subsamples along source dimension d; false if cfg is out of range. */
static inline bool window(struct geometry *g, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                          uint32_t d, struct side *source)
{
    const uint64_t pre = cfg->padding_pre[d], shape = src->shape[d];
    const uint64_t padded = pre + shape + cfg->padding_post[d];
    const uint64_t offset = cfg->offset[d], size = cfg->size[d], step = cfg->sub_sample_step[d];
    struct axis *axis = &g->axis[d];

    if (offset >= padded || size > padded - offset)
        return false;
    axis->step = step;
    axis->count = size ? size : padded - offset;
    axis->lo = 0;
    axis->hi = axis->count;
    axis->first = offset;
    if (step != 1 || padded != shape) {
        if (step == 0)
            return false;
        sample_window(g, axis, pre, shape, offset);
    }
    g->samples *= axis->count;
    axis->src_stride = next_stride(&source->packed, src->shape[d], src->mem_stride[d]);
    if (axis->src_stride == 0 && shape > 1)
        source->strides_fit = false;
    /* These bounds are meaningless if the move reads nothing. */
    side_reach(source, axis->first, (axis->hi - 1 - axis->lo) * step, axis->src_stride);
    return true;
}

/* Checks dst's strides. Strides that cfg replaces must be legal too, because the tensors are
 * checked before cfg. */
static mli_status check_dst_strides(const mli_tensor *dst, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (dst->mem_stride[i] < 0)
            return refuse(MLI_STATUS_BAD_TENSOR, "dst",
                          ".mem_stride[%]: % given; must be at least 0", i, dst->mem_stride[i]);
    }
    return MLI_STATUS_OK;
}

/*
 * Finds the first window, in the documented order, that is out of range, and refuses it. window()
 * only returns false, because refusals are rare.
 */
ERROR_COLD static mli_status refuse_window(const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                           const mli_tensor *dst)
{
    const mli_status status = check_dst_strides(dst, src->rank);

    if (status != MLI_STATUS_OK)
        return status;
    for (uint32_t d = 0;; d++) {
        const uint64_t padded =
            (uint64_t)cfg->padding_pre[d] + src->shape[d] + cfg->padding_post[d];

        if (cfg->offset[d] >= padded)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".offset[%]: % given; must be below %", d,
                          cfg->offset[d], padded);
        if (cfg->size[d] > padded - cfg->offset[d])
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".size[%]: % given; at most % fit after offset % in the padded extent %",
                          d, cfg->size[d], padded - cfg->offset[d], cfg->offset[d], padded);
        if (cfg->sub_sample_step[d] == 0)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".sub_sample_step[%]: 0 given; must be at least 1", d);
    }
}

static mli_status check_permutation(const uint8_t *perm, uint32_t rank)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < rank; i++) {
        if (perm[i] >= rank)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".perm_dim[%]: % given; must be below %",
                          i, perm[i], rank);
        if (seen & 1u << perm[i])
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".perm_dim[%]: % given a second time; must be a permutation", i, perm[i]);
        seen |= 1u << perm[i];
    }
    return MLI_STATUS_OK;
}

static mli_status check_cfg_strides(const mli_mov_cfg_t *cfg, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (cfg->dst_mem_stride[i] < 0)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".dst_mem_stride[%]: % given; must be at least 0", i,
                          cfg->dst_mem_stride[i]);
    }
    return MLI_STATUS_OK;
}

/* Finds what place() has found illegal, and refuses the call for it. Of several faults, reports the
 * one that is documented to come first. */
ERROR_COLD static mli_status refuse_place(const struct geometry *g, const mli_mov_cfg_t *cfg,
                                          const mli_tensor *dst)
{
    mli_status status = check_dst_strides(dst, g->rank);
    uint32_t shape[MLI_MAX_RANK];
    int32_t given[MLI_MAX_RANK], stride[MLI_MAX_RANK];

    if (status == MLI_STATUS_OK)
        status = check_permutation(cfg->perm_dim, g->rank);
    if (status == MLI_STATUS_OK)
        status = check_cfg_strides(cfg, g->rank);
    if (status != MLI_STATUS_OK)
        return status;
    for (uint32_t i = 0; i < g->rank; i++) {
        const uint64_t count = g->axis[cfg->perm_dim[i]].count + cfg->dst_offset[i];

        if (count > UINT32_MAX)
            return refuse(MLI_STATUS_NOT_ENGH_MEM, "cfg",
                          ".dst_offset[%]: % given; dst.shape[%] would be %, but must be at most %",
                          i, cfg->dst_offset[i], i, count, UINT32_MAX);
        shape[i] = (uint32_t)count;
        given[i] = cfg->dst_mem_stride[i] ? cfg->dst_mem_stride[i] : dst->mem_stride[i];
    }
    return strides_of(g->dst_name, g->rank, shape, given, stride);
}

/* Computes destination dimension i: its source dimension, offset, extent and stride. Returns false
 * if cfg or dst is illegal. */
static inline bool place(struct geometry *g, const mli_mov_cfg_t *cfg, const mli_tensor *dst,
                         uint32_t rank, uint32_t i, struct side *target, uint32_t *placed)
{
    const uint32_t d = cfg->perm_dim[i], offset = cfg->dst_offset[i];
    const int32_t cfg_stride = cfg->dst_mem_stride[i], own_stride = dst->mem_stride[i];
    uint64_t shape, stride;
    struct axis *axis;

    if (d >= rank || *placed >> d & 1 || (cfg_stride | own_stride) < 0)
        return false;
    *placed |= 1u << d;
    axis = &g->axis[d];
    shape = axis->count + offset;
    if (cfg_stride)
        g->cfg_strides = true;
    stride = cfg_stride ? (uint64_t)cfg_stride : own_stride ? (uint64_t)own_stride : target->packed;
    if (shape > UINT32_MAX || (stride > INT32_MAX && shape > 1))
        return false;
    target->packed = stride * shape; /* the product is below 2^63 */
    stride = stride > INT32_MAX ? 0 : stride;
    if (stride < target->elements && axis->count > 1)
        g->nested = false;
    side_reach(target, offset, axis->count - 1, stride);
    axis->dst_stride = stride;
    axis->dst_offset = offset;
    axis->dst_dim = i;
    g->dst_shape[i] = (uint32_t)shape;
    g->dst_stride[i] = (int32_t)stride;
    g->order[i] = d;
    return true;
}

/* Sorts the dimensions: the largest destination stride comes first. */
static void sort_order(struct geometry *g)
{
    for (uint32_t i = 1; i < g->rank; i++) {
        const uint32_t d = g->order[i];
        uint32_t at = i;

        for (; at > 0 && g->axis[g->order[at - 1]].dst_stride < g->axis[d].dst_stride; at--)
            g->order[at] = g->order[at - 1];
        g->order[at] = d;
    }
}

/* Adds the addresses of the elements that the move writes to a lattice (overlap.h). */
static void add_written(const struct geometry *g, struct lattice *lattice)
{
    for (uint32_t d = 0; d < g->rank; d++)
        lattice_add(lattice, g->axis[d].dst_stride * g->elem, 0, (int64_t)g->axis[d].count - 1);
}

mli_status geometry_check_written(const struct geometry *g)
{
    struct lattice lattice;

    if (g->nested)
        return MLI_STATUS_OK;
    lattice.count = 0;
    add_written(g, &lattice);
    if (!lattice_meets_itself(&lattice))
        return MLI_STATUS_OK;
    if (g->cfg_strides)
        return refuse(MLI_STATUS_INCOMPATEBLE_TENSORS, "cfg",
                      ".dst_mem_stride: elements of the destination overlap one another");
    return refuse(MLI_STATUS_INCOMPATEBLE_TENSORS, g->dst_name,
                  ".mem_stride: elements overlap one another");
}

mli_status geometry_init(struct geometry *g, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                         const mli_tensor *dst)
{
    struct side source = {.packed = 1, .elements = 1, .strides_fit = true, .fits = true};
    struct side target = source;
    const uint32_t rank = src->rank;
    uint32_t placed = 0;

    g->rank = rank;
    g->elem = known_element_bytes(src->el_type);
    g->samples = 1;
    g->reads = g->nested = true;
    g->pads = g->cfg_strides = false;
    /* Unrolled, so that constant indices make most addresses constant. */
    BUILD_UNROLL for (uint32_t d = MLI_MAX_RANK; d-- > 0;)
    {
        if (d < rank && !window(g, src, cfg, d, &source))
            return refuse_window(src, cfg, dst);
    }
    BUILD_UNROLL for (uint32_t i = MLI_MAX_RANK; i-- > 0;)
    {
        if (i < rank && !place(g, cfg, dst, rank, i, &target, &placed))
            return refuse_place(g, cfg, dst);
    }
    if (!source.strides_fit)
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->src_name,
                      ".mem_stride: a stride computed from inner ones exceeds 64 bits");
    if (!g->reads)
        g->read = (struct extent){0, 0};
    else if (!side_extent(&source, g->elem, &g->read))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->src_name,
                      ".mem_stride: the last element's address overflows");
    if (!side_extent(&target, g->elem, &g->written))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->dst_name,
                      ".mem_stride: the last element's address overflows");
    if (!g->nested)
        sort_order(g);
    return MLI_STATUS_OK;
}

mli_status geometry_check_spans(const struct geometry *g)
{
    if (g->read.end > UINT32_MAX)
        return tensor_refuse_end(g->src_name, UINT32_MAX, g->read.end);
    if (g->written.end > UINT32_MAX)
        return tensor_refuse_end(g->dst_name, UINT32_MAX, g->written.end);
    return geometry_check_written(g);
}

/* Adds the addresses of the elements that the move reads to a lattice, or subtracts them from it.
 */
static void add_read(const struct geometry *g, struct lattice *lattice, bool subtract)
{
    for (uint32_t d = 0; d < g->rank; d++) {
        const struct axis *a = &g->axis[d];
        const int64_t last = (int64_t)(a->hi - a->lo - 1);

        lattice_add(lattice, a->src_stride * a->step * g->elem, subtract ? -last : 0,
                    subtract ? 0 : last);
    }
}

/* Returns whether an element of the lattice overlaps the `size` bytes at `distance`. */
static bool meets(const struct geometry *g, struct lattice *lattice, int64_t distance, int64_t size)
{
    return lattice_reaches(lattice, distance - g->elem + 1, distance + size - 1);
}

/*
 * Returns whether the move reads a byte that it writes, for a source and a destination that
 * interleave.
 */
static __attribute__((noinline)) bool read_meets_written(const struct geometry *g, int64_t distance)
{
    struct lattice lattice;

    lattice.count = 0;
    add_written(g, &lattice);
    add_read(g, &lattice, true);
    return meets(g, &lattice, distance, g->elem);
}

bool geometry_accesses(const struct geometry *g, const mli_tensor *tensor, bool written,
                       const void *at, uint64_t size)
{
    const struct extent *extent = written ? &g->written : &g->read;
    const uint64_t bytes = (uintptr_t)tensor_bytes(tensor), address = (uintptr_t)at;
    struct lattice lattice;

    if (extent->begin == extent->end || address + size <= bytes + extent->begin ||
        bytes + extent->end <= address)
        return false;
    lattice.count = 0;
    if (written)
        add_written(g, &lattice);
    else
        add_read(g, &lattice, false);
    return meets(g, &lattice, (int64_t)(address - bytes - extent->begin), (int64_t)size);
}

mli_status geometry_check_memory(const struct geometry *g, const mli_tensor *src,
                                 const mli_tensor *dst)
{
    const uint64_t from = (uintptr_t)tensor_bytes(src), to = (uintptr_t)tensor_bytes(dst);
    mli_status status;

    if (!tensor_has(src, g->read.end))
        return tensor_refuse_end(g->src_name, src->data.capacity, g->read.end);
    if (!tensor_has(dst, g->written.end))
        return tensor_refuse_end(g->dst_name, dst->data.capacity, g->written.end);
    if (!g->nested) {
        status = geometry_check_written(g);
        if (status != MLI_STATUS_OK)
            return status;
    }
    if (g->unplaced)
        return MLI_STATUS_OK;
    if (g->reads && from + g->read.end > to + g->written.begin &&
        to + g->written.end > from + g->read.begin &&
        read_meets_written(g, (int64_t)(from + g->read.begin - to - g->written.begin)))
        return refuse(MLI_STATUS_INCOMPATEBLE_TENSORS, g->dst_name,
                      ".data.mem: overlaps bytes that the move reads");
    return MLI_STATUS_OK;
}
