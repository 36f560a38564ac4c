/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl show: prints the header of a tensor file and a corner of its elements. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"
#include "proto/json/jsonw.h"

struct corner {
    const struct tensor_file *file;  /* mapped */
    uint32_t shape[TENSOR_RANK_MAX]; /* shape of the corner, not of the file */
};

enum { CORNER_DEFAULT = 8, CORNER_MAX = 64, ROW_MAX = CORNER_MAX * (DTYPE_TEXT_MAX + 2) };

/* Sets the corner to at most `most` elements along each dimension. */
static void corner_init(struct corner *corner, const struct tensor_file *file, uint32_t most)
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
    uint32_t at[TENSOR_RANK_MAX] = {0};
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
    char row[ROW_MAX], text[DTYPE_TEXT_MAX];
    struct phrase phrase = phrase_init(row, sizeof(row));
    for (at[last] = 0; at[last] < corner->shape[last]; at[last]++)
        phrase_add(&phrase, "  %*s", width, value_text(corner, at, text));
    at[last] = 0;
    print_line(style, "%s%s", row, cut(corner, last) ? "  ..." : "");
}

/* Prints the label of a plane: "[0, 2, :, :]". */
static void print_plane_label(const struct corner *corner, const struct print_style *style,
                              const uint32_t *at)
{
    char label[PRINT_TEXT_MAX];
    struct phrase phrase = phrase_init(label, sizeof(label));
    for (uint32_t d = 0; d + 2 < corner->file->header.rank; d++)
        phrase_add(&phrase, "%" PRIu32 ", ", at[d]);
    print_line(style, "[%s:, :]", label);
}

/* Prints a table of the last two dimensions for each coordinate of the outer dimensions. */
static void corner_print(const struct corner *corner, const struct print_style *style)
{
    uint32_t rank = corner->file->header.rank;
    uint32_t outer = rank > 2 ? rank - 2 : 0;
    uint32_t at[TENSOR_RANK_MAX] = {0};
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
    uint32_t at[TENSOR_RANK_MAX] = {0};
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

/* Writes {"shape": [...], "values": nested arrays} as member `key`. */
static void corner_json(const struct corner *corner, struct jsonw *w, const char *key)
{
    jsonw_object_begin(w, key);
    print_json_shape(w, "shape", corner->file->header.rank, corner->shape);
    json_values(corner, w);
    jsonw_object_end(w);
}

static const struct option options_table[] = {
    {"limit", "N", "Show at most N elements along each dimension, 0 to 64 (default: 8).",
     .old = "corner"},
    TENSOR_ARGS_OPTIONS,
    OPTIONS_COMMON,
};

static void print_header(const struct print_style *style, const struct tensor_file *file,
                         bool big_endian)
{
    const struct npy_header *header = &file->header;
    char shape[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX], strides[PRINT_TEXT_MAX];
    uint32_t steps[TENSOR_RANK_MAX];

    for (uint32_t d = 0; d < header->rank; d++)
        steps[d] = (uint32_t)file->strides[d];
    bool archive = file_format_is_archive(file->format);
    print_line(style, "%s: %s %s%s %s", archive ? file->shown : file->path,
               file_format_word(file->format), dtype_of_header(header)->name,
               big_endian ? " (big-endian)" : "", print_shape(shape, header->rank, header->shape));
    print_line(style, "  %s order, strides %s elements, %s from byte %" PRIu64 ", %s by default",
               header->fortran_order ? "Fortran" : "C", print_shape(strides, header->rank, steps),
               print_bytes(bytes, header->data_size), header->data_offset,
               element_type_name(npy_default_type(header)));
}

/* Returns 0, or -1 without printing if the elements cannot be read. */
static int print_described(const struct tensor_file *file, const char *tensor, bool big_endian,
                           const struct corner *corner, struct fault *fault)
{
    const struct npy_header *header = &file->header;
    struct jsonw w;

    jsonw_init_object(&w);
    jsonw_string(&w, "file", file->path);
    jsonw_string(&w, "format", file_format_word(file->format));
    if (tensor)
        jsonw_string(&w, "tensor", tensor);
    jsonw_string(&w, "dtype", dtype_of_header(header)->name);
    jsonw_string(&w, "byte_order", big_endian ? "big" : "little");
    print_json_shape(&w, "shape", header->rank, header->shape);
    jsonw_string(&w, "order", header->fortran_order ? "F" : "C");
    jsonw_array_begin(&w, "strides");
    for (uint32_t d = 0; d < header->rank; d++)
        jsonw_int(&w, NULL, file->strides[d]);
    jsonw_array_end(&w);
    jsonw_uint(&w, "data_offset", header->data_offset);
    jsonw_uint(&w, "bytes", header->data_size);
    jsonw_string(&w, "type", element_type_name(npy_default_type(header)));
    if (corner->file)
        corner_json(corner, &w, "corner");
    jsonw_object_end(&w);
    if (tensor_file_check(file, fault)) {
        jsonw_finish(&w);
        return -1;
    }
    print_json(&w);
    return 0;
}

static enum exit_code show_file(const struct print_style *style, struct tensor_file *file,
                                const char *tensor, uint32_t most)
{
    bool big_endian = file->header.big_endian; /* read the byte order before the file is mapped */
    struct corner corner = {0};
    struct fault fault;

    if (most > 0) {
        if (tensor_file_map(file, &fault))
            return print_file_failure(style, file->path, &fault);
        corner_init(&corner, file, most);
    }
    print_header(style, file, big_endian);
    if (most > 0 && !style->json)
        corner_print(&corner, style);
    if (style->json ? print_described(file, tensor, big_endian, &corner, &fault)
                    : tensor_file_check(file, &fault))
        return print_file_failure(style, file->path, &fault);
    return EXIT_CODE_DONE;
}

static enum exit_code show(const struct options *options)
{
    struct print_style style = options_style(options);
    const char *tensor = options_get(options, "tensor");
    struct tensor_file file;
    enum file_format format;
    uint32_t most = CORNER_DEFAULT;

    if (options_u32(options, "limit", 0, CORNER_MAX, &most) ||
        tensor_args_formats(options, &format))
        return EXIT_CODE_INVALID;
    if (file_format_is_archive(format) && !tensor)
        return archive_listing_show(&style, options->arguments[0], format);
    enum exit_code code = tensor_args_open(options, options->arguments[0], format, &file);
    if (code != EXIT_CODE_DONE)
        return code;
    code = show_file(&style, &file, tensor, most);
    tensor_file_close(&file);
    return code;
}

const struct command cmd_show = {
    .name = "show",
    .arguments = "FILE",
    .count = 1,
    .summary = "print the header of a tensor file, and a corner of it",
    .details =
        "Prints a table per plane of the last two dimensions. For a .npz or .safetensors file\n"
        "without --tensor: a list of its tensors.\n",
    .options = options_table,
    .takes = &value_file,
    .examples = {{"the header, and the first elements of each plane", "mlictl show in.npy"},
                 {"only the header", "mlictl show --limit 0 in.npy"},
                 {"two numbers in the middle of a raw file",
                  "mlictl show dump.bin --shape 2 --dtype int16 --offset 4"},
                 {"the tensors of a model", "mlictl show model.safetensors"},
                 {"one of them", "mlictl show model.safetensors --tensor conv1.weight"}},
    .run = show,
};
