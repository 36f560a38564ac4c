/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli refuses a call of the service between the admission of a job and its transfer: the job
 * fails, and the service continues. The linker replaces libmli's functions by those below (--wrap).
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <syslog.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "tests/unit/daemon/scene.h"

static atomic_int failing; /* initial of the call that fails: 'a'cquire, 'p'repare, 'h'ints,
                              'c'allback, 's'tart */

#define WRAP(letter, name, parameters, ...)                                                        \
    mli_status __real_##name parameters;                                                           \
    mli_status __wrap_##name parameters;                                                           \
    mli_status __wrap_##name parameters                                                            \
    {                                                                                              \
        return atomic_load(&failing) == (letter) ? MLI_STATUS_DMA_ERROR                            \
                                                 : __real_##name(__VA_ARGS__);                     \
    }
WRAP('a', mli_mov_acquire_handle_at, (int first, int count, mli_mov_handle_t *h), first, count, h)
WRAP('p', mli_abi_mov_prepare,
     (mli_mov_handle_t * h, const mli_tensor *from, const mli_mov_cfg_t *cfg, mli_tensor *to), h,
     from, cfg, to)
WRAP('h', mli_mov_set_hints, (mli_mov_handle_t * h, uint32_t hints), h, hints)
WRAP('c', mli_abi_mov_registercallback, (mli_mov_handle_t * h, void (*cb)(int32_t), int32_t cookie),
     h, cb, cookie)
WRAP('s', mli_abi_mov_start,
     (mli_mov_handle_t * h, const mli_tensor *from, const mli_mov_cfg_t *cfg, mli_tensor *to), h,
     from, cfg, to)

/* The inode of a file that the service takes for a file on a disk; 0: all files are in memory. */
static atomic_ulong on_disk;
static int (*real_seals)(int fd);

/* Says that the file `on_disk` has no seals: the service then takes it for a file on a disk. */
static int fake_seals(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || st.st_ino != atomic_load(&on_disk))
        return real_seals(fd);
    errno = EINVAL;
    return -1;
}

static int setup(void **state)
{
    atomic_store(&failing, 0);
    atomic_store(&on_disk, 0);
    real_seals = seam.seals;
    seam.seals = fake_seals;
    return scene_setup(state);
}

static int teardown(void **state)
{
    seam.seals = real_seals;
    return scene_teardown(state);
}

static void job_is_done(int id)
{
    peer_submit(&peer, id, src, dst, COPY);
    peer_ok(&peer, id);
}

static void refused_at(int call, enum fault_code code, const char *text)
{
    const struct fault *fault;

    scene_start();
    atomic_store(&failing, call);
    for (int id = 1; id <= 3; id++) {
        peer_submit(&peer, id, src, dst, COPY ",'name':'tile'");
        fault = peer_error(&peer, id, code);
        if (text)
            assert_string_equal(fault->text, text);
    }
    atomic_store(&failing, 0);
    job_is_done(4);
}

static void test_channels_of_others(void **state)
{
    (void)state;
    refused_at('a', FAULT_REFUSED, NULL);
}

static void test_refused_prepare(void **state)
{
    (void)state;
    refused_at('p', FAULT_REFUSED, NULL);
}

static void test_refused_callback(void **state)
{
    (void)state;
    refused_at('c', FAULT_INTERNAL, "the transfer could not be started");
}

static void test_refused_start(void **state)
{
    (void)state;
    refused_at('s', FAULT_INTERNAL, "the transfer could not be started");
}

/*
 * Hints are set only for memory that may be slow: first only the source is on a disk, then only the
 * destination.
 */
static void test_refused_hints(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(fstat(src, &st), 0);
    atomic_store(&on_disk, st.st_ino);
    refused_at('h', FAULT_INTERNAL, "the transfer could not be started");
    assert_int_equal(fstat(dst, &st), 0);
    atomic_store(&on_disk, st.st_ino);
    atomic_store(&failing, 'h');
    peer_submit(&peer, 5, src, dst, COPY);
    peer_error(&peer, 5, FAULT_INTERNAL);
    atomic_store(&on_disk, 0);
    job_is_done(6); /* no hints are set, so none are refused */
}

/* The log names the job, its connection and the error. */
static void test_failures_are_logged(void **state)
{
    (void)state;
    server.config.log_level = LOG_DEBUG;
    refused_at('s', FAULT_INTERNAL, NULL);
    log_set_level(LOG_CRIT);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_channels_of_others), TEST(test_refused_prepare), TEST(test_refused_callback),
        TEST(test_refused_start),      TEST(test_refused_hints),   TEST(test_failures_are_logged),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
