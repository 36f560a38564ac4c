/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/import_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tensor/tensor_args.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/print.h"

/* Sets the open dimensions with a name; "*": all open dimensions without another option. Returns
 * the number of dimensions. */
static size_t set_dims(struct model *model, const char *name, size_t length, int64_t extent)
{
    const bool all = length == 1 && *name == '*';
    size_t count = 0;

    for (size_t i = 0; i < model->tensor_count; i++) {
        struct model_tensor *tensor = &model->tensors[i];

        for (uint32_t d = 0; d < tensor->rank; d++) {
            struct model_dim *dim = &tensor->dims[d];

            if (dim->extent >= 0 || (!all && (!dim->name || strlen(dim->name) != length ||
                                              memcmp(dim->name, name, length) != 0)))
                continue;
            dim->extent = extent;
            count++;
        }
    }
    return count;
}

/* Reads one --dim. Returns 0, or -1 after printing what is wrong. */
static int read_dim(struct import_request *request, const char *text)
{
    const char *equals = strrchr(text, '=');
    char *end;
    long long extent;

    errno = 0;
    extent = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || equals == text || end == equals + 1 || *end || errno || extent < 1 ||
        extent > INT32_MAX) {
        print_error("--dim %s: NAME=N is needed, with N from 1 to %d, such as batch=1", text,
                    INT32_MAX);
        return -1;
    }
    if (set_dims(&request->model, text, (size_t)(equals - text), extent) == 0 && *text != '*') {
        print_error("--dim %s: the model has no open dimension of this name, or an earlier --dim "
                    "has set it",
                    text);
        return -1;
    }
    return 0;
}

static int read_dims(struct import_request *request)
{
    const char *text, *rest = NULL;
    size_t at = 0;

    while ((text = options_next(request->options, "dim", &at))) {
        if (text[0] == '*' && text[1] == '=')
            rest = text; /* read this option last */
        else if (read_dim(request, text))
            return -1;
    }
    return rest ? read_dim(request, rest) : 0;
}

static int read_format(struct import_request *request)
{
    size_t format = 0;

    if (options_choice(request->options, "format", &format))
        return -1;
    request->format = file_format_of_name(request->path);
    if (options_get(request->options, "format"))
        request->format = format == 0 ? FILE_FORMAT_ONNX : FILE_FORMAT_TFLITE;
    if (request->format == FILE_FORMAT_ONNX || request->format == FILE_FORMAT_TFLITE)
        return 0;
    print_error("%s: a name that ends with .onnx or .tflite is needed, or --format", request->path);
    return -1;
}

static int read_model(struct import_request *request, struct fault *fault)
{
    struct tensor_file file;
    int result;

    if (tensor_file_open_bare(&file, request->path, request->format, fault))
        return -1;
    const uint64_t size = (uint64_t)file.stat.st_size;
    const int error = size > 0 ? file_map_init(&request->map, file.fd, 0, size) : 0;
    result = 0;
    if (size == 0)
        result =
            fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: the file is empty", request->path);
    else if (error)
        result = fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", request->path, strerror(-error));
    request->mapped = result == 0;
    if (result == 0)
        result = model_read(&request->model, request->format, request->map.pages, size, fault);
    request->read = result == 0;
    if (result && request->mapped) {
        const struct fault why = *fault;
        fault_set(fault, why.code, NULL, "%s: %s", request->path, why.text);
    }
    tensor_file_close(&file);
    return result;
}

enum exit_code import_request_init(struct import_request *request, const struct options *options)
{
    const struct print_style style = options_style(options);
    struct fault fault;

    *request = (struct import_request){
        .options = options,
        .path = options->arguments[0],
        .directory = options_get(options, "output"),
        .data = options_get(options, "data"),
        .dry_run = options_get(options, "dry-run") != NULL,
        .list = options_get(options, "list") != NULL,
        .force = options_get(options, "force") != NULL,
        .fuse = options_get(options, "fuse") != NULL,
    };
    if (!request->directory && !request->dry_run) {
        print_error("--output DIR is needed, or --dry-run to write nothing");
        return EXIT_CODE_INVALID;
    }
    if (read_format(request))
        return EXIT_CODE_INVALID;
    if (read_model(request, &fault))
        return print_file_failure(&style, request->path, &fault);
    return read_dims(request) ? EXIT_CODE_INVALID : EXIT_CODE_DONE;
}

void import_request_finish(struct import_request *request)
{
    if (request->read)
        model_finish(&request->model);
    if (request->mapped)
        file_map_finish(&request->map);
    *request = (struct import_request){0};
}
