/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl diff: compares two tensors, or two archives of tensors. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/diagnose/compare.h"
#include "cli/tensor/archive.h"
#include "cli/tensor/params.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/cancel.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "proto/file/job_spec.h"
#include "proto/json/utf8.h"

struct side {
    const char *path;
    enum file_format format;
    struct archive *archive;
    const struct tensor_list *list;
};

/* The result of comparing the two tensors of one name. */
struct verdict {
    enum {
        SAME,
        ONLY_A,
        ONLY_B,
        DTYPES,
        SHAPES,
        CONTENT /* the elements differ: see `difference` */
    } kind;
    const struct tensor_entry *a, *b; /* &nothing if the archive has no tensor of this name */
    struct difference difference;
};

static const struct tensor_entry nothing;

struct tally {
    uint64_t same, different, only_a, only_b;
};

/* Opens the tensor that an entry of an archive describes. `bytes`: see tensor_file_enter(). */
static int open_entry(struct tensor_file *file, const struct side *side, struct tensor_entry *entry,
                      bool bytes, struct fault *fault)
{
    if (tensor_file_open_bare(file, side->path, side->format, fault))
        return -1;
    if (tensor_file_enter(file, side->archive, entry, bytes, fault) == 0)
        return 0;
    tensor_file_close(file);
    return -1;
}

/* Keeps the first `first` elements that differ. */
static int compare_values(struct tensor_file *a, struct tensor_file *b, uint32_t first,
                          struct difference *difference, struct fault *fault)
{
    static const struct compare_names names = {"A", "B"};

    return compare_tensors(a, b, first, difference, fault) ||
                   compare_diagnose(a, b, &names, NULL, difference, fault)
               ? -1
               : 0;
}

static int compare_contents(const struct side sides[2], struct tensor_entry *entries[2],
                            struct verdict *verdict, struct fault *fault)
{
    bool bytes = entries[0]->refusal || entries[1]->refusal;
    struct tensor_file a, b;
    if (open_entry(&a, &sides[0], entries[0], bytes, fault))
        return -1;
    int status = open_entry(&b, &sides[1], entries[1], bytes, fault);
    if (status == 0) {
        status = bytes ? compare_bytes(&a, &b, a.header.data_size, &verdict->difference, fault)
                       : compare_values(&a, &b, COMPARE_FIRST, &verdict->difference, fault);
        if (verdict->difference.kind != DIFFERENCE_NONE)
            verdict->kind = CONTENT;
        tensor_file_close(&b);
    }
    tensor_file_close(&a);
    return status;
}

/* Returns whether two dtypes are equal. Two file formats may have different words for one
 * dtype. */
static bool same_dtype(const struct side sides[2], struct tensor_entry *const entries[2])
{
    const struct tensor_entry *a = entries[0], *b = entries[1];
    if (strcmp(a->dtype, b->dtype) == 0)
        return true;
    return sides[0].format != sides[1].format && !a->refusal && !b->refusal &&
           a->header.kind == b->header.kind && a->header.item_size == b->header.item_size;
}

/* Also compares the numbers of bytes: in a faulty header they may contradict the shape. */
static bool same_shape(const struct tensor_entry *a, const struct tensor_entry *b)
{
    return a->rank == b->rank && a->bytes == b->bytes &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape)) == 0);
}

static int compare_pair(const struct side sides[2], struct tensor_entry *entries[2],
                        struct verdict *verdict, struct fault *fault)
{
    *verdict = (struct verdict){.kind = SAME, .a = entries[0], .b = entries[1]};
    for (int i = 0; i < 2; i++) {
        if (archive_outline(sides[i].archive, entries[i], fault))
            return fault->code == FAULT_CANCELLED
                       ? -1
                       : fault_set(fault, fault->code, NULL, "%s[%.*s]: %s", sides[i].path,
                                   tensor_name_shown(entries[i]->name), entries[i]->name,
                                   fault->text);
    }
    if (!same_dtype(sides, entries))
        verdict->kind = DTYPES;
    else if (!same_shape(entries[0], entries[1]))
        verdict->kind = SHAPES;
    else
        return compare_contents(sides, entries, verdict, fault);
    return 0;
}

static void verdict_text(const struct verdict *verdict, const struct side sides[2],
                         char out[COMPARE_TEXT_MAX])
{
    const char *a = sides[0].path, *b = sides[1].path;
    char left[ARCHIVE_LISTING_SHAPE_MAX], right[ARCHIVE_LISTING_SHAPE_MAX];
    switch (verdict->kind) {
    case ONLY_A:
    case ONLY_B:
        snprintf(out, COMPARE_TEXT_MAX, "only in %s", verdict->kind == ONLY_A ? a : b);
        break;
    case DTYPES:
        snprintf(out, COMPARE_TEXT_MAX, "dtypes differ: %s in %s, %s in %s", verdict->a->dtype, a,
                 verdict->b->dtype, b);
        break;
    case SHAPES:
        snprintf(out, COMPARE_TEXT_MAX, "shapes differ: %s in %s, %s in %s",
                 archive_listing_shape(verdict->a, left), a,
                 archive_listing_shape(verdict->b, right), b);
        break;
    case SAME:
    case CONTENT:
        difference_text(&verdict->difference, a, b, out);
        break;
    }
}

static void entry_json(struct jsonw *w, const char *key, const struct tensor_entry *entry)
{
    jsonw_object_begin(w, key);
    archive_listing_json_outline(w, entry);
    jsonw_object_end(w);
}

static void verdict_json(struct jsonw *w, const char *name, const struct verdict *verdict)
{
    static const char *const kinds[] = {
        [ONLY_A] = "missing", [ONLY_B] = "missing", [DTYPES] = "dtype", [SHAPES] = "shape"};
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "tensor", name);
    jsonw_bool(w, "same", verdict->kind == SAME);
    if (verdict->kind == SAME || verdict->kind == CONTENT) {
        difference_json(w, "difference", &verdict->difference);
        jsonw_object_end(w);
        return;
    }
    jsonw_object_begin(w, "difference");
    jsonw_string(w, "kind", kinds[verdict->kind]);
    if (verdict->kind == ONLY_A || verdict->kind == ONLY_B)
        jsonw_string(w, "in", verdict->kind == ONLY_A ? "b" : "a");
    if (verdict->kind == DTYPES || verdict->kind == SHAPES) {
        entry_json(w, "a", verdict->a);
        entry_json(w, "b", verdict->b);
    }
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static void report_archives(const struct print_style *style, const struct side sides[2],
                            const struct verdict *verdict, struct jsonw *w)
{
    const char *name = verdict->kind == ONLY_B ? verdict->b->name : verdict->a->name;
    char text[COMPARE_TEXT_MAX], shown[COMPARE_TEXT_MAX + 2];
    verdict_text(verdict, sides, text);
    snprintf(shown, COMPARE_TEXT_MAX, "%s", name);
    utf8_disarm(shown);
    strcat(shown, ": ");
    difference_print(style, shown, verdict->kind == SAME, text);
    if (verdict->kind == CONTENT)
        difference_print_cause(style, &verdict->difference);
    if (style->json)
        verdict_json(w, name, verdict);
}

static void count(struct tally *tally, const struct verdict *verdict)
{
    if (verdict->kind == SAME)
        tally->same++;
    else if (verdict->kind == ONLY_A)
        tally->only_a++;
    else if (verdict->kind == ONLY_B)
        tally->only_b++;
    else
        tally->different++;
}

/* Finds the entries of the next name in both sorted lists; null if an archive lacks the name. */
static bool next_name(const struct side sides[2], size_t at[2], struct tensor_entry *entries[2])
{
    for (int i = 0; i < 2; i++)
        entries[i] = at[i] < sides[i].list->count ? sides[i].list->by_name[at[i]] : NULL;
    if (entries[0] && entries[1]) {
        int order = strcmp(entries[0]->name, entries[1]->name);
        if (order != 0)
            entries[order < 0] = NULL;
    }
    at[0] += entries[0] != NULL;
    at[1] += entries[1] != NULL;
    return entries[0] || entries[1];
}

static int compare_all(const struct print_style *style, const struct side sides[2], struct jsonw *w,
                       struct tally *tally, struct fault *fault)
{
    struct tensor_entry *entries[2];
    size_t at[2] = {0, 0};
    while (next_name(sides, at, entries)) {
        struct verdict verdict = {.kind = entries[0] ? ONLY_A : ONLY_B,
                                  .a = entries[0] ? entries[0] : &nothing,
                                  .b = entries[1] ? entries[1] : &nothing};
        if (cancel_requested())
            return cancel_fault(fault);
        if (entries[0] && entries[1] && compare_pair(sides, entries, &verdict, fault))
            return -1;
        report_archives(style, sides, &verdict, w);
        count(tally, &verdict);
    }
    return 0;
}

static int open_side(struct side *side, const char *path, enum file_format format,
                     struct fault *fault)
{
    struct tensor_file file;
    *side = (struct side){.path = path, .format = format};
    if (tensor_file_open_bare(&file, path, format, fault))
        return -1;
    int status = tensor_file_archive(&file, &side->archive, fault);
    tensor_file_close(&file);
    if (status == 0)
        side->list = archive_list(side->archive);
    return status;
}

static enum exit_code report_end(const struct print_style *style, const struct side sides[2],
                                 const struct tally *tally, struct jsonw *w)
{
    bool same = tally->different + tally->only_a + tally->only_b == 0;
    print_line(style,
               "%" PRIu64 " tensor%s the same, %" PRIu64 " different, %" PRIu64
               " only in %s, %" PRIu64 " only in %s",
               tally->same, print_s(tally->same), tally->different, tally->only_a, sides[0].path,
               tally->only_b, sides[1].path);
    if (style->json) {
        jsonw_array_end(w);
        jsonw_bool(w, "same", same);
        print_object(w);
    }
    return same ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

/*
 * Compares two archives and prints the result of each tensor, sorted by name. Tensors that no job
 * can read are compared by their bytes. Returns EXIT_CODE_DONE if all tensors are equal.
 */
static enum exit_code compare_archives(const struct print_style *style, const char *const paths[2],
                                       const enum file_format formats[2])
{
    struct side sides[2] = {{0}};
    struct tally tally = {0};
    struct fault fault;
    struct jsonw w;
    enum exit_code code;
    jsonw_init_object(&w);
    jsonw_string(&w, "a", paths[0]);
    jsonw_string(&w, "b", paths[1]);
    jsonw_array_begin(&w, "tensors");
    if (open_side(&sides[0], paths[0], formats[0], &fault))
        code = print_file_failure(style, paths[0], &fault);
    else if (open_side(&sides[1], paths[1], formats[1], &fault))
        code = print_file_failure(style, paths[1], &fault);
    else if (compare_all(style, sides, &w, &tally, &fault))
        code = print_file_failure(style, NULL, &fault);
    else
        code = report_end(style, sides, &tally, &w);
    jsonw_finish(&w);
    archive_release(sides[0].archive);
    archive_release(sides[1].archive);
    return code;
}

static const struct option options_table[] = {
    {"limit", "N", "Print the first N elements that differ, at most 50 (default: 5).",
     .old = "first"},
    {"params", "FILE",
     "Compare also quantisation parameters: a FILE for A, then one for B (default: none).",
     .repeats = true, .takes = &value_file},
    TENSOR_ARGS_OPTIONS,
    OPTIONS_COMMON,
};

static enum exit_code report(const struct print_style *style, const struct difference *difference,
                             const char *a, const char *b)
{
    char text[COMPARE_TEXT_MAX];
    bool same = difference->kind == DIFFERENCE_NONE;

    difference_text(difference, a, b, text);
    difference_print(style, "", same, text);
    difference_print_details(style, difference, a, b);
    if (style->json) {
        struct jsonw w;
        jsonw_init_object(&w);
        jsonw_string(&w, "a", a);
        jsonw_string(&w, "b", b);
        jsonw_bool(&w, "same", same);
        difference_json(&w, "difference", difference);
        print_object(&w);
    }
    return same ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

/* Returns the path of the file that compare_tensors() could not read. */
static const char *unreadable(const struct tensor_file *a, const struct tensor_file *b)
{
    struct fault ignored;

    return !a->map || tensor_file_check(a, &ignored) ? a->path : b->path;
}

/* Compares two files of parameters, unless a difference is known. Returns 0, or -1 with a fault
 * that names the file. */
static int diff_params(const char *const paths[2], struct difference *difference,
                       struct fault *fault)
{
    struct tensor_desc a = {0}, b = {0};
    int status = 0;

    if (difference->kind == DIFFERENCE_NONE)
        status = params_load(&a, paths[0], -1, fault) || params_load(&b, paths[1], -1, fault);
    if (status == 0 && difference->kind == DIFFERENCE_NONE)
        compare_params(&a, &b, difference);
    tensor_desc_finish(&a);
    tensor_desc_finish(&b);
    return status ? -1 : 0;
}

static enum exit_code diff_tensors(const struct print_style *style, const struct options *options,
                                   const enum file_format formats[2], const char *const params[2])
{
    struct tensor_file a = {.fd = -1}, b = {.fd = -1};
    struct difference difference;
    struct fault fault;
    uint32_t first = 5;
    if (options_u32(options, "limit", 0, DIFFERING_FIRST_MAX, &first))
        return EXIT_CODE_INVALID;
    enum exit_code code = tensor_args_open(options, options->arguments[0], formats[0], &a);

    if (code == EXIT_CODE_DONE)
        code = tensor_args_open(options, options->arguments[1], formats[1], &b);
    if (code != EXIT_CODE_DONE)
        goto out;
    if (compare_values(&a, &b, first, &difference, &fault))
        code = print_file_failure(style, unreadable(&a, &b), &fault);
    else if (params[0] && diff_params(params, &difference, &fault))
        code = print_file_failure(style, NULL, &fault);
    else if (difference.kind == DIFFERENCE_PARAMS)
        code = report(style, &difference, params[0], params[1]);
    else
        code = report(style, &difference, options->arguments[0], options->arguments[1]);
out:
    tensor_file_close(&a);
    tensor_file_close(&b);
    return code;
}

static bool is_params_file(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcmp(dot, ".json") == 0;
}

/* Finds the files of --params: both or none. */
static int find_params(const struct options *options, const char *params[2])
{
    size_t at = 0;

    params[0] = options_next(options, "params", &at);
    params[1] = options_next(options, "params", &at);
    return !params[0] == !params[1] && !options_next(options, "params", &at)
               ? 0
               : print_refusal("--params is given once for A and once for B");
}

static enum exit_code diff(const struct options *options)
{
    struct print_style style = options_style(options);
    const char *const paths[2] = {options->arguments[0], options->arguments[1]};
    struct difference difference = {0};
    enum file_format formats[2];
    const char *params[2];
    struct fault fault;

    if (find_params(options, params))
        return EXIT_CODE_INVALID;
    if (is_params_file(paths[0]) && is_params_file(paths[1]) && !options_get(options, "format"))
        return diff_params(paths, &difference, &fault)
                   ? print_file_failure(&style, NULL, &fault)
                   : report(&style, &difference, paths[0], paths[1]);
    if (tensor_args_formats(options, formats))
        return EXIT_CODE_INVALID;
    const bool single = formats[0] == FILE_FORMAT_PB && formats[1] == FILE_FORMAT_PB;
    if (file_format_is_archive(formats[0]) && file_format_is_archive(formats[1]) && !single &&
        !options_get(options, "tensor"))
        return params[0] ? print_invalid("--params is for two tensors; give --tensor")
                         : compare_archives(&style, paths, formats);
    return diff_tensors(&style, options, formats, params);
}

const struct command cmd_diff = {
    .name = "diff",
    .arguments = "A B",
    .count = 2,
    .summary = "compare two tensors, or all of two archives, bit for bit",
    .details =
        "Prints the number of elements that differ, their region and planes, the first ones, and\n"
        "the cause if it is a usual mistake, such as a wrong order of dimensions. The options\n"
        "apply to both files. Without --tensor, two .npz or .safetensors files,\n"
        "or models, are compared tensor by tensor, by name. Two .json files are compared as\n"
        "quantisation parameters.\n",
    .options = options_table,
    .takes = &value_file,
    .examples = {{"print the differences, if any", "mlictl diff in.npy same.npy"},
                 {"in a script", "mlictl diff -q in.npy same.npy && echo same"}},
    .run = diff,
};
