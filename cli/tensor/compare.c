/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/compare.h"

#include <stdbool.h>
#include <string.h>

void compare_headers(const struct npy_header *a, const struct npy_header *b,
                     struct difference *difference)
{
    *difference = (struct difference){.a = *a, .b = *b};
    if (a->kind != b->kind || a->item_size != b->item_size)
        difference->kind = DIFFERENCE_DTYPE;
    else if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof(a->shape[0])) != 0)
        difference->kind = DIFFERENCE_SHAPE;
}

void compare_outlines(const struct tensor_file *a, const struct tensor_file *b,
                      struct difference *difference)
{
    if (b->header.rank > 0) {
        compare_headers(&a->header, &b->header, difference);
        return;
    }
    *difference = (struct difference){.kind = DIFFERENCE_SIZE,
                                      .a = a->header,
                                      .a_bytes = tensor_file_content(a),
                                      .b_bytes = tensor_file_content(b)};
}

/* A row of both tensors along the last dimension: addresses of element 0, and steps in bytes. */
struct row {
    const uint8_t *a, *b;
    int64_t a_step, b_step;
    uint32_t count;
};

static void note(struct difference *difference, const struct elements elements[2],
                 const uint32_t *at)
{
    differing_add(&difference->differing, &elements[0], &elements[1], at);
    if (difference->count++ > 0)
        return;
    difference->kind = DIFFERENCE_VALUES;
    memcpy(difference->at, at, sizeof(difference->at));
    dtype_text(elements[0].dtype, elements_at(&elements[0], at), difference->a_value);
    dtype_text(elements[1].dtype, elements_at(&elements[1], at), difference->b_value);
}

static void compare_row(const struct row *row, const struct elements elements[2],
                        struct difference *difference, uint32_t *at)
{
    size_t size = difference->a.item_size;
    bool packed = row->a_step == (int64_t)size && row->b_step == (int64_t)size;
    if (packed && memcmp(row->a, row->b, row->count * size) == 0)
        return;
    uint32_t last = difference->a.rank - 1;
    for (uint32_t i = 0; i < row->count; i++) {
        const uint8_t *a = row->a + i * row->a_step;
        const uint8_t *b = row->b + i * row->b_step;
        at[last] = i;
        if (memcmp(a, b, size) != 0)
            note(difference, elements, at);
    }
    at[last] = 0;
}

static void compare_rows(const struct elements elements[2], struct difference *difference)
{
    struct elements rows = elements[0]; /* the coordinates of the rows */
    uint32_t at[MLI_MAX_RANK] = {0};
    uint32_t last = rows.rank - 1;
    int64_t size = rows.dtype->size;
    rows.shape[last] = 1;
    do {
        struct row row = {.a = elements_at(&elements[0], at),
                          .b = elements_at(&elements[1], at),
                          .a_step = elements[0].strides[last] * size,
                          .b_step = elements[1].strides[last] * size,
                          .count = elements[0].shape[last]};
        compare_row(&row, elements, difference, at);
    } while (elements_next(&rows, at));
}

struct elements compare_elements(const struct tensor_file *file)
{
    struct elements elements = {
        .data = file->data, .dtype = dtype_of_header(&file->header), .rank = file->header.rank};

    memcpy(elements.shape, file->header.shape, sizeof(elements.shape));
    memcpy(elements.strides, file->strides, sizeof(elements.strides));
    return elements;
}

int compare_tensors(struct tensor_file *a, struct tensor_file *b, uint32_t first,
                    struct difference *difference, struct fault *fault)
{
    compare_outlines(a, b, difference);
    if (difference->kind != DIFFERENCE_NONE)
        return 0;
    if (tensor_file_map(a, fault) || tensor_file_map(b, fault))
        return -1;
    const struct elements elements[2] = {compare_elements(a), compare_elements(b)};
    difference->elements = elements_count(&elements[0]);
    differing_init(&difference->differing, &elements[0], first);
    compare_rows(elements, difference);
    differing_end(&difference->differing);
    return tensor_file_check(a, fault) || tensor_file_check(b, fault) ? -1 : 0;
}

int compare_diagnose(const struct tensor_file *a, const struct tensor_file *b,
                     const struct compare_names *names, const struct diagnose_move *move,
                     struct difference *difference, struct fault *fault)
{
    if (difference->kind != DIFFERENCE_VALUES)
        return 0;
    const struct elements got = compare_elements(a), wanted = compare_elements(b);
    const struct diagnose_request request = {.got = &got,
                                             .wanted = &wanted,
                                             .got_name = names->got,
                                             .wanted_name = names->wanted,
                                             .move = move};
    if (diagnose(&request, &difference->differing, &difference->diagnosis))
        return fault_no_memory(fault);
    if (move)
        diagnose_origins(&request, &difference->differing);
    return tensor_file_check(a, fault) || tensor_file_check(b, fault) ? -1 : 0;
}

static void count_bytes(const struct tensor_file *a, const struct tensor_file *b,
                        struct difference *difference)
{
    for (uint64_t i = 0; i < difference->a_bytes; i++) {
        if (a->data[i] == b->data[i] || difference->count++ > 0)
            continue;
        difference->kind = DIFFERENCE_BYTES;
        difference->byte_at = i;
        difference->a_byte = a->data[i];
        difference->b_byte = b->data[i];
    }
}

int compare_bytes(struct tensor_file *a, struct tensor_file *b, uint64_t size,
                  struct difference *difference, struct fault *fault)
{
    *difference = (struct difference){.a_bytes = size, .b_bytes = size};
    if (size == 0)
        return 0; /* mmap() refuses a size of 0 */
    a->header.data_size = b->header.data_size = size;
    if (tensor_file_map(a, fault) || tensor_file_map(b, fault))
        return -1;
    if (memcmp(a->data, b->data, (size_t)size) != 0)
        count_bytes(a, b, difference);
    return tensor_file_check(a, fault) || tensor_file_check(b, fault) ? -1 : 0;
}

void difference_of_digests(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE],
                           struct difference *difference)
{
    *difference = (struct difference){.kind = DIFFERENCE_DIGEST};
    memcpy(difference->a_digest, a, SHA256_SIZE);
    memcpy(difference->b_digest, b, SHA256_SIZE);
}
