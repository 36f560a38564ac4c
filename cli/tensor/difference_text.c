/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of tensors in words and as JSON. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/tensor/compare.h"
#include "cli/term/print.h"

static void coordinate_text(const struct difference *difference, char out[PRINT_TEXT_MAX])
{
    print_shape(out, difference->a.rank, difference->at);
    out[0] = '[';
    out[strlen(out) - 1] = ']';
}

/* Returns whether two shapes have the same extents in another order. */
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

/* Returns the end of a sentence about two shapes. */
static const char *shape_cause(const struct difference *difference)
{
    return is_reordered(&difference->a, &difference->b)
               ? "; the extents are the same in another order: wrong perm_dim?"
               : "";
}

const char *difference_text(const struct difference *difference, const char *a, const char *b,
                            char out[COMPARE_TEXT_MAX])
{
    char left[PRINT_TEXT_MAX], right[PRINT_TEXT_MAX];
    char a_digest[SHA256_TEXT_SIZE], b_digest[SHA256_TEXT_SIZE];
    switch (difference->kind) {
    case DIFFERENCE_NONE:
        snprintf(out, COMPARE_TEXT_MAX, "the same");
        break;
    case DIFFERENCE_SIZE:
        snprintf(out, COMPARE_TEXT_MAX, "sizes differ: %" PRIu64 " B in %s, %" PRIu64 " B in %s",
                 difference->a_bytes, a, difference->b_bytes, b);
        break;
    case DIFFERENCE_DTYPE:
        snprintf(out, COMPARE_TEXT_MAX, "dtypes differ: %s in %s, %s in %s",
                 dtype_of_header(&difference->a)->name, a, dtype_of_header(&difference->b)->name,
                 b);
        break;
    case DIFFERENCE_SHAPE:
        snprintf(out, COMPARE_TEXT_MAX, "shapes differ: %s in %s, %s in %s%s",
                 print_shape(left, difference->a.rank, difference->a.shape), a,
                 print_shape(right, difference->b.rank, difference->b.shape), b,
                 shape_cause(difference));
        break;
    case DIFFERENCE_VALUES:
        coordinate_text(difference, left);
        snprintf(out, COMPARE_TEXT_MAX,
                 "%" PRIu64 " of %" PRIu64 " elements differ, the first at %s: %s in %s, %s in %s",
                 difference->count, difference->elements, left, difference->a_value, a,
                 difference->b_value, b);
        break;
    case DIFFERENCE_BYTES:
        snprintf(out, COMPARE_TEXT_MAX,
                 "%" PRIu64 " of %" PRIu64 " bytes differ, the first at %" PRIu64
                 ": 0x%02x in %s, 0x%02x in %s",
                 difference->count, difference->a_bytes, difference->byte_at, difference->a_byte, a,
                 difference->b_byte, b);
        break;
    case DIFFERENCE_DIGEST:
        snprintf(out, COMPARE_TEXT_MAX, "digests differ: %s of %s, %s expected",
                 sha256_to_text(difference->a_digest, a_digest), a,
                 sha256_to_text(difference->b_digest, b_digest));
        break;
    }
    return out;
}

const char *difference_expected(const struct difference *difference, const char *golden,
                                char out[COMPARE_TEXT_MAX])
{
    const struct difference *d = difference;
    char got[SHA256_TEXT_SIZE], wanted[SHA256_TEXT_SIZE], at[PRINT_TEXT_MAX];
    const char *in = golden ? " in " : "", *file = golden ? golden : "";
    switch (d->kind) {
    case DIFFERENCE_NONE:
        return difference_text(d, "", "", out);
    case DIFFERENCE_SIZE:
        snprintf(out, COMPARE_TEXT_MAX,
                 "sizes differ: got %" PRIu64 " B, expected %" PRIu64 " B%s%s", d->a_bytes,
                 d->b_bytes, in, file);
        break;
    case DIFFERENCE_DTYPE:
        snprintf(out, COMPARE_TEXT_MAX, "dtypes differ: got %s, expected %s%s%s",
                 dtype_of_header(&d->a)->name, dtype_of_header(&d->b)->name, in, file);
        break;
    case DIFFERENCE_SHAPE:
        snprintf(out, COMPARE_TEXT_MAX, "shapes differ: got %s, expected %s%s%s%s",
                 print_shape(got, d->a.rank, d->a.shape),
                 print_shape(wanted, d->b.rank, d->b.shape), in, file, shape_cause(d));
        break;
    case DIFFERENCE_VALUES:
        coordinate_text(d, at);
        snprintf(out, COMPARE_TEXT_MAX,
                 "%" PRIu64 " of %" PRIu64
                 " elements differ, the first at %s: got %s, expected %s%s%s",
                 d->count, d->elements, at, d->a_value, d->b_value, in, file);
        break;
    case DIFFERENCE_BYTES:
        snprintf(out, COMPARE_TEXT_MAX,
                 "the elements are the same, but %" PRIu64 " of %" PRIu64
                 " bytes differ, the first at byte %" PRIu64 ": got 0x%02x, expected 0x%02x%s%s",
                 d->count, d->a_bytes, d->byte_at, d->a_byte, d->b_byte, in, file);
        break;
    case DIFFERENCE_DIGEST:
        snprintf(out, COMPARE_TEXT_MAX, "digests differ: got %s, expected %s",
                 sha256_to_text(d->a_digest, got), sha256_to_text(d->b_digest, wanted));
        break;
    }
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
