/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the parsers of queues: URLs, records, replies of beanstalkd. */
#include <stdlib.h>
#include <string.h>

#include "cli/queue/beanstalk.h"
#include "cli/queue/queue_record.h"
#include "cli/queue/queue_url.h"
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
        {"beanstalk://h/n", "h", "n", "", "", "beanstalk://h:11300/n", 11300, 0},
        {"beanstalk+unix:///a/3:n", "/a/3", "n", "", "", "beanstalk+unix:///a/3:n", 0, 0},
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
                                       "beanstalk://h/1/n",
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
    const char *rest;
    size_t length, rest_length;
    char *bytes = queue_record_write(&item, "{}", &length);

    (void)state;
    assert_memory_equal(bytes, "0000000000001234 a b\0x/a b.json\0{}", length);
    assert_int_equal(queue_record_read(bytes, length, &got, &rest, &rest_length), RECORD_GOOD);
    assert_string_equal(got.name, name);
    assert_string_equal(got.path, path);
    assert_int_equal(got.inputs, 0x1234);
    assert_int_equal(rest_length, 2);
    queue_case_finish(&got);
    for (size_t cut = 0; cut < 22; cut++)
        assert_int_equal(queue_record_read(bytes, cut, &got, &rest, &rest_length), RECORD_INVALID);
    bytes[0] = 'X';
    assert_int_equal(queue_record_read(bytes, length, &got, &rest, &rest_length), RECORD_INVALID);
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

static void check_reply(const char *bytes, int wanted, enum beanstalk_word word, uint64_t id,
                        const char *body)
{
    struct beanstalk_reply reply;
    size_t used;

    assert_int_equal(beanstalk_parse(bytes, strlen(bytes), &reply, &used), wanted);
    if (wanted < 1)
        return;
    assert_int_equal(used, strlen(bytes));
    assert_int_equal(reply.word, word);
    assert_int_equal(reply.id, id);
    if (body)
        assert_memory_equal(reply.body, body, reply.length);
}

static void test_replies(void **state)
{
    static const char *const bads[] = {"\n",
                                       "\r\n",
                                       "OKAY 1\r\n",
                                       "INSERTED\r\n",
                                       "INSERTED x\r\n",
                                       "INSERTED 1 2\r\n",
                                       "INSERTED  1\r\n",
                                       "INSERTED -1\r\n",
                                       "INSERTED 18446744073709551616\r\n",
                                       "DELETED 1\r\n",
                                       "DELETED\n",
                                       "RESERVED 1\r\n",
                                       "OK 18446744073709551615\r\n",
                                       "OK 99999999999\r\n",
                                       "OK 1\r\nabc",
                                       "deleted\r\n",
                                       "BURIED 1 1\r\n"};

    (void)state;
    check_reply("INSERTED 18446744073709551615\r\n", 1, BEANSTALK_INSERTED, UINT64_MAX, NULL);
    check_reply("BURIED\r\n", 1, BEANSTALK_BURIED, 0, NULL);
    check_reply("BURIED 7\r\n", 1, BEANSTALK_BURIED, 7, NULL);
    check_reply("USING a b\r\n", 1, BEANSTALK_USING, 0, NULL);
    check_reply("RESERVED 5 3\r\na\nb\r\n", 1, BEANSTALK_RESERVED, 5, "a\nb");
    check_reply("OK 0\r\n\r\n", 1, BEANSTALK_OK, 0, "");
    check_reply("TIMED_OUT\r\n", 1, BEANSTALK_TIMED_OUT, 0, NULL);
    check_reply("", 0, 0, 0, NULL);
    check_reply("RESERVED 5 3\r\na\nb", 0, 0, 0, NULL);
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++)
        check_reply(bads[i], -1, 0, 0, NULL);
}

static void test_stats(void **state)
{
    static const char body[] =
        "---\nid: 1\nstate: reserved\ntime-left: 29\npri: 18446744073709551616\nlast: 5";
    const struct beanstalk_reply reply = {.body = body, .length = sizeof body - 1},
                                 none = {.id = 0};

    (void)state;
    assert_int_equal(beanstalk_stat(&reply, "time-left"), 29);
    assert_int_equal(beanstalk_stat(&reply, "left"), 0);
    assert_int_equal(beanstalk_stat(&reply, "pri"), 0);
    assert_int_equal(beanstalk_stat(&reply, "last"), 5);
    assert_true(beanstalk_stat_is(&reply, "state", "reserved"));
    assert_false(beanstalk_stat_is(&reply, "state", "reserve"));
    assert_false(beanstalk_stat_is(&none, "state", "ready"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),   cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_hidden), cmocka_unit_test(test_records),
        cmocka_unit_test(test_paths),  cmocka_unit_test(test_replies),
        cmocka_unit_test(test_stats),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
