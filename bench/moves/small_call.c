/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/small_call.h"

#include <stdio.h>
#include <string.h>

#include "bench/moves/bench_clock.h"
#include "mli_api.h"

enum { ROUNDS = 20, CALLS = 50000, BYTES = 512, ROOM = 4096 };

static int8_t from[BYTES], to[ROOM];
static mli_tensor src = {.data = {.capacity = BYTES, .mem.pi8 = from},
                         .shape = {8, 8, 8},
                         .rank = 3,
                         .el_type = MLI_EL_FX_8};
static mli_tensor dst = {.data = {.capacity = ROOM, .mem.pi8 = to}};
static mli_mov_cfg_t cfg;
static mli_mov_handle_t handle;

static mli_status call_memcpy(void)
{
    memcpy(to, from, BYTES);
    __asm__ volatile("" ::: "memory");
    return MLI_STATUS_OK;
}

static mli_status call_sync(void)
{
    memset(dst.mem_stride, 0, sizeof(dst.mem_stride));
    return mli_mov_tensor_sync(&src, &cfg, &dst);
}

static mli_status call_async(void)
{
    mli_status status;

    memset(dst.mem_stride, 0, sizeof(dst.mem_stride));
    status = mli_mov_prepare(&handle, &src, &cfg, &dst);
    if (status == MLI_STATUS_OK)
        status = mli_mov_start(&handle, &src, &cfg, &dst);
    return status == MLI_STATUS_OK && !mli_mov_isdone(&handle) ? MLI_STATUS_ARGUMENT_ERROR : status;
}

static int add(struct calls *c, const char *name, double goal, mli_status (*call)(void), int calls)
{
    double least = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const double begin = clock_ns();

        for (int i = 0; i < calls; i++) {
            if (call() != MLI_STATUS_OK) {
                fprintf(stderr, "bench-moves: small call, %s: %s\n", name, mli_last_error());
                return -1;
            }
        }
        const double each = (clock_ns() - begin) / calls;

        least = round == 0 || each < least ? each : least;
    }
    c->at[c->count].name = name;
    c->at[c->count].goal = goal;
    c->at[c->count++].ns = least;
    return 0;
}

static int add_async(struct calls *c, int calls)
{
    int result;

    if (mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK ||
        mli_mov_acquire_handle(1, &handle) != MLI_STATUS_OK) {
        fprintf(stderr, "bench-moves: no channel: %s\n", mli_last_error());
        return -1;
    }
    result = add(c, "copy, by prepare + start + isdone", 0, call_async, calls);
    mli_mov_release_handle(&handle);
    mli_mov_set_num_dma_ch(0, 0);
    return result;
}

int calls_measure(struct calls *c, bool quick)
{
    const int zero[MLI_MAX_RANK] = {0}, two[MLI_MAX_RANK] = {2, 2, 2, 2},
              four[MLI_MAX_RANK] = {4, 4, 4, 4}, calls = quick ? CALLS / 10 : CALLS;

    c->count = 0;
    add(c, "memcpy", 0, call_memcpy, calls);
    mli_mov_cfg_for_copy(&cfg);
    if (add(c, "copy", 40, call_sync, calls))
        return -1;
    mli_mov_cfg_for_slice(&cfg, two, four, zero);
    if (add(c, "slice of 4x4x4", 90, call_sync, calls))
        return -1;
    mli_mov_cfg_for_padding2d_hwc(&cfg, 1, 1, 1, 1, zero);
    if (add(c, "pad 1 around H and W, HWC", 90, call_sync, calls))
        return -1;
    mli_mov_cfg_for_permute(&cfg, (const uint8_t[]){2, 0, 1, 3});
    if (add(c, "permute (2,0,1)", 90, call_sync, calls))
        return -1;
    mli_mov_cfg_for_copy(&cfg);
    return add_async(c, calls);
}

void calls_print(const struct calls *c)
{
    printf("\nsmall calls: 8x8x8 elements of 1 byte         memcpy\n");
    for (int i = 0; i < c->count; i++)
        printf("%-36s %7.1f ns %6.1f\n", c->at[i].name, c->at[i].ns, c->at[i].ns / c->at[0].ns);
}
