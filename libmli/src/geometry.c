/* SPDX-License-Identifier: BSD-3-Clause */
#include "geometry.h"

#include "checked.h"
#include "error.h"
#include "overlap.h"
#include "tensor.h"

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return b == 1 ? a : (a + b - 1) / b; /* a stays below 2^34 and b below 2^32 */
}

static uint64_t at_most(uint64_t value, uint64_t bound)
{
    return value < bound ? value : bound;
}

/* Number of the first sample at or beyond padded coordinate `coordinate`. */
static uint64_t sample_at(uint64_t coordinate, uint64_t offset, uint64_t step)
{
    return coordinate <= offset ? 0 : ceil_div(coordinate - offset, step);
}

/* Pad, crop and subsample along source dimension d. */
static mli_status axis_window(struct axis *axis, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                              uint32_t d)
{
    const uint64_t pre = cfg->padding_pre[d], shape = src->shape[d];
    const uint64_t padded = pre + shape + cfg->padding_post[d];
    const uint64_t offset = cfg->offset[d], step = cfg->sub_sample_step[d];
    uint64_t size = cfg->size[d];

    if (offset >= padded)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".offset[%]: % given, below % needed", d,
                      offset, padded);
    if (size > padded - offset)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                      ".size[%]: % given, at most % fit behind offset % of %", d, size,
                      padded - offset, offset, padded);
    if (step == 0)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                      ".sub_sample_step[%]: 0 given, 1 or more needed", d);
    if (size == 0)
        size = padded - offset;

    axis->step = step;
    axis->count = ceil_div(size, step);
    axis->lo = at_most(sample_at(pre, offset, step), axis->count);
    axis->hi = at_most(sample_at(pre + shape, offset, step), axis->count);
    axis->first = offset + axis->lo * step - pre;
    return MLI_STATUS_OK;
}

static mli_status check_permutation(const uint8_t *perm, uint32_t rank)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < rank; i++) {
        if (perm[i] >= rank)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".perm_dim[%]: % given, below % needed",
                          i, perm[i], rank);
        if (seen & 1u << perm[i])
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".perm_dim[%]: % given a second time, a permutation needed", i, perm[i]);
        seen |= 1u << perm[i];
    }
    return MLI_STATUS_OK;
}

static mli_status check_dst_strides(const mli_mov_cfg_t *cfg, const mli_tensor *dst, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (dst->mem_stride[i] < 0)
            return refuse(MLI_STATUS_BAD_TENSOR, "dst", ".mem_stride[%]: % given, 0 or more needed",
                          i, dst->mem_stride[i]);
        if (cfg->dst_mem_stride[i] < 0)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".dst_mem_stride[%]: % given, 0 or more needed", i,
                          cfg->dst_mem_stride[i]);
    }
    return MLI_STATUS_OK;
}

/* Permute and place: shape and strides of the destination. */
static mli_status place(struct geometry *g, const mli_mov_cfg_t *cfg, const mli_tensor *dst)
{
    int32_t given[MLI_MAX_RANK];
    uint64_t stride[MLI_MAX_RANK];

    g->cfg_strides = false;
    for (uint32_t i = 0; i < g->rank; i++) {
        struct axis *axis = &g->axis[cfg->perm_dim[i]];
        const uint64_t shape = axis->count + cfg->dst_offset[i];

        if (shape > UINT32_MAX)
            return refuse(MLI_STATUS_NOT_ENGH_MEM, "cfg",
                          ".dst_offset[%]: % given, dst.shape[%] would be %, 32 bits hold %", i,
                          cfg->dst_offset[i], i, shape, UINT32_MAX);
        g->dst_shape[i] = (uint32_t)shape;
        g->cfg_strides = g->cfg_strides || cfg->dst_mem_stride[i];
        given[i] = cfg->dst_mem_stride[i] ? cfg->dst_mem_stride[i] : dst->mem_stride[i];
        axis->dst_dim = i;
        axis->dst_offset = cfg->dst_offset[i];
    }
    if (!strides_of(g->rank, g->dst_shape, given, stride))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->dst_name, ".mem_stride: packed strides overflow");
    for (uint32_t i = 0; i < g->rank; i++) {
        if (stride[i] > INT32_MAX)
            return refuse(MLI_STATUS_NOT_ENGH_MEM, g->dst_name,
                          ".mem_stride[%]: % needed, 31 bits hold %", i, stride[i], INT32_MAX);
        g->dst_stride[i] = (int32_t)stride[i];
        g->axis[cfg->perm_dim[i]].dst_stride = stride[i];
    }
    return MLI_STATUS_OK;
}

/* Bytes from the first to the last element of a box. */
static bool extent_of(struct extent *extent, uint32_t elem, uint64_t first, uint64_t last)
{
    return checked_mul(first, elem, &extent->begin) && checked_add(last, 1, &last) &&
           checked_mul(last, elem, &extent->end);
}

static mli_status extents(struct geometry *g)
{
    uint64_t read_first = 0, read_last = 0, first = 0, last = 0;
    bool read_fits = true, written_fits = true;

    g->reads = true;
    for (uint32_t d = 0; d < g->rank; d++) {
        const struct axis *a = &g->axis[d];

        if (a->lo == a->hi) {
            g->reads = false;
        } else {
            read_fits = read_fits && checked_mul_add(a->first, a->src_stride, &read_first);
            read_fits = read_fits && checked_mul_add(a->first + (a->hi - 1 - a->lo) * a->step,
                                                     a->src_stride, &read_last);
        }
        written_fits = written_fits && checked_mul_add(a->dst_offset, a->dst_stride, &first);
        written_fits =
            written_fits && checked_mul_add(a->dst_offset + a->count - 1, a->dst_stride, &last);
    }
    g->read = (struct extent){0, 0};
    if (g->reads && !(read_fits && extent_of(&g->read, g->elem, read_first, read_last)))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->src_name,
                      ".mem_stride: the last element's address overflows");
    if (!(written_fits && extent_of(&g->written, g->elem, first, last)))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->dst_name,
                      ".mem_stride: the last element's address overflows");
    return MLI_STATUS_OK;
}

/* The written elements as a lattice: coordinate ranges and strides in bytes. */
static void written_lattice(const struct geometry *g, struct lattice *lattice)
{
    lattice->count = 0;
    for (uint32_t d = 0; d < g->rank; d++)
        lattice_add(lattice, g->axis[d].dst_stride * g->elem, 0, (int64_t)g->axis[d].count - 1);
}

mli_status geometry_check_written(const struct geometry *g)
{
    struct lattice lattice;

    if (g->written.end > UINT32_MAX)
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->dst_name,
                      ".data.capacity: % B needed, 32 bits hold %", g->written.end, UINT32_MAX);
    written_lattice(g, &lattice);
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
    uint64_t src_stride[MLI_MAX_RANK];
    mli_status status;

    g->rank = src->rank;
    g->elem = element_bytes(src->el_type);
    for (uint32_t d = 0; d < g->rank; d++) {
        status = axis_window(&g->axis[d], src, cfg, d);
        if (status != MLI_STATUS_OK)
            return status;
    }
    status = check_permutation(cfg->perm_dim, g->rank);
    if (status == MLI_STATUS_OK)
        status = check_dst_strides(cfg, dst, g->rank);
    if (status == MLI_STATUS_OK)
        status = place(g, cfg, dst);
    if (status != MLI_STATUS_OK)
        return status;

    if (!strides_of(g->rank, src->shape, src->mem_stride, src_stride))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->src_name, ".shape: packed strides overflow");
    for (uint32_t d = 0; d < g->rank; d++)
        g->axis[d].src_stride = src_stride[d];
    return extents(g);
}

/* Do bytes that are read and bytes that are written coincide anywhere? */
static bool read_meets_written(const struct geometry *g, const uint8_t *src, const uint8_t *dst)
{
    const uint64_t src_begin = (uintptr_t)src + g->read.begin;
    const uint64_t dst_begin = (uintptr_t)dst + g->written.begin;
    struct lattice lattice;

    if (!g->reads || (uintptr_t)src + g->read.end <= dst_begin ||
        (uintptr_t)dst + g->written.end <= src_begin)
        return false;
    written_lattice(g, &lattice);
    for (uint32_t d = 0; d < g->rank; d++) {
        const struct axis *a = &g->axis[d];

        lattice_add(&lattice, a->src_stride * a->step * g->elem, -(int64_t)(a->hi - a->lo - 1), 0);
    }
    return lattice_reaches(&lattice, (int64_t)(src_begin - dst_begin), g->elem);
}

mli_status geometry_check_memory(const struct geometry *g, const mli_tensor *src,
                                 const mli_tensor *dst)
{
    mli_status status;

    if (g->read.end > src->data.capacity)
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->src_name, ".data.capacity: % B given, % B needed",
                      src->data.capacity, g->read.end);
    if (g->written.end > dst->data.capacity)
        return refuse(MLI_STATUS_NOT_ENGH_MEM, g->dst_name, ".data.capacity: % B given, % B needed",
                      dst->data.capacity, g->written.end);
    status = geometry_check_written(g);
    if (status != MLI_STATUS_OK)
        return status;
    if (read_meets_written(g, tensor_bytes(src), tensor_bytes(dst)))
        return refuse(MLI_STATUS_INCOMPATEBLE_TENSORS, g->dst_name,
                      ".data.mem: bytes to be written are bytes to be read");
    return MLI_STATUS_OK;
}
