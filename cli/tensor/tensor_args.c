/* SPDX-License-Identifier: BSD-3-Clause */
#include "tensor_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static int bad_shape(const char *text)
{
    print_error("--shape %s: 1 to %d extents from 1 to 4294967295 are needed, as in 4,6,8", text,
                MLI_MAX_RANK);
    return -1;
}

int tensor_args_shape(const char *text, struct npy_header *header)
{
    header->rank = 0;
    for (const char *rest = text;; rest++) {
        char *end;
        size_t digits = strspn(rest, "0123456789");
        unsigned long long extent = strtoull(rest, &end, 10);
        if (digits == 0 || digits > 10 || extent == 0 || extent > UINT32_MAX ||
            header->rank == MLI_MAX_RANK)
            return bad_shape(text);
        header->shape[header->rank++] = (uint32_t)extent;
        rest = end;
        if (*rest == '\0')
            return 0;
        if (*rest != ',')
            return bad_shape(text);
    }
}

int tensor_args_header(const struct options *options, struct npy_header *header)
{
    const char *shape = options_get(options, "shape");
    const char *name = options_get(options, "dtype");
    *header = (struct npy_header){0};
    if (!shape || !name) {
        print_error("--shape and --dtype are needed");
        return -1;
    }
    const struct dtype *dtype = dtype_from_name(name);
    if (!dtype || tensor_args_shape(shape, header))
        return -1;
    dtype_to_header(dtype, header);
    return 0;
}

int tensor_args_format(const struct options *options, char *path, bool *npy)
{
    const char *format = options_get(options, "format");
    const struct tensor_ref ref = {.file = path};
    *npy = format ? strcmp(format, "npy") == 0 : tensor_ref_format(&ref) == FILE_FORMAT_NPY;
    if (format && !*npy && strcmp(format, "raw") != 0) {
        print_error("--format %s: npy or raw is needed", format);
        return -1;
    }
    return 0;
}

/* A raw file is what the options say; a .npy says it itself. */
static int check_raw_options(const struct options *options, const char *path, bool npy)
{
    static const char *const raw_only[] = {"shape", "dtype", "offset"};
    for (size_t i = 0; npy && i < sizeof(raw_only) / sizeof(raw_only[0]); i++) {
        if (options_get(options, raw_only[i])) {
            print_error("--%s describes raw files; %s is a .npy file", raw_only[i], path);
            return -1;
        }
    }
    if (!npy && (!options_get(options, "shape") || !options_get(options, "dtype"))) {
        print_error("%s: a raw file does not say what it holds: give --shape and --dtype", path);
        return -1;
    }
    return 0;
}

/* Describes a raw file by the options. */
static int describe_raw(const struct options *options, struct tensor_file *file)
{
    struct print_style style = options_style(options);
    struct npy_header header;
    struct fault fault;
    if (tensor_args_header(options, &header) ||
        options_uint(options, "offset", 0, INT64_MAX, &header.data_offset))
        return -1;
    if (tensor_file_set_raw(file, &header, NULL, &fault)) {
        print_file_failure(&style, file->path, &fault);
        return -1;
    }
    return 0;
}

enum exit_code tensor_args_open(const struct options *options, char *path, struct tensor_file *file)
{
    struct print_style style = options_style(options);
    struct fault fault;
    bool npy;
    if (tensor_args_format(options, path, &npy))
        return EXIT_CODE_INVALID;
    if (tensor_file_open(file, path, npy, &fault))
        return print_file_failure(&style, path, &fault);
    if (check_raw_options(options, path, npy) || (!npy && describe_raw(options, file))) {
        tensor_file_close(file);
        return EXIT_CODE_INVALID;
    }
    return EXIT_CODE_DONE;
}
