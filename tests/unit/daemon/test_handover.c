/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A channel's thread has appended its task to the list, but is slow to wake the loop. Another task
 * may wake the loop, which then finds the first task in the list. The loop must not free anything
 * before the thread has left uv_async_send(). The linker replaces libuv's uv_async_send() by the
 * one here (--wrap).
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "tests/unit/daemon/test_peer.h"

enum { BIG = 64 * 1024 };

static atomic_int sending; /* number of channel threads inside uv_async_send() */

int __real_uv_async_send(uv_async_t *async);
int __wrap_uv_async_send(uv_async_t *async);

int __wrap_uv_async_send(uv_async_t *async)
{
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    char name[16] = "";
    int result;

    prctl(PR_GET_NAME, name);
    if (strncmp(name, "mli-dma-", 8) != 0)
        return __real_uv_async_send(async);
    atomic_fetch_add(&sending, 1);
    nanosleep(&pause, NULL);
    result = __real_uv_async_send(async);
    atomic_fetch_sub(&sending, 1);
    return result;
}

static void test_slow_to_wake(void **state)
{
    const int src = memfd_with(NULL, BIG), dst = memfd_with(NULL, BIG);
    struct fixture fixture;

    (void)state;
    fixture_config(&fixture.config);
    strcpy(fixture.config.engine, "threads:tiny=1024");
    fixture_start(&fixture);
    peer_submit(&fixture.peer, 1, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[65536]},'dst':{'fd':1}");
    while (atomic_load(&sending) == 0)
        ;
    peer_submit(&fixture.peer, 2, src, dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}");
    peer_ok(&fixture.peer, 1);
    assert_int_equal(atomic_load(&sending), 0);
    peer_ok(&fixture.peer, 2);
    fixture_stop(&fixture);
    close(src);
    close(dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slow_to_wake)};

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
