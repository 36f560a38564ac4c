/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl tile: any request becomes a plan or a message, and all its output is well-formed: the
 * parser of job files reads the job file, two JSON parsers read the plan, and expat reads drawings.
 *
 * Input: for each option, whether it is given, and its value: a number, a list of numbers, or a
 * piece of the input.
 */
#include <inttypes.h>

#include "proto/file/job_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_mlictl.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"

enum { VALUE_MAX = 80, EXTENT_MAX = 100 };

enum kind { FLAG, NUMBER, PAIR, EXTENTS, WORD };

static const struct {
    const char *name;
    enum kind kind;
    const char *words[8];
} options[] = {
    {"--window", PAIR, {NULL}},
    {"--stride", PAIR, {NULL}},
    {"--dilate", PAIR, {NULL}},
    {"--pad", WORD, {"same", "valid", "1,2,3,4", "0,1,1", "0,1:2,1"}},
    {"--out-channels", NUMBER, {NULL}},
    {"--depthwise", FLAG, {NULL}},
    {"--pool", FLAG, {NULL}},
    {"--accumulator", NUMBER, {NULL}},
    {"--elementwise", FLAG, {NULL}},
    {"--slice", WORD, {"1:9,::2,:", "...,1:", ":", "::3"}},
    {"--perm", WORD, {"2,0,1", "HWC:CHW", "1,0", "0,2,1"}},
    {"--budget", WORD, {"1KiB", "64KiB", "100", "256KiB", "1", "1GiB"}},
    {"--profile", WORD, {"vpx5-nsim", "zynq7000-pl330", "hexagon-v68", "xdna-aie2", "fu540-pdma"}},
    {"--memory", WORD, {"vccm", "dccm", "ocm", "ddr"}},
    {"--buffers", NUMBER, {NULL}},
    {"--no-hold", FLAG, {NULL}},
    {"--least", WORD, {"time", "traffic"}},
    {"--slack", NUMBER, {NULL}},
    {"--channels", NUMBER, {NULL}},
    {"--compute", NUMBER, {NULL}},
    {"--call", NUMBER, {NULL}},
    {"--type", WORD, {"fx8", "fx16", "sa32", "fp32"}},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

/* The command line that the input describes. */
struct line {
    const char *words[2 * OPTIONS + 20];
    char values[OPTIONS + 1][VALUE_MAX];
    size_t count;
};

static void write_word(char *out, struct fuzz_reader *reader, const char *const *words)
{
    const uint32_t which = fuzz_below(reader, 9);
    size_t length;
    const uint8_t *piece;

    if (which < 8 && words[which]) {
        snprintf(out, VALUE_MAX, "%s", words[which]);
        return;
    }
    piece = fuzz_piece(reader, VALUE_MAX - 1, &length);
    memcpy(out, piece, length);
    out[length] = '\0';
}

static void write_value(char *out, struct fuzz_reader *reader, enum kind kind,
                        const char *const *words)
{
    if (kind == NUMBER)
        snprintf(out, VALUE_MAX, "%" PRIu64, fuzz_number(reader));
    else if (kind == PAIR)
        snprintf(out, VALUE_MAX, "%" PRIu64 "x%" PRIu64, fuzz_number(reader), fuzz_number(reader));
    else
        write_word(out, reader, words);
}

/* Extents are small, because the planner compares many sizes of tiles. */
static void add_shape(struct line *line, struct fuzz_reader *reader)
{
    const uint32_t rank = 1 + fuzz_below(reader, 4);
    char *out = line->values[OPTIONS];
    size_t length = 0;

    for (uint32_t d = 0; d < rank; d++)
        length += (size_t)snprintf(out + length, VALUE_MAX - length, "%s%u", d ? "x" : "",
                                   1 + fuzz_below(reader, EXTENT_MAX));
    line->words[line->count++] = "--shape";
    line->words[line->count++] = out;
}

static void add_options(struct line *line, struct fuzz_reader *reader)
{
    const uint64_t given = fuzz_bytes(reader, 3);

    for (size_t i = 0; i < OPTIONS; i++) {
        if (!(given >> i & 1))
            continue;
        line->words[line->count++] = options[i].name;
        if (options[i].kind == FLAG)
            continue;
        write_value(line->values[i], reader, options[i].kind, options[i].words);
        line->words[line->count++] = line->values[i];
    }
}

static void add_words(struct line *line, const char *const *words)
{
    while (*words)
        line->words[line->count++] = *words++;
}

static void check_jobs(const char *text, size_t length)
{
    struct job_list list;
    struct fault fault;

    FUZZ_ASSERT(job_file_parse(text, length, &list, &fault) == 0);
    job_list_finish(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct line line;
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    const uint8_t how = fuzz_u8(&reader);
    struct mlictl_call call;

    scratch_write_inputs();
    memset(&line, 0, sizeof line);
    line.words[line.count++] = "tile";
    if (how & 1)
        line.words[line.count++] = "--json";
    if (how & 2)
        add_words(&line, (const char *const[]){"--svg", "tile.svg", NULL});
    if (how & 4)
        add_words(&line, (const char *const[]){"--timeline", "timeline.svg", "--trace",
                                               "trace.json", NULL});
    if (how & 8)
        add_words(&line, (const char *const[]){"in.npy", "out.npy", "-o", "jobs.json", "-f", NULL});
    else
        add_shape(&line, &reader);
    add_options(&line, &reader);
    call = mlictl_run(line.words);
    if (how & 1)
        well_formed_json_lines(call.out, call.out_length);
    else
        well_formed_text(call.out, call.out_length);
    mlictl_finish(&call);
    mlictl_check_file("jobs.json", check_jobs);
    mlictl_check_file("tile.svg", well_formed_xml);
    mlictl_check_file("timeline.svg", well_formed_xml);
    mlictl_check_file("trace.json", well_formed_any_json);
    return 0;
}
