/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one call costs on a tensor of 8x8x8 bytes, checks and planning included: best of 20 rounds,
 * in nanoseconds and as a multiple of a memcpy call of the same 512 bytes in the same run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mli_api.h"

enum { ROUNDS = 20, CALLS = 50000, BYTES = 512, ROOM = 4096 };

static int8_t from[BYTES], to[ROOM];
static mli_tensor src = {.data = {.capacity = BYTES, .mem.pi8 = from},
                         .shape = {8, 8, 8},
                         .rank = 3,
                         .el_type = MLI_EL_FX_8};
static mli_tensor dst;
static mli_mov_cfg_t cfg;
static mli_mov_handle_t handle;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(mli_status status)
{
    if (status == MLI_STATUS_OK)
        return;
    fprintf(stderr, "bench-calls: %s\n", mli_last_error());
    exit(1);
}

static void call_memcpy(void)
{
    memcpy(to, from, BYTES);
    __asm__ volatile("" ::: "memory");
}

static void call_sync(void)
{
    memset(dst.mem_stride, 0, sizeof(dst.mem_stride));
    check(mli_mov_tensor_sync(&src, &cfg, &dst));
}

static void call_async(void)
{
    memset(dst.mem_stride, 0, sizeof(dst.mem_stride));
    check(mli_mov_prepare(&handle, &src, &cfg, &dst));
    check(mli_mov_start(&handle, &src, &cfg, &dst));
    check(mli_mov_isdone(&handle) ? MLI_STATUS_OK : MLI_STATUS_ARGUMENT_ERROR);
}

static double best(void (*call)(void))
{
    double least = 1e30;

    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now();

        for (int i = 0; i < CALLS; i++)
            call();
        const double each = (now() - begin) / CALLS;

        least = each < least ? each : least;
    }
    return least;
}

static void report(const char *name, void (*call)(void), double unit)
{
    const double ns = best(call);

    printf("%-40s %7.1f ns %6.1f\n", name, ns, ns / unit);
}

int main(void)
{
    const int zero[MLI_MAX_RANK] = {0}, two[MLI_MAX_RANK] = {2, 2, 2, 2},
              four[MLI_MAX_RANK] = {4, 4, 4, 4};
    const double unit = best(call_memcpy);

    dst.data.capacity = ROOM;
    dst.data.mem.pi8 = to;
    printf("%-40s %10s %6s\n", "8x8x8 elements of 1 byte", "", "memcpy");
    report("memcpy", call_memcpy, unit);
    check(mli_mov_cfg_for_copy(&cfg));
    report("copy", call_sync, unit);
    check(mli_mov_cfg_for_slice(&cfg, two, four, zero));
    report("slice of 4x4x4", call_sync, unit);
    check(mli_mov_cfg_for_padding2d_hwc(&cfg, 1, 1, 1, 1, zero));
    report("pad 1 around H and W, HWC", call_sync, unit);
    check(mli_mov_cfg_for_permute(&cfg, (const uint8_t[]){2, 0, 1, 3}));
    report("permute (2,0,1)", call_sync, unit);
    check(mli_mov_cfg_for_copy(&cfg));
    check(mli_mov_set_num_dma_ch(0, 1));
    check(mli_mov_acquire_handle(1, &handle));
    report("copy, by prepare + start + isdone", call_async, unit);
    check(mli_mov_release_handle(&handle));
    return 0;
}
