/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/npy.h"

/* Which headers are accepted: those of tensors that a job can move, or all headers of NumPy. */
enum npy_scope { NPY_OURS, NPY_ANY };

struct scan {
    const char *text;
    size_t length, at;
    enum npy_scope scope;
    struct fault *fault;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct scan *scan, const char *format,
                                                        ...)
{
    char text[FAULT_TEXT_MAX / 2];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fault_set(scan->fault, FAULT_INVALID_PARAMS, NULL, "npy header, byte %zu: %s", scan->at,
                     text);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void skip_space(struct scan *scan)
{
    while (scan->at < scan->length && is_space(scan->text[scan->at]))
        scan->at++;
}

static bool next_is(struct scan *scan, char c)
{
    skip_space(scan);
    return scan->at < scan->length && scan->text[scan->at] == c;
}

static bool accept(struct scan *scan, char c)
{
    if (!next_is(scan, c))
        return false;
    scan->at++;
    return true;
}

static int expect(struct scan *scan, char c)
{
    return accept(scan, c) ? 0 : refuse(scan, "'%c' is expected", c);
}

/* Parses a string in single or double quotes. Refuses escapes: no known name or dtype has them. */
static int read_string(struct scan *scan, char *out, size_t size)
{
    size_t begin, length;
    const char *end;

    skip_space(scan);
    if (!next_is(scan, '\'') && !next_is(scan, '"'))
        return refuse(scan, "a string is expected");
    begin = scan->at + 1;
    end = memchr(scan->text + begin, scan->text[scan->at], scan->length - begin);
    if (!end)
        return refuse(scan, "the string that begins here does not end");
    length = (size_t)(end - (scan->text + begin));
    if (length >= size || memchr(scan->text + begin, '\\', length) ||
        memchr(scan->text + begin, '\0', length) || memchr(scan->text + begin, '\n', length))
        return refuse(scan, "a string of less than %zu plain characters is expected", size);
    memcpy(out, scan->text + begin, length);
    out[length] = '\0';
    scan->at = begin + length + 1;
    return 0;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool accept_word(struct scan *scan, const char *word)
{
    size_t length = strlen(word);

    skip_space(scan);
    if (scan->length - scan->at < length || memcmp(scan->text + scan->at, word, length) != 0)
        return false;
    if (scan->length - scan->at > length && is_name_char(scan->text[scan->at + length]))
        return false;
    scan->at += length;
    return true;
}

static int read_bool(struct scan *scan, bool *value)
{
    *value = accept_word(scan, "True");
    return *value || accept_word(scan, "False") ? 0 : refuse(scan, "True or False is expected");
}

static int read_extent(struct scan *scan, uint64_t *extent)
{
    uint64_t max = scan->scope == NPY_ANY ? INT64_MAX : UINT32_MAX;
    size_t begin;
    uint64_t value = 0;

    skip_space(scan);
    if (next_is(scan, '-'))
        return refuse(scan, "an extent cannot be negative");
    for (begin = scan->at; scan->at < scan->length; scan->at++) {
        char c = scan->text[scan->at];

        if (c < '0' || c > '9')
            break;
        if (value > (max - (uint64_t)(c - '0')) / 10)
            return refuse(scan, "an extent above %" PRIu64 " is not supported", max);
        value = value * 10 + (uint64_t)(c - '0');
    }
    if (scan->at == begin)
        return refuse(scan, "an extent is expected");
    if (scan->at - begin > 1 && scan->text[begin] == '0')
        return refuse(scan, "an extent does not begin with 0");
    /* Python 2 wrote long integers as 3L. */
    if (scan->at < scan->length && scan->text[scan->at] == 'L')
        scan->at++;
    *extent = value;
    return 0;
}

/* Reads "(2, 3)", "(2, 3,)" or "(2,)"; refuses "(2)", which is a number in Python. */
static int read_shape(struct scan *scan, struct npy_outline *literal)
{
    uint32_t most = scan->scope == NPY_ANY ? NPY_RANK_MAX : TENSOR_RANK_MAX;
    bool comma = true;

    if (expect(scan, '(') < 0)
        return -1;
    literal->rank = 0;
    while (!next_is(scan, ')')) {
        if (!comma)
            return refuse(scan, "',' or ')' is expected");
        if (literal->rank == most)
            return refuse(scan, "the shape has more than %" PRIu32 " dimensions", most);
        if (read_extent(scan, &literal->shape[literal->rank++]) < 0)
            return -1;
        comma = accept(scan, ',');
    }
    if (literal->rank == 0 && scan->scope == NPY_OURS)
        return refuse(scan, "the shape has no dimension; 1 to %d are required", TENSOR_RANK_MAX);
    if (literal->rank == 1 && !comma)
        return refuse(scan, "a shape of one dimension needs a comma: (3,)");
    return expect(scan, ')');
}

/* Skips a structured dtype: a list of lists, tuples and strings. */
static int skip_list(struct scan *scan)
{
    size_t depth = 0;

    do {
        char c = scan->at < scan->length ? scan->text[scan->at] : '\0';
        const char *end = NULL;

        if (c == '[' || c == '(')
            depth++;
        else if (c == ']' || c == ')')
            depth--;
        else if (c == '\'' || c == '"')
            end = memchr(scan->text + scan->at + 1, c, scan->length - scan->at - 1);
        if (c == '\0' || ((c == '\'' || c == '"') && !end))
            return refuse(scan, "the structured dtype is not terminated");
        scan->at = (end ? (size_t)(end - scan->text) : scan->at) + 1;
    } while (depth > 0);
    return 0;
}

static int read_descr(struct scan *scan, struct npy_outline *literal)
{
    if (next_is(scan, '[') && scan->scope == NPY_OURS)
        return refuse(scan, "a structured dtype is not supported");
    if (next_is(scan, '[')) {
        strcpy(literal->descr, "structured");
        return skip_list(scan);
    }
    return read_string(scan, literal->descr, sizeof literal->descr);
}

enum key { KEY_DESCR = 1, KEY_FORTRAN_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static int read_member(struct scan *scan, struct npy_outline *literal, unsigned *seen)
{
    static const struct {
        const char *name;
        enum key key;
    } keys[] = {{"descr", KEY_DESCR}, {"fortran_order", KEY_FORTRAN_ORDER}, {"shape", KEY_SHAPE}};
    char name[32];
    unsigned key = 0;

    if (read_string(scan, name, sizeof name) < 0)
        return -1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(name, keys[i].name) == 0)
            key = keys[i].key;
    }
    if (key == 0)
        return refuse(scan, "'%s' is unknown; descr, fortran_order and shape are known", name);
    if (*seen & key)
        return refuse(scan, "'%s' is given twice", name);
    *seen |= key;
    if (expect(scan, ':') < 0)
        return -1;
    if (key == KEY_DESCR)
        return read_descr(scan, literal);
    return key == KEY_SHAPE ? read_shape(scan, literal) : read_bool(scan, &literal->fortran_order);
}

/*
 * Parses a header such as "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }": members in
 * any order, any spacing, either kind of quotes, optional trailing commas, then white space and a
 * newline. Returns 0, or -1 with a fault like that of npy_parse().
 */
static int npy_literal_parse(const char *text, size_t length, enum npy_scope scope,
                             struct npy_outline *literal, struct fault *fault)
{
    struct scan scan = {.text = text, .length = length, .scope = scope, .fault = fault};
    unsigned seen = 0;
    bool comma = true;

    *literal = (struct npy_outline){0};
    if (expect(&scan, '{') < 0)
        return -1;
    while (!next_is(&scan, '}')) {
        if (!comma)
            return refuse(&scan, "',' or '}' is expected");
        if (read_member(&scan, literal, &seen) < 0)
            return -1;
        comma = accept(&scan, ',');
    }
    if (seen != KEY_ALL)
        return refuse(&scan, "%s is missing",
                      !(seen & KEY_DESCR)           ? "'descr'"
                      : !(seen & KEY_FORTRAN_ORDER) ? "'fortran_order'"
                                                    : "'shape'");
    scan.at++;
    skip_space(&scan);
    if (scan.at != length)
        return refuse(&scan, "nothing but spaces may follow the dictionary");
    return text[length - 1] == '\n' ? 0 : refuse(&scan, "a newline must end the header");
}

static const char magic[] = "\x93NUMPY";

enum { MAGIC_SIZE = 6, PREFIX_V1 = MAGIC_SIZE + 2 + 2, PREFIX_V2 = MAGIC_SIZE + 2 + 4 };

static const struct dtype dtypes[] = {
#define DTYPE(...) {__VA_ARGS__},
    DTYPE_TABLE(DTYPE)
#undef DTYPE
};

const char *const dtype_words[] = {
#define DTYPE_WORD(name, ...) name,
    DTYPE_TABLE(DTYPE_WORD)
#undef DTYPE_WORD
        NULL};

enum { DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

const struct dtype *dtype_at(size_t index)
{
    return &dtypes[index];
}

static const struct dtype *find_dtype(char kind, uint32_t size)
{
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (dtypes[i].kind == kind && dtypes[i].size == size)
            return &dtypes[i];
    }
    return NULL;
}

static int refuse_dtype(const char *descr, struct fault *fault)
{
    return fault_set(
        fault, FAULT_INVALID_PARAMS, NULL,
        "npy dtype '%s' is not supported; b1, i and u of 1 to 8 bytes, f2, f4, f8, c8, "
        "c16, V1, V2, V4, V8 and V16 are",
        descr);
}

void npy_set_dtype(struct npy_header *header, char kind, uint32_t size)
{
    snprintf(header->descr, sizeof header->descr, "%c%c%" PRIu32,
             size == 1 || kind == 'V' ? '|' : '<', kind, size);
    header->kind = kind;
    header->item_size = size;
}

/* Without a mark of its byte order, a dtype has that of the processor. */
int npy_read_dtype(const char *descr, struct npy_header *header, struct fault *fault)
{
    static const bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const char *text = *descr && strchr("<>|=", *descr) ? descr + 1 : descr;
    size_t digits = *text ? strspn(text + 1, "0123456789") : 0;
    char kind = *text;

    if (digits < 1 || digits > 2 || text[1] == '0' || text[1 + digits])
        return refuse_dtype(descr, fault);
    uint32_t size = (uint32_t)strtoul(text + 1, NULL, 10);

    if (kind == 'f' && size == 1) /* an 8-bit float, which NumPy itself cannot read */
        kind = 'V';
    if (!find_dtype(kind, size))
        return refuse_dtype(descr, fault);
    npy_set_dtype(header, kind, size);
    if (header->descr[0] == '|' || *descr == '<')
        return 0;
    header->big_endian = *descr == '>';
    if (native_big && !header->big_endian) /* npy_make_little() replaces '>' only */
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "npy dtype '%s' has no byte order; '<%s' or '>%s' is required", descr,
                         text, text);
    return 0;
}

static int check_size(struct npy_header *header, uint64_t file_size, struct fault *fault)
{
    uint64_t bytes = header->item_size, end;

    for (uint32_t i = 0; i < header->rank; i++) {
        if (header->shape[i] == 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "npy shape[%u] is 0: a tensor without elements cannot be moved", i);
        if (__builtin_mul_overflow(bytes, header->shape[i], &bytes))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "npy shape has more elements than any file can hold");
    }
    header->data_size = bytes;
    if (__builtin_add_overflow(header->data_offset, bytes, &end) || end != file_size)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "npy shape and dtype need %" PRIu64 " bytes after the header of %" PRIu64
                         ", the file has %" PRIu64,
                         bytes, header->data_offset, file_size - header->data_offset);
    return 0;
}

/* Checks magic and version. Returns the offset of the dictionary of *size bytes; 0: fault. */
static size_t find_literal(const unsigned char *bytes, size_t length, size_t *size,
                           struct fault *fault)
{
    size_t prefix;

    if (length < PREFIX_V1 || memcmp(bytes, magic, MAGIC_SIZE) != 0) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  length < PREFIX_V1 ? "%zu bytes are too few for a .npy file"
                                     : "not a .npy file: it does not begin with \\x93NUMPY",
                  length);
        return 0;
    }
    if (bytes[MAGIC_SIZE] < 1 || bytes[MAGIC_SIZE] > 3 || bytes[MAGIC_SIZE + 1] != 0) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "npy version %u.%u is not supported; 1.0, 2.0 and 3.0 are", bytes[MAGIC_SIZE],
                  bytes[MAGIC_SIZE + 1]);
        return 0;
    }
    prefix = bytes[MAGIC_SIZE] == 1 ? PREFIX_V1 : PREFIX_V2;
    *size = bytes[8] | (size_t)bytes[9] << 8;
    if (prefix == PREFIX_V2 && length >= PREFIX_V2)
        *size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length >= prefix && *size > NPY_HEADER_MAX - prefix) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "npy header of %zu bytes given; at most %zu are read", *size,
                  NPY_HEADER_MAX - prefix);
        return 0;
    }
    if (length < prefix || *size > length - prefix) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL, "npy header exceeds the %zu bytes of the file",
                  length);
        return 0;
    }
    return prefix;
}

int npy_parse(const void *bytes, size_t length, uint64_t file_size, struct npy_header *header,
              struct fault *fault)
{
    struct npy_outline literal;
    size_t size, prefix;

    *header = (struct npy_header){0};
    if (length > file_size)
        length = (size_t)file_size;
    prefix = find_literal(bytes, length, &size, fault);
    if (prefix == 0)
        return -1;
    header->data_offset = prefix + size;
    if (npy_literal_parse((const char *)bytes + prefix, size, NPY_OURS, &literal, fault) < 0 ||
        npy_read_dtype(literal.descr, header, fault) < 0)
        return -1;
    header->fortran_order = literal.fortran_order;
    header->rank = literal.rank;
    for (uint32_t i = 0; i < literal.rank; i++)
        header->shape[i] = (uint32_t)literal.shape[i];
    return check_size(header, file_size, fault);
}

size_t npy_header_size(const void *bytes, size_t length)
{
    const unsigned char *prefix = bytes;
    size_t size;

    if (length < NPY_PREFIX_MAX || memcmp(prefix, magic, MAGIC_SIZE) != 0)
        return 0;
    size = prefix[8] | (size_t)prefix[9] << 8;
    if (prefix[MAGIC_SIZE] == 1)
        return PREFIX_V1 + size;
    return PREFIX_V2 + (size | (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24);
}

size_t npy_outline(const void *bytes, size_t length, uint64_t file_size,
                   struct npy_outline *outline, struct fault *fault)
{
    size_t size, prefix;

    if (length > file_size)
        length = (size_t)file_size;
    prefix = find_literal(bytes, length, &size, fault);
    if (prefix == 0 ||
        npy_literal_parse((const char *)bytes + prefix, size, NPY_ANY, outline, fault) < 0)
        return 0;
    return prefix + size;
}

int npy_format(struct npy_header *header, void *out, size_t size)
{
    unsigned char *bytes = out;
    char text[2 * NPY_FORMAT_SIZE]; /* any shape fits */
    size_t length, room;

    if (size == 0 || size % 64 != 0 || size - PREFIX_V1 > UINT16_MAX)
        return -1;
    room = size - PREFIX_V1;
    length = (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                              header->descr, header->fortran_order ? "True" : "False");
    for (uint32_t i = 0; i < header->rank; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu32, i ? ", " : "",
                                   header->shape[i]);
    length += (size_t)snprintf(text + length, sizeof text - length, "%s), }",
                               header->rank == 1 ? "," : "");
    if (length >= room)
        return -1;
    memcpy(bytes, magic, MAGIC_SIZE);
    bytes[MAGIC_SIZE] = 1;
    bytes[MAGIC_SIZE + 1] = 0;
    bytes[MAGIC_SIZE + 2] = (unsigned char)(room & 0xff);
    bytes[MAGIC_SIZE + 3] = (unsigned char)(room >> 8);
    memcpy(bytes + PREFIX_V1, text, length);
    memset(bytes + PREFIX_V1 + length, ' ', room - length - 1);
    bytes[size - 1] = '\n';
    header->data_offset = size;
    return 0;
}

/*
 * The text of the header has one '>' at most, in the dtype: its other keys and values are words and
 * numbers. The search begins at the text, because the length before it may have the byte '>'.
 */
void npy_make_little(void *bytes, const struct npy_header *header)
{
    enum { BEFORE_TEXT = 12 }; /* in version 1 the text begins at 10, with '{' */
    char *order =
        memchr((char *)bytes + BEFORE_TEXT, '>', (size_t)header->data_offset - BEFORE_TEXT);

    if (header->big_endian && order)
        *order = '<';
}

const struct dtype *dtype_of_header(const struct npy_header *header)
{
    const struct dtype *found = find_dtype(header->kind, header->item_size);

    return found ? found : find_dtype('u', 1);
}

mli_element_type npy_default_type(const struct npy_header *header)
{
    return dtype_of_header(header)->type;
}

int npy_strides(const struct npy_header *header, int32_t strides[TENSOR_RANK_MAX])
{
    uint64_t stride = 1;

    memset(strides, 0, TENSOR_RANK_MAX * sizeof *strides);
    for (uint32_t i = 0; i < header->rank; i++) {
        uint32_t dimension = header->fortran_order ? i : header->rank - 1 - i;

        if (stride > INT32_MAX && header->shape[dimension] > 1)
            return -1;
        strides[dimension] = stride > INT32_MAX ? 0 : (int32_t)stride; /* 0: the extent is 1 */
        stride *= header->shape[dimension]; /* no overflow: both factors are below 2^32 */
    }
    return 0;
}
