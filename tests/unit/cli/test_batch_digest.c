/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the digest never changes: machines with different versions must agree on shards. */
#include <string.h>

#include "cli/report/fingerprint.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

/* The values come from the Python program in mlictl-batch(1). */
static void test_values(void **state)
{
    char many[1000];

    (void)state;
    memset(many, 'x', sizeof many);
    assert_true(digest64("", 0) == UINT64_C(0xefd01f60ba992926));
    assert_true(digest64("a", 1) == UINT64_C(0x82a2a958a9bece5b));
    assert_true(digest64("conv/tile_3", 11) == UINT64_C(0x8e64d9b43be660d9));
    assert_true(digest64("\xff\x80", 2) == UINT64_C(0x0c1fbda391c27e28));
    assert_true(digest64(many, sizeof many) == UINT64_C(0x27c232bef26106ba));
}

static void test_set(void **state)
{
    uint64_t one = digest_add(digest_add(0, "a"), "b"), other = digest_add(digest_add(0, "b"), "a");

    (void)state;
    assert_true(one == other);
    assert_true(one == digest64("a", 1) + digest64("b", 1));
    assert_true(one != digest_add(0, "a") && one != digest_add(one, "c"));
}

static int read_text(const char *text, uint64_t *digest, struct fault *fault)
{
    struct json root;
    int status;

    assert_no_fault(json_parse(text, strlen(text), &rpc_request_limits, &root, fault), fault);
    status = digest_read(&root, digest);
    json_free(&root);
    return status;
}

static void test_json(void **state)
{
    static const struct bad bads[] = {
        {"1", "", "a string is required, not a number"},
        {"\"\"", "", "must not be empty"},
        {"\"12\"", "", "16 hexadecimal digits are required"},
        {"\"0123456789ABCDEF\"", "", "16 hexadecimal digits are required"},
        {"\"+123456789abcdef\"", "", "16 hexadecimal digits are required"},
        {"\"0123456789abcdef0\"", "", "17 bytes given; at most 16 are allowed"},
    };
    static const uint64_t good[] = {0, 1, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
    struct fault fault = {0};
    uint64_t digest;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct jsonw w;

        jsonw_init(&w);
        digest_write(&w, NULL, good[i]);
        assert_no_fault(read_text(jsonw_text(&w), &digest, &fault), &fault);
        assert_true(digest == good[i]);
        jsonw_finish(&w);
    }
    for (size_t i = 0; i < COUNT_OF(bads); i++) {
        assert_int_equal(read_text(bads[i].input, &digest, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, bads[i].pointer, bads[i].text, bads[i].input);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests_name("batch digest", tests, NULL, NULL);
}
