/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl diff: compares two tensors, or two archives of tensors. */
#include "cli/command.h"
#include "cli/tensor/compare.h"
#include "cli/tensor/compare_archives.h"
#include "cli/tensor/tensor_args.h"
#include "cli/term/print.h"

static const struct option options_table[] = {
    {"first", 'n', "N", "Print the first N elements that differ, at most 50 (default: 5)."},
    TENSOR_ARGS_OPTIONS,
    OPTIONS_COMMON,
};

static enum exit_code report(const struct print_style *style, const struct options *options,
                             const struct difference *difference)
{
    const char *a = options->arguments[0], *b = options->arguments[1];
    char text[COMPARE_TEXT_MAX];
    bool same = difference->kind == DIFFERENCE_NONE;

    difference_text(difference, a, b, text);
    difference_print(style, "", same, text);
    difference_print_details(style, difference, a, b);
    if (style->json) {
        struct jsonw w;
        jsonw_init(&w);
        jsonw_object_begin(&w, NULL);
        jsonw_string(&w, "a", a);
        jsonw_string(&w, "b", b);
        jsonw_bool(&w, "same", same);
        difference_json(&w, "difference", difference);
        jsonw_object_end(&w);
        print_json(&w);
    }
    return same ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

/* Returns the path of the file that compare_tensors() could not read. */
static const char *unreadable(const struct tensor_file *a, const struct tensor_file *b)
{
    struct fault ignored;

    return !a->map || tensor_file_check(a, &ignored) ? a->path : b->path;
}

static enum exit_code diff_tensors(const struct print_style *style, const struct options *options,
                                   const enum file_format formats[2])
{
    static const struct compare_names names = {"A", "B"};
    struct tensor_file a = {.fd = -1}, b = {.fd = -1};
    struct difference difference;
    struct fault fault;
    uint64_t first = 5;
    if (options_uint(options, "first", 0, DIFFERING_FIRST_MAX, &first))
        return EXIT_CODE_INVALID;
    enum exit_code code = tensor_args_open(options, options->arguments[0], formats[0], &a);

    if (code == EXIT_CODE_DONE)
        code = tensor_args_open(options, options->arguments[1], formats[1], &b);
    if (code != EXIT_CODE_DONE)
        goto out;
    if (compare_tensors(&a, &b, (uint32_t)first, &difference, &fault) ||
        compare_diagnose(&a, &b, &names, NULL, &difference, &fault))
        code = print_file_failure(style, unreadable(&a, &b), &fault);
    else
        code = report(style, options, &difference);
out:
    tensor_file_close(&a);
    tensor_file_close(&b);
    return code;
}

static enum exit_code diff(const struct options *options)
{
    struct print_style style = options_style(options);
    enum file_format formats[2];

    if (options->argument_count != 2)
        return command_misused(&cmd_diff);
    if (tensor_args_formats(options, formats))
        return EXIT_CODE_INVALID;
    const bool single = formats[0] == FILE_FORMAT_PB && formats[1] == FILE_FORMAT_PB;
    if (file_format_is_archive(formats[0]) && file_format_is_archive(formats[1]) && !single &&
        !options_get(options, "tensor")) {
        const char *const paths[2] = {options->arguments[0], options->arguments[1]};
        return compare_archives(&style, paths, formats);
    }
    return diff_tensors(&style, options, formats);
}

static const struct example examples[] = {
    {"print the differences, if any", "mlictl diff in.npy same.npy"},
    {"in a script", "mlictl diff -q in.npy same.npy && echo same"},
    {0},
};

const struct command cmd_diff = {
    .name = "diff",
    .arguments = "A B",
    .summary = "compare two tensors, or all of two archives, bit for bit",
    .details =
        "Prints the number of elements that differ, their region and planes, the first ones, and\n"
        "the cause if it is a usual mistake, such as a wrong order of dimensions. The options\n"
        "apply to both files. Without --tensor, two .npz or .safetensors files,\n"
        "or models, are compared tensor by tensor, by name.\n",
    .options = options_table,
    .takes = &value_file,
    .examples = examples,
    .run = diff,
};
