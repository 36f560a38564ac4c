/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl gen: writes a tensor file with generated values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/file/output.h"
#include "cli/tensor/pattern.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/cancel.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"

enum {
    CHUNK_BYTES = 64 * 1024,
    FORMULA_MAX = 256 /* size of a formula: 8 terms of 20 digits each */
};

static const struct value pattern_value = {VALUE_WORD, pattern_words};

static const char *const format_words[] = {"npy", "raw", NULL}; /* the formats that gen writes */
static const struct value format_value = {VALUE_WORD, format_words};

static const struct option options_table[] = {
    {"shape", "LIST", "Set the extents, outermost first, as in 4,6,8 (required)."},
    {"dtype", "DTYPE",
     "Set the dtype: int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, "
     "bool, or bits without a meaning: void8 to void128 (required).",
     .takes = &dtype_value},
    {"pattern", "NAME",
     "Fill with index, ramp, zeros, ones, checker or random values (default: index).",
     .takes = &pattern_value},
    {"seed", "N", "Seed the random pattern (default: 1)."},
    {"fortran", NULL, "Store in Fortran order: the first dimension varies fastest."},
    {"format", "npy|raw",
     "Write a file of this format (default: npy if OUT ends with .npy, else raw).",
     .takes = &format_value},
    {"force", NULL, "Replace an existing file."},
    OPTIONS_COMMON,
};

/* The file to write. */
struct request {
    struct npy_header header;
    struct pattern pattern;
    bool npy;
    uint64_t elements;
    struct meter meter;
};

static int read_format(const struct options *options, bool *npy)
{
    const char *path = options->arguments[0];
    enum file_format format;

    if (strcmp(path, "-") == 0)
        return print_refusal(
            "gen writes to a file, not to standard output; ./- is a file with the name -");
    if (tensor_args_format(options, path, &format))
        return -1;
    *npy = format == FILE_FORMAT_NPY;
    if (!file_format_is_archive(format))
        return 0;
    return print_refusal("%s: mlictl cannot write .%s files; use --format npy or raw", path,
                         file_format_word(format));
}

static int read_request(const struct options *options, struct request *request)
{
    size_t kind = PATTERN_index;
    uint64_t seed = 1;

    if (tensor_args_header(options, &request->header) || read_format(options, &request->npy) ||
        options_uint(options, "seed", 0, INT64_MAX, &seed) ||
        options_choice(options, "pattern", &kind))
        return -1;
    struct npy_header *header = &request->header;
    header->fortran_order = options_get(options, "fortran") != NULL;
    request->elements = 1;
    for (uint32_t d = 0; d < header->rank; d++) {
        if (__builtin_mul_overflow(request->elements, header->shape[d], &request->elements) ||
            request->elements > INT64_MAX / 16)
            return print_refusal("--shape has more than 2^59 elements");
    }
    header->data_offset = request->npy ? NPY_FORMAT_SIZE : 0;
    header->data_size = request->elements * header->item_size;
    pattern_init(&request->pattern, (enum pattern_kind)kind, header, seed);
    return 0;
}

/* Moves `at` to the coordinate of the next element in the file. */
static void advance(const struct npy_header *header, uint32_t *at)
{
    for (uint32_t i = 0; i < header->rank; i++) {
        uint32_t d = header->fortran_order ? i : header->rank - 1 - i;
        if (++at[d] < header->shape[d])
            return;
        at[d] = 0;
    }
}

static int write_elements(struct output *output, struct request *request, struct fault *fault)
{
    const struct npy_header *header = &request->header;
    uint8_t *chunk = malloc(CHUNK_BYTES);

    if (!chunk)
        return fault_no_memory(fault);
    uint32_t at[TENSOR_RANK_MAX] = {0};
    int status = 0;
    for (uint64_t done = 0; done < header->data_size && status == 0;) {
        uint64_t left = header->data_size - done;
        size_t size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        for (size_t i = 0; i < size; i += header->item_size) {
            pattern_store(&request->pattern, at, chunk + i);
            advance(header, at);
        }
        status = cancel_requested()
                     ? cancel_fault(fault)
                     : output_write(output, chunk, size, header->data_offset + done, fault);
        done += size;
        meter_show(&request->meter, done, header->data_size);
    }
    free(chunk);
    return status;
}

static int write_header(struct output *output, struct request *request, struct fault *fault)
{
    char header[NPY_FORMAT_SIZE];

    if (!request->npy)
        return 0;
    return npy_format(&request->header, header, sizeof(header))
               ? fault_set(fault, FAULT_INTERNAL, NULL, "the .npy header is too long")
               : output_write(output, header, sizeof(header), 0, fault);
}

static int write_file(struct request *request, const char *path, bool force, struct fault *fault)
{
    const uint64_t size = request->header.data_offset + request->header.data_size;
    struct output output;

    const int status =
        output_init(&output, path, NULL, fault) || output_check_fresh(&output, force, fault) ||
        output_reserve(&output, size, fault) || write_header(&output, request, fault) ||
        write_elements(&output, request, fault) || output_commit(&output, !force, fault);
    output_finish(&output);
    return status;
}

/* Writes the formula of an element, "100*i0 + 10*i1 + i2"; empty if the pattern has none. */
static void formula_text(const struct request *request, char out[FORMULA_MAX])
{
    const struct pattern *pattern = &request->pattern;
    struct phrase phrase = phrase_init(out, FORMULA_MAX);

    if (pattern->kind != PATTERN_index && pattern->kind != PATTERN_ramp)
        return;
    for (uint32_t d = 0; d < pattern->header->rank; d++) {
        phrase_add(&phrase, "%s", d ? " + " : "");
        if (pattern->weights[d] > 1)
            phrase_add(&phrase, "%" PRIu64 "*", pattern->weights[d]);
        phrase_add(&phrase, "i%" PRIu32, d);
    }
    if (!pattern->decimal && request->elements - 1 > pattern->dtype->exact_max)
        phrase_add(&phrase, ", wrapping");
}

static void report(const struct print_style *style, const struct request *request, const char *path)
{
    const struct npy_header *header = &request->header;
    const struct pattern *pattern = &request->pattern;
    char shape[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX], formula[FORMULA_MAX];

    formula_text(request, formula);
    print_line(style, "%s: %s %s, %s, %s%s%s%s", path, pattern->dtype->name,
               print_shape(shape, header->rank, header->shape),
               print_bytes(bytes, header->data_size), pattern_words[pattern->kind],
               *formula ? " (element = " : "", formula, *formula ? ")" : "");
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", path);
    jsonw_string(&w, "dtype", pattern->dtype->name);
    print_json_shape(&w, "shape", header->rank, header->shape);
    jsonw_uint(&w, "bytes", header->data_size);
    jsonw_string(&w, "order", header->fortran_order ? "F" : "C");
    jsonw_string(&w, "pattern", pattern_words[pattern->kind]);
    if (*formula)
        jsonw_string(&w, "element", formula);
    print_object(&w);
}

static enum exit_code gen(const struct options *options)
{
    struct print_style style = options_style(options);
    struct request request = {0};
    struct fault fault;

    if (read_request(options, &request))
        return EXIT_CODE_INVALID;
    const char *path = options->arguments[0];
    meter_begin(&request.meter, &style, path);
    int status = write_file(&request, path, options_get(options, "force") != NULL, &fault);
    meter_end(&request.meter);
    if (status)
        return print_file_failure(&style, path, &fault);
    report(&style, &request, path);
    return EXIT_CODE_DONE;
}

#define PATTERN_HELP(name, text) "  " #name ": " text "\n"
const struct command cmd_gen = {
    .name = "gen",
    .arguments = "OUT.npy",
    .count = 1,
    .summary = "write a tensor with generated values",
    .details = "Writes the file atomically, and replaces an existing file only with --force. "
               "Patterns:\n" PATTERN_TABLE(PATTERN_HELP),
    .options = options_table,
    .takes = &value_file,
    .examples = {{"elements whose values give their coordinates",
                  "mlictl gen new.npy --shape 4,6,8 --dtype int16"},
                 {"noise, the same each time",
                  "mlictl gen noise.npy --shape 64,64 --dtype float32 -p random --seed 7"}},
    .run = gen,
};
