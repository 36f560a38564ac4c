/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests writing state files: complete lines, one run at a time, and all this even after a run was
 * killed.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report/fingerprint.h"
#include "cli/report/state_file.h"
#include "tests/unit/cli/results.h"

static char directory[] = "/tmp/mlictl-state-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void open_file(struct state_file *state_file)
{
    struct fault fault;

    assert_no_fault(state_file_open(state_file, path, &fault), &fault);
}

/* Begins a run of the cases `set`, which reuses the results of the cases named in `kept`. */
static void begin(struct state_file *state_file, uint64_t set, const char *kept)
{
    struct batch_outline outline = {.total = 3, .selected = 3, .resumed = strlen(kept), .set = set};
    struct fault fault;

    for (; *kept; kept++)
        outline.resumed_set = digest_add(outline.resumed_set, (const char[]){*kept, '\0'});

    assert_no_fault(state_file_begin(state_file, &outline, &fault), &fault);
}

typedef int (*writer)(struct state_file *state_file, const struct case_result *result,
                      struct fault *fault);

static void put(struct state_file *state_file, writer write_one, const char *name,
                enum case_status status)
{
    struct case_result result = results_make(name, status);
    struct fault fault;

    assert_no_fault(write_one(state_file, &result, &fault), &fault);
    case_result_finish(&result);
}

static void end(struct state_file *state_file)
{
    const struct batch_summary summary = {.count = {[CASE_PASSED] = 3}, .ns = 5};
    struct fault fault;

    assert_no_fault(state_file_end(state_file, &summary, &fault), &fault);
}

static size_t count_lines(void)
{
    FILE *file = fopen(path, "r");
    size_t lines = 0;

    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void check_state(const struct state *state, size_t count, const char *name, bool current)
{
    const struct state_record *record = state_find(state, name);

    assert_int_equal(state->count, count);
    assert_non_null(record);
    assert_int_equal(record->current, current);
    assert_int_equal(record->result.fingerprint.job_file, 7);
}

static void test_runs(void **state)
{
    struct state_file state_file;

    (void)state;
    open_file(&state_file);
    assert_false(state_file.state.begun);
    begin(&state_file, 1, "");
    put(&state_file, state_file_add, "a", CASE_PASSED);
    put(&state_file, state_file_add, "b", CASE_FAILED);
    end(&state_file);
    state_file_close(&state_file);
    assert_int_equal(count_lines(), 4);
    /* This run continues the run before: results that it reuses are not written again. */
    open_file(&state_file);
    check_state(&state_file.state, 2, "a", true);
    begin(&state_file, 1, "ab");
    put(&state_file, state_file_keep, "a", CASE_PASSED);
    put(&state_file, state_file_keep, "b", CASE_FAILED);
    put(&state_file, state_file_add, "c", CASE_PASSED);
    state_file_close(&state_file);
    assert_int_equal(count_lines(), 6);
    /* Because this run has other cases, it writes the reused results again. */
    open_file(&state_file);
    check_state(&state_file.state, 3, "a", true);
    begin(&state_file, 2, "a");
    put(&state_file, state_file_keep, "a", CASE_PASSED);
    state_file_close(&state_file);
    assert_int_equal(count_lines(), 8);
    open_file(&state_file);
    check_state(&state_file.state, 3, "a", true);
    check_state(&state_file.state, 3, "b", false);
    /* This run reuses one more result than the run before. */
    begin(&state_file, 2, "ab");
    put(&state_file, state_file_keep, "a", CASE_PASSED);
    put(&state_file, state_file_keep, "b", CASE_FAILED);
    state_file_close(&state_file);
    assert_int_equal(count_lines(), 11);
    open_file(&state_file);
    check_state(&state_file.state, 3, "b", true);
    state_file_close(&state_file);
}

/* The result of a case that runs again is not current until it has ended. */
static void test_rerun(void **state)
{
    struct state_file state_file;

    (void)state;
    open_file(&state_file);
    begin(&state_file, 1, "");
    put(&state_file, state_file_add, "a", CASE_PASSED);
    put(&state_file, state_file_add, "b", CASE_FAILED);
    put(&state_file, state_file_add, "c", CASE_PASSED);
    end(&state_file);
    state_file_close(&state_file);
    open_file(&state_file);
    begin(&state_file, 1, "ac");
    put(&state_file, state_file_keep, "a", CASE_PASSED);
    put(&state_file, state_file_keep, "c", CASE_PASSED);
    state_file_close(&state_file);
    open_file(&state_file);
    check_state(&state_file.state, 3, "a", true);
    check_state(&state_file.state, 3, "b", false);
    assert_int_equal(state_file.state.ns, 0);
    state_file_close(&state_file);
}

/* A run was killed while it wrote a line. */
static void test_cut(void **state)
{
    struct state_file state_file;
    struct stat before;
    int fd;

    (void)state;
    open_file(&state_file);
    begin(&state_file, 1, "");
    put(&state_file, state_file_add, "a", CASE_PASSED);
    state_file_close(&state_file);
    assert_int_equal(stat(path, &before), 0);
    fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "{\"event\":\"case\",\"na", 19), 19);
    close(fd);
    open_file(&state_file);
    check_state(&state_file.state, 1, "a", true);
    begin(&state_file, 1, "");
    put(&state_file, state_file_add, "b", CASE_PASSED);
    state_file_close(&state_file);
    open_file(&state_file);
    check_state(&state_file.state, 2, "b", true);
    state_file_close(&state_file);
    assert_int_equal(count_lines(), 4);
}

static void test_lock(void **state)
{
    struct state_file one, two;
    struct fault fault;
    char expected[160];

    (void)state;
    open_file(&one);
    assert_int_equal(state_file_open(&two, path, &fault), -1);
    snprintf(expected, sizeof expected,
             "%s: another run is using the file; give each run its own --resume STATE", path);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, expected, "lock");
    state_file_close(&two);
    state_file_close(&one);
    open_file(&two);
    state_file_close(&two);
}

static void check_refused(const char *place, const char *complaint)
{
    struct state_file state_file;
    struct fault fault;
    char expected[300];

    assert_int_equal(state_file_open(&state_file, place, &fault), -1);
    snprintf(expected, sizeof expected, "%s%s", place, complaint);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, expected, place);
    state_file_close(&state_file);
}

static void test_refused(void **state)
{
    char inside[80];
    FILE *file = fopen(path, "w");

    (void)state;
    fputs("{\"op\":\"mov\"}\n", file);
    fclose(file);
    check_refused(path, ":1:1: event: missing, a string is required; the file is not a state file, "
                        "or was edited: give another --resume STATE");
    snprintf(inside, sizeof inside, "%s/x", path);
    check_refused(inside, ": cannot be opened: Not a directory");
    check_refused(directory, ": cannot be opened: Is a directory");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    check_refused(path, ": not a regular file"); /* does not wait for a writer of the fifo */
}

/* A line that does not fit on the disk is removed, so that the file only has complete lines. */
static void test_full(void **state)
{
    struct case_result result = results_make("b", CASE_PASSED);
    struct state_file state_file;
    struct rlimit before, limit;
    struct fault fault;
    char expected[160];

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    open_file(&state_file);
    begin(&state_file, 1, "");
    put(&state_file, state_file_add, "a", CASE_PASSED);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)state_file.size + 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(state_file_add(&state_file, &result, &fault), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    snprintf(expected, sizeof expected, "%s: cannot be written: File too large", path);
    assert_fault(&fault, FAULT_IO_ERROR, NULL, expected, "full");
    assert_int_equal(count_lines(), 2);
    assert_no_fault(state_file_add(&state_file, &result, &fault), &fault);
    state_file_close(&state_file);
    open_file(&state_file);
    check_state(&state_file.state, 2, "b", true);
    assert_int_equal(count_lines(), 3);
    state_file_close(&state_file);
    case_result_finish(&result);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_runs, set_up),    cmocka_unit_test_setup(test_rerun, set_up),
        cmocka_unit_test_setup(test_cut, set_up),     cmocka_unit_test_setup(test_lock, set_up),
        cmocka_unit_test_setup(test_refused, set_up), cmocka_unit_test_setup(test_full, set_up),
    };
    int failed;

    if (!mkdtemp(directory))
        return 1;
    snprintf(path, sizeof path, "%s/state.jsonl", directory);
    failed = cmocka_run_group_tests_name("batch journal", tests, NULL, NULL);
    unlink(path);
    rmdir(directory);
    return failed;
}
