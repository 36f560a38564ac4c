/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the file of the trace. tests/unit/proto tests the contents. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/job/trace.h"
#include "tests/unit/daemon/test_peer.h"

static uv_loop_t loop;
static uv_async_t keep; /* keeps the loop alive: the trace's timer does not */
static char directory[32], path[64];

static int setup(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/mlid-trace-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/trace.json", directory);
    log_set_level(LOG_CRIT);
    return uv_loop_init(&loop);
}

static int teardown(void **state)
{
    (void)state;
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    unlink(path);
    return rmdir(directory);
}

static void tell(struct trace *trace, uint64_t job, enum event_kind kind)
{
    struct event event = {.kind = kind, .time_ns = 1000 + job * 100 + kind};

    event.job = (struct job_info){.job = job, .client = 1, .channels = 1, .bytes = 64};
    trace_event(trace, &event);
}

static void tell_job(struct trace *trace, uint64_t job)
{
    tell(trace, job, EVENT_QUEUED);
    tell(trace, job, EVENT_STARTED);
    tell(trace, job, EVENT_DONE);
}

static size_t size_of_file(void)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

static char *contents(void)
{
    const size_t size = size_of_file();
    char *text = calloc(1, size + 4);
    FILE *file = fopen(path, "r");

    assert_non_null(text);
    assert_non_null(file);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

/* Checks only the end of the JSON array. Integration tests parse the trace, because the
 * protocol's parser refuses fractions. */
static void assert_ends(const char *text, const char *end)
{
    assert_int_equal(text[0], '[');
    assert_true(strlen(text) > strlen(end));
    assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void test_whole(void **state)
{
    struct trace *trace;
    struct stat st;
    char *text;

    (void)state;
    assert_int_equal(trace_create(&loop, path, &trace), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    for (uint64_t i = 1; i <= 3; i++)
        tell_job(trace, i);
    trace_destroy(trace);
    trace_event(NULL, NULL);
    trace_destroy(NULL);
    text = contents();
    assert_ends(text, "}\n]\n");
    assert_non_null(strstr(text, "job 3"));
    free(text);
}

/*
 * A single event is not written at once, but many events are. The timer writes the rest and then
 * stops.
 */
static void test_pieces(void **state)
{
    struct trace *trace;
    size_t size;

    (void)state;
    assert_int_equal(trace_create(&loop, path, &trace), 0);
    tell_job(trace, 1);
    assert_int_equal(size_of_file(), 0);
    for (uint64_t i = 2; i < 400; i++)
        tell_job(trace, i);
    size = size_of_file();
    assert_in_range(size, 64 * 1024, 1024 * 1024);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0); /* the timer does not keep the loop alive */
    assert_int_equal(uv_async_init(&loop, &keep, NULL), 0);
    for (int i = 0; i < 100 && size_of_file() == size; i++) {
        usleep(30 * 1000);
        uv_run(&loop, UV_RUN_NOWAIT);
        uv_update_time(&loop);
    }
    assert_true(size_of_file() > size);
    assert_int_equal(uv_backend_timeout(&loop), -1); /* no timer runs */
    uv_close((uv_handle_t *)&keep, NULL);
    trace_destroy(trace);
}

static void refuses(const char *name, int error)
{
    struct trace *trace;

    assert_int_equal(trace_create(&loop, name, &trace), error);
    assert_null(trace);
}

static void test_no_file(void **state)
{
    char other[80];
    struct stat st;

    (void)state;
    refuses(directory, -EEXIST);
    refuses("/dev/null", -EEXIST);
    refuses("/dev/full", -EEXIST);
    snprintf(other, sizeof other, "%s/none/file", directory);
    refuses(other, -ENOENT);
    snprintf(other, sizeof other, "%s/fifo", directory);
    assert_int_equal(mkfifo(other, 0600), 0);
    refuses(other, -EEXIST);
    unlink(other);
    snprintf(other, sizeof other, "%s/target", directory);
    assert_int_equal(symlink(other, path), 0);
    refuses(path, -ELOOP);
    assert_int_equal(stat(other, &st), -1);
    unlink(path);
}

/* Opening a trace truncates an existing file, and sets its mode to 0600. */
static void test_old_file(void **state)
{
    FILE *file = fopen(path, "w");
    struct trace *trace;
    struct stat st;
    char *text;

    (void)state;
    for (int i = 0; i < 1000; i++)
        fputs("old old old", file);
    fclose(file);
    chmod(path, 0644);
    assert_int_equal(trace_create(&loop, path, &trace), 0);
    trace_destroy(trace);
    stat(path, &st);
    assert_int_equal(st.st_mode & 07777, 0600);
    text = contents();
    assert_null(strstr(text, "old"));
    free(text);
}

/* If the disk is full, the written part stays readable, and the trace stops. */
static void test_full(void **state)
{
    enum { ROOM = 100 * 1000 };
    struct rlimit before, tight;
    struct trace *trace;
    size_t size;
    char *text;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = ROOM;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    assert_int_equal(trace_create(&loop, path, &trace), 0);
    for (uint64_t i = 1; i < 1000; i++)
        tell_job(trace, i);
    size = size_of_file();
    assert_in_range(size, 64 * 1024, ROOM);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    for (uint64_t i = 1; i < 1000; i++)
        tell_job(trace, i);
    trace_destroy(trace);
    assert_int_equal(size_of_file(), size);
    text = contents();
    assert_ends(text, "}}"); /* the file ends with a whole event */
    free(text);
}

#define TRACE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRACE_TEST(test_whole),    TRACE_TEST(test_pieces), TRACE_TEST(test_no_file),
        TRACE_TEST(test_old_file), TRACE_TEST(test_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
