/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls and allocations of the trace fail: opening reports the error, and a running trace
 * stops and leaves a file of whole events. The linker replaces the failing functions by those below
 * (--wrap). With _FILE_OFFSET_BITS=64 the name of fstat() for the linker is fstat64.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/job/trace.h"
#include "tests/unit/daemon/test_peer.h"

static enum { NOTHING, FSTAT, FCHMOD, FTRUNCATE, INTERRUPTED, FULL, REALLOC } failing;

static uv_loop_t loop;
static char path[] = "/tmp/mlid-trace-faults-XXXXXX";
static int calls; /* number of calls of write() that are interrupted */

int __real_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);
int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int fails(int call, int error)
{
    if ((int)failing != call)
        return 0;
    errno = error;
    return 1;
}

int __wrap_fstat64(int fd, struct stat *st)
{
    return fails(FSTAT, EIO) ? -1 : __real_fstat64(fd, st);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    return fails(FCHMOD, EPERM) ? -1 : __real_fchmod(fd, mode);
}

int __wrap_ftruncate64(int fd, off_t size)
{
    return fails(FTRUNCATE, EROFS) ? -1 : __real_ftruncate64(fd, size);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    if (failing == INTERRUPTED && ++calls % 2 == 1) {
        errno = EINTR;
        return -1;
    }
    if (failing == FTRUNCATE || failing == FULL) {
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, bytes, failing == INTERRUPTED && size > 100 ? 100 : size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails(REALLOC, ENOMEM) ? NULL : __real_realloc(old, size);
}

static int setup(void **state)
{
    const int fd = mkstemp(strcpy(path, "/tmp/mlid-trace-faults-XXXXXX"));

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    failing = NOTHING;
    return uv_loop_init(&loop);
}

static int teardown(void **state)
{
    (void)state;
    failing = NOTHING;
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return unlink(path);
}

static void event(struct trace *trace, uint64_t job)
{
    struct event done = {.kind = EVENT_DONE, .time_ns = 1000 + job};

    done.job = (struct job_info){.job = job, .client = 1, .channels = 1, .bytes = 64};
    trace_event(trace, &done);
}

static size_t size_of_file(void)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

static void test_open(void **state)
{
    struct trace *trace;

    (void)state;
    failing = FSTAT;
    assert_int_equal(trace_create(&loop, path, &trace), -EIO);
    failing = FCHMOD;
    assert_int_equal(trace_create(&loop, path, &trace), -EPERM);
    failing = FTRUNCATE;
    assert_int_equal(trace_create(&loop, path, &trace), -EROFS);
    assert_null(trace);
}

static void *no_memory(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    struct trace *trace;

    (void)state;
    seam.calloc = no_memory;
    assert_int_equal(trace_create(&loop, path, &trace), -ENOMEM);
    seam.calloc = calloc;
    assert_null(trace);
}

/* After an interrupted write, or one that wrote only a part, the trace writes the rest. */
static void test_interrupted_writes(void **state)
{
    struct trace *trace;
    size_t size = 0;

    (void)state;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(trace_create(&loop, path, &trace), 0);
        failing = round == 0 ? NOTHING : INTERRUPTED;
        for (uint64_t job = 1; job < 50; job++)
            event(trace, job);
        trace_destroy(trace);
        failing = NOTHING;
        if (round == 0)
            size = size_of_file();
        else
            assert_int_equal(size_of_file(), size);
    }
    assert_true(calls > 10);
}

/* Writes events until the trace has stopped; later events change nothing. */
static void stops_at(int call)
{
    struct trace *trace;
    size_t size;

    log_set_level(call == FULL ? LOG_DEBUG : LOG_CRIT);
    assert_int_equal(trace_create(&loop, path, &trace), 0);
    for (uint64_t job = 1; job < 700; job++)
        event(trace, job);
    size = size_of_file();
    assert_true(size > 0);
    failing = call;
    for (uint64_t job = 1; job < 1000; job++)
        event(trace, job);
    failing = NOTHING;
    assert_int_equal(size_of_file(), size);
    event(trace, 5000);
    trace_destroy(trace);
    assert_int_equal(size_of_file(), size);
    log_set_level(LOG_CRIT);
}

static void test_full_disk(void **state)
{
    (void)state;
    stops_at(FULL);
}

static void test_file_that_cannot_be_cut(void **state)
{
    (void)state;
    stops_at(FTRUNCATE);
}

static void test_no_memory_for_events(void **state)
{
    (void)state;
    stops_at(REALLOC);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_open),
        TEST(test_no_memory),
        TEST(test_interrupted_writes),
        TEST(test_full_disk),
        TEST(test_file_that_cannot_be_cut),
        TEST(test_no_memory_for_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
