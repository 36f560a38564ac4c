/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Platform DMA engine (PDMA) of SiFive FU540 and FU740. It has no descriptors in memory: software
 * writes the registers of a channel for each run, and waits. The bytes that are printed for a
 * descriptor are the values of the registers from offset 0 on. Write the register Control last.
 */
#include "target/controller/encoder.h"

enum {
    RECORD_SIZE = 32,
    SIZE_LOG_MAX = 6, /* transactions of 64 bytes */
    RSIZE_SHIFT = 28,
    WSIZE_SHIFT = 24,
    CONTROL_CLAIM = 1 << 0,
    CONTROL_RUN = 1 << 1
};

/* Returns the binary logarithm of the largest transaction that divides all numbers. */
static uint32_t transaction(uint64_t src, uint64_t dst, uint64_t bytes)
{
    uint32_t log = 0;

    while (log < SIZE_LOG_MAX && ((src | dst | bytes) >> log & 1) == 0)
        log++;
    return log;
}

static void encode(const struct controller_place *place, const struct mli_descriptor *piece,
                   struct controller_descriptor *out)
{
    const uint64_t src = controller_fills(piece) ? place->zeros : controller_src(piece);
    const uint64_t dst = controller_dst(piece), bytes = piece->box.run;
    const uint32_t log = transaction(src, dst, bytes);
    const uint32_t config = log << RSIZE_SHIFT | log << WSIZE_SHIFT;

    controller_add_hex(out, "NextConfig", config);
    controller_add(out, "NextBytes", bytes);
    controller_add_hex(out, "NextDestination", dst);
    controller_add_hex(out, "NextSource", src);
    controller_add_hex(out, "Control", CONTROL_CLAIM | CONTROL_RUN);
    controller_put(out, 32, CONTROL_CLAIM | CONTROL_RUN);
    controller_put(out, 32, config);
    controller_put(out, 64, bytes);
    controller_put(out, 64, dst);
    controller_put(out, 64, src);
}

/* Source: PolarFire SoC MSS Technical Reference, 3.1.10 DMA Engine (the same unit). */
const struct controller controller_pdma = {
    .kind = PROFILE_PDMA,
    .title = "SiFive Platform DMA engine (PDMA)",
    .descriptor_alignment = 8,
    .descriptor_bytes = RECORD_SIZE,
    .reads_zeros = true,
    .encode = encode,
};
