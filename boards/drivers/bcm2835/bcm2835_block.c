/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/drivers/bcm2835/bcm2835_block.h"

#include "boards/drivers/chain.h"

enum {
    WIDE = 16,        /* bytes of a wide access */
    BURST_BYTES = 32, /* what a full channel reads without a stall of the bus */
    LITE_BURST_BYTES = 16,
    Y_SHIFT = 16,
    D_STRIDE_SHIFT = 16,
    FIELD = 0xffff
};

/* The source of zeros: a channel reads the same bytes again and again. */
static const struct {
    _Alignas(BURST_BYTES) uint8_t bytes[BURST_BYTES];
} zeros;

void bcm2835_block_limits(enum bcm2835_kind kind, struct mli_channel_caps *caps)
{
    caps->run_max = BCM2835_X_MAX;
    if (kind == BCM2835_LITE)
        return;
    caps->flags |= MLI_CHANNEL_ANY_LOOPS;
    caps->loops = 1;
    caps->linear_max = BCM2835_LINEAR_MAX;
    caps->count_max = BCM2835_ROWS_MAX;
    caps->gap_max = BCM2835_STRIDE_MAX;
}

/* Returns the distance from the first byte to the end of the last byte of a side of a box. */
static uint64_t extent(const struct mli_copy_box *box, bool source)
{
    uint64_t bytes = box->run;

    for (size_t i = 0; i < box->loops; i++)
        bytes += (uint64_t)(box->loop[i].count - 1) *
                 (source ? box->loop[i].src_step : box->loop[i].dst_step);
    return bytes;
}

/* Returns the bits of TI for the width and length of bursts. */
static uint32_t bursts(const struct bcm2835_block *block, enum bcm2835_kind kind)
{
    const uint32_t length =
        block->ti & BCM2835_TI_TDMODE ? block->txfr_len & FIELD : block->txfr_len;
    const uint32_t all = block->source_ad | block->dest_ad | length | block->stride |
                         block->stride >> D_STRIDE_SHIFT;
    const bool wide = all % WIDE == 0;
    const uint32_t bytes = kind == BCM2835_LITE ? LITE_BURST_BYTES : BURST_BYTES;

    return (wide ? BCM2835_TI_SRC_WIDE | BCM2835_TI_DEST_WIDE : 0) |
           (bytes / (wide ? WIDE : sizeof(uint32_t))) << BCM2835_TI_BURST_SHIFT;
}

bool bcm2835_block_encode(struct bcm2835_block *block, enum bcm2835_kind kind,
                          const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;
    bool reachable;

    *block = (struct bcm2835_block){.ti = BCM2835_TI_DEST_INC, .txfr_len = (uint32_t)box->run};
    reachable = chain_bus32(box->dst, extent(box, false), &block->dest_ad);
    if (box->src) {
        block->ti |= BCM2835_TI_SRC_INC;
        reachable &= chain_bus32(box->src, extent(box, true), &block->source_ad);
    } else {
        mli_cache_clean(zeros.bytes, sizeof(zeros.bytes));
        reachable &= chain_bus32(zeros.bytes, sizeof(zeros.bytes), &block->source_ad);
    }
    if (box->loops > 0) {
        const struct mli_copy_loop *loop = &box->loop[0];
        const uint32_t src_stride = box->src ? (uint32_t)(loop->src_step - box->run) & FIELD : 0;

        block->ti |= BCM2835_TI_TDMODE;
        block->txfr_len |= (uint32_t)(loop->count - 1) << Y_SHIFT;
        block->stride = (uint32_t)(loop->dst_step - box->run) << D_STRIDE_SHIFT | src_stride;
    }
    block->ti |= bursts(block, kind) | BCM2835_TI_INTEN | BCM2835_TI_WAIT_RESP;
    return reachable;
}

void bcm2835_block_link(struct bcm2835_block *block, uint32_t next)
{
    block->nextconbk = next;
    block->ti &= ~(BCM2835_TI_INTEN | BCM2835_TI_WAIT_RESP);
}

/*
 * The manual does not say whether TXFR_LEN counts what was read or what was written, so both
 * registers must agree that a row is complete. The registers are those of an earlier block if the
 * channel could not read this one; then DEST_AD is most likely outside of this block.
 */
uint64_t bcm2835_block_rows(const struct bcm2835_block *block, const struct mli_descriptor *piece,
                            uint32_t txfr_len, uint32_t dest_ad)
{
    const struct mli_copy_box *box = &piece->box;
    const uint32_t distance = dest_ad - block->dest_ad;
    uint64_t count, left, written;

    if (box->loops == 0)
        return 0;
    count = box->loop[0].count;
    left = (uint64_t)(txfr_len >> Y_SHIFT) + 1;
    if (left > count || distance >= extent(box, false) + box->loop[0].dst_step)
        return 0;
    written = distance / box->loop[0].dst_step;
    if (distance % box->loop[0].dst_step >= box->run)
        written++;
    return written < count - left ? written : count - left;
}
