/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire formats of models, byte by byte. */
#include <string.h>

#include "cli/model/flatbuffer.h"
#include "cli/model/model.h"
#include "cli/model/protobuf.h"
#include "tests/support/unit.h"

static int next(const char *bytes, size_t size, struct protobuf_field *field)
{
    struct protobuf message = {(const uint8_t *)bytes, (const uint8_t *)bytes + size};

    return protobuf_next(&message, field);
}

static void test_fields(void **state)
{
    struct protobuf_field field;

    (void)state;
    assert_int_equal(next("", 0, &field), 0);
    assert_int_equal(next("\x08\x96\x01", 3, &field), 1);
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 150);
    assert_int_equal(next("\x12\x03"
                          "abc",
                          5, &field),
                     1);
    assert_int_equal(field.size, 3);
    assert_memory_equal(field.bytes, "abc", 3);
    assert_int_equal(next("\x15\x01\x02\x03\x04", 5, &field), 1);
    assert_int_equal(field.value, 0x04030201);
    assert_int_equal(next("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, &field), 1);
    assert_true(field.value == UINT64_MAX);
}

static void test_malformed_fields(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } wrong[] = {
        {"\x08", 1},                                          /* no value */
        {"\x08\x80", 2},                                      /* a value without end */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11}, /* 65 bits */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12},
        {"\x12\x04"
         "abc",
         5}, /* beyond the end */
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
         "a",
         12}, /* 2^64 - 1 bytes */
        {"\x15\x01\x02\x03", 4},
        {"\x11\x01\x02\x03\x04\x05\x06\x07", 8},
        {"\x0b\x0c", 2}, /* a group */
        {"\x00\x00", 2}, /* field 0 */
        {"\x0e\x00", 2}, /* wire type 6 */
    };
    struct protobuf_field field;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_int_equal(next(wrong[i].bytes, wrong[i].size, &field), -1);
}

/* A file with one table: field 0 is the byte 7, field 1 a vector of two int32, field 3 absent. */
static const uint8_t small[] = {
    20,  0,   0,   0,   'T', 'E', 'S', 'T', /* root at 20, identifier */
    8,   0,   9,   0,   8,   0,   4,   0,
    0,   0,   0,   0, /* vtable at 8: 8 bytes, table of 9 bytes, fields */
    12,  0,   0,   0,   8,   0,   0,   0,
    7,   0,   0,   0, /* table at 20: vtable 12 before, offset 8, byte 7 */
    2,   0,   0,   0,   5,   0,   0,   0,
    255, 255, 255, 255,
};

static void test_flatbuffer(void **state)
{
    struct flatbuffer file;
    struct flatbuffer_table root;
    struct flatbuffer_vector vector;

    (void)state;
    flatbuffer_init(&file, small, sizeof(small));
    root = flatbuffer_root(&file, "TEST");
    assert_null(file.problem);
    assert_int_equal(flatbuffer_uint(&file, &root, 0, 1, 99), 7);
    vector = flatbuffer_vector(&file, &root, 1, 4);
    assert_int_equal(vector.count, 2);
    assert_int_equal(flatbuffer_element32(&file, &vector, 0), 5);
    assert_int_equal(flatbuffer_element32(&file, &vector, 1), -1);
    assert_int_equal(flatbuffer_uint(&file, &root, 3, 4, 99), 99);
    assert_int_equal(flatbuffer_vector(&file, &root, 3, 4).count, 0);
    assert_int_equal(flatbuffer_table(&file, &root, 3).at, 0);
    assert_null(file.problem);
}

/* Reads the same values as test_flatbuffer(). Returns whether the file has an error. */
static bool fails(const uint8_t *bytes, size_t size)
{
    struct flatbuffer file;

    flatbuffer_init(&file, bytes, size);
    const struct flatbuffer_table root = flatbuffer_root(&file, "TEST");
    const struct flatbuffer_vector vector = flatbuffer_vector(&file, &root, 1, 4);
    flatbuffer_uint(&file, &root, 0, 1, 0);
    for (uint32_t i = 0; i < vector.count && !file.problem; i++)
        flatbuffer_element32(&file, &vector, i);
    return file.problem != NULL;
}

static void test_damaged_flatbuffer(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
    } wrong[] = {
        {0, 0},    {0, 60},    {3, 0x80},  {4, 'X'},            /* root, identifier */
        {8, 2},    {8, 9},     {8, 200},   {10, 3},  {10, 200}, /* sizes of vtable and table */
        {12, 9},   {12, 2},    {14, 6},                         /* places of fields */
        {20, 200}, {23, 0x80}, {23, 0x7f}, /* distance from the table to its vtable */
        {24, 0},   {24, 200},  {27, 0xff}, /* offset of the vector */
        {32, 3},   {35, 0x40}, {35, 0xff}, /* length of the vector */
    };
    uint8_t copy[sizeof(small)];

    (void)state;
    assert_false(fails(small, sizeof(small)));
    for (size_t size = 0; size < sizeof(small); size++)
        assert_true(fails(small, size));
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        memcpy(copy, small, sizeof(small));
        copy[wrong[i].at] = wrong[i].value;
        if (!fails(copy, sizeof(copy)))
            fail_msg("byte %zu = %u is accepted", wrong[i].at, wrong[i].value);
    }
}

/* Every byte of the file with every value: no read outside, which sanitizers and valgrind check. */
static void test_any_byte(void **state)
{
    uint8_t copy[sizeof(small)];

    (void)state;
    for (size_t at = 0; at < sizeof(small); at++) {
        for (unsigned value = 0; value < 256; value++) {
            memcpy(copy, small, sizeof(small));
            copy[at] = (uint8_t)value;
            fails(copy, sizeof(copy));
        }
    }
}

/* A tensor of ONNX with raw, packed and single elements. */
static void test_tensor_files(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum model_place place;
    } files[] = {
        {"\x08\x02\x10\x03\x42\x01"
         "w\x4a\x02\x05\xff",
         11, MODEL_IN_FILE},
        {"\x08\x02\x10\x03\x42\x01"
         "w\x2a\x0b\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
         20, MODEL_IN_MEMORY},
        {"\x08\x02\x10\x03\x42\x01"
         "w\x28\x05\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
         20, MODEL_IN_MEMORY},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct model model;
        struct fault fault;
        int64_t values[2];

        assert_int_equal(model_read(&model, FILE_FORMAT_PB, (const uint8_t *)files[i].bytes,
                                    files[i].size, &fault),
                         0);
        assert_int_equal(model.tensor_count, 1);
        assert_string_equal(model.tensors[0].name, "w");
        assert_int_equal(model.tensors[0].place, files[i].place);
        assert_int_equal(model_integers(&model, 0, values, 2), 2);
        assert_int_equal(values[0], 5);
        assert_int_equal(values[1], -1);
        assert_int_equal(model_integers(&model, 0, values, 1), -1);
        model_finish(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),     cmocka_unit_test(test_malformed_fields),
        cmocka_unit_test(test_flatbuffer), cmocka_unit_test(test_damaged_flatbuffer),
        cmocka_unit_test(test_any_byte),   cmocka_unit_test(test_tensor_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
