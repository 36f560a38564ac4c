/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes headers of .npy files. The first four bytes of the input are the size of the data after
 * the header, so that mutations can produce valid files.
 */
#include "proto/file/npy.h"
#include "tests/fuzz/fuzz.h"

static void check_header(const struct npy_header *header, uint64_t file_size)
{
    uint64_t bytes = header->item_size;
    int32_t strides[TENSOR_RANK_MAX];

    FUZZ_ASSERT(dtype_of_header(header)->kind == header->kind);
    FUZZ_ASSERT(dtype_of_header(header)->size == header->item_size);
    FUZZ_ASSERT(header->rank >= 1 && header->rank <= TENSOR_RANK_MAX);
    for (uint32_t i = 0; i < header->rank; i++) {
        FUZZ_ASSERT(header->shape[i] >= 1);
        bytes *= header->shape[i];
    }
    FUZZ_ASSERT(bytes == header->data_size);
    FUZZ_ASSERT(header->data_offset + header->data_size == file_size);
    if (npy_strides(header, strides) == 0) {
        for (uint32_t i = 0; i < header->rank; i++)
            FUZZ_ASSERT(strides[i] >= 1 || header->shape[i] == 1);
    }
}

static void check_round_trip(struct npy_header *header)
{
    unsigned char out[NPY_FORMAT_SIZE];
    struct npy_header got;
    struct fault fault;

    FUZZ_ASSERT(npy_format(header, out, sizeof out) == 0);
    FUZZ_ASSERT(npy_parse(out, sizeof out, sizeof out + header->data_size, &got, &fault) == 0);
    FUZZ_ASSERT(strcmp(got.descr, header->descr) == 0 && got.kind == header->kind);
    FUZZ_ASSERT(got.item_size == header->item_size && got.data_size == header->data_size);
    FUZZ_ASSERT(got.fortran_order == header->fortran_order && got.rank == header->rank);
    FUZZ_ASSERT(memcmp(got.shape, header->shape, sizeof got.shape) == 0);
    FUZZ_ASSERT(got.data_offset == sizeof out);
    FUZZ_ASSERT(npy_default_type(&got) == npy_default_type(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_header header;
    struct fault fault = {0};
    uint64_t file_size;
    uint32_t more;

    if (size < sizeof more)
        return 0;
    more = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
    data += sizeof more;
    size -= sizeof more;
    file_size = (uint64_t)size + more;
    if (npy_parse(data, size, file_size, &header, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(!fault.has_pointer);
        return 0;
    }
    check_header(&header, file_size);
    check_round_trip(&header);
    return 0;
}
