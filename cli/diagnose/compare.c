/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of tensors in words and as JSON. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/diagnose/compare.h"
#include "cli/term/print.h"

_Static_assert((int)DIFFERENCE_VALUE_MAX >= (int)PRINT_TEXT_MAX, "the text of a shape fits");

static void set_values(struct difference *difference, const char *a, const char *b)
{
    snprintf(difference->a_value, sizeof(difference->a_value), "%s", a);
    snprintf(difference->b_value, sizeof(difference->b_value), "%s", b);
}

/* Compares dtype and shape of two headers: DIFFERENCE_NONE, _DTYPE or _SHAPE. */
static void compare_headers(const struct npy_header *a, const struct npy_header *b,
                            struct difference *difference)
{
    *difference = (struct difference){.a = *a, .b = *b};
    if (a->kind != b->kind || a->item_size != b->item_size) {
        difference->kind = DIFFERENCE_DTYPE;
        set_values(difference, dtype_of_header(a)->name, dtype_of_header(b)->name);
    } else if (a->rank != b->rank ||
               memcmp(a->shape, b->shape, a->rank * sizeof(a->shape[0])) != 0) {
        difference->kind = DIFFERENCE_SHAPE;
        print_shape(difference->a_value, a->rank, a->shape);
        print_shape(difference->b_value, b->rank, b->shape);
    }
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
    snprintf(difference->a_value, DIFFERENCE_VALUE_MAX, "%" PRIu64 " B", difference->a_bytes);
    snprintf(difference->b_value, DIFFERENCE_VALUE_MAX, "%" PRIu64 " B", difference->b_bytes);
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
    memcpy(difference->at, at, elements->rank * sizeof(*at));
    dtype_texts(elements->dtype, elements_at(&elements[0], at), elements_at(&elements[1], at),
                difference->a_value, difference->b_value);
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
    uint32_t at[TENSOR_RANK_MAX] = {0};
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
    if (difference->kind != DIFFERENCE_VALUES || npy_folds(&a->header))
        return 0; /* a diagnosis compares words of 32 bits in up to 4 dimensions */
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
        snprintf(difference->a_value, DIFFERENCE_VALUE_MAX, "0x%02x", a->data[i]);
        snprintf(difference->b_value, DIFFERENCE_VALUE_MAX, "0x%02x", b->data[i]);
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
    sha256_to_text(a, difference->a_value);
    sha256_to_text(b, difference->b_value);
}

static void note_param(struct difference *difference, const char *name, const char *a,
                       const char *b)
{
    if (difference->count++ > 0)
        return;
    difference->kind = DIFFERENCE_PARAMS;
    snprintf(difference->param, sizeof(difference->param), "%s", name);
    set_values(difference, a, b);
}

/* Compares two numbers. A negative axis means parameters that are not per axis. */
static void note_number(struct difference *difference, const char *name, bool is_axis, int a, int b)
{
    char left[16], right[16];

    snprintf(left, sizeof(left), is_axis && a < 0 ? "none" : "%d", a);
    snprintf(right, sizeof(right), is_axis && b < 0 ? "none" : "%d", b);
    if (a != b)
        note_param(difference, name, left, right);
}

static void compare_entries(const struct quant *a, const struct quant *b, enum quant_param param,
                            struct difference *difference)
{
    const bool per_axis = a->count > 0 && a->axis >= 0;
    const uint32_t count = per_axis ? a->count : 1;

    for (uint32_t i = 0; i < count; i++) {
        const int left = quant_entry(a, param, i), right = quant_entry(b, param, i);
        char name[sizeof(difference->param)];

        if (left == right)
            continue;
        snprintf(name, sizeof(name), per_axis ? "%s[%" PRIu32 "]" : "%s", quant_param_name(param),
                 i);
        note_number(difference, name, false, left, right);
    }
}

void compare_params(const struct tensor_desc *a, const struct tensor_desc *b,
                    struct difference *difference)
{
    const struct quant *x = &a->quant, *y = &b->quant;
    const int x_axis = x->count ? x->axis : -1, y_axis = y->count ? y->axis : -1;

    *difference = (struct difference){0};
    if (a->has_type && b->has_type && a->type != b->type)
        note_param(difference, "type", element_type_name(a->type), element_type_name(b->type));
    note_number(difference, "frac_bits", false, x->has_frac_bits ? x->frac_bits : 0,
                y->has_frac_bits ? y->frac_bits : 0);
    note_number(difference, "axis", true, x_axis, y_axis);
    if (x_axis == y_axis && x_axis >= 0)
        note_number(difference, "number of entries", false, (int)x->count, (int)y->count);
    if (x_axis != y_axis || (x_axis >= 0 && x->count != y->count))
        return;
    for (enum quant_param param = QUANT_SCALE; param < QUANT_PARAMS; param++)
        compare_entries(x, y, param, difference);
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

/* Writes the sentence up to the colon. Returns its length. */
static int write_head(const struct difference *d, bool expected, char out[COMPARE_TEXT_MAX])
{
    static const char *const nouns[] = {[DIFFERENCE_SIZE] = "sizes",
                                        [DIFFERENCE_DTYPE] = "dtypes",
                                        [DIFFERENCE_SHAPE] = "shapes",
                                        [DIFFERENCE_DIGEST] = "digests"};
    char at[DIFFERING_TEXT_MAX];

    switch (d->kind) {
    case DIFFERENCE_VALUES:
        differing_place(at, d->a.rank, d->at);
        return snprintf(out, COMPARE_TEXT_MAX,
                        "%" PRIu64 " of %" PRIu64 " elements differ, the first at %s", d->count,
                        d->elements, at);
    case DIFFERENCE_BYTES:
        return snprintf(out, COMPARE_TEXT_MAX,
                        "%s%" PRIu64 " of %" PRIu64 " bytes differ, the first at %s%" PRIu64,
                        expected ? "the elements are the same, but " : "", d->count, d->a_bytes,
                        expected ? "byte " : "", d->byte_at);
    case DIFFERENCE_PARAMS:
        if (d->count > 1)
            snprintf(at, sizeof(at), " and %" PRIu64 " more", d->count - 1);
        return snprintf(out, COMPARE_TEXT_MAX, "the quantisation parameters differ in %s%s",
                        d->param, d->count > 1 ? at : "");
    default:
        return snprintf(out, COMPARE_TEXT_MAX, "%s differ", nouns[d->kind]);
    }
}

const char *difference_text(const struct difference *d, const char *a, const char *b,
                            char out[COMPARE_TEXT_MAX])
{
    const char *left = d->a_value, *right = d->b_value;
    const char *cause = d->kind == DIFFERENCE_SHAPE ? shape_cause(d) : "";

    if (d->kind == DIFFERENCE_NONE) {
        snprintf(out, COMPARE_TEXT_MAX, "the same");
        return out;
    }
    const int length = write_head(d, !a, out);
    char *end = out + length;
    const size_t size = (size_t)(COMPARE_TEXT_MAX - length);
    if (d->kind == DIFFERENCE_DIGEST && a)
        snprintf(end, size, ": %s of %s, %s expected", left, a, right);
    else if (d->kind == DIFFERENCE_DIGEST)
        snprintf(end, size, ": got %s, expected %s", left, right);
    else if (a)
        snprintf(end, size, ": %s in %s, %s in %s%s", left, a, right, b, cause);
    else
        snprintf(end, size, ": got %s, expected %s%s%s%s", left, right, b ? " in " : "", b ? b : "",
                 cause);
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

static void size_json(struct jsonw *w, const char *key, uint64_t bytes)
{
    jsonw_object_begin(w, key);
    jsonw_uint(w, "bytes", bytes);
    jsonw_object_end(w);
}

/* Writes a digest, or the value of a parameter: a number, or a word for types and a missing axis.
 */
static void value_json(struct jsonw *w, const char *key, const char *name, const char *value)
{
    const bool number = strspn(value, "-0123456789") == strlen(value);

    jsonw_object_begin(w, key);
    (number ? jsonw_raw : jsonw_string)(w, name, value);
    jsonw_object_end(w);
}

void difference_json(struct jsonw *w, const char *key, const struct difference *difference)
{
    static const char *const kinds[] = {"none",   "size",  "dtype",  "shape",
                                        "values", "bytes", "digest", "params"};
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
        value_json(w, "a", "digest", difference->a_value);
        value_json(w, "b", "digest", difference->b_value);
    } else if (difference->kind == DIFFERENCE_PARAMS) {
        jsonw_string(w, "param", difference->param);
        jsonw_uint(w, "count", difference->count);
        value_json(w, "a", "value", difference->a_value);
        value_json(w, "b", "value", difference->b_value);
    } else {
        side_json(w, "a", difference, &difference->a, difference->a_value);
        side_json(w, "b", difference, &difference->b, difference->b_value);
    }
    jsonw_object_end(w);
}
