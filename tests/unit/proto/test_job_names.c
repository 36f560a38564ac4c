/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/wire/wire_limits.h"
#include "tests/support/proto_unit.h"

/*
 * Appends a job with this name and these predecessors; both may be null. `after` is the text inside
 * the brackets of the array.
 */
static void add_job(struct jsonw *w, const char *name, const char *const *after)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "op", "mov");
    if (name)
        jsonw_string(w, "name", name);
    jsonw_object_begin(w, "src");
    jsonw_string(w, "file", "a.npy");
    jsonw_object_end(w);
    jsonw_object_begin(w, "dst");
    jsonw_string(w, "file", "b.npy");
    jsonw_object_end(w);
    jsonw_array_begin(w, "after");
    for (; after && *after; after++)
        jsonw_string(w, NULL, *after);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

struct named {
    const char *name;
    const char *after[4];
};

static int parse_jobs(const struct named *jobs, size_t count, struct job_list *list,
                      struct fault *fault)
{
    struct jsonw w;
    int status;

    jsonw_init(&w);
    jsonw_array_begin(&w, NULL);
    for (size_t i = 0; i < count; i++)
        add_job(&w, jobs[i].name, jobs[i].after);
    jsonw_array_end(&w);
    assert_non_null(jsonw_text(&w));
    status = job_file_parse(w.data, w.length, list, fault);
    jsonw_finish(&w);
    return status;
}

static void test_good(void **state)
{
    static const struct named jobs[] = {
        {"store", {"move", "load"}},
        {NULL, {"store"}},
        {"move", {"load"}},
        {"load", {NULL}},
        {NULL, {NULL}},
    };
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse_jobs(jobs, COUNT_OF(jobs), &list, &fault), &fault);
    assert_int_equal(list.jobs[0].after_count, 2);
    assert_string_equal(list.jobs[0].after[1], "load");
    assert_int_equal(list.jobs[4].after_count, 0);
    job_list_finish(&list);
}

#define assert_refused(jobs, pointer, text)                                                        \
    do {                                                                                           \
        struct job_list list_;                                                                     \
        struct fault fault_;                                                                       \
        assert_int_equal(parse_jobs(jobs, COUNT_OF(jobs), &list_, &fault_), -1);                   \
        assert_fault(&fault_, FAULT_INVALID_PARAMS, pointer, text, #jobs);                         \
    } while (0)

static void test_duplicate(void **state)
{
    static const struct named jobs[] = {{"b", {0}}, {"a", {0}}, {"c", {0}}, {"a", {0}}};

    (void)state;
    assert_refused(jobs, "/3/name", "name: \"a\" is already the name of the job /1");
}

static void test_unknown(void **state)
{
    static const struct named jobs[] = {{"a", {0}}, {"b", {"a", "A"}}};
    static const struct named nameless[] = {{NULL, {"a"}}};

    (void)state;
    assert_refused(jobs, "/1/after/1", "after[1]: no job of this file is named \"A\"");
    assert_refused(nameless, "/0/after/0", "after[0]: no job of this file is named \"a\"");
}

static void test_twice(void **state)
{
    static const struct named jobs[] = {{"a", {0}}, {"b", {"a", "a"}}};

    (void)state;
    assert_refused(jobs, "/1/after/1", "after[1]: \"a\" is given twice");
}

static void test_cycles(void **state)
{
    static const struct named itself[] = {{"a", {"a"}}};
    static const struct named two[] = {{"a", {"b"}}, {"b", {"a"}}};
    static const struct named behind[] = {{NULL, {"x"}}, {"x", {"a"}}, {"a", {"ok", "b"}},
                                          {"ok", {0}},   {"b", {"c"}}, {"c", {"a"}}};

    (void)state;
    assert_refused(itself, "/0/after/0", "after[0]: the job waits for itself: a after a");
    assert_refused(two, "/1/after/0", "after[0]: the job waits for itself: a after b after a");
    assert_refused(behind, "/5/after/0",
                   "after[0]: the job waits for itself: a after b after c after a");
}

static void test_single_job(void **state)
{
    static const char text[] = "{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\"},\"dst\":{\"file\":"
                               "\"b.npy\"},\"name\":\"me\",\"after\":[\"me\"]}";
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_int_equal(job_file_parse(text, strlen(text), &list, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/after/0",
                 "after[0]: the job waits for itself: me after me", "itself");
}

static void test_too_many(void **state)
{
    const char *after[JOB_AFTER_MAX + 2] = {0};
    struct job_list list;
    struct fault fault;
    struct jsonw w;

    (void)state;
    for (int i = 0; i <= JOB_AFTER_MAX; i++)
        after[i] = "a";
    jsonw_init(&w);
    add_job(&w, NULL, after);
    jsonw_text(&w);
    assert_int_equal(job_file_parse(w.data, w.length, &list, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/after",
                 "after: 65 entries given; at most 64 are allowed", "after");
    jsonw_finish(&w);
}

/* A chain of all jobs in reverse order is read without recursion and in less than quadratic time.
 */
static void test_long_chain(void **state)
{
    enum { COUNT = 20000 };

    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct job_list list;
        struct fault fault;
        struct jsonw w;

        jsonw_init(&w);
        jsonw_array_begin(&w, NULL);
        for (int i = 0; i < COUNT; i++) {
            char name[16], next[16];
            const char *after[2] = {i + 1 < COUNT || closed ? next : NULL, NULL};

            sprintf(name, "j%d", i);
            sprintf(next, "j%d", (i + 1) % COUNT);
            add_job(&w, name, after);
        }
        jsonw_array_end(&w);
        assert_non_null(jsonw_text(&w));
        assert_int_equal(job_file_parse(w.data, w.length, &list, &fault), closed ? -1 : 0);
        if (closed)
            assert_string_equal(fault.pointer, "/19999/after/0");
        job_list_finish(&list);
        jsonw_finish(&w);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),     cmocka_unit_test(test_duplicate),
        cmocka_unit_test(test_unknown),  cmocka_unit_test(test_twice),
        cmocka_unit_test(test_cycles),   cmocka_unit_test(test_single_job),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_long_chain),
    };

    return cmocka_run_group_tests_name("job_names", tests, NULL, NULL);
}
