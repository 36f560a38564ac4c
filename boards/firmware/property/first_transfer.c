/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/firmware/property/first_transfer.h"

#include <stdio.h>
#include <string.h>

#include "boards/firmware/board.h"
#include "mli_api.h"

enum { BYTES = 4096, PATIENCE_NS = 1000000000 };

static _Alignas(64) uint8_t in[BYTES], out[BYTES];

static mli_tensor tensor_of(uint8_t *bytes)
{
    mli_tensor tensor = {.el_type = MLI_EL_FX_8, .rank = 1, .shape = {BYTES}, .mem_stride = {1}};

    tensor.data.mem.pi8 = (int8_t *)bytes;
    tensor.data.capacity = BYTES;
    return tensor;
}

/* Starts the transfer. Returns whether it ends in time. */
static bool runs_to_its_end(mli_mov_handle_t *handle)
{
    mli_tensor src = tensor_of(in), dst = tensor_of(out);
    const uint64_t began = board_time_ns();
    mli_mov_cfg_t cfg;
    bool done = false;

    (void)mli_mov_cfg_for_copy(&cfg);
    if (mli_mov_prepare(handle, &src, &cfg, &dst) != MLI_STATUS_OK ||
        mli_mov_start(handle, &src, &cfg, &dst) != MLI_STATUS_OK)
        return false;
    while (!done && board_time_ns() - began < PATIENCE_NS)
        done = mli_mov_isdone(handle);
    return done;
}

bool first_transfer(uint32_t channel)
{
    const uint32_t before = board_dma_interrupts();
    mli_mov_handle_t handle;

    for (size_t i = 0; i < BYTES; i++)
        in[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
    if (mli_mov_acquire_handle_at((int)channel, 1, &handle) != MLI_STATUS_OK) {
        printf("  FAILED: channel %u: %s\n", (unsigned)channel, mli_last_error());
        return false;
    }
    if (!runs_to_its_end(&handle)) {
        printf(
            "  FAILED: the first transfer, %d bytes on channel %u, does not end; %u interrupts of "
            "the controller were handled, %s are moved\n",
            (int)BYTES, (unsigned)channel, (unsigned)(board_dma_interrupts() - before),
            memcmp(in, out, BYTES) == 0 ? "all bytes" : "not all bytes");
        return false; /* the handle stays: the controller may still access the memory */
    }
    return mli_mov_release_handle(&handle) == MLI_STATUS_OK;
}
