/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of tensors in words and as JSON. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/diagnose/compare.h"
#include "cli/term/print.h"

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
    struct elements rows = elements[0]; /* iterates over the coordinates of the rows */
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

static void coordinate_text(const struct difference *difference, char out[PRINT_TEXT_MAX])
{
    print_shape(out, difference->a.rank, difference->at);
    out[0] = '[';
    out[strlen(out) - 1] = ']';
}

/* Returns whether two shapes have the same extents in a different order. */
static bool is_reordered(const struct npy_header *a, const struct npy_header *b)
{
    uint32_t found = 0;

    if (a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        uint32_t other = 0;

        while (other < b->rank && (found >> other & 1 || b->shape[other] != a->shape[d]))
            other++;
        if (other == b->rank)
            return false;
        found |= 1u << other;
    }
    return true;
}

/* Returns the end of the sentence about a difference of two shapes. */
static const char *shape_cause(const struct difference *difference)
{
    return difference->kind == DIFFERENCE_SHAPE && is_reordered(&difference->a, &difference->b)
               ? "; the extents are the same in another order: wrong perm_dim?"
               : "";
}

/* The parts of a sentence about a difference. */
struct words {
    char head[2 * PRINT_TEXT_MAX + 32], a[SHA256_TEXT_SIZE], b[SHA256_TEXT_SIZE];
};

/* Fills the parts of the sentence. `byte` is the word before the number of a byte, as in "byte 5".
 */
static void fill_words(struct words *w, const struct difference *d, const char *byte)
{
    char at[PRINT_TEXT_MAX];

    switch (d->kind) {
    case DIFFERENCE_NONE:
        break;
    case DIFFERENCE_SIZE:
        strcpy(w->head, "sizes differ");
        snprintf(w->a, sizeof(w->a), "%" PRIu64 " B", d->a_bytes);
        snprintf(w->b, sizeof(w->b), "%" PRIu64 " B", d->b_bytes);
        break;
    case DIFFERENCE_DTYPE:
        strcpy(w->head, "dtypes differ");
        strcpy(w->a, dtype_of_header(&d->a)->name);
        strcpy(w->b, dtype_of_header(&d->b)->name);
        break;
    case DIFFERENCE_SHAPE:
        strcpy(w->head, "shapes differ");
        print_shape(w->a, d->a.rank, d->a.shape);
        print_shape(w->b, d->b.rank, d->b.shape);
        break;
    case DIFFERENCE_VALUES:
        coordinate_text(d, at);
        snprintf(w->head, sizeof(w->head),
                 "%" PRIu64 " of %" PRIu64 " elements differ, the first at %s", d->count,
                 d->elements, at);
        strcpy(w->a, d->a_value);
        strcpy(w->b, d->b_value);
        break;
    case DIFFERENCE_BYTES:
        snprintf(w->head, sizeof(w->head),
                 "%" PRIu64 " of %" PRIu64 " bytes differ, the first at %s%" PRIu64, d->count,
                 d->a_bytes, byte, d->byte_at);
        snprintf(w->a, sizeof(w->a), "0x%02x", d->a_byte);
        snprintf(w->b, sizeof(w->b), "0x%02x", d->b_byte);
        break;
    case DIFFERENCE_DIGEST:
        strcpy(w->head, "digests differ");
        sha256_to_text(d->a_digest, w->a);
        sha256_to_text(d->b_digest, w->b);
        break;
    }
}

const char *difference_text(const struct difference *difference, const char *a, const char *b,
                            char out[COMPARE_TEXT_MAX])
{
    struct words w;

    fill_words(&w, difference, "");
    if (difference->kind == DIFFERENCE_NONE)
        snprintf(out, COMPARE_TEXT_MAX, "the same");
    else if (difference->kind == DIFFERENCE_DIGEST)
        snprintf(out, COMPARE_TEXT_MAX, "%s: %s of %s, %s expected", w.head, w.a, a, w.b);
    else
        snprintf(out, COMPARE_TEXT_MAX, "%s: %s in %s, %s in %s%s", w.head, w.a, a, w.b, b,
                 shape_cause(difference));
    return out;
}

const char *difference_expected(const struct difference *difference, const char *golden,
                                char out[COMPARE_TEXT_MAX])
{
    const bool names_file = golden && difference->kind != DIFFERENCE_DIGEST;
    struct words w;

    if (difference->kind == DIFFERENCE_NONE)
        return difference_text(difference, "", "", out);
    fill_words(&w, difference, "byte ");
    snprintf(out, COMPARE_TEXT_MAX, "%s%s: got %s, expected %s%s%s%s",
             difference->kind == DIFFERENCE_BYTES ? "the elements are the same, but " : "", w.head,
             w.a, w.b, names_file ? " in " : "", names_file ? golden : "", shape_cause(difference));
    return out;
}

const char *difference_cause(const struct difference *difference, char out[COMPARE_CAUSE_MAX])
{
    const struct diagnosis *diagnosis = &difference->diagnosis;

    snprintf(out, COMPARE_CAUSE_MAX, "%s%s%s%s", *diagnosis->text ? "; " : "", diagnosis->text,
             *diagnosis->places ? "; " : "", diagnosis->places);
    return out;
}

void difference_print_cause(const struct print_style *style, const struct difference *difference)
{
    if (*difference->diagnosis.text)
        print_line(style, "  %s", difference->diagnosis.text);
    if (*difference->diagnosis.places)
        print_line(style, "  %s", difference->diagnosis.places);
}

void difference_print_details(const struct print_style *style, const struct difference *difference,
                              const char *a, const char *b)
{
    const struct differing *differing = &difference->differing;
    char text[DIFFERING_TEXT_MAX];

    if (difference->kind != DIFFERENCE_VALUES)
        return;
    print_line(style, "  %s", differing_summary(differing, difference->elements, text));
    if (*differing_planes(differing, text))
        print_line(style, "  %s", text);
    for (uint32_t i = 0; i < differing->first_count; i++) {
        const struct differing_element *element = &differing->first[i];

        print_line(style, "  %s: %s in %s, %s in %s",
                   differing_place(text, differing->rank, element->at), element->a, a, element->b,
                   b);
    }
    if (difference->count > differing->first_count && differing->first_count > 0)
        print_line(style, "  ... %" PRIu64 " more", difference->count - differing->first_count);
    difference_print_cause(style, difference);
}

void difference_print(const struct print_style *style, const char *before, bool same,
                      const char *text)
{
    static const char differ[] = "differ";
    char verdict[COMPARE_TEXT_MAX];
    const char *end = strstr(text, differ);
    size_t length = same  ? strlen(text)
                    : end ? (size_t)(end - text) + strlen(differ)
                          : strcspn(text, " ");
    snprintf(verdict, sizeof(verdict), "%.*s", (int)length, text);
    print_coloured(style, before, same ? COLOUR_GOOD : COLOUR_BAD, verdict, text + length);
}

static void side_json(struct jsonw *w, const char *key, const struct difference *difference,
                      const struct npy_header *header, const char *value)
{
    jsonw_object_begin(w, key);
    jsonw_string(w, "dtype", dtype_of_header(header)->name);
    print_json_shape(w, "shape", header->rank, header->shape);
    if (difference->kind == DIFFERENCE_VALUES)
        dtype_json(w, "value", dtype_of_header(header), value);
    jsonw_object_end(w);
}

static void digest_json(struct jsonw *w, const char *key, const uint8_t digest[SHA256_SIZE])
{
    char text[SHA256_TEXT_SIZE];
    jsonw_object_begin(w, key);
    jsonw_string(w, "digest", sha256_to_text(digest, text));
    jsonw_object_end(w);
}

static void size_json(struct jsonw *w, const char *key, uint64_t bytes)
{
    jsonw_object_begin(w, key);
    jsonw_uint(w, "bytes", bytes);
    jsonw_object_end(w);
}

void difference_json(struct jsonw *w, const char *key, const struct difference *difference)
{
    static const char *const kinds[] = {"none",   "size",  "dtype", "shape",
                                        "values", "bytes", "digest"};
    if (difference->kind == DIFFERENCE_NONE) {
        jsonw_null(w, key);
        return;
    }
    jsonw_object_begin(w, key);
    jsonw_string(w, "kind", kinds[difference->kind]);
    if (difference->kind == DIFFERENCE_VALUES) {
        print_json_shape(w, "at", difference->a.rank, difference->at);
        jsonw_uint(w, "count", difference->count);
        jsonw_uint(w, "elements", difference->elements);
        differing_json(w, &difference->differing);
        diagnosis_json(w, &difference->diagnosis);
    }
    if (difference->kind == DIFFERENCE_SIZE) {
        size_json(w, "a", difference->a_bytes);
        size_json(w, "b", difference->b_bytes);
    } else if (difference->kind == DIFFERENCE_BYTES) {
        jsonw_uint(w, "at", difference->byte_at);
        jsonw_uint(w, "count", difference->count);
        jsonw_uint(w, "bytes", difference->a_bytes);
    } else if (difference->kind == DIFFERENCE_DIGEST) {
        digest_json(w, "a", difference->a_digest);
        digest_json(w, "b", difference->b_digest);
    } else {
        side_json(w, "a", difference, &difference->a, difference->a_value);
        side_json(w, "b", difference, &difference->b, difference->b_value);
    }
    jsonw_object_end(w);
}
