/* SPDX-License-Identifier: BSD-3-Clause */
/* .npy headers: prefix, dtype and sizes. npy_literal.c parses the dictionary. */
#include "proto/file/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/npy_literal.h"
#include "proto/file/tensor_list.h"

static const char magic[] = "\x93NUMPY";

enum { MAGIC_SIZE = 6, PREFIX_V1 = MAGIC_SIZE + 2 + 2, PREFIX_V2 = MAGIC_SIZE + 2 + 4 };

static const struct {
    char kind;
    char digit;
    mli_element_type type;
} dtypes[] = {
    {'b', '1', MLI_EL_FX_8},  {'i', '1', MLI_EL_FX_8},  {'u', '1', MLI_EL_FX_8},
    {'i', '2', MLI_EL_FX_16}, {'u', '2', MLI_EL_FX_16}, {'f', '2', MLI_EL_FP_16},
    {'i', '4', MLI_EL_SA_32}, {'u', '4', MLI_EL_SA_32}, {'f', '4', MLI_EL_FP_32},
};

enum { DTYPE_COUNT = sizeof dtypes / sizeof *dtypes };

static int refuse_dtype(const char *descr, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "npy dtype '%s' is not supported; b1, i1, u1, i2, u2, f2, i4, u4 and f4 are",
                     descr);
}

/* Reads "<i2" into kind and size. Accepts any byte order for dtypes of one byte. */
static int read_dtype(const char *descr, struct npy_header *header, struct fault *fault)
{
    if (strlen(descr) != 3 || !strchr("<>|=", descr[0]))
        return refuse_dtype(descr, fault);
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (descr[1] != dtypes[i].kind || descr[2] != dtypes[i].digit)
            continue;
        header->kind = descr[1];
        header->item_size = (uint32_t)(descr[2] - '0');
        snprintf(header->descr, sizeof header->descr, "%c%c%c", header->item_size == 1 ? '|' : '<',
                 descr[1], descr[2]);
        if (header->item_size == 1 || descr[0] == '<')
            return 0;
        header->big_endian = descr[0] == '>';
        if (header->big_endian)
            return 0;
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "npy dtype '%s' has no byte order; '<%s' or '>%s' is required", descr,
                         descr + 1, descr + 1);
    }
    return refuse_dtype(descr, fault);
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

/* Finds the literal by magic, version and length. Returns its offset, or 0 with a fault. */
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
    if (length < prefix || *size > length - prefix) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "npy header exceeds the %zu bytes of the file (at most %d are read)", length,
                  NPY_HEADER_MAX);
        return 0;
    }
    return prefix;
}

int npy_parse(const void *bytes, size_t length, uint64_t file_size, struct npy_header *header,
              struct fault *fault)
{
    struct npy_literal literal;
    size_t size, prefix;

    *header = (struct npy_header){0};
    if (length > file_size)
        length = (size_t)file_size;
    prefix = find_literal(bytes, length, &size, fault);
    if (prefix == 0)
        return -1;
    header->data_offset = prefix + size;
    if (npy_literal_parse((const char *)bytes + prefix, size, NPY_OURS, &literal, fault) < 0 ||
        read_dtype(literal.descr, header, fault) < 0)
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

/*
 * Names a dtype as NumPy does, as "int64" for "<i8"; other dtypes keep their code. So do big-endian
 * dtypes that no job can move: they are compared by their bytes.
 */
static void name_dtype(const char *descr, bool big_endian, char out[TENSOR_DTYPE_MAX])
{
    static const struct {
        char kind;
        const char *name;
    } names[] = {{'i', "int"}, {'u', "uint"}, {'f', "float"}, {'c', "complex"}};
    size_t digits = descr[0] && descr[1] ? strspn(descr + 2, "0123456789") : 0;

    snprintf(out, TENSOR_DTYPE_MAX, "%s", descr);
    if (digits < 1 || digits > 2 || descr[2 + digits] ||
        !strchr(big_endian ? ">" : "<|=", descr[0]))
        return;
    if (strcmp(descr + 1, "b1") == 0)
        snprintf(out, TENSOR_DTYPE_MAX, "bool");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (descr[1] == names[i].kind)
            snprintf(out, TENSOR_DTYPE_MAX, "%s%d", names[i].name,
                     8 * (int)strtol(descr + 2, NULL, 10));
    }
}

int npy_outline(const void *bytes, size_t length, uint64_t file_size, struct tensor_entry *entry,
                struct fault *fault)
{
    struct npy_literal literal;
    struct fault why;
    size_t size, prefix;

    if (length > file_size)
        length = (size_t)file_size;
    prefix = find_literal(bytes, length, &size, fault);
    if (prefix == 0 ||
        npy_literal_parse((const char *)bytes + prefix, size, NPY_ANY, &literal, fault) < 0)
        return -1;
    entry->bytes = file_size - (prefix + size);
    if (tensor_entry_set_shape(entry, literal.shape, literal.rank) < 0)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a shape");
    if (npy_parse(bytes, length, file_size, &entry->header, &why) < 0) {
        entry->header = (struct npy_header){.data_offset = prefix + size};
        if (tensor_entry_refuse(entry, &why) < 0)
            return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a message");
    }
    name_dtype(literal.descr, entry->header.big_endian, entry->dtype);
    return 0;
}

int npy_format(struct npy_header *header, void *out, size_t size)
{
    unsigned char *bytes = out;
    char text[NPY_FORMAT_SIZE];
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

/* No other '>' can be in the header: its keys and values are words, numbers and this dtype. */
void npy_make_little(void *bytes, const struct npy_header *header)
{
    char *order = memchr(bytes, '>', (size_t)header->data_offset);

    if (header->big_endian && order)
        *order = '<';
}

mli_element_type npy_default_type(const struct npy_header *header)
{
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        if (header->kind == dtypes[i].kind &&
            header->item_size == (uint32_t)(dtypes[i].digit - '0'))
            return dtypes[i].type;
    }
    return MLI_EL_FX_8;
}

int npy_strides(const struct npy_header *header, int32_t strides[MLI_MAX_RANK])
{
    uint64_t stride = 1;

    memset(strides, 0, MLI_MAX_RANK * sizeof *strides);
    for (uint32_t i = 0; i < header->rank; i++) {
        uint32_t dimension = header->fortran_order ? i : header->rank - 1 - i;

        if (stride > INT32_MAX)
            return -1;
        strides[dimension] = (int32_t)stride;
        stride *= header->shape[dimension]; /* no overflow: both factors are below 2^32 */
    }
    return 0;
}
