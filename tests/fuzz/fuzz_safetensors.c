/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes headers of .safetensors files. The first four bytes of the input are the size of the data
 * after the JSON, and the rest is the file, so that mutations can produce valid files.
 */
#include "proto/file/safetensors.h"
#include "tests/fuzz/fuzz.h"

enum { MORE = 4 };

/* Checks a tensor that a job can move. */
static void check_header(const struct tensor_entry *entry)
{
    const struct npy_header *header = &entry->header;
    uint64_t bytes = header->item_size;

    FUZZ_ASSERT(dtype_of_header(header)->kind == header->kind);
    FUZZ_ASSERT(dtype_of_header(header)->size == header->item_size);
    FUZZ_ASSERT(header->rank >= 1 && header->rank <= TENSOR_RANK_MAX);
    FUZZ_ASSERT(header->rank == entry->rank && !header->fortran_order);
    for (uint32_t i = 0; i < header->rank; i++) {
        FUZZ_ASSERT(header->shape[i] >= 1 && header->shape[i] == entry->shape[i]);
        bytes *= header->shape[i];
    }
    FUZZ_ASSERT(bytes == header->data_size && bytes == entry->bytes);
    FUZZ_ASSERT(header->data_offset == entry->place);
}

static void check_list(const struct tensor_list *list, uint64_t data, uint64_t file_size)
{
    uint64_t total = 0;
    struct fault fault = {0};

    for (size_t i = 0; i < list->count; i++) {
        const struct tensor_entry *entry = &list->entries[i];

        FUZZ_ASSERT(entry->place >= data && entry->place <= file_size);
        FUZZ_ASSERT(entry->bytes <= file_size - entry->place);
        FUZZ_ASSERT(entry->dtype[0] && entry->name);
        total += entry->bytes;
        if (!entry->refusal)
            check_header(entry);
        FUZZ_ASSERT(tensor_list_find(list, entry->name) == entry);
        FUZZ_ASSERT(tensor_list_choose(list, entry->name, &fault) == entry);
        if (i > 0)
            FUZZ_ASSERT(strcmp(list->by_name[i - 1]->name, list->by_name[i]->name) < 0);
    }
    /* the tensors cover the data without a gap or an overlap */
    FUZZ_ASSERT(total == file_size - data);
    if (!tensor_list_choose(list, "no such tensor", &fault))
        fuzz_check_fault(&fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor_list list;
    struct fault fault = {0};
    uint64_t begin, file_size;
    uint32_t more;

    if (size < MORE)
        return 0;
    more = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
    begin = SAFETENSORS_PREFIX + (uint64_t)(size - MORE);
    file_size = begin + more;
    if (safetensors_parse((const char *)data + MORE, size - MORE, file_size, &list, &fault) < 0) {
        fuzz_check_fault(&fault);
        FUZZ_ASSERT(!fault.has_pointer && fault.code == FAULT_INVALID_PARAMS);
        FUZZ_ASSERT(list.count == 0 && !list.entries && !list.by_name);
        return 0;
    }
    check_list(&list, begin, file_size);
    tensor_list_finish(&list);
    return 0;
}
