/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/omap/omap_block.h"

#include "libmli/port/common/chain.h"

enum {
    ELEMENT_MAX = 4, /* bytes */
    RUN_MAX = OMAP_ELEMENTS_MAX / ELEMENT_MAX * ELEMENT_MAX,
    STEP_MAX = OMAP_EI_MAX /* of elements of any size: the index is step - size + 1 */
};

void omap_block_limits(struct mli_channel_caps *caps)
{
    caps->flags |= MLI_CHANNEL_ANY_LOOPS;
    caps->loops = 1;
    caps->run_max = RUN_MAX;
    caps->count_max = OMAP_FRAMES_MAX;
    caps->gap_max = INT32_MAX - 1; /* the index of a frame is the gap + 1 */
}

/* Returns the bits of all addresses, runs and steps of a box: what they are multiples of. */
static size_t all_bits(const struct mli_copy_box *box)
{
    size_t bits = (uintptr_t)box->src | (uintptr_t)box->dst | box->run;

    for (size_t i = 0; i < box->loops; i++)
        bits |= box->loop[i].dst_step | (box->src ? box->loop[i].src_step : 0);
    return bits;
}

/* Returns the logarithm of the size of the largest element. */
static uint32_t element_of(const struct mli_copy_box *box)
{
    return (uint32_t)__builtin_ctzll(all_bits(box) | ELEMENT_MAX);
}

static bool has_short_steps(const struct mli_copy_loop *loop)
{
    return loop->src_step <= STEP_MAX && loop->dst_step <= STEP_MAX;
}

/* Returns whether each row of a plan is an element. */
static bool has_element_rows(const struct mli_plan *plan)
{
    const struct mli_copy_box *box = &plan->box;

    return plan->slabs == 0 && box->loops >= 1 && box->run == (size_t)1 << element_of(box);
}

/* Takes *other in place of *caps if the plan then has fewer blocks. */
static void take_better(const struct mli_plan *plan, struct mli_channel_caps *caps,
                        const struct mli_channel_caps *other)
{
    if (mli_legalise_count(plan, other) < mli_legalise_count(plan, caps))
        *caps = *other;
}

/* The counts are compared without `run_min` and `piece_min`: the processor's pieces do not count.
 */
void omap_block_limits_of(const struct mli_plan *plan, struct mli_channel_caps *caps)
{
    const size_t piece_min = caps->piece_min;
    struct mli_channel_caps inner, any;

    if (!has_element_rows(plan))
        return;
    caps->run_min = caps->piece_min = 0;
    any = inner = *caps;
    any.loops = inner.loops = 2;
    any.step_max = STEP_MAX;
    inner.flags &= ~MLI_CHANNEL_ANY_LOOPS;
    inner.count_max = OMAP_ELEMENTS_MAX;
    inner.loop[0].step_max = STEP_MAX;
    inner.loop[1].count_max = OMAP_FRAMES_MAX;
    take_better(plan, caps, &any);
    take_better(plan, caps, &inner);
    caps->piece_min = piece_min;
}

/* Returns whether a piece takes the form of elements. */
static bool is_of_elements(const struct mli_copy_box *box)
{
    return box->loops == 2 || (box->loops == 1 && box->run == (size_t)1 << element_of(box) &&
                               has_short_steps(&box->loop[0]));
}

/* One side of a block: its addresses advance by these steps. */
struct side {
    size_t element, frame;
};

static size_t step_of(const struct mli_copy_loop *loop, bool source)
{
    return source ? loop->src_step : loop->dst_step;
}

static struct side side_of(const struct mli_copy_box *box, const struct omap_block *block,
                           bool source)
{
    struct side side = {.element = (size_t)1 << element_of(box)};

    if (is_of_elements(box)) {
        side.element = step_of(&box->loop[box->loops - 1], source);
        side.frame = box->loops == 2 ? step_of(&box->loop[0], source) : block->cen * side.element;
    } else {
        side.frame = box->loops == 1 ? step_of(&box->loop[0], source) : box->run;
    }
    return side;
}

/* Sets the indices of a side, and returns its addressing mode. */
static uint32_t address(const struct omap_block *block, struct side side, uint32_t size,
                        uint32_t *ei, uint32_t *fi)
{
    const size_t last = (size_t)(block->cen - 1) * side.element; /* the last element of a frame */

    *ei = (uint32_t)(side.element - size + 1) & 0xffff;
    *fi = (uint32_t)(side.frame - last - size + 1);
    return *ei == 1 && (*fi == 1 || block->cfn == 1) ? OMAP_MODE_INCREMENT : OMAP_MODE_DOUBLE;
}

/* Returns the distance from the first byte to the end of the last byte of a side. */
static uint64_t extent(const struct omap_block *block, struct side side, uint32_t size)
{
    return (uint64_t)(block->cfn - 1) * side.frame + (uint64_t)(block->cen - 1) * side.element +
           size;
}

static void set_counts(struct omap_block *block, const struct mli_copy_box *box, uint32_t log)
{
    if (is_of_elements(box)) {
        block->cen = (uint32_t)box->loop[box->loops - 1].count;
        block->cfn = box->loops == 2 ? (uint32_t)box->loop[0].count : 1;
    } else {
        block->cen = (uint32_t)(box->run >> log);
        block->cfn = box->loops == 1 ? (uint32_t)box->loop[0].count : 1;
    }
}

bool omap_block_encode(struct omap_block *block, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;
    const uint32_t log = element_of(box), size = 1u << log;
    uint32_t mode;
    struct side side;
    bool reachable;

    *block = (struct omap_block){.csdp = log};
    set_counts(block, box, log);
    side = side_of(box, block, false);
    reachable = chain_bus32(box->dst, extent(block, side, size), &block->cdsa);
    mode = address(block, side, size, &block->cdei, &block->cdfi);
    block->ccr = mode << OMAP_DST_MODE_SHIFT;
    if (mode == OMAP_MODE_INCREMENT)
        block->csdp |= OMAP_DST_PACKED | OMAP_DST_BURST_64;
    if (!box->src) {
        block->ccr |= OMAP_CONSTANT_FILL;
        block->cssa = block->cdsa;
        return reachable;
    }
    side = side_of(box, block, true);
    reachable &= chain_bus32(box->src, extent(block, side, size), &block->cssa);
    mode = address(block, side, size, &block->csei, &block->csfi);
    block->ccr |= mode << OMAP_SRC_MODE_SHIFT;
    if (mode == OMAP_MODE_INCREMENT)
        block->csdp |= OMAP_SRC_PACKED | OMAP_SRC_BURST_64;
    return reachable;
}

uint64_t omap_block_rows(const struct omap_block *block, const struct mli_descriptor *piece,
                         uint32_t cdac)
{
    const struct mli_copy_box *box = &piece->box;
    const struct side side = side_of(box, block, false);
    const uint32_t log = element_of(box), distance = cdac - block->cdsa;
    const uint64_t frame = distance / side.frame, rest = distance % side.frame;

    if (distance >= extent(block, side, 1u << log))
        return 0;
    if (!is_of_elements(box))
        return frame + (rest >= box->run);
    return frame * block->cen + rest / side.element;
}
