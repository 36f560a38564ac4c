/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/load.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

static _Atomic uint32_t calls[LOADS];

static void count_call(int32_t cookie)
{
    if (cookie < 0 || cookie >= LOADS)
        abort();
    atomic_fetch_add(&calls[cookie], 1);
}

uint32_t load_calls(int32_t cookie)
{
    return atomic_load(&calls[cookie]);
}

static void give_memory(struct load *l, size_t in_bytes, size_t out_bytes)
{
    l->in_bytes = in_bytes;
    l->out_bytes = out_bytes + LOAD_GUARD;
    l->in = malloc(l->in_bytes);
    l->out = malloc(l->out_bytes);
    l->expected = malloc(l->out_bytes);
    assert_true(l->in && l->out && l->expected);
    unit_fill(l->in, in_bytes); /* never 0 */
    l->src.el_type = MLI_EL_FX_8;
    l->src.data.mem.pi8 = (int8_t *)l->in;
    l->src.data.capacity = (uint32_t)in_bytes;
    l->dst.data.mem.pi8 = (int8_t *)l->out;
    l->dst.data.capacity = (uint32_t)out_bytes;
    load_freshen(l);
}

static void begin(struct load *l, int32_t cookie)
{
    memset(l, 0, sizeof(*l));
    l->cookie = cookie;
    assert_ok(mli_mov_cfg_for_copy(&l->cfg));
}

void load_init_rows(struct load *l, int32_t cookie, uint32_t rows, uint32_t run, uint32_t gap)
{
    begin(l, cookie);
    l->src.rank = 2;
    l->src.shape[0] = rows;
    l->src.shape[1] = run;
    l->cfg.dst_mem_stride[0] = (int32_t)(run + gap);
    l->cfg.dst_mem_stride[1] = 1;
    give_memory(l, (size_t)rows * run, (size_t)rows * (run + gap));
}

void load_init_flat(struct load *l, int32_t cookie, uint32_t bytes)
{
    load_init_rows(l, cookie, 1, bytes, 0);
}

void load_init_padded(struct load *l, int32_t cookie)
{
    begin(l, cookie);
    l->src.rank = 4;
    for (uint32_t i = 0; i < 4; i++) {
        l->src.shape[i] = 3 + i;
        l->cfg.padding_pre[i] = l->cfg.padding_post[i] = 1;
    }
    give_memory(l, 3 * 4 * 5 * 6, 5 * 6 * 7 * 8);
}

void load_finish(struct load *l)
{
    free(l->in);
    free(l->out);
    free(l->expected);
    *l = (struct load){0};
}

void load_claim(struct load *l, int channels)
{
    assert_ok(mli_mov_acquire_handle(channels, &l->h));
    assert_ok(mli_mov_prepare(&l->h, &l->src, &l->cfg, &l->dst));
    assert_ok(mli_mov_registercallback(&l->h, count_call, l->cookie));
}

void load_freshen(struct load *l)
{
    memset(l->out, LOAD_FRESH, l->out_bytes);
    atomic_store(&calls[l->cookie], 0);
}

void load_start(struct load *l)
{
    assert_ok(mli_mov_start(&l->h, NULL, NULL, NULL));
}

bool load_is_moved(const struct load *l)
{
    const size_t run = l->src.shape[1];
    const size_t step = (size_t)l->cfg.dst_mem_stride[0];
    size_t at = 0;

    for (size_t row = 0; row < l->src.shape[0]; row++) {
        if (memcmp(l->out + row * step, l->in + row * run, run) != 0)
            return false;
        for (at = row * step + run; at < (row + 1) * step; at++) {
            if (l->out[at] != LOAD_FRESH)
                return false;
        }
    }
    for (; at < l->out_bytes; at++) {
        if (l->out[at] != LOAD_FRESH)
            return false;
    }
    return true;
}
