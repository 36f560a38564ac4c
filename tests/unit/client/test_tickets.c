/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests pending requests whose replies come in any order, in any pieces, late, or never. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scale.h"
#include "tests/unit/client/fake.h"

static mli_client_ticket start(struct fake *fake, mli_client_done_fn *done, void *user)
{
    const mli_client_start_args args = {.prepared = 7};
    mli_client_ticket ticket = 0;
    mli_client_error error;

    assert_int_equal(mli_client_start(fake->client, &args, done, user, &ticket, &error), 0);
    assert_int_not_equal(ticket, 0);
    return ticket;
}

static void expect(struct fake *fake, mli_client_ticket ticket, uint64_t job)
{
    mli_client_result result;
    mli_client_error error = {0};

    assert_int_equal(mli_client_wait(fake->client, ticket, 1000, &result, &error), 0);
    assert_int_equal(result.job, job);
    assert_int_equal(result.bytes, 4);
    assert_int_equal(result.ns_queued, 5);
    assert_int_equal(result.ns_moving, 6);
    assert_string_equal(result.engine, "threads");
    assert_false(result.has_dst);
    mli_client_result_free(&result);
}

static void test_any_order(void **state)
{
    enum { COUNT = 1000 };
    mli_client_ticket tickets[COUNT];
    struct fake fake;
    (void)state;
    fake_init(&fake, 0);
    for (int i = 0; i < COUNT; i++)
        tickets[i] = start(&fake, NULL, NULL);
    assert_int_equal(mli_client_pending(fake.client), COUNT);
    assert_int_equal(mli_client_flush(fake.client, NULL), 0);
    for (int i = COUNT - 1; i >= 0; i--) {
        fake_say_result(&fake, tickets[i], (uint64_t)i + 1);
        assert_int_equal(mli_client_dispatch(fake.client, NULL), 0);
        fake_hear(&fake);
    }
    assert_int_equal(mli_client_pending(fake.client), 0);
    for (int i = 0; i < COUNT; i++)
        expect(&fake, tickets[i], (uint64_t)i + 1);
    fake_finish(&fake);
}

/* Sends many starts in one write, in the form that PROTOCOL.md describes. */
static void test_what_is_sent(void **state)
{
    struct fake fake;
    char wanted[1024];
    mli_client_ticket ticket;
    mli_client_start_args args = {.prepared = 3, .dst = {.buffer = 2}};

    (void)state;
    fake_init(&fake, 0);
    mli_client_ticket plain = start(&fake, NULL, NULL);
    args.src.has_offset = true;
    args.src.offset = 4096;
    assert_int_equal(mli_client_start(fake.client, &args, NULL, NULL, &ticket, NULL), 0);
    assert_string_equal(fake_hear(&fake), "");
    assert_int_equal(mli_client_poll_events(fake.client), POLLIN | POLLOUT);
    assert_int_equal(mli_client_flush(fake.client, NULL), 0);
    assert_int_equal(mli_client_poll_events(fake.client), POLLIN);
    snprintf(wanted, sizeof(wanted),
             "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64
             ",\"method\":\"job.start\",\"params\":{\"prepared\":7}}\n"
             "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64
             ",\"method\":\"job.start\",\"params\":{\"prepared\":3,\"src\":{\"offset\":4096},"
             "\"dst\":{\"buffer\":2}}}\n",
             plain, ticket);
    assert_string_equal(fake_hear(&fake), wanted);
    fake_finish(&fake);
}

/* Options of a start are written to the request as JSON. */
static void test_a_start_with_more(void **state)
{
    struct fake fake;
    mli_client_ticket ticket;
    const mli_client_ref after[] = {{.number = 9}, {.name = "load"}};
    const mli_client_start_args args = {.prepared = 3,
                                        .has_priority = true,
                                        .priority = -1,
                                        .timeout_ms = 20,
                                        .after = after,
                                        .after_count = 2};

    (void)state;
    fake_init(&fake, 0);
    assert_int_equal(mli_client_start(fake.client, &args, NULL, NULL, &ticket, NULL), 0);
    assert_int_equal(mli_client_flush(fake.client, NULL), 0);
    assert_non_null(strstr(fake_hear(&fake), "\"params\":{\"prepared\":3,\"priority\":-1,"
                                             "\"timeout_ms\":20,\"after\":[9,\"load\"]}}\n"));
    fake_finish(&fake);
}

/* Reads a reply in mlid's own form and in other forms of JSON, received byte by byte. */
static void test_split_and_spelt_otherwise(void **state)
{
    static const char *const forms[] = {
        "{'jsonrpc':'2.0','id':%d,'result':{'job':3,'cost':{'bytes':4,'channels':1,"
        "'engine':'threads','ns_queued':5,'ns_moving':6}}}\n",
        " { 'id':%d, 'result':{'cost':{'channels':1,'ns_queued':5,'bytes':4,'ns_moving':6,"
        "'engine':'threads'},'job':3,'new':[1,{}]},'jsonrpc':'2.0','new':null}\r\n"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        char line[512];
        struct fake fake;
        fake_init(&fake, 0);
        mli_client_ticket ticket = start(&fake, NULL, NULL);
        assert_int_equal(ticket, 1);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int length = snprintf(line, sizeof(line), forms[i], 1);
#pragma GCC diagnostic pop
        for (int k = 0; k < length; k++) {
            assert_false(mli_client_done(fake.client, ticket));
            fake_say(&fake, "%c", line[k]);
            assert_int_equal(mli_client_dispatch(fake.client, NULL), 0);
        }
        expect(&fake, ticket, 3);
        fake_finish(&fake);
    }
}

struct heard {
    int calls, failures, code;
    mli_client_ticket next;
};

static void note(mli_client *client, mli_client_ticket ticket, const mli_client_result *result,
                 const mli_client_error *error, void *user)
{
    struct heard *heard = user;

    (void)ticket;
    heard->calls++;
    assert_true((result == NULL) == (error != NULL));
    if (error) {
        heard->failures++;
        heard->code = error->code;
    }
    /* In a callback, calls that wait are refused; other calls are allowed. */
    mli_client_error refused;
    assert_int_equal(mli_client_ping(client, &refused), MLI_CLIENT_MISUSE);
    assert_int_equal(mli_client_dispatch(client, &refused), MLI_CLIENT_MISUSE);
    if (heard->calls == 1 && !error) {
        const mli_client_start_args args = {.prepared = 1};
        assert_int_equal(mli_client_start(client, &args, note, user, &heard->next, NULL), 0);
    }
}

static void test_callbacks(void **state)
{
    struct fake fake;
    struct heard heard = {0};

    (void)state;
    fake_init(&fake, 0);
    mli_client_ticket ticket = start(&fake, note, &heard);
    assert_int_equal(mli_client_wait(fake.client, ticket, 0, NULL, NULL), MLI_CLIENT_MISUSE);
    fake_say_result(&fake, ticket, 1);
    assert_int_equal(mli_client_dispatch(fake.client, NULL), 0);
    assert_int_equal(heard.calls, 1);
    assert_int_not_equal(heard.next, 0);
    assert_non_null(strstr(fake_hear(&fake), "\"prepared\":1"));
    fake_say(&fake,
             "{'jsonrpc':'2.0','id':%" PRIu64 ",'error':{'code':-32004,'message':'m',"
             "'data':{'name':'CANCELLED'}}}\n",
             heard.next);
    assert_int_equal(mli_client_wait_pending(fake.client, 1000, NULL), 0);
    assert_int_equal(heard.calls, 2);
    assert_int_equal(heard.failures, 1);
    assert_int_equal(heard.code, -32004);
    fake_finish(&fake);
}

static void test_an_error(void **state)
{
    struct fake fake;
    mli_client_error error;

    (void)state;
    fake_init(&fake, 0);
    mli_client_ticket ticket = start(&fake, NULL, NULL);
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'error':{'code':-32000,'message':'cfg: bad','data':{"
                    "'name':'REFUSED','status':'MLI_STATUS_BAD_FUNC_CFG','pointer':'/cfg','job':4}"
                    "}}\n");
    assert_int_equal(mli_client_wait(fake.client, ticket, 1000, NULL, &error), -32000);
    assert_int_equal(error.status, MLI_STATUS_BAD_FUNC_CFG);
    assert_int_equal(error.job, 4);
    assert_true(error.has_pointer);
    assert_string_equal(error.name, "REFUSED");
    assert_string_equal(error.pointer, "/cfg");
    assert_string_equal(error.message, "cfg: bad");
    assert_int_equal(mli_client_wait(fake.client, ticket, 0, NULL, &error), MLI_CLIENT_MISUSE);
    fake_finish(&fake);
}

/* Losing the connection fails pending tickets of both kinds, and all later calls. */
static void assert_lost(struct fake *fake, int code)
{
    struct heard heard = {0};
    mli_client_error error;
    mli_client_ticket kept = start(fake, NULL, NULL);

    start(fake, note, &heard);
    mli_client_flush(fake->client, NULL);
    assert_int_equal(mli_client_wait(fake->client, kept, 1000, NULL, &error), code);
    assert_int_equal(heard.failures, 1);
    assert_int_equal(heard.code, code);
    assert_int_equal(mli_client_pending(fake->client), 0);
    assert_int_equal(mli_client_fd(fake->client), -1);
    assert_false(mli_client_connected(fake->client));
    assert_int_equal(mli_client_ping(fake->client, &error), code);
    assert_int_equal(mli_client_dispatch(fake->client, &error), code);
    assert_int_not_equal(error.message[0], 0);
}

static void test_garbage(void **state)
{
    static const char *const garbage[] = {
        "\n",
        "hello\n",
        "{}\n",
        "[]\n",
        "{'jsonrpc':'2.0','id':99,'result':{}}\n",
        "{'jsonrpc':'2.0','id':'1','result':{}}\n",
        "{'jsonrpc':'2.0','id':-1,'result':{}}\n",
        "{'jsonrpc':'2.0','id':null,'result':{}}\n",
        "{'jsonrpc':'2.0','id':1,'result':{},'error':{'code':1,'message':'x'}}\n",
        "{'jsonrpc':'2.0','id':1,'result':{},'inline':[3]}\n",
        "{'jsonrpc':'2.0','id':1,'fds':1,'result':{}}\n",
        "{'jsonrpc':'2.0','method':'hello','params':{'protocol':'x'}}\n"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(garbage); i++) {
        struct fake fake;
        fake_init(&fake, 0);
        fake_say(&fake, "%s", garbage[i]);
        assert_lost(&fake, MLI_CLIENT_LOST);
        fake_finish(&fake);
    }
}

static void test_hung_up(void **state)
{
    struct fake fake;

    (void)state;
    fake_init(&fake, 0);
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'res");
    fake_hang_up(&fake);
    assert_lost(&fake, MLI_CLIENT_LOST);
    fake_finish(&fake);
    /* The last error line of the service becomes the reason of the loss. */
    fake_init(&fake, 0);
    fake_say(&fake, "{'jsonrpc':'2.0','id':null,'error':{'code':-32002,'message':'full',"
                    "'data':{'name':'LIMIT'}}}\n");
    fake_hang_up(&fake);
    assert_lost(&fake, -32002);
    fake_finish(&fake);
}

/* An invalid result fails only its own request. */
static void test_an_unreadable_result(void **state)
{
    struct fake fake;
    mli_client_error error;

    (void)state;
    fake_init(&fake, 0);
    mli_client_ticket ticket = start(&fake, NULL, NULL);
    fake_say(&fake, "{'jsonrpc':'2.0','id':1,'result':{'job':1}}\n");
    assert_int_equal(mli_client_wait(fake.client, ticket, 1000, NULL, &error),
                     MLI_CLIENT_UNREADABLE);
    assert_true(mli_client_connected(fake.client));
    fake_finish(&fake);
}

static void test_late(void **state)
{
    struct fake fake;
    mli_client_error error;

    (void)state;
    fake_init(&fake, 0);
    mli_client_ticket ticket = start(&fake, NULL, NULL);
    assert_int_equal(mli_client_wait(fake.client, ticket, 10, NULL, &error), MLI_CLIENT_WAITED);
    fake_say_result(&fake, ticket, 1);
    expect(&fake, ticket, 1);
    /* After a timeout, the late reply is dropped and the next call succeeds. */
    mli_client_set_timeout(fake.client, 10);
    assert_int_equal(mli_client_ping(fake.client, &error), MLI_CLIENT_WAITED);
    assert_int_equal(mli_client_pending(fake.client), 1);
    char *request = strstr(strrchr(fake_hear(&fake), '{'), "\"id\":");
    long long id = strtoll(request + 5, NULL, 10);
    mli_client_ticket next = start(&fake, NULL, NULL);
    fake_say(&fake, "{'jsonrpc':'2.0','id':%lld,'result':{'pong':true}}\n", id);
    fake_say_result(&fake, next, 8);
    expect(&fake, next, 8);
    assert_int_equal(mli_client_pending(fake.client), 0);
    /* A forgotten request does not call its callback. */
    struct heard heard = {0};
    ticket = start(&fake, note, &heard);
    mli_client_forget(fake.client, ticket);
    fake_say_result(&fake, ticket, 1);
    assert_int_equal(mli_client_wait_pending(fake.client, 1000, NULL), 0);
    assert_int_equal(heard.calls, 0);
    fake_finish(&fake);
}

static void test_an_interrupt(void **state)
{
    struct fake fake, interrupt;
    mli_client_error error;

    (void)state;
    fake_init(&interrupt, 0);
    fake_init(&fake, 0);
    mli_client_set_interrupt(fake.client, mli_client_fd(interrupt.client));
    mli_client_ticket ticket = start(&fake, NULL, NULL);
    fake_say(&interrupt, "x");
    assert_int_equal(mli_client_wait(fake.client, ticket, -1, NULL, &error),
                     MLI_CLIENT_INTERRUPTED);
    mli_client_set_interrupt(fake.client, -1);
    fake_say_result(&fake, ticket, 2);
    expect(&fake, ticket, 2);
    fake_finish(&fake);
    fake_finish(&interrupt);
}

/* When the socket is full, starting a job does not block, and no request is lost. */
static void test_a_full_socket(void **state)
{
    const size_t count = scaled(20000);
    struct fake fake;
    size_t lines = 0;
    (void)state;
    fake_init(&fake, 0);
    for (size_t i = 0; i < count; i++)
        start(&fake, NULL, NULL);
    for (size_t i = 0; i < count && lines < count; i++) {
        assert_int_equal(mli_client_flush(fake.client, NULL), 0);
        for (const char *at = fake_hear(&fake); *at; at++)
            lines += *at == '\n';
    }
    assert_int_equal(lines, count);
    fake_finish(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_what_is_sent),
        cmocka_unit_test(test_a_start_with_more),
        cmocka_unit_test(test_split_and_spelt_otherwise),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_an_error),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_hung_up),
        cmocka_unit_test(test_an_unreadable_result),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_an_interrupt),
        cmocka_unit_test(test_a_full_socket),
    };

    return cmocka_run_group_tests_name("client tickets", tests, NULL, NULL);
}
