/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests reading state files: complete, truncated, of several runs, and other files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report/state_file.h"
#include "tests/support/proto_unit.h"

/* Reads a text as a state file. */
static int read_text(const char *text, size_t length, struct state *state, struct fault *fault)
{
    int fd = memfd_create("state", MFD_CLOEXEC), status;

    assert_int_equal(write(fd, text, length), length);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    status = state_read(state, fd, fault);
    close(fd);
    return status;
}

#define BEGIN_OF(cases, shard, set)                                                                \
    "{\"event\":\"begin\",\"cases\":" cases ",\"total\":3,\"shard\":" shard                        \
    ",\"resumed\":0,\"set\":\"00000000000000" set "\"}\n"
#define BEGIN BEGIN_OF("3", "null", "03")
#define OTHER BEGIN_OF("3", "null", "04")
#define ANEW                                                                                       \
    "{\"event\":\"begin\",\"cases\":3,\"total\":3,\"shard\":null,\"resumed\":0,\"set\":"           \
    "\"00000000000000"                                                                             \
    "03\",\"anew\":true}\n"
#define CASE(name, status)                                                                         \
    "{\"event\":\"case\",\"name\":\"" name "\",\"file\":\"f\",\"status\":\"" status                \
    "\",\"attempts\":1,\"ns\":1,\"bytes\":1}\n"
#define END                                                                                        \
    "{\"event\":\"end\",\"passed\":3,\"flaky\":0,\"failed\":0,\"error\":0,\"updated\":0,"          \
    "\"not_run\":0,\"ns\":5,\"exit\":0}\n"

#define OPEN_OF(more)                                                                              \
    "{\"event\":\"begin\",\"cases\":0,\"total\":0,\"shard\":null,\"resumed\":0,\"set\":"           \
    "\"0000000000000000\"" more ",\"open\":true}\n"
#define OUTLINE                                                                                    \
    "{\"event\":\"outline\",\"cases\":2,\"total\":2,\"shard\":null,\"resumed\":0,\"set\":"         \
    "\"0000000000000003\"}\n"

struct found {
    const char *name;
    enum case_status status;
    bool current;
};

static void check(const char *text, uint64_t ns, const struct found *found, size_t count)
{
    struct state state;
    struct fault fault;

    assert_no_fault(read_text(text, strlen(text), &state, &fault), &fault);
    assert_true(state.begun);
    assert_int_equal(state.whole, strlen(text));
    assert_int_equal(state.ns, ns);
    assert_int_equal(state.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct state_record *record = state_find(&state, found[i].name);

        assert_non_null(record);
        assert_int_equal(record->result.status, found[i].status);
        assert_int_equal(record->current, found[i].current);
    }
    assert_null(state_find(&state, "none"));
    state_finish(&state);
}

static void test_runs(void **state)
{
    static const struct found first[] = {{"b", CASE_PASSED, true}, {"a", CASE_FAILED, true}};
    static const struct found newer[] = {{"b", CASE_FAILED, true}, {"a", CASE_FLAKY, true}};
    static const struct found other[] = {{"b", CASE_PASSED, false}, {"a", CASE_ERROR, true}};

    (void)state;
    check(BEGIN, 0, NULL, 0);
    check(BEGIN CASE("b", "passed") CASE("a", "failed") END, 5, first, 2);
    /* Of all lines with one name, in any run, only the last counts. */
    check(BEGIN CASE("b", "passed") CASE("a", "failed") END BEGIN CASE("a", "flaky")
              CASE("b", "updated") CASE("b", "failed") END,
          10, newer, 2);
    /* If a run has other cases, the results of earlier runs do not count. */
    check(BEGIN CASE("b", "passed") CASE("a", "failed") END OTHER CASE("a", "error") END, 5, other,
          2);
    check(BEGIN_OF("1", "\"1/2\"", "03") CASE("b", "passed") CASE("a", "failed")
              END BEGIN_OF("2", "\"2/2\"", "03") CASE("a", "error"),
          0, other, 2);
    /* If a run runs cases again, the results of earlier runs do not count. */
    check(BEGIN CASE("b", "passed") CASE("a", "failed") END ANEW CASE("a", "error") END, 5, other,
          2);
    /* The second run has other cases, so the results of the first run do not count, even if a
     * third run has the cases of the first run again. */
    check(BEGIN CASE("b", "passed") OTHER BEGIN CASE("a", "error"), 0, other, 2);
}

static void check_bad(const char *text, unsigned line, enum fault_code code, const char *pointer,
                      const char *complaint)
{
    struct state state;
    struct fault fault;

    assert_int_equal(read_text(text, strlen(text), &state, &fault), -1);
    assert_fault(&fault, code, pointer, complaint, text);
    assert_int_equal(fault.line, line);
    state_finish(&state);
}

/* A run of cases from standard input is open: its outline (the counts) follows its cases. */
static void test_open_runs(void **state)
{
    static const struct found both[] = {{"b", CASE_PASSED, true}, {"a", CASE_FAILED, true}};
    static const struct found one[] = {{"b", CASE_PASSED, false}, {"a", CASE_FAILED, true}};
    static const char whole[] = OPEN_OF("") CASE("b", "passed") CASE("a", "failed") OUTLINE END;
    struct state got;
    struct fault fault;

    (void)state;
    check(whole, 5, both, 2);
    check(OPEN_OF("") CASE("b", "passed") OPEN_OF(",\"anew\":true") CASE("a", "failed") OUTLINE END,
          5, one, 2);
    assert_no_fault(read_text(whole, sizeof whole - 1, &got, &fault), &fault);
    assert_false(got.outline.open);
    assert_int_equal(got.outline.total, 2);
    state_finish(&got);
    check_bad(BEGIN CASE("a", "passed") OUTLINE, 3, FAULT_INVALID_PARAMS, "",
              "an \"outline\" line must follow an open run");
    check_bad(OPEN_OF("") OUTLINE OUTLINE, 3, FAULT_INVALID_PARAMS, "",
              "an \"outline\" line must follow an open run");
}

/* A file that is truncated anywhere has its complete lines. */
static void test_cut(void **state)
{
    static const char text[] = BEGIN CASE("a", "passed") CASE("b", "failed") END;

    (void)state;
    for (size_t length = 0; length < sizeof text - 1; length++) {
        struct state got;
        struct fault fault;
        size_t lines = 0, whole = 0;

        for (size_t i = 0; i < length; i++) {
            if (text[i] == '\n') {
                lines++;
                whole = i + 1;
            }
        }
        assert_no_fault(read_text(text, length, &got, &fault), &fault);
        assert_int_equal(got.whole, whole);
        assert_int_equal(got.begun, lines > 0);
        assert_int_equal(got.count, lines > 2 ? 2 : lines > 1 ? lines - 1 : 0);
        state_finish(&got);
    }
}

static void test_bad(void **state)
{
    (void)state;
    check_bad(CASE("a", "passed"), 1, FAULT_INVALID_PARAMS, "",
              "a \"case\" line must follow a \"begin\" line");
    check_bad(BEGIN "\n", 2, FAULT_PARSE_ERROR, "", "the text ends where a value is expected");
    check_bad(BEGIN "{\"event\":\"cas\n" END, 2, FAULT_PARSE_ERROR, "/event",
              "the string that begins here does not end");
    check_bad("[1]\n", 1, FAULT_INVALID_PARAMS, "", "an object is required");
    check_bad("{}\n", 1, FAULT_INVALID_PARAMS, "/event", "event: missing, a string is required");
    check_bad("{\"event\":\"begins\"}\n", 1, FAULT_INVALID_PARAMS, "/event",
              "event: \"begins\" is unknown; did you mean \"begin\"?");
    check_bad(BEGIN CASE("a", "passed") CASE("b", "pased"), 3, FAULT_INVALID_PARAMS, "/status",
              "status: \"pased\" is unknown; did you mean \"passed\"?");
}

/* After a power cut, lost bytes of the file are zeros. Only the lines with zeros are ignored. */
static void test_power_cut(void **state)
{
    static const char whole[] = BEGIN CASE("a", "passed") CASE("b", "passed") CASE("c", "failed");
    const size_t head = strlen(BEGIN), length = sizeof whole - 1;
    struct state got;
    struct fault fault;

    (void)state;
    for (size_t from = head; from < length; from += 7) {
        for (size_t to = from + 1; to <= length; to += 13) {
            char text[sizeof whole];

            memcpy(text, whole, sizeof whole);
            memset(text + from, 0, to - from);
            assert_no_fault(read_text(text, length, &got, &fault), &fault);
            assert_true(got.begun);
            assert_false(got.foreign);
            assert_true(got.whole == (off_t)length || text[length - 1] == 0);
            assert_true(!state_find(&got, "a") || from >= head + strlen(CASE("a", "passed")));
            assert_true(got.count < 3);
            state_finish(&got);
        }
    }
    /* Refuses zeros if the file has no "begin", or if the text before them is not that of a state
     * file. */
    assert_int_equal(read_text("\0\0\n", 3, &got, &fault), -1);
    state_finish(&got);
    assert_int_equal(read_text(BEGIN "note\0\n", strlen(BEGIN) + 6, &got, &fault), -1);
    state_finish(&got);
    assert_no_fault(read_text(BEGIN "note\0", strlen(BEGIN) + 5, &got, &fault), &fault);
    assert_true(got.foreign);
    state_finish(&got);
}

static void test_long_line(void **state)
{
    enum { LENGTH = 3 * 1024 * 1024 };
    char *text = malloc(LENGTH + 1);
    struct state got;
    struct fault fault;

    (void)state;
    memset(text, 'x', LENGTH);
    memcpy(text, BEGIN, strlen(BEGIN));
    text[LENGTH] = '\0';
    assert_int_equal(read_text(text, LENGTH, &got, &fault), -1);
    assert_fault(&fault, FAULT_LIMIT, NULL, "the line is too long", "long");
    state_finish(&got);
    free(text);
}

static void test_many(void **state)
{
    enum { COUNT = 20000 };
    struct state got;
    struct fault fault;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    fputs(BEGIN, file);
    for (int i = 0; i < 2 * COUNT; i++)
        fprintf(file,
                "{\"event\":\"case\",\"name\":\"%d\",\"file\":\"f\",\"status\":\"%s\",\"attempts\":"
                "1,\"ns\":1,\"bytes\":1}\n",
                i * 7919 % COUNT, i < COUNT ? "failed" : "passed");
    fclose(file);
    assert_no_fault(read_text(text, size, &got, &fault), &fault);
    assert_int_equal(got.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char name[16];

        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(state_find(&got, name)->result.status, CASE_PASSED);
    }
    state_finish(&got);
    free(text);
}

static void test_files(void **state)
{
    char directory[] = "/tmp/mlictl-state-XXXXXX", path[64];
    struct state got;
    struct fault fault;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/fifo", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(state_load(&got, path, &fault), -1); /* must not wait for a writer */
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, "not a regular file", path);
    state_finish(&got);
    unlink(path);
    assert_int_equal(state_load(&got, path, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, "cannot be opened: No such file or directory",
                 path);
    state_finish(&got);
    assert_int_equal(state_load(&got, directory, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, "not a regular file", path);
    state_finish(&got);
    rmdir(directory);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bad),       cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_files),
        cmocka_unit_test(test_power_cut), cmocka_unit_test(test_open_runs),
    };

    return cmocka_run_group_tests_name("batch state", tests, NULL, NULL);
}
