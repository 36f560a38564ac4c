/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the documents agree with the tables in the code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config.h"
#include "proto/json/json.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"
#include "tests/support/unit.h"

static char *load(const char *name)
{
    enum { SIZE = 256 * 1024 };
    FILE *file = fopen(name, "r");
    char *text = calloc(1, SIZE);

    if (!file || !text)
        fail_msg("cannot read %s", name);
    assert_true(fread(text, 1, SIZE - 1, file) > 0);
    fclose(file);
    return text;
}

static void assert_says(const char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void assert_says(const char *text, const char *format, ...)
{
    char wanted[256];
    va_list args;

    va_start(args, format);
    vsnprintf(wanted, sizeof wanted, format, args);
    va_end(args);
    if (!strstr(text, wanted))
        fail_msg("missing: %s", wanted);
}

static void test_protocol(void **state)
{
    char *text = load(PROTOCOL_MD);

    (void)state;
#define ROW(name, code, meaning) assert_says(text, "\n| %d | `%s` | %s", code, #name, meaning);
    FAULT_TABLE(ROW)
#undef ROW
    /* daemon.resume has no heading of its own: that of daemon.drain names both. */
#define METHOD(name, method)                                                                       \
    assert_says(text, RPC_##name == RPC_DAEMON_RESUME ? ", %s\n" : "\n### %s", method);
    RPC_METHOD_TABLE(METHOD)
#undef METHOD
    assert_says(text, "request line, newline included | %d |", PROTO_LINE_MAX);
    assert_says(text, "reply line, newline included | %d |", PROTO_REPLY_MAX);
    assert_says(text, "nesting | %d |", JSON_DEPTH_MAX);
    assert_says(text, "values in a request line | %d |", PROTO_VALUES_MAX);
    assert_says(text, "values in a reply line | %d |", PROTO_REPLY_VALUES_MAX);
    assert_says(text, "members of an object | %d |", JSON_KEYS_MAX);
    assert_says(text, "string id | %d |", PROTO_NAME_MAX);
    assert_says(text, "descriptors with a line | %d |", PROTO_FDS_MAX);
    free(text);
}

static void assert_keys(const char *text, const struct json *object, const char *prefix)
{
    struct json member = {0};

    while (json_next(object, &member)) {
        char name[64];

        snprintf(name, sizeof name, "%s%s", prefix, member.key);
        if (json_is_object(&member)) {
            strcat(name, ".");
            assert_keys(text, &member, name);
        } else {
            assert_says(text, "\n|  *%s*\n", name);
        }
    }
}

/* Tests every key of the installed file, which test_config.c compares with the code. */
static void test_configuration(void **state)
{
    char *text = load(CONFIGURATION_PAGE), *example = load(MLID_JSON);
    struct fault fault;
    struct json root;

    (void)state;
    assert_int_equal(json_parse(example, strlen(example), &rpc_request_limits, &root, &fault), 0);
    assert_keys(text, &root, "");
    /* The keys that have no default value. */
    assert_says(text, "\n|  *access.uids*\n");
    assert_says(text, "\n|  *quotas.*_UID_, *quotas.default*\n");
    json_free(&root);
    free(text);
    free(example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocol),
        cmocka_unit_test(test_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
