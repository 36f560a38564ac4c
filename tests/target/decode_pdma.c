/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SiFive Platform DMA engine (FU540, FU740): one contiguous block for each start, by the registers
 * of a channel. Sources: PolarFire SoC MSS Technical Reference, chapter DMA Engine (the same
 * engine), and the driver sf-pdma.
 *
 * The decoder refuses cases that the documents do not define: a size of a transaction that does not
 * divide both addresses and the length, and different sizes for reads and writes.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/target/decoder.h"

enum { CONTROL_CLAIM = 1 << 0, CONTROL_RUN = 1 << 1, CONTROL_IE = 1 << 14 | 1 << 15 };
enum { CONFIG_ORDER = 1 << 3, SIZE_LOG_MAX = 6 };

static bool written(struct board *board, const struct controller_descriptor *registers,
                    const char *name, uint64_t *value)
{
    for (size_t i = 0; i < registers->field_count; i++)
        if (strcmp(registers->field[i].name, name) == 0) {
            *value = registers->field[i].value;
            return true;
        }
    return board_fail(board, "%s is not written", name);
}

static bool one(struct board *board, const struct controller_descriptor *registers)
{
    uint64_t control = 0, config = 0, bytes = 0, dst = 0, src = 0;

    if (!written(board, registers, "Control", &control) ||
        !written(board, registers, "NextConfig", &config) ||
        !written(board, registers, "NextBytes", &bytes) ||
        !written(board, registers, "NextDestination", &dst) ||
        !written(board, registers, "NextSource", &src))
        return false;
    const uint64_t size = bits_of(config, 31, 28);

    if (control & ~(uint64_t)(CONTROL_CLAIM | CONTROL_RUN | CONTROL_IE))
        return board_fail(board, "Control: reserved bits");
    if (!(control & CONTROL_CLAIM && control & CONTROL_RUN))
        return board_fail(board, "Control: the channel is not claimed and run");
    if (config & ~(UINT64_C(0xff000000) | CONFIG_ORDER))
        return board_fail(board, "NextConfig: reserved bits, or repeat");
    if (size > SIZE_LOG_MAX || size != bits_of(config, 27, 24))
        return board_fail(board,
                          "NextConfig: reads of 1 << %" PRIu64 " bytes, writes of 1 << %" PRIu64,
                          size, bits_of(config, 27, 24));
    if (bytes == 0)
        return board_fail(board, "NextBytes: 0");
    if ((bytes | dst | src) & ((UINT64_C(1) << size) - 1))
        return board_fail(board, "NextConfig: 1 << %" PRIu64 " does not divide addresses and bytes",
                          size);
    return board_copy(board, src, dst, bytes);
}

const struct decoder decode_pdma = {.kind = PROFILE_PDMA, .name = "pdma", .one = one};
