/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the parsers of queues: URLs and records. */
#include <stdlib.h>
#include <string.h>

#include "cli/queue/queue.h"
#include "tests/support/proto_unit.h"

static void test_urls(void **state)
{
    static const struct {
        const char *text, *place, *name, *user, *password, *shown;
        unsigned port, db;
    } goods[] = {
        {"redis://h/n", "h", "n", "", "", "redis://h:6379/n", 6379, 0},
        {"redis://u%40:p%3a@h:1/2/n_1.x-y", "h", "n_1.x-y", "u@", "p:", "redis://h:1/2/n_1.x-y", 1,
         2},
        {"redis://:p@[::1]:70/n", "::1", "n", "", "p", "redis://[::1]:70/n", 70, 0},
        {"redis+unix:///a/b.sock:n", "/a/b.sock", "n", "", "", "redis+unix:///a/b.sock:n", 0, 0},
        {"redis+unix://:p@/a/b/3:n", "/a/b", "n", "", "p", "redis+unix:///a/b/3:n", 0, 3},
        {"redis+unix:///a/b3:n", "/a/b3", "n", "", "", "redis+unix:///a/b3:n", 0, 0},
        {"redis+unix:///a/3/0:n", "/a/3", "n", "", "", "redis+unix:///a/3/0:n", 0, 0},
    };
    struct queue_url url;
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        assert_no_fault(queue_url_parse(goods[i].text, &url, &fault), &fault);
        assert_string_equal(url.place, goods[i].place);
        assert_string_equal(url.name, goods[i].name);
        assert_string_equal(url.user, goods[i].user);
        assert_string_equal(url.password, goods[i].password);
        assert_string_equal(url.shown, goods[i].shown);
        assert_int_equal(url.port, goods[i].port);
        assert_int_equal(url.db, goods[i].db);
    }
}

/* No message has a part of the secrets. */
static void test_bad_urls(void **state)
{
    static const char *const bads[] = {"",
                                       "redis:/h/n",
                                       "redis://hush@h/n",
                                       "redis://hush:%4@h/n",
                                       "redis://hush:%00@h/n",
                                       "redis://:hush@/n",
                                       "redis://:hush@h",
                                       "redis://:hush@h/",
                                       "redis://:hush@h/7",
                                       "redis://:hush@h/x/n",
                                       "redis://:hush@h:0/n",
                                       "redis://:hush@h:65536/n",
                                       "redis://:hush@h:1x/n",
                                       "redis://:hush@[h/n",
                                       "redis://:hush@[h]1/n",
                                       "redis://:hush@h/1/2/n",
                                       "redis://:hush@h h/n",
                                       "redis://:hush@h/-n",
                                       "redis://:hush@h/n n",
                                       "redis://:hush@h/99999999/n",
                                       "redis://:us@hush@h/n",
                                       "redis://:hush@h]/n",
                                       "beanstalk://:hush@h/n",
                                       "beanstalk+unix:///a/3:n",
                                       "redis+unix://:hush@a:n",
                                       "redis+unix://:hush@/a",
                                       "redis+unix://:hush@/a/99999999:n",
                                       "redis+unix://:hush@:n"};
    struct queue_url url;
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        assert_int_equal(queue_url_parse(bads[i], &url, &fault), -1);
        assert_int_equal(fault.code, FAULT_INVALID_PARAMS);
        assert_null(strstr(fault.text, "hush"));
    }
}

static void test_hidden(void **state)
{
    char text[] = "redis://me:hush@h/n", plain[] = "redis://h/n", other[] = "http://a:b@h/n";

    (void)state;
    queue_url_hide(text);
    assert_string_equal(text, "redis://*******@h/n");
    queue_url_hide(plain);
    assert_string_equal(plain, "redis://h/n");
    queue_url_hide(other);
    assert_string_equal(other, "http://a:b@h/n");
}

static void test_records(void **state)
{
    char name[] = "a b", path[] = "x/a b.json";
    const struct queue_case item = {.name = name, .path = path, .inputs = 0x1234};
    struct queue_case got;
    size_t length;
    char *bytes = queue_record_write(&item, &length);

    (void)state;
    assert_memory_equal(bytes, "0000000000001234 a b\0x/a b.json", length);
    assert_int_equal(queue_record_read(bytes, length, &got), RECORD_GOOD);
    assert_string_equal(got.name, name);
    assert_string_equal(got.path, path);
    assert_int_equal(got.inputs, 0x1234);
    queue_case_finish(&got);
    for (size_t cut = 0; cut < 22; cut++)
        assert_int_equal(queue_record_read(bytes, cut, &got), RECORD_INVALID);
    bytes[length - 1] = '\0';
    assert_int_equal(queue_record_read(bytes, length, &got), RECORD_INVALID);
    bytes[length - 1] = 'n';
    bytes[0] = 'X';
    assert_int_equal(queue_record_read(bytes, length, &got), RECORD_INVALID);
    free(bytes);
}

static void test_paths(void **state)
{
    (void)state;
    assert_true(queue_path_is_below("a/..b/c.json"));
    assert_false(queue_path_is_below("/a"));
    assert_false(queue_path_is_below(""));
    assert_false(queue_path_is_below(".."));
    assert_false(queue_path_is_below("a/../../b"));
    assert_false(queue_path_is_below("a/.."));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),   cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_hidden), cmocka_unit_test(test_records),
        cmocka_unit_test(test_paths),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
