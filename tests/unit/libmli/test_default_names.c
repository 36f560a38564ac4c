/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that foreign.c calls, declared by the default headers: each links and runs. */
#include <stdio.h>
#include <string.h>

#include "mli_api.h"

static int failures;

static void expect(int right, const char *what)
{
    if (!right) {
        printf("FAILED: %s\n", what);
        failures++;
    }
}

#define EXPECT(condition) expect((condition) ? 1 : 0, #condition)

static int called;

static void on_done(int32_t cookie)
{
    called = cookie;
}

int main(void)
{
    static int8_t from[6] = {1, 2, 3, 4, 5, 6}, to[6];
    const int zero[MLI_MAX_RANK] = {0}, one[MLI_MAX_RANK] = {1, 1, 1, 1};
    const uint8_t same[MLI_MAX_RANK] = {0, 1, 2, 3}, none[MLI_MAX_RANK] = {0};
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t h;

    memset(&src, 0, sizeof(src));
    src.data.mem.pi8 = from;
    src.data.capacity = sizeof(from);
    src.rank = 2;
    src.shape[0] = 2;
    src.shape[1] = 3;
    src.el_type = MLI_EL_FX_8;
    src.el_params.fx.frac_bits = 5;
    dst = src;
    dst.data.mem.pi8 = to;
    EXPECT(mli_mov_cfg_all(&cfg, zero, zero, one, zero, zero, same, none, none) == MLI_STATUS_OK);
    EXPECT(mli_mov_acquire_handle(0, &h) == MLI_STATUS_OK);
    EXPECT(mli_mov_prepare(&h, &src, &cfg, &dst) == MLI_STATUS_OK);
    EXPECT(mli_mov_registercallback(&h, on_done, 7) == MLI_STATUS_OK);
    EXPECT(mli_mov_start(&h, &src, &cfg, &dst) == MLI_STATUS_OK);
    EXPECT(mli_mov_wait(&h) == MLI_STATUS_OK);
    EXPECT(mli_mov_isdone(&h) && called == 7 && memcmp(from, to, sizeof(to)) == 0);
    EXPECT(mli_mov_release_handle(&h) == MLI_STATUS_OK);
    EXPECT(mli_hlp_tensor_scale(&dst) == 1 && mli_hlp_tensor_scale_shift(&dst) == 5);
    EXPECT(mli_hlp_tensor_zero_offset(&dst) == 0);
    return failures != 0;
}
