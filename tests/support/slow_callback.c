/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/slow_callback.h"

#include <string.h>
#include <time.h>

#include "tests/support/unit.h"

struct slow slow;

void slow_init(uint32_t rows, uint32_t run, int channels)
{
    memset(&slow, 0, sizeof(slow));
    load_init_rows(&slow.load, 1, rows, run, 0);
    unit_restore_engine();
    assert_ok(mli_mov_set_num_dma_ch(0, channels));
    load_claim(&slow.load, 1);
}

int slow_finish(void **state)
{
    (void)state;
    atomic_store(&slow.leave, true);
    (void)mli_mov_synchronise(&slow.load.h);
    (void)mli_mov_release_handle(&slow.load.h);
    load_finish(&slow.load);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

void slow_pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

void slow_await(atomic_bool *flag)
{
    for (int ms = 0; ms < SLOW_DEADLINE_S * 1000 && !atomic_load(flag); ms++)
        slow_pause_ms(1);
    assert_true(atomic_load(flag));
}

void slow_callback(int32_t cookie)
{
    (void)cookie;
    atomic_store(&slow.entered, true);
    while (!atomic_load(&slow.leave))
        slow_pause_ms(1);
    slow_pause_ms(5);
    slow.returning = true;
}

void *slow_start(void *unused)
{
    (void)unused;
    return mli_mov_start(&slow.load.h, NULL, NULL, NULL) == MLI_STATUS_OK ? &slow : NULL;
}
