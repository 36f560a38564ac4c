/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/corner.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ROW_MAX = 2000 };

void corner_init(struct corner *corner, const struct tensor_file *file, uint32_t most)
{
    *corner = (struct corner){.file = file};
    for (uint32_t d = 0; d < file->header.rank; d++)
        corner->shape[d] = file->header.shape[d] < most ? file->header.shape[d] : most;
}

static const char *value_text(const struct corner *corner, const uint32_t *at,
                              char out[DTYPE_TEXT_MAX])
{
    const struct npy_header *header = &corner->file->header;
    int64_t offset = 0;
    for (uint32_t d = 0; d < header->rank; d++)
        offset += (int64_t)at[d] * corner->file->strides[d];
    return dtype_text(dtype_of_header(header), corner->file->data + offset * header->item_size,
                      out);
}

/* Advances the first `dimensions` coordinates. Returns false after the last coordinate. */
static bool next(const struct corner *corner, uint32_t dimensions, uint32_t *at)
{
    for (uint32_t d = dimensions; d-- > 0;) {
        if (++at[d] < corner->shape[d])
            return true;
        at[d] = 0;
    }
    return false;
}

static bool cut(const struct corner *corner, uint32_t d)
{
    return corner->shape[d] < corner->file->header.shape[d];
}

/* Returns the width of the widest value of the corner in characters. */
static int find_width(const struct corner *corner)
{
    uint32_t at[MLI_MAX_RANK] = {0};
    char text[DTYPE_TEXT_MAX];
    size_t width = 1;
    do {
        size_t length = strlen(value_text(corner, at, text));
        if (length > width)
            width = length;
    } while (next(corner, corner->file->header.rank, at));
    return (int)width;
}

static void print_row(const struct corner *corner, const struct print_style *style, uint32_t *at,
                      int width)
{
    uint32_t last = corner->file->header.rank - 1;
    char row[ROW_MAX] = "";
    size_t length = 0;
    for (at[last] = 0; at[last] < corner->shape[last] && length < sizeof(row) - 32; at[last]++) {
        char text[DTYPE_TEXT_MAX];
        length += (size_t)snprintf(row + length, sizeof(row) - length, "  %*s", width,
                                   value_text(corner, at, text));
    }
    at[last] = 0;
    print_line(style, "%s%s", row, cut(corner, last) ? "  ..." : "");
}

/* Prints the label of a plane: "[0, 2, :, :]". */
static void print_plane_label(const struct corner *corner, const struct print_style *style,
                              const uint32_t *at)
{
    char label[PRINT_TEXT_MAX];
    int length = snprintf(label, sizeof(label), "[");
    for (uint32_t d = 0; d + 2 < corner->file->header.rank; d++)
        length += snprintf(label + length, sizeof(label) - (size_t)length, "%" PRIu32 ", ", at[d]);
    snprintf(label + length, sizeof(label) - (size_t)length, ":, :]");
    print_line(style, "%s", label);
}

void corner_print(const struct corner *corner, const struct print_style *style)
{
    uint32_t rank = corner->file->header.rank;
    uint32_t outer = rank > 2 ? rank - 2 : 0;
    uint32_t at[MLI_MAX_RANK] = {0};
    int width = find_width(corner);
    do {
        uint32_t rows = rank > 1 ? corner->shape[rank - 2] : 1;
        if (rank > 2)
            print_plane_label(corner, style, at);
        for (uint32_t i = 0; i < rows; i++) {
            if (rank > 1)
                at[rank - 2] = i;
            print_row(corner, style, at, width);
        }
        if (rank > 1)
            at[rank - 2] = 0;
        if (rank > 1 && cut(corner, rank - 2))
            print_line(style, "  ...");
    } while (next(corner, outer, at));
    for (uint32_t d = 0; d < outer; d++) {
        if (cut(corner, d))
            print_line(style, "dimension %" PRIu32 " continues to index %" PRIu32, d,
                       corner->file->header.shape[d] - 1);
    }
}

/*
 * Writes nested arrays. An array opens before the element whose inner coordinates are all 0, and
 * closes after the element whose inner coordinates are all at their last value.
 */
static void json_values(const struct corner *corner, struct jsonw *w)
{
    const struct npy_header *header = &corner->file->header;
    uint32_t at[MLI_MAX_RANK] = {0};
    jsonw_array_begin(w, "values");
    do {
        char text[DTYPE_TEXT_MAX];
        for (uint32_t d = 1; d < header->rank; d++) {
            bool begins = true;
            for (uint32_t k = d; k < header->rank; k++)
                begins = begins && at[k] == 0;
            if (begins)
                jsonw_array_begin(w, NULL);
        }
        dtype_json(w, NULL, dtype_of_header(header), value_text(corner, at, text));
        for (uint32_t d = header->rank; d-- > 1;) {
            if (at[d] + 1 < corner->shape[d])
                break;
            jsonw_array_end(w);
        }
    } while (next(corner, header->rank, at));
    jsonw_array_end(w);
}

void corner_json(const struct corner *corner, struct jsonw *w, const char *key)
{
    jsonw_object_begin(w, key);
    print_json_shape(w, "shape", corner->file->header.rank, corner->shape);
    json_values(corner, w);
    jsonw_object_end(w);
}
