/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the hints for fresh destinations. If a large destination was mapped for one job only,
 * libmli maps its pages before the move, by madvise(). This program counts these calls. If the file
 * shrinks meanwhile, only its own job fails.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/memory/sigbus.h"
#include "tests/unit/daemon/memory_calls.h"
#include "tests/unit/daemon/scene.h"

enum { BIG = 8 << 20, POPULATE_WRITE = 23 };

#define BIG_JOB(src, dst)                                                                          \
    "'op':'mov','src':{" src ",'type':'fx8','shape':[2048,4096]},'dst':{" dst "}"
#define SMALL_JOB "'op':'mov','src':{'fd':0,'type':'fx8','shape':[100,1000]},'dst':{'fd':1}"

static atomic_uint calls, refused;
static atomic_int cut = -1; /* file that the next madvise() truncates; -1: none */
static unsigned char *noise;
static int big_src, big_dst;

/* Replaces the C library's madvise(): libmli is linked statically. */
int madvise(void *address, size_t length, int advice)
{
    int file, result;

    if (advice != POPULATE_WRITE)
        return (int)syscall(SYS_madvise, address, length, advice);
    file = atomic_exchange(&cut, -1);
    atomic_fetch_add(&calls, 1);
    if (file >= 0 && ftruncate(file, 10000) < 0)
        abort();
    result = (int)syscall(SYS_madvise, address, length, advice);
    atomic_fetch_add(&refused, result < 0);
    return result;
}

static int setup(void **state)
{
    noise = malloc(BIG);
    assert_non_null(noise);
    for (size_t i = 0; i < BIG; i++)
        noise[i] = (unsigned char)(i * 2654435761u >> 13);
    atomic_store(&calls, 0);
    atomic_store(&refused, 0);
    return scene_setup(state);
}

static void start(void)
{
    big_src = memfd_with(noise, BIG);
    big_dst = memfd_with(NULL, BIG);
    scene_start();
    sigbus_install(); /* cmocka installs its own handler for each test */
}

static int teardown(void **state)
{
    free(noise);
    close(big_src);
    close(big_dst);
    return scene_teardown(state);
}

static void test_descriptors(void **state)
{
    (void)state;
    start();
    peer_submit(&peer, 1, big_src, big_dst, BIG_JOB("'fd':0", "'fd':1"));
    peer_ok(&peer, 1);
    assert_int_not_equal(atomic_load(&calls), 0);
    assert_file(big_dst, noise, BIG);
}

static void test_small(void **state)
{
    const int from = memfd_with(noise, 100000), to = memfd_with(NULL, 100000);

    (void)state;
    start();
    peer_submit(&peer, 1, from, to, SMALL_JOB);
    peer_ok(&peer, 1);
    assert_int_equal(atomic_load(&calls), 0);
    assert_file(to, noise, 100000);
    close(from);
    close(to);
}

/* Mappings of buffers and prepared jobs get no hint: many jobs use them. */
static void test_shared_mappings_get_no_hint(void **state)
{
    int fds[2];
    struct job_prepared prepared;

    (void)state;
    start();
    register_buffer(&peer, big_src, "");
    register_buffer(&peer, big_dst, "");
    scene_call(&peer, 1, "job.submit", BIG_JOB("'buffer':1", "'buffer':2"));
    peer_ok(&peer, 1);
    fds[0] = big_src;
    fds[1] = big_dst;
    prepare_job(&peer, fds, 2, BIG_JOB("'fd':0", "'fd':1"), &prepared);
    job_prepared_finish(&prepared);
    scene_call(&peer, 2, "job.start", "'prepared':1");
    peer_ok(&peer, 2);
    assert_int_equal(atomic_load(&calls), 0);
    assert_file(big_dst, noise, BIG);
}

/* madvise() fails at the end of the shorter file; then the move gets a SIGBUS. */
static void test_destination_shrinks(void **state)
{
    const int whole = memfd_with(NULL, BIG);
    const struct fault *fault;

    (void)state;
    start();
    atomic_store(&cut, big_dst);
    peer_submit(&peer, 1, big_src, big_dst, BIG_JOB("'fd':0", "'fd':1"));
    fault = peer_error(&peer, 1, FAULT_IO_ERROR);
    assert_string_equal(fault->pointer, "/dst");
    assert_int_equal(atomic_load(&calls), 1);
    assert_int_equal(atomic_load(&refused), 1);
    peer_submit(&peer, 2, big_src, whole, BIG_JOB("'fd':0", "'fd':1"));
    peer_ok(&peer, 2);
    assert_file(whole, noise, BIG);
    close(whole);
}

#define FRESH_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH_TEST(test_descriptors),
        FRESH_TEST(test_small),
        FRESH_TEST(test_shared_mappings_get_no_hint),
        FRESH_TEST(test_destination_shrinks),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
