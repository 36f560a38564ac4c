/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/npy.h"

#include <stdio.h>
#include <string.h>

#include "proto/file/tensor_list.h"
#include "tests/support/proto_unit.h"

/*
 * Builds the beginning of a .npy file: magic, version, a length that is too large by `lie`, and a
 * dictionary.
 */
struct file {
    char bytes[1024];
    size_t length;
};

static void build(struct file *file, int version, const char *literal, long lie)
{
    size_t size = strlen(literal), prefix = version == 1 ? 10 : 12;
    unsigned long said = (unsigned long)((long)size + lie);

    memcpy(file->bytes, "\x93NUMPY", 6);
    file->bytes[6] = (char)version;
    file->bytes[7] = 0;
    for (size_t i = 8; i < prefix; i++, said >>= 8)
        file->bytes[i] = (char)(said & 0xff);
    memcpy(file->bytes + prefix, literal, size);
    file->length = prefix + size;
}

static int parse(int version, const char *literal, uint64_t data, struct npy_header *header,
                 struct fault *fault)
{
    struct file file;

    build(&file, version, literal, 0);
    return npy_parse(file.bytes, file.length, file.length + data, header, fault);
}

#define LITERAL(descr, order, shape)                                                               \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }  \n"

static void test_versions(void **state)
{
    (void)state;
    for (int version = 1; version <= 3; version++) {
        static const char literal[] = LITERAL("'<i2'", "False", "(2, 3)");
        struct npy_header header;
        struct fault fault;

        assert_no_fault(parse(version, literal, 12, &header, &fault), &fault);
        assert_string_equal(header.descr, "<i2");
        assert_int_equal(header.kind, 'i');
        assert_int_equal(header.item_size, 2);
        assert_false(header.fortran_order);
        assert_int_equal(header.rank, 2);
        assert_int_equal(header.shape[0], 2);
        assert_int_equal(header.shape[1], 3);
        assert_int_equal(header.data_offset, strlen(literal) + (version == 1 ? 10 : 12));
        assert_int_equal(header.data_size, 12);
    }
}

/* Texts that Python reads as the same dictionary. */
static void test_spellings(void **state)
{
    static const char *const literals[] = {
        "{'descr':'<f4','fortran_order':True,'shape':(4,5)}\n",
        "{\"descr\": \"<f4\", \"fortran_order\": True, \"shape\": (4, 5)}\n",
        "  {  'shape' : ( 4 , 5 , ) , \"descr\" : '<f4' , 'fortran_order' : True , }   \n",
        "{'fortran_order': True, 'shape': (4L, 5L), 'descr': '<f4', }\n",
        "{\n'descr': '<f4',\r\n'fortran_order':\fTrue,\n'shape': (4,\t5),\n}\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(literals); i++) {
        struct npy_header header;
        struct fault fault;

        assert_no_fault(parse(1, literals[i], 80, &header, &fault), &fault);
        assert_string_equal(header.descr, "<f4");
        assert_true(header.fortran_order);
        assert_int_equal(header.rank, 2);
        assert_int_equal(header.shape[1], 5);
    }
}

static void test_dtypes(void **state)
{
    static const struct {
        const char *descr, *kept;
        uint32_t size;
        mli_element_type type;
        bool big_endian;
    } cases[] = {
        {"|b1", "|b1", 1, MLI_EL_FX_8},
        {"|i1", "|i1", 1, MLI_EL_FX_8},
        {"|u1", "|u1", 1, MLI_EL_FX_8},
        {"<i1", "|i1", 1, MLI_EL_FX_8},
        {">u1", "|u1", 1, MLI_EL_FX_8},
        {"<i2", "<i2", 2, MLI_EL_FX_16},
        {"<u2", "<u2", 2, MLI_EL_FX_16},
        {"<f2", "<f2", 2, MLI_EL_FP_16},
        {"<i4", "<i4", 4, MLI_EL_SA_32},
        {"<u4", "<u4", 4, MLI_EL_SA_32},
        {"<f4", "<f4", 4, MLI_EL_FP_32},
        {">i2", "<i2", 2, MLI_EL_FX_16, true},
        {">u2", "<u2", 2, MLI_EL_FX_16, true},
        {">f2", "<f2", 2, MLI_EL_FP_16, true},
        {">i4", "<i4", 4, MLI_EL_SA_32, true},
        {">u4", "<u4", 4, MLI_EL_SA_32, true},
        {">f4", "<f4", 4, MLI_EL_FP_32, true},
        {"|V1", "|V1", 1, MLI_EL_FX_8},
        {"<V2", "|V2", 2, MLI_EL_FX_16},
        {">V2", "|V2", 2, MLI_EL_FX_16},
        {"|V4", "|V4", 4, MLI_EL_SA_32},
        {"V2", "|V2", 2, MLI_EL_FX_16},
        {"<f1", "|V1", 1, MLI_EL_FX_8},
        {"f1", "|V1", 1, MLI_EL_FX_8},
        {"b1", "|b1", 1, MLI_EL_FX_8},
        {"=u1", "|u1", 1, MLI_EL_FX_8},
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        {"i2", "<i2", 2, MLI_EL_FX_16},
        {"=i2", "<i2", 2, MLI_EL_FX_16},
        {"|u2", "<u2", 2, MLI_EL_FX_16},
        {"f4", "<f4", 4, MLI_EL_FP_32},
#endif
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char literal[128];
        struct npy_header header;
        struct fault fault;

        sprintf(literal, "{'descr': '%s', 'fortran_order': False, 'shape': (7,), }\n",
                cases[i].descr);
        assert_no_fault(parse(1, literal, 7 * cases[i].size, &header, &fault), &fault);
        assert_string_equal(header.descr, cases[i].kept);
        assert_int_equal(header.item_size, cases[i].size);
        assert_int_equal(header.kind, cases[i].kept[1]);
        assert_int_equal(header.big_endian, cases[i].big_endian);
        assert_int_equal(npy_default_type(&header), cases[i].type);
    }
}

static void test_default_of_nothing(void **state)
{
    struct npy_header header = {0};

    (void)state;
    assert_int_equal(npy_default_type(&header), MLI_EL_FX_8);
}

static void test_bad_dtypes(void **state)
{
#define SUPPORTED                                                                                  \
    " is not supported; b1, i and u of 1 to 8 bytes, f2, f4, f8, c8, c16, V1, V2, V4, V8 and "     \
    "V16 are"
    static const struct {
        const char *descr, *text;
    } cases[] = {
        {"'<i16'", "npy dtype '<i16'" SUPPORTED},
        {"'<f16'", "npy dtype '<f16'" SUPPORTED},
        {"'<c32'", "npy dtype '<c32'" SUPPORTED},
        {"'|S1'", "npy dtype '|S1'" SUPPORTED},
        {"'<U1'", "npy dtype '<U1'" SUPPORTED},
        {"'|O'", "npy dtype '|O'" SUPPORTED},
        {"'|V3'", "npy dtype '|V3'" SUPPORTED},
        {"'V'", "npy dtype 'V'" SUPPORTED},
        {"'<M8[ns]'", "npy dtype '<M8[ns]'" SUPPORTED},
        {"'<f01'", "npy dtype '<f01'" SUPPORTED},
        {"'<<f4'", "npy dtype '<<f4'" SUPPORTED},
        {"'=<f4'", "npy dtype '=<f4'" SUPPORTED},
        {"'<b2'", "npy dtype '<b2'" SUPPORTED},
        {"'2'", "npy dtype '2'" SUPPORTED},
        {"'<'", "npy dtype '<'" SUPPORTED},
        {"'<i22'", "npy dtype '<i22'" SUPPORTED},
        {"''", "npy dtype ''" SUPPORTED},
        {"'>u16'", "npy dtype '>u16'" SUPPORTED},
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        {"'=i4'", "npy dtype '=i4' has no byte order; '<i4' or '>i4' is required"},
        {"'u2'", "npy dtype 'u2' has no byte order; '<u2' or '>u2' is required"},
#endif
        {"[('a', '<i2')]", "npy header, byte 10: a structured dtype is not supported"},
        {"('<i2', (2,))", "npy header, byte 10: a string is expected"},
        {"'<i\\x32'", "npy header, byte 10: a string of less than 32 plain characters is expected"},
        {"'an endless name of a dtype, longer than any'",
         "npy header, byte 10: a string of less than 32 plain characters is expected"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char literal[160];
        struct npy_header header;
        struct fault fault;

        sprintf(literal, "{'descr': %s, 'fortran_order': False, 'shape': (7,), }\n",
                cases[i].descr);
        assert_int_equal(parse(1, literal, 14, &header, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].descr);
    }
}

static void test_bad_shapes(void **state)
{
    static const struct {
        const char *shape, *text;
    } cases[] = {
        {"()", "npy header, byte 51: the shape has no dimension; 1 to 8 are required"},
        {"(1, 2, 3, 4, 5, 6, 7, 8, 9)",
         "npy header, byte 75: the shape has more than 8 dimensions"},
        {"(2)", "npy header, byte 52: a shape of one dimension needs a comma: (3,)"},
        {"2", "npy header, byte 50: '(' is expected"},
        {"[2, 3]", "npy header, byte 50: '(' is expected"},
        {"(2 3)", "npy header, byte 53: ',' or ')' is expected"},
        {"(2,,3)", "npy header, byte 53: an extent is expected"},
        {"(,)", "npy header, byte 51: an extent is expected"},
        {"(-2, 3)", "npy header, byte 51: an extent cannot be negative"},
        {"(2.0, 3)", "npy header, byte 52: ',' or ')' is expected"},
        {"(0x2, 3)", "npy header, byte 52: ',' or ')' is expected"},
        {"(02, 3)", "npy header, byte 53: an extent does not begin with 0"},
        {"(1_0, 3)", "npy header, byte 52: ',' or ')' is expected"},
        {"(4294967296, 1)", "npy header, byte 60: an extent above 4294967295 is not supported"},
        {"(99999999999999999999999, 1)",
         "npy header, byte 60: an extent above 4294967295 is not supported"},
        {"(0, 3)", "npy shape[0] is 0: a tensor without elements cannot be moved"},
        {"(3, 0)", "npy shape[1] is 0: a tensor without elements cannot be moved"},
        {"(4294967295, 4294967295, 2)", "npy shape has more elements than any file can hold"},
        {"(4294967295, 4294967295, 4294967295, 4294967295)",
         "npy shape has more elements than any file can hold"},
        {"(4294967295, 2147483648)",
         "npy shape and dtype need 18446744069414584320 bytes after the header of 86, the file "
         "has 12"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char literal[200];
        struct npy_header header;
        struct fault fault;

        sprintf(literal, "{'descr': '<i2', 'fortran_order': False, 'shape': %s}\n", cases[i].shape);
        assert_int_equal(parse(1, literal, 12, &header, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].shape);
    }
}

static void test_bad_dictionaries(void **state)
{
#define ALL "'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)"
    static const struct {
        const char *literal, *text;
    } cases[] = {
        {"", "npy header, byte 0: '{' is expected"},
        {"\n", "npy header, byte 1: '{' is expected"},
        {"[" ALL "]\n", "npy header, byte 0: '{' is expected"},
        {"{}\n", "npy header, byte 1: 'descr' is missing"},
        {"{'descr': '<i2'}\n", "npy header, byte 15: 'fortran_order' is missing"},
        {"{'descr': '<i2', 'fortran_order': False}\n", "npy header, byte 39: 'shape' is missing"},
        {"{" ALL ", 'descr': '<i2'}\n", "npy header, byte 65: 'descr' is given twice"},
        {"{" ALL ", 'more': 1}\n",
         "npy header, byte 64: 'more' is unknown; descr, fortran_order and shape are known"},
        {"{" ALL "\n", "npy header, byte 57: ',' or '}' is expected"},
        {"{" ALL ",,}\n", "npy header, byte 57: a string is expected"},
        {"{,}\n", "npy header, byte 1: a string is expected"},
        {"{'descr' '<i2'}\n", "npy header, byte 9: ':' is expected"},
        {"{'descr': '<i2}\n", "npy header, byte 10: the string that begins here does not end"},
        {"{'descr': \"<i2'}\n", "npy header, byte 10: the string that begins here does not end"},
        {"{'descr': '<i2', 'fortran_order': false}\n",
         "npy header, byte 34: True or False is expected"},
        {"{'descr': '<i2', 'fortran_order': Falsey}\n",
         "npy header, byte 34: True or False is expected"},
        {"{'descr': '<i2', 'fortran_order': TrueX}\n",
         "npy header, byte 34: True or False is expected"},
        {"{'descr': '<i2', 'fortran_order': 0}\n",
         "npy header, byte 34: True or False is expected"},
        {"{'descr': '<i2', 'fortran_order': 'False'}\n",
         "npy header, byte 34: True or False is expected"},
        {"{" ALL "}", "npy header, byte 57: a newline must end the header"},
        {"{" ALL "} ", "npy header, byte 58: a newline must end the header"},
        {"{" ALL "} {}\n", "npy header, byte 58: nothing but spaces may follow the dictionary"},
        {"{" ALL "}\x01\n", "npy header, byte 57: nothing but spaces may follow the dictionary"},
        {"{" ALL "} # comment\n",
         "npy header, byte 58: nothing but spaces may follow the dictionary"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct npy_header header;
        struct fault fault;

        assert_int_equal(parse(1, cases[i].literal, 12, &header, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].literal);
    }
}

static void test_bad_prefix(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *text;
    } cases[] = {
        {"", 0, "0 bytes are too few for a .npy file"},
        {"\x93NUMPY\x01\x00\x46", 9, "9 bytes are too few for a .npy file"},
        {"PK\x03\x04 a zip is no npy", 22, "not a .npy file: it does not begin with \\x93NUMPY"},
        {"\x93numpy\x01\x00\x02\x00{}", 12, "not a .npy file: it does not begin with \\x93NUMPY"},
        {"\x93NUMPY\x00\x00\x02\x00{}", 12,
         "npy version 0.0 is not supported; 1.0, 2.0 and 3.0 are"},
        {"\x93NUMPY\x04\x00\x02\x00{}", 12,
         "npy version 4.0 is not supported; 1.0, 2.0 and 3.0 are"},
        {"\x93NUMPY\x01\x01\x02\x00{}", 12,
         "npy version 1.1 is not supported; 1.0, 2.0 and 3.0 are"},
        {"\x93NUMPY\x01\x00\x03\x00{}", 12, "npy header exceeds the 12 bytes of the file"},
        {"\x93NUMPY\x01\x00\xf6\xff{}", 12, "npy header exceeds the 12 bytes of the file"},
        {"\x93NUMPY\x01\x00\xff\xff{}", 12,
         "npy header of 65535 bytes given; at most 65526 are read"},
        {"\x93NUMPY\x02\x00\x70\x11\x01\x00", 12,
         "npy header of 70000 bytes given; at most 65524 are read"},
        {"\x93NUMPY\x02\x00\x00\x00\x00", 11, "npy header exceeds the 11 bytes of the file"},
        {"\x93NUMPY\x02\x00\xff\xff\xff\xff", 12,
         "npy header of 4294967295 bytes given; at most 65524 are read"},
        {"\x93NUMPY\x01\x00\x00\x00", 10, "npy header, byte 0: '{' is expected"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct npy_header header;
        struct fault fault;

        assert_int_equal(
            npy_parse(cases[i].bytes, cases[i].length, cases[i].length, &header, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].text);
    }
}

static void test_lying_length(void **state)
{
    struct file file;
    struct npy_header header;
    struct fault fault;

    (void)state;
    build(&file, 1, LITERAL("'<i2'", "False", "(2, 3)"),
          -3); /* the header ends inside the dictionary */
    assert_int_equal(npy_parse(file.bytes, file.length, file.length + 12, &header, &fault), -1);
    assert_string_equal(fault.text, "npy header, byte 59: a newline must end the header");
    build(&file, 1, LITERAL("'<i2'", "False", "(2, 3)"), -5);
    assert_int_equal(npy_parse(file.bytes, file.length, file.length + 12, &header, &fault), -1);
    assert_string_equal(fault.text, "npy header, byte 57: a string is expected");
    build(&file, 2, LITERAL("'<i2'", "False", "(2, 3)"), 1);
    assert_int_equal(npy_parse(file.bytes, file.length, file.length + 12, &header, &fault), -1);
    assert_string_equal(fault.text, "npy header exceeds the 74 bytes of the file");
}

static void test_file_size(void **state)
{
    static const char literal[] = LITERAL("'<i2'", "False", "(2, 3)");
    struct npy_header header;
    struct fault fault;

    (void)state;
    assert_int_equal(parse(1, literal, 11, &header, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL,
                 "npy shape and dtype need 12 bytes after the header of 72, the file has 11",
                 "truncated");
    assert_int_equal(parse(1, literal, 13, &header, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL,
                 "npy shape and dtype need 12 bytes after the header of 72, the file has 13",
                 "trailing bytes");
    assert_int_equal(parse(1, literal, 0, &header, &fault), -1);
}

/* Refuses each file that is the beginning of a valid file, and reads nothing beyond its end. */
static void test_truncated(void **state)
{
    struct file file;

    (void)state;
    build(&file, 1, LITERAL("'<i2'", "False", "(2, 3)"), 0);
    for (size_t length = 0; length < file.length + 12; length++) {
        struct npy_header header;
        struct fault fault;
        size_t given = length < file.length ? length : file.length;

        assert_int_equal(npy_parse(file.bytes, given, length, &header, &fault), -1);
    }
}

static void test_format(void **state)
{
    struct npy_header header = {
        .descr = "<f2", .kind = 'f', .item_size = 2, .rank = 1, .shape = {9}};
    unsigned char out[128];

    (void)state;
    assert_int_equal(npy_format(&header, out, 128), 0);
    assert_int_equal(header.data_offset, 128);
    assert_memory_equal(out,
                        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f2', 'fortran_order': False, "
                        "'shape': (9,), } ",
                        68);
    assert_int_equal(out[127], '\n');
    assert_int_equal(out[126], ' ');
    assert_int_equal(npy_format(&header, out, 64), -1);
    assert_int_equal(npy_format(&header, out, 0), -1);
    assert_int_equal(npy_format(&header, out, 100), -1);
}

static void test_format_round_trips(void **state)
{
    static const char *const descrs[] = {"|b1", "|i1", "|u1", "<i2", "<u2",
                                         "<f2", "<i4", "<u4", "<f4"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(descrs) * 2 * TENSOR_RANK_MAX; i++) {
        struct npy_header header = {.fortran_order = i % 2, .rank = 1 + i / 2 % TENSOR_RANK_MAX},
                          got;
        unsigned char out[NPY_FORMAT_SIZE];
        struct fault fault;
        uint64_t size;

        strcpy(header.descr, descrs[i / 2 / TENSOR_RANK_MAX]);
        size = (uint64_t)(header.descr[2] - '0');
        for (uint32_t d = 0; d < header.rank; d++) {
            header.shape[d] = d == 0 ? UINT32_MAX : 3 + d % 4;
            size *= header.shape[d];
        }
        assert_int_equal(npy_format(&header, out, sizeof out), 0);
        assert_no_fault(npy_parse(out, sizeof out, sizeof out + size, &got, &fault), &fault);
        assert_string_equal(got.descr, header.descr);
        assert_int_equal(got.fortran_order, header.fortran_order);
        assert_int_equal(got.rank, header.rank);
        assert_memory_equal(got.shape, header.shape, sizeof got.shape);
        assert_int_equal(got.data_offset, 128);
        assert_true(got.data_size == size);
    }
}

/* The header of the longest shape of 4 dimensions fits in NPY_FORMAT_SIZE bytes. */
static void test_longest_format(void **state)
{
    struct npy_header header = {
        .descr = "<f4", .rank = 4, .shape = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    unsigned char out[NPY_FORMAT_SIZE];

    (void)state;
    assert_int_equal(npy_format(&header, out, sizeof out), 0);
    /* a header as NumPy writes it; test_expect.py compares with NumPy */
    assert_memory_equal(out,
                        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, "
                        "'shape': (4294967295, 4294967295, 4294967295, 4294967295), }"
                        "                \n",
                        sizeof out);
}

static void test_strides(void **state)
{
    struct npy_header header = {.rank = 3, .shape = {2, 3, 4}};
    int32_t strides[TENSOR_RANK_MAX];

    (void)state;
    assert_int_equal(npy_strides(&header, strides), 0);
    assert_memory_equal(strides, ((int32_t[TENSOR_RANK_MAX]){12, 4, 1}), sizeof strides);
    header.fortran_order = true;
    assert_int_equal(npy_strides(&header, strides), 0);
    assert_memory_equal(strides, ((int32_t[TENSOR_RANK_MAX]){1, 2, 6}), sizeof strides);
    header = (struct npy_header){.rank = 2, .shape = {2, INT32_MAX}};
    assert_int_equal(npy_strides(&header, strides), 0);
    assert_int_equal(strides[0], INT32_MAX);
    header.shape[1] = UINT32_C(1) << 31;
    assert_int_equal(npy_strides(&header, strides), -1);
    header.shape[0] = 1; /* a dimension of extent 1 needs no stride */
    assert_int_equal(npy_strides(&header, strides), 0);
    assert_memory_equal(strides, ((int32_t[TENSOR_RANK_MAX]){0, 1}), sizeof strides);
    header = (struct npy_header){.rank = 4, .shape = {2, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    assert_int_equal(npy_strides(&header, strides), -1);
}

/*
 * npy_make_little() changes the byte order in a header and nothing else. The headers here have 62
 * bytes, so that the byte before the text, which is the low byte of the length, is also '>'.
 */
static void test_make_little(void **state)
{
    static const char *const descrs[][2] = {
        {"'>i2'", "'<i2'"}, {"\">f4\"", "\"<f4\""}, {"'<u2'", "'<u2'"}, {"'>u1'", "'>u1'"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(descrs); i++) {
        struct npy_header header;
        struct file file, wanted;
        struct fault fault;
        char literal[96];

        sprintf(literal, "{'descr': %s, 'fortran_order': True, 'shape': (4,)%7s}\n", descrs[i][0],
                "");
        build(&file, 2, literal, 0);
        sprintf(literal, "{'descr': %s, 'fortran_order': True, 'shape': (4,)%7s}\n", descrs[i][1],
                "");
        build(&wanted, 2, literal, 0);
        uint64_t data = strchr("24", descrs[i][0][3]) ? 4u * (uint64_t)(descrs[i][0][3] - '0') : 4;
        assert_no_fault(npy_parse(file.bytes, file.length, file.length + data, &header, &fault),
                        &fault);
        npy_make_little(file.bytes, &header);
        assert_int_equal(strlen(literal), '>');
        assert_memory_equal(file.bytes, wanted.bytes, wanted.length);
    }
}

/* tensor_entry_outline() also describes tensors that cannot be moved, and says why. */
static void test_outline(void **state)
{
    static const struct {
        const char *literal;
        uint64_t data;
        const char *dtype;
        size_t rank;
        uint64_t shape[9];
        const char *refusal; /* expected reason of the refusal; null: the tensor is accepted */
    } cases[] = {
        {LITERAL("'<i2'", "True", "(2, 3)"), 12, "int16", 2, {2, 3}, NULL},
        {LITERAL("'|b1'", "False", "(2,)"), 2, "bool", 1, {2}, NULL},
        {LITERAL("'<i8'", "False", "(2,)"), 16, "int64", 1, {2}, NULL},
        {LITERAL("'<c16'", "False", "()"),
         16,
         "complex128",
         0,
         {0},
         "npy header, byte 52: the shape has no dimension; 1 to 8 are required"},
        {LITERAL("'>i4'", "False", "(1,)"), 4, "int32", 1, {1}, NULL},
        {LITERAL("'>i8'", "False", "(0,)"),
         0,
         ">i8",
         1,
         {0},
         "npy shape[0] is 0: a tensor without elements cannot be moved"},
        {LITERAL("'<U7'", "False", "(1,)"), 28, "<U7", 1, {1}, "npy dtype '<U7'" SUPPORTED},
        {LITERAL("'<i2'", "False", "(1,2,3,1,1,1)"), 12, "int16", 6, {1, 2, 3, 1, 1, 1}, NULL},
        {LITERAL("'<i2'", "False", "(1,2,3,1,1,1,1,1,5000000000)"),
         12,
         "int16",
         9,
         {1, 2, 3, 1, 1, 1, 1, 1, 5000000000},
         "npy header, byte 67: the shape has more than 8 dimensions"},
        {LITERAL("'<i2'", "False", "(0, 3)"),
         0,
         "int16",
         2,
         {0, 3},
         "npy shape[0] is 0: a tensor without elements cannot be moved"},
        {LITERAL("'<i2'", "False", "(2, 3)"),
         13,
         "int16",
         2,
         {2, 3},
         "npy shape and dtype need 12 bytes after the header of 72, the file has 13"},
        {LITERAL("[('a]', '<i2'), (\"b'\", [('c', '|S3')], (2,))]", "False", "(3,)"),
         24,
         "structured",
         1,
         {3},
         "npy header, byte 10: a structured dtype is not supported"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tensor_list list = {0};
        struct tensor_entry *entry = tensor_list_add(&list, "x");
        struct file file;
        struct fault fault;

        build(&file, 1, cases[i].literal, 0);
        assert_int_equal(npy_header_size(file.bytes, file.length), file.length);
        assert_no_fault(tensor_entry_outline(file.bytes, file.length, file.length + cases[i].data,
                                             entry, &fault),
                        &fault);
        assert_string_equal(entry->dtype, cases[i].dtype);
        assert_int_equal(entry->rank, cases[i].rank);
        for (size_t d = 0; d < cases[i].rank; d++)
            assert_int_equal(entry->shape[d], cases[i].shape[d]);
        assert_int_equal(entry->bytes, cases[i].data);
        assert_int_equal(entry->header.data_offset, file.length);
        assert_string_equal(entry->refusal ? entry->refusal : "",
                            cases[i].refusal ? cases[i].refusal : "");
        tensor_list_finish(&list);
    }
}

static void test_bad_outline(void **state)
{
    static const struct {
        const char *literal, *text;
    } cases[] = {
        {LITERAL("[('a', '<i2')", "False", "(2, 3)"),
         "npy header, byte 70: the structured dtype is not terminated"},
        {LITERAL("['a", "False", "(2, 3)"),
         "npy header, byte 45: the structured dtype is not terminated"},
        {LITERAL("'<i2'", "False", "(99999999999999999999,)"),
         "npy header, byte 69: an extent above 9223372036854775807 is not supported"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tensor_entry entry = {0};
        struct file file;
        struct fault fault;

        build(&file, 1, cases[i].literal, 0);
        assert_int_equal(tensor_entry_outline(file.bytes, file.length, file.length, &entry, &fault),
                         -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].literal);
        assert_string_equal(entry.dtype, "");
    }
    assert_int_equal(npy_header_size("\x93NUMPY\x02\x00\x01\x02\x03\x04", 12), 12 + 0x04030201);
    assert_int_equal(npy_header_size("\x93NUMPY\x01\x00\x01\x02", 10),
                     0); /* the file has too few bytes */
    assert_int_equal(npy_header_size("PK\x03\x04        ", 12), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_default_of_nothing),
        cmocka_unit_test(test_bad_dtypes),
        cmocka_unit_test(test_bad_shapes),
        cmocka_unit_test(test_bad_dictionaries),
        cmocka_unit_test(test_bad_prefix),
        cmocka_unit_test(test_lying_length),
        cmocka_unit_test(test_file_size),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_round_trips),
        cmocka_unit_test(test_longest_format),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_make_little),
        cmocka_unit_test(test_outline),
        cmocka_unit_test(test_bad_outline),
    };

    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
