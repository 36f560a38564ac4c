/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/proto_unit.h"

#define T(name, dtype, shape, begin, end)                                                          \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end \
    "]}"
#define U8(name, begin, end) T(name, "U8", "[4]", begin, end)

static int parse(const char *text, uint64_t data, struct tensor_list *list, struct fault *fault)
{
    size_t length = strlen(text);

    return safetensors_parse(text, length, SAFETENSORS_PREFIX + length + data, list, fault);
}

static void test_length(void **state)
{
    static const unsigned char small[] = {2, 0, 0, 0, 0, 0, 0, 0};
    static const unsigned char longer[] = {0, 1, 2, 0, 0, 0, 0, 0};
    static const unsigned char huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const unsigned char limit[] = {0, 0xe1, 0xf5, 5, 0, 0, 0, 0};
    static const unsigned char above[] = {1, 0xe1, 0xf5, 5, 0, 0, 0, 0};
    struct fault fault;
    size_t length;

    (void)state;
    assert_no_fault(safetensors_length(small, 10, &length, &fault), &fault);
    assert_int_equal(length, 2);
    assert_no_fault(safetensors_length(longer, UINT64_MAX, &length, &fault), &fault);
    assert_int_equal(length, 0x020100);
    assert_no_fault(safetensors_length(limit, SAFETENSORS_HEADER_MAX + 8, &length, &fault), &fault);
    assert_int_equal(length, SAFETENSORS_HEADER_MAX);

    assert_int_equal(safetensors_length(small, 9, &length, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, "9 bytes are too few for a .safetensors file",
                 "short");
    assert_int_equal(safetensors_length(longer, 0x020107, &length, &fault), -1);
    assert_fault(
        &fault, FAULT_INVALID_PARAMS, NULL,
        "not a .safetensors file, or truncated: its header of 131328 bytes ends beyond the "
        "file's 131335",
        "cut");
    assert_int_equal(safetensors_length(huge, 1000, &length, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL,
                 "not a .safetensors file, or truncated: its header of 18446744073709551615 bytes "
                 "ends beyond the file's 1000",
                 "huge");
    assert_int_equal(safetensors_length(above, UINT64_MAX, &length, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL,
                 "its header has 100000001 bytes; the limit is 100000000", "above");
}

static void test_plain(void **state)
{
    static const char text[] = "{\"__metadata__\":{\"format\":\"pt\"}," T(
        "w", "F32", "[2,3]", 4, 28) "," T("a/b", "I8", "[1,2,1,2]", 0, 4) "}   ";
    struct tensor_list list;
    const struct tensor_entry *entry;
    struct fault fault;

    (void)state;
    assert_no_fault(parse(text, 28, &list, &fault), &fault);
    assert_int_equal(list.count, 2);
    assert_string_equal(list.entries[0].name, "w"); /* entries are in the order of the file */
    assert_string_equal(list.by_name[0]->name, "a/b");
    entry = tensor_list_find(&list, "w");
    assert_ptr_equal(entry, &list.entries[0]);
    assert_string_equal(entry->dtype, "float32");
    assert_null(entry->refusal);
    assert_int_equal(entry->bytes, 24);
    assert_int_equal(entry->place, strlen(text) + 8 + 4);
    assert_string_equal(entry->header.descr, "<f4");
    assert_int_equal(entry->header.kind, 'f');
    assert_int_equal(entry->header.item_size, 4);
    assert_int_equal(entry->header.rank, 2);
    assert_int_equal(entry->header.shape[0], 2);
    assert_int_equal(entry->header.shape[1], 3);
    assert_false(entry->header.fortran_order);
    assert_int_equal(entry->header.data_offset, entry->place);
    assert_int_equal(entry->header.data_size, 24);
    assert_null(tensor_list_find(&list, "W"));
    tensor_list_finish(&list);

    assert_no_fault(parse("{}", 0, &list, &fault), &fault);
    assert_int_equal(list.count, 0);
    tensor_list_finish(&list);
}

/* For each dtype: its name in NumPy, and the dtype of a .npy file with the same bits. */
static void test_dtypes(void **state)
{
    static const struct {
        const char *word;
        unsigned bytes; /* size of 4 elements */
        const char *name, *descr;
    } cases[] = {
        {"BOOL", 4, "bool", "|b1"},
        {"U8", 4, "uint8", "|u1"},
        {"I8", 4, "int8", "|i1"},
        {"F8_E4M3", 4, "float8_e4m3", "|u1"},
        {"F8_E5M2", 4, "float8_e5m2", "|u1"},
        {"U16", 8, "uint16", "<u2"},
        {"I16", 8, "int16", "<i2"},
        {"F16", 8, "float16", "<f2"},
        {"BF16", 8, "bfloat16", "<u2"},
        {"U32", 16, "uint32", "<u4"},
        {"I32", 16, "int32", "<i4"},
        {"F32", 16, "float32", "<f4"},
        {"U64", 32, "uint64", "<u8"},
        {"I64", 32, "int64", "<i8"},
        {"F64", 32, "float64", "<f8"},
        {"C64", 32, "complex64", "<c8"},
        {"F8_E4M3FNUZ", 4, "float8_e4m3fnuz", "|u1"},
        {"F8_E5M2FNUZ", 4, "float8_e5m2fnuz", "|u1"},
        {"F8_E8M0", 4, "float8_e8m0", "|u1"},
        {"F6_E2M3", 3, "float6_e2m3", NULL},
        {"F6_E3M2", 3, "float6_e3m2", NULL},
        {"F4", 2, "float4_e2m1", NULL},
        {"F12_NEW", 7, "F12_NEW", NULL}, /* the dtype is unknown, so any size is accepted */
        {"f32", 16, "f32", NULL},        /* dtypes are case-sensitive */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[200];
        struct tensor_list list;
        struct fault fault;

        snprintf(text, sizeof text,
                 "{\"t\":{\"dtype\":\"%s\",\"shape\":[4],\"data_offsets\":[0,%u]}}", cases[i].word,
                 cases[i].bytes);
        assert_no_fault(parse(text, cases[i].bytes, &list, &fault), &fault);
        assert_string_equal(list.entries[0].dtype, cases[i].name);
        assert_int_equal(list.entries[0].bytes, cases[i].bytes);
        if (cases[i].descr) {
            assert_null(list.entries[0].refusal);
            assert_string_equal(list.entries[0].header.descr, cases[i].descr);
            assert_int_equal(list.entries[0].header.item_size, cases[i].bytes / 4);
            assert_int_equal(list.entries[0].header.kind, cases[i].descr[1]);
        } else {
            char wanted[64];

            snprintf(wanted, sizeof wanted, "dtype %s is not supported; dtypes of", cases[i].word);
            assert_non_null(list.entries[0].refusal);
            assert_ptr_equal(strstr(list.entries[0].refusal, wanted), list.entries[0].refusal);
        }
        tensor_list_finish(&list);
    }
}

/* Lists tensors that no job can move, with the reason. */
static void test_refusals(void **state)
{
    static const struct {
        const char *shape;
        unsigned bytes;
        size_t rank;
        const char *refusal;
    } cases[] = {
        {"[]", 1, 0, "it has 0 dimensions; a tensor that is moved has 1 to 8"},
        {"[1,1,1,1,1,1,1,1,3]", 3, 9, "it has 9 dimensions; a tensor that is moved has 1 to 8"},
        {"[2,0]", 0, 2, "shape[1] is 0: a tensor without elements cannot be moved"},
        {"[0,9007199254740991,9007199254740991]", 0, 3,
         "shape[0] is 0: a tensor without elements cannot be moved"},
        {"[4294967296,0]", 0, 2, "shape[0] is 4294967296, at most 4294967295 can be moved"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[200];
        struct tensor_list list;
        struct fault fault;

        snprintf(text, sizeof text,
                 "{\"t\":{\"dtype\":\"U8\",\"shape\":%s,\"data_offsets\":[0,%u]}}", cases[i].shape,
                 cases[i].bytes);
        assert_no_fault(parse(text, cases[i].bytes, &list, &fault), &fault);
        assert_int_equal(list.entries[0].rank, cases[i].rank);
        assert_string_equal(list.entries[0].refusal, cases[i].refusal);
        tensor_list_finish(&list);
    }
}

static void check_bad(const char *text, uint64_t data, const char *sentence)
{
    struct tensor_list list;
    struct fault fault = {0};

    assert_int_equal(parse(text, data, &list, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, sentence, text);
    assert_null(list.entries);
    assert_null(list.by_name);
}

#define IN "in its header: "

static void test_bad_json(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "not a .safetensors file: its header does not begin with '{'"},
        {" {}", "not a .safetensors file: its header does not begin with '{'"},
        {"[]", "not a .safetensors file: its header does not begin with '{'"},
        {"{", IN "line 1, column 2: the text ends where a member's name in double quotes is "
                 "expected"},
        {"{}x", IN "line 1, column 3: the end of the text is expected, not 'x'"},
        {"{\"a\":1}", IN "a: an object is required, not a number"},
        {"{\"a\":{}}", IN "a.dtype: missing, a string is required"},
        {"{\"a\":{\"dtype\":\"U8\"}}", IN "a.shape: missing, an array is required"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}",
         IN "a.data_offsets: missing, an array is required"},
        {"{" T("a", "", "[4]", 0, 4) "}", IN "a.dtype: must not be empty"},
        {"{" T("a", "U8", "4", 0, 4) "}", IN "a.shape: an array is required, not a number"},
        {"{" T("a", "U8", "[-4]", 0, 4) "}",
         IN "a.shape[0]: -4 given; must be 0 to 9007199254740991"},
        {"{" T("a", "U8", "[4.0]", 0, 4) "}",
         IN "line 1, column 29: 4.0: a whole number is required, without fraction or exponent"},
        {"{" T("a", "U8", "[[4]]", 0, 4) "}",
         IN "line 1, column 29: arrays and objects are nested more than 3 deep here"},
        {"{" T("a", "U8", "[\"4\"]", 0, 4) "}",
         IN "a.shape[0]: a whole number is required, not a string"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0]}}",
         IN "a.data_offsets: 1 numbers given; begin and end are required"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4,4]}}",
         IN "a.data_offsets: 3 numbers given; begin and end are required"},
        {"{" T("a", "U8", "[4]", 4, 0) "}", IN "a.data_offsets: the end is before the beginning"},
        {"{" T("a", "U8", "[4]", 0, 99999999999999999) "}",
         IN "line 1, column 50: 99999999999999999: whole numbers from -(2^53 - 1) to 2^53 - 1 are "
            "accepted"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"x\":1}}",
         IN "a.x: unknown member"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         IN "a.dtype: given twice"},
        {"{\"a\\u0000b\":1}", IN "line 1, column 4: \\u0000 is not accepted in a string"},
        {"{\"\xff\":1}", IN "line 1, column 3: byte 0xff is not valid UTF-8"},
        {"{\"__metadata__\":[]}", IN "__metadata__: an object is required"},
        {"{\"__metadata__\":{\"a\":1}}", IN "__metadata__.a: a string is required, not a number"},
        {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", IN "__metadata__: \"a\" is given twice"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", IN "\"__metadata__\" is given twice"},
        {"{" U8("a", 0, 4) "," U8("\\u0061", 4, 8) "}", IN "\"a\" is given twice"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_bad(cases[i].text, 4, cases[i].sentence);
}

static void test_bad_places(void **state)
{
    static const struct {
        const char *text;
        uint64_t data;
        const char *sentence;
    } cases[] = {
        {"{" T("a", "U8", "[5]", 0, 4) "}", 4,
         IN "a: shape and dtype need 40 bits, but data_offsets hold 4 bytes"},
        {"{" T("a", "F32", "[4]", 0, 4) "}", 4,
         IN "a: shape and dtype need 128 bits, but data_offsets hold 4 bytes"},
        {"{" T("a", "F4", "[3]", 0, 1) "}", 1,
         IN "a: shape and dtype need 12 bits, but data_offsets hold 1 bytes"},
        {"{" T("a", "U8", "[]", 0, 0) "}", 0,
         IN "a: shape and dtype need 8 bits, but data_offsets hold 0 bytes"},
        {"{" T("a", "F32", "[9007199254740991,9007199254740991]", 0, 4) "}", 4,
         IN "a: the shape has more elements than any file can hold"},
        {"{" T("a", "U8", "[4294967296,4294967296,4294967296]", 0, 0) "}", 0,
         IN "a: the shape has more elements than any file can hold"},
        {"{" U8("a", 0, 4) "," U8("b", 0, 4) "}", 4, "the tensors \"a\" and \"b\" overlap"},
        {"{" U8("a", 0, 4) "," U8("b", 2, 6) "}", 6, "the tensors \"a\" and \"b\" overlap"},
        {"{" U8("b", 2, 6) "," U8("a", 0, 4) "}", 6, "the tensors \"a\" and \"b\" overlap"},
        {"{" U8("a", 0, 4) "," T("e", "U8", "[0]", 2, 2) "}", 4,
         "the tensors \"a\" and \"e\" overlap"},
        {"{" U8("a", 1, 5) "}", 5, "1 bytes before the tensor \"a\" belong to no tensor"},
        {"{" U8("a", 0, 4) "," U8("b", 6, 10) "}", 10,
         "2 bytes before the tensor \"b\" belong to no tensor"},
        {"{" U8("a", 0, 4) "}", 5, "its tensors end at byte 65, the file at 66"},
        {"{" U8("a", 0, 4) "}", 3, "its tensors end at byte 65, the file at 64"},
        {"{}", 1, "its tensors end at byte 10, the file at 11"},
        {"{" T("e", "U8", "[0]", 7, 7) "}", 0,
         "7 bytes before the tensor \"e\" belong to no tensor"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check_bad(cases[i].text, cases[i].data, cases[i].sentence);
}

/* Accepts any number of tensors without elements, between other tensors and at the end. */
static void test_empty_tensors(void **state)
{
    struct tensor_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse("{" T("e", "U8", "[0]", 4, 4) "," U8("b", 4, 8) "," U8("a", 0, 4) "," T(
                              "f", "F32", "[0,2]", 4, 4) "," T("g", "F32", "[2,0]", 8, 8) "}",
                          8, &list, &fault),
                    &fault);
    assert_int_equal(list.count, 5);
    tensor_list_finish(&list);
}

/* Reads a large header: tens of thousands of tensors, some MiB. */
static void test_many(void **state)
{
    enum { COUNT = 40000 };
    size_t size = (size_t)COUNT * 128 + 2, length = 0;
    char *text = malloc(size);
    struct tensor_list list;
    struct fault fault;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < COUNT; i++)
        length += (size_t)snprintf(text + length, size - length,
                                   "%c\"model.layers.%d.mlp.down_proj.weight\":{\"dtype\":\"BF16\","
                                   "\"shape\":[8192,28672],\"data_offsets\":[%lld,%lld]}",
                                   i ? ',' : '{', i, i * 469762048LL, (i + 1) * 469762048LL);
    text[length++] = '}';
    text[length] = '\0';
    assert_true(length > 4 * 1024 * 1024);
    assert_no_fault(parse(text, COUNT * UINT64_C(469762048), &list, &fault), &fault);
    assert_int_equal(list.count, COUNT);
    assert_string_equal(tensor_list_find(&list, "model.layers.31415.mlp.down_proj.weight")->name,
                        "model.layers.31415.mlp.down_proj.weight");
    tensor_list_finish(&list);
    free(text);
}

/* Refuses too many values before building the tree. */
static void test_too_many_values(void **state)
{
    size_t count = SAFETENSORS_VALUES_MAX, length = 0;
    char *text = malloc(2 * count + 100);
    struct tensor_list list;
    struct fault fault;

    (void)state;
    assert_non_null(text);
    length = (size_t)sprintf(text, "{\"a\":{\"shape\":[");
    for (size_t i = 0; i < count; i++) {
        text[length++] = '0';
        text[length++] = ',';
    }
    text[length] = '\0';
    assert_int_equal(parse(text, 0, &list, &fault), -1);
    assert_non_null(strstr(fault.text, "more than 8388608 values"));
    free(text);
}

static void test_choose(void **state)
{
    struct tensor_list list;
    struct fault fault;
    char text[512];

    (void)state;
    assert_no_fault(
        parse("{" U8("conv1.weight", 0, 4) "," U8("conv1.bias", 4, 8) "}", 8, &list, &fault),
        &fault);
    assert_non_null(tensor_list_choose(&list, "conv1.bias", &fault));
    assert_null(tensor_list_choose(&list, NULL, &fault));
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/tensor",
                 "it holds 2 tensors; name one of them: \"conv1.weight\", \"conv1.bias\"", "none");
    assert_null(tensor_list_choose(&list, "conv1.wieght", &fault));
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/tensor",
                 "it holds no tensor \"conv1.wieght\"; did you mean \"conv1.weight\"?", "near");
    assert_null(tensor_list_choose(&list, "fc", &fault));
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/tensor",
                 "it holds no tensor \"fc\"; there are \"conv1.weight\", \"conv1.bias\"", "far");
    tensor_list_finish(&list);

    snprintf(text, sizeof text, "{" U8("%0200d", 0, 4) "}", 7);
    assert_no_fault(parse(text, 4, &list, &fault), &fault);
    /* a file with only one tensor needs no name */
    assert_non_null(tensor_list_choose(&list, NULL, &fault));
    assert_null(tensor_list_choose(&list, "x", &fault));
    assert_non_null(strstr(fault.text, "there is \"0000000000"));
    assert_non_null(strstr(fault.text, "0...\""));
    tensor_list_finish(&list);

    assert_null(tensor_list_choose(&list, NULL, &fault));
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, "it holds no tensor", "empty");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_length),          cmocka_unit_test(test_plain),
        cmocka_unit_test(test_dtypes),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_json),        cmocka_unit_test(test_bad_places),
        cmocka_unit_test(test_empty_tensors),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_too_many_values), cmocka_unit_test(test_choose),
    };

    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
