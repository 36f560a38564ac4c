/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/tensor_file.h"

#include <stdlib.h>
#include <string.h>

#include "cli/term/print.h"

const struct value file_format_value = {VALUE_WORD, file_format_words};

static int bad_shape(const char *text)
{
    return print_refusal("--shape %s: 1 to %d extents from 1 to 4294967295 are needed, as in 4,6,8",
                         text, TENSOR_RANK_MAX);
}

int tensor_args_shape(const char *text, struct npy_header *header)
{
    header->rank = 0;
    for (const char *rest = text;; rest++) {
        char *end;
        size_t digits = strspn(rest, "0123456789");
        unsigned long long extent = strtoull(rest, &end, 10);
        if (digits == 0 || digits > 10 || extent == 0 || extent > UINT32_MAX ||
            header->rank == TENSOR_RANK_MAX)
            return bad_shape(text);
        header->shape[header->rank++] = (uint32_t)extent;
        rest = end;
        if (*rest == '\0')
            return 0;
        if (*rest != ',' && *rest != 'x')
            return bad_shape(text);
    }
}

int tensor_args_header(const struct options *options, struct npy_header *header)
{
    const char *shape = options_get(options, "shape");
    const char *name = options_get(options, "dtype");
    *header = (struct npy_header){0};
    if (!shape || !name)
        return print_refusal("--shape and --dtype are needed, as in --shape 4,6,8 --dtype int16");
    const struct dtype *dtype = dtype_from_name(name);
    if (!dtype || tensor_args_shape(shape, header))
        return -1;
    npy_set_dtype(header, dtype->kind, dtype->size);
    return 0;
}

int tensor_args_format(const struct options *options, const char *path, enum file_format *format)
{
    size_t index = file_format_of_name(path) - 1;
    if (options_choice(options, "format", &index))
        return -1;
    *format = (enum file_format)(index + 1);
    return 0;
}

/* Refuses the options for raw files if the file has a header. */
static int check_raw_only(const struct options *options, const char *path, enum file_format format)
{
    static const char *const raw_only[] = {"shape", "dtype", "offset"};
    for (size_t i = 0; i < sizeof(raw_only) / sizeof(raw_only[0]); i++) {
        if (format != FILE_FORMAT_RAW && options_get(options, raw_only[i]))
            return print_refusal("--%s describes raw files; %s is a .%s file", raw_only[i], path,
                                 file_format_word(format));
    }
    return 0;
}

int tensor_args_formats(const struct options *options, enum file_format *formats)
{
    bool archive = false;
    for (size_t i = 0; i < options->argument_count; i++) {
        if (tensor_args_format(options, options->arguments[i], &formats[i]) ||
            check_raw_only(options, options->arguments[i], formats[i]))
            return -1;
        archive = archive || file_format_is_archive(formats[i]);
    }
    if (!options_get(options, "tensor") || archive)
        return 0;
    return print_refusal("--tensor selects a tensor of an archive or a model; %s is a %s%s file",
                         options->arguments[0], formats[0] == FILE_FORMAT_RAW ? "" : ".",
                         file_format_word(formats[0]));
}

/* Describes a raw file by the values of the options. */
static int describe_raw(const struct options *options, struct tensor_file *file)
{
    struct print_style style = options_style(options);
    struct npy_header header;
    struct fault fault;
    if (!options_get(options, "shape") || !options_get(options, "dtype")) {
        const char *ending = strrchr(file->path, '.');
        return print_refusal(
            "%s: a raw file does not say what it holds: give --shape and --dtype%s", file->path,
            ending && strcmp(ending, ".json") == 0 ? "; mlictl explain describes job files" : "");
    }
    if (tensor_args_header(options, &header) ||
        options_number(options, "offset", UNIT_BYTES, 0, INT64_MAX, &header.data_offset))
        return -1;
    if (tensor_file_set_raw(file, &header, NULL, &fault)) {
        print_file_failure(&style, file->path, &fault);
        return -1;
    }
    return 0;
}

/* In a fault about "/tensor" of a job, replaces this JSON pointer by the option --tensor. */
static void blame_option(struct fault *fault)
{
    if (fault->has_pointer)
        fault_set(fault, fault->code, NULL, "--tensor: %s", fault->text);
}

enum exit_code tensor_args_open(const struct options *options, const char *path,
                                enum file_format format, struct tensor_file *file)
{
    struct print_style style = options_style(options);
    struct fault fault;
    if (tensor_file_open(file, path, format, options_get(options, "tensor"), &fault)) {
        blame_option(&fault);
        return print_file_failure(&style, path, &fault);
    }
    if (format == FILE_FORMAT_RAW && describe_raw(options, file)) {
        tensor_file_close(file);
        return EXIT_CODE_INVALID;
    }
    return EXIT_CODE_DONE;
}
