/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "proto/wire/build_id.h"
#include "proto/wire/xxh64.h"
#include "tests/support/proto_unit.h"

static uint64_t of(const void *bytes, size_t size)
{
    struct xxh64 x;

    xxh64_init(&x);
    xxh64_add(&x, bytes, size);
    return xxh64_value(&x);
}

/* Values that xxhsum -H1 prints. */
static void test_known(void **state)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    (void)state;
    assert_true(of("", 0) == UINT64_C(0xef46db3751d8e999));
    assert_true(of("a", 1) == UINT64_C(0xd24ec4f1a98c6e5b));
    assert_true(of("abc", 3) == UINT64_C(0x44bc2cf5ad770999));
    assert_true(of(text, 62) == UINT64_C(0xfd5e2ce9520872dd));
}

static void test_in_pieces(void **state)
{
    unsigned char bytes[300];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37 + i / 7);
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        for (size_t piece = 1; piece < 80; piece += 7) {
            struct xxh64 x;
            xxh64_init(&x);
            for (size_t at = 0; at < size; at += piece)
                xxh64_add(&x, bytes + at, size - at < piece ? size - at : piece);
            assert_true(xxh64_value(&x) == of(bytes, size));
        }
    }
}

static void test_every_bit_counts(void **state)
{
    unsigned char bytes[100] = {0};
    uint64_t before = of(bytes, sizeof(bytes));

    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_true(of(bytes, sizeof(bytes)) != before);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void test_build_id(void **state)
{
    const char *id = build_id();

    (void)state;
    assert_int_equal(strlen(id), BUILD_ID_SIZE - 1);
    assert_int_equal(strspn(id, "0123456789abcdef"), BUILD_ID_SIZE - 1);
    assert_ptr_equal(id, build_id());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_build_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
