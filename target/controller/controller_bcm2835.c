/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA of the Broadcom BCM2835: a chain of control blocks of 32 bytes. A block is linear, or on a
 * full channel (a profile with loops) two-dimensional: YLENGTH + 1 rows of XLENGTH bytes, with a
 * signed stride from the end of a row to the next row on each side. Zeros are copied from memory:
 * the controller's "ignore" bit for the source does not write zeros.
 */
#include "target/controller/encoder.h"

enum {
    BLOCK_SIZE = 32,
    LINEAR_MAX = 0x3fffffff, /* TXFR_LEN: 30 bits */
    X_MAX = 0xffff,          /* XLENGTH, and TXFR_LEN of a lite channel: 16 bits */
    ROWS_MAX = 0x4000,       /* YLENGTH + 1: 14 bits */
    STRIDE_MAX = 0x7fff,     /* signed, 16 bits */
    STRIDE_MASK = 0xffff,
    WIDE = 16 /* bytes of a wide access to memory */
};

/* Bits of the transfer information. */
enum {
    TI_INTEN = 1 << 0,
    TI_TDMODE = 1 << 1,
    TI_WAIT_RESP = 1 << 3,
    TI_DEST_INC = 1 << 4,
    TI_DEST_WIDTH = 1 << 5,
    TI_SRC_INC = 1 << 8,
    TI_SRC_WIDTH = 1 << 9,
    TI_BURST_SHIFT = 12,
    TI_BURST_MAX = 15
};

/* The fields of a control block. */
struct block {
    uint32_t ti;
    uint64_t src, dst, next;
    uint64_t length; /* bytes of a row, or of a linear block */
    uint64_t rows;
    uint32_t src_stride, dst_stride; /* two's complement */
};

/* Returns the bits of TI for the width and length of bursts. */
static uint32_t bursts(const struct target_profile *profile, const struct block *block)
{
    const uint64_t all =
        block->src | block->dst | block->length | block->src_stride | block->dst_stride;
    const bool wide = profile->dma.bus_bytes >= WIDE && all % WIDE == 0;
    const uint32_t beats = profile->dma.burst_bytes / (wide ? WIDE : 4);

    return (wide ? TI_SRC_WIDTH | TI_DEST_WIDTH : 0) | (beats > TI_BURST_MAX ? TI_BURST_MAX : beats)
                                                           << TI_BURST_SHIFT;
}

static void add_fields(const struct block *block, struct controller_descriptor *out)
{
    controller_add_hex(out, "TI", block->ti);
    controller_add_hex(out, "SOURCE_AD", block->src);
    controller_add_hex(out, "DEST_AD", block->dst);
    if (block->ti & TI_TDMODE) {
        controller_add(out, "YLENGTH", block->rows - 1);
        controller_add(out, "XLENGTH", block->length);
        controller_add_hex(out, "D_STRIDE", block->dst_stride);
        controller_add_hex(out, "S_STRIDE", block->src_stride);
    } else {
        controller_add(out, "TXFR_LEN", block->length);
    }
    controller_add_hex(out, "NEXTCONBK", block->next);
}

static void put_words(const struct block *block, struct controller_descriptor *out)
{
    controller_put(out, 32, block->ti);
    controller_put(out, 32, block->src);
    controller_put(out, 32, block->dst);
    controller_put(out, 32, (block->rows - 1) << 16 | block->length);
    controller_put(out, 32, block->dst_stride << 16 | block->src_stride);
    controller_put(out, 32, block->next);
    controller_put(out, 64, 0);
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const struct mli_copy_box *box = &piece->box;
    struct block block = {
        .ti = TI_SRC_INC | TI_DEST_INC,
        .src = controller_fills(piece) ? place->zeros : controller_src(piece),
        .dst = controller_dst(piece),
        .next = place->next,
        .length = box->run,
        .rows = 1,
    };

    if (box->loops > 0) {
        block.ti |= TI_TDMODE;
        block.rows = box->loop[0].count;
        block.src_stride = (uint32_t)(box->loop[0].src_step - box->run) & STRIDE_MASK;
        block.dst_stride = (uint32_t)(box->loop[0].dst_step - box->run) & STRIDE_MASK;
    }
    block.ti |= bursts(place->profile, &block);
    if (block.next == 0)
        block.ti |= TI_INTEN | TI_WAIT_RESP;
    add_fields(&block, out);
    put_words(&block, out);
}

/* Source: BCM2835 ARM Peripherals, chapter 4 DMA Controller. */
const struct controller controller_bcm2835 = {
    .kind = PROFILE_BCM2835,
    .title = "Broadcom BCM2835 DMA",
    .descriptor_alignment = BLOCK_SIZE,
    .descriptor_bytes = BLOCK_SIZE,
    .count_max = ROWS_MAX,
    .run_max = X_MAX,
    .reads_zeros = true,
    .linear_run_max = LINEAR_MAX,
    .gap_max = STRIDE_MAX,
    .encode = encode,
};
