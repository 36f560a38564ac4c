/* SPDX-License-Identifier: BSD-3-Clause */
/* Strides of a case's tensors, and where they lie in their frames. */
#include <string.h>

#include "cli/selftest/selftest_case.h"

enum { GUARD_MAX = 64, PAGE = 4096 };

/* How a tensor's strides are chosen. */
enum style { PACKED, GAPS, ANY_ORDER, STYLES };

/*
 * Dimensions nested in some order, the last of them innermost: each has the room of those inside
 * it for a stride, and with gaps a little more. False where the tensor exceeds the limit.
 */
static bool nest(struct draw *draw, enum style style, uint32_t rank, const uint32_t *shape,
                 uint64_t max_elements, int32_t *stride)
{
    uint8_t order[MLI_MAX_RANK] = {0, 1, 2, 3};
    uint64_t room = 1;
    for (uint32_t i = rank; style == ANY_ORDER && i > 1; i--) {
        const uint32_t j = draw_below(draw, i);
        const uint8_t other = order[i - 1];
        order[i - 1] = order[j];
        order[j] = other;
    }
    for (uint32_t i = rank; i-- > 0;) {
        const uint32_t d = order[i];
        if (style != PACKED && draw_once_in(draw, 2))
            room += draw_magnitude(draw, draw_once_in(draw, 4) ? 64 : 4);
        if (room > max_elements)
            return false;
        stride[d] = (int32_t)room;
        room *= shape[d];
    }
    return room <= max_elements;
}

/*
 * Leaves some of the strides to the library: they are 0 in `given`, and become in `stride` what the
 * definition says, the next inner stride times its extent. False where one exceeds the limit.
 */
static bool leave_out(struct draw *draw, uint32_t rank, const uint32_t *shape,
                      uint64_t max_elements, int32_t *stride, int32_t *given)
{
    const bool some = draw_once_in(draw, 2);
    const uint32_t chosen = draw_below(draw, 1u << rank), left_out = some ? chosen : 0;
    for (uint32_t d = rank; d-- > 0;) {
        given[d] = left_out >> d & 1 ? 0 : stride[d];
        if (given[d])
            continue;
        const uint64_t packed = d + 1 < rank ? (uint64_t)stride[d + 1] * shape[d + 1] : 1;
        if (packed > max_elements)
            return false;
        stride[d] = (int32_t)packed;
    }
    return true;
}

/* Bytes from the first element to the end of the last. */
static size_t reach(uint32_t rank, const uint32_t *shape, const int32_t *stride, uint32_t size)
{
    size_t last = 0;
    for (uint32_t d = 0; d < rank; d++)
        last += (size_t)(shape[d] - 1) * (size_t)stride[d];
    return (last + 1) * size;
}

/* Guards of any length on both sides; addresses that are no multiple of the element's size are as
 * legal as others. */
static struct frame draw_frame(struct draw *draw, size_t tensor, uint32_t element_size)
{
    struct frame frame = {.tensor = tensor};
    frame.before = (size_t)draw_below(draw, draw_once_in(draw, 8) ? PAGE : GUARD_MAX);
    frame.before *= element_size;
    if (frame.before >= PAGE)
        frame.before %= PAGE;
    if (draw_once_in(draw, 4))
        frame.before += draw_below(draw, element_size);
    frame.bytes = frame.before + tensor + draw_below(draw, GUARD_MAX);
    return frame;
}

static bool draw_src_strides(struct move_case *c, struct draw *draw, uint64_t max_elements)
{
    const enum style style = (enum style)draw_below(draw, STYLES);
    const uint32_t rank = c->src.rank;
    if (!nest(draw, style, rank, c->src.shape, max_elements, c->src_stride) ||
        !leave_out(draw, rank, c->src.shape, max_elements, c->src_stride, c->src.mem_stride))
        return false;
    return reach(rank, c->src.shape, c->src_stride, 1) <= max_elements;
}

/*
 * The destination may be a part of a larger tensor. Each given stride is in cfg or in dst. Only
 * those of nested dimensions may be left out: no element then meets another.
 */
static bool draw_dst_strides(struct move_case *c, struct draw *draw, uint64_t max_elements)
{
    const enum style style = (enum style)draw_below(draw, STYLES);
    const uint32_t rank = c->src.rank, in_cfg = draw_below(draw, 1u << rank);
    uint32_t whole[MLI_MAX_RANK] = {0};
    int32_t given[MLI_MAX_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        whole[d] = c->dst_shape[d];
        if (style != PACKED && draw_once_in(draw, 2))
            whole[d] += draw_below(draw, 5);
    }
    if (!nest(draw, style, rank, whole, max_elements, c->dst_stride))
        return false;
    memcpy(given, c->dst_stride, sizeof(given));
    if (style != ANY_ORDER &&
        !leave_out(draw, rank, c->dst_shape, max_elements, c->dst_stride, given))
        return false;
    for (uint32_t d = 0; d < rank; d++)
        (in_cfg >> d & 1 ? c->cfg.dst_mem_stride : c->dst.mem_stride)[d] = given[d];
    return true;
}

bool case_draw_layout(struct move_case *c, struct draw *draw, uint64_t max_bytes)
{
    const uint64_t max_elements = max_bytes / c->element_size;
    if (!draw_src_strides(c, draw, max_elements) || !draw_dst_strides(c, draw, max_elements))
        return false;
    c->written = c->element_size;
    for (uint32_t i = 0; i < c->src.rank; i++)
        c->written *= c->count[i];
    c->src_frame = draw_frame(
        draw, reach(c->src.rank, c->src.shape, c->src_stride, c->element_size), c->element_size);
    c->dst_frame = draw_frame(
        draw, reach(c->src.rank, c->dst_shape, c->dst_stride, c->element_size), c->element_size);
    return true;
}
