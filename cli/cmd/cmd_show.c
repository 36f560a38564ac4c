/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl show: prints the header of a tensor file and a corner of its elements. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/tensor/archive_listing.h"
#include "cli/tensor/corner.h"
#include "cli/tensor/tensor_args.h"
#include "cli/term/print.h"

enum { CORNER_DEFAULT = 8, CORNER_MAX = 64 };

static const struct option options_table[] = {
    {"corner", 'n', "N", "Show at most N elements along each dimension, 0 to 64 (default: 8)."},
    TENSOR_ARGS_OPTIONS,
    OPTIONS_COMMON,
};

static void print_header(const struct print_style *style, const struct tensor_file *file,
                         bool big_endian)
{
    const struct npy_header *header = &file->header;
    char shape[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX], strides[PRINT_TEXT_MAX];
    uint32_t steps[MLI_MAX_RANK];

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
static int print_object(const struct tensor_file *file, const char *tensor, bool big_endian,
                        const struct corner *corner, struct fault *fault)
{
    const struct npy_header *header = &file->header;
    struct jsonw w;

    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
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
    bool big_endian = file->header.big_endian; /* before the file is mapped */
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
    if (style->json ? print_object(file, tensor, big_endian, &corner, &fault)
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
    uint64_t most = CORNER_DEFAULT;

    if (options->argument_count != 1)
        return command_misused(&cmd_show);
    if (options_uint(options, "corner", 0, CORNER_MAX, &most) ||
        tensor_args_formats(options, &format))
        return EXIT_CODE_INVALID;
    if (file_format_is_archive(format) && !tensor)
        return archive_listing_show(&style, options->arguments[0], format);
    enum exit_code code = tensor_args_open(options, options->arguments[0], format, &file);
    if (code != EXIT_CODE_DONE)
        return code;
    code = show_file(&style, &file, tensor, (uint32_t)most);
    tensor_file_close(&file);
    return code;
}

static const struct example examples[] = {
    {"the header, and the first elements of each plane", "mlictl show in.npy"},
    {"only the header", "mlictl show --corner 0 in.npy"},
    {"two numbers in the middle of a raw file",
     "mlictl show dump.bin --shape 2 --dtype int16 --offset 4"},
    {"the tensors of a model", "mlictl show model.safetensors"},
    {"one of them", "mlictl show model.safetensors --tensor conv1.weight"},
    {0},
};

const struct command cmd_show = {
    .name = "show",
    .arguments = "FILE",
    .summary = "print the header of a tensor file, and a corner of it",
    .details =
        "Prints a table per plane of the last two dimensions. For a .npz or .safetensors file\n"
        "without --tensor: a list of its tensors.\n",
    .options = options_table,
    .takes = &value_file,
    .examples = examples,
    .run = show,
};
