/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a failure that come from its kept case: picture, differing elements, job file. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/compare.h"
#include "cli/explain/picture.h"
#include "cli/file/text.h"
#include "cli/job/explained.h"
#include "cli/job/job_files.h"
#include "cli/job/outcome.h"
#include "cli/job/resolve.h"
#include "cli/report/html.h"
#include "cli/tensor/params.h"
#include "proto/json/jsonw.h"

/*
 * The differing elements of a failure, as JSON for the script of the page (page/cells.js). The
 * JSON contains only numbers, and values as texts. Its size is limited: it has the positions of
 * all differing elements if their run lengths are short, otherwise counts for square blocks of
 * elements; and it has the values of the first differing elements.
 */

enum {
    RUNS_BYTES_MAX = 24 << 10, /* maximum size of the run lengths, before base64 */
    BLOCKS_MAX = 1 << 12,      /* maximum number of blocks of a plane */
    BLOCK_PLANES_MAX = 8,      /* maximum number of planes with blocks */
    VALUES_MAX = 1024,         /* maximum number of differing elements whose values are shown */
    WHOLE_MAX = 1024 /* largest number of elements of a tensor whose values are all written */
};

/* A growing buffer with a limit. */
struct bytes {
    uint8_t *data;
    size_t length, max;
    bool full;
};

static void put_byte(struct bytes *bytes, uint8_t byte)
{
    if (bytes->length == bytes->max)
        bytes->full = true;
    else
        bytes->data[bytes->length++] = byte;
}

/* Writes 7 bits in each byte, low bits first; all bytes but the last have the top bit set. */
static void put_number(struct bytes *bytes, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(bytes, (uint8_t)(number | 0x80));
    put_byte(bytes, (uint8_t)number);
}

static void write_base64(struct jsonw *w, const char *key, const struct bytes *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(4 * ((bytes->length + 2) / 3) + 1), *out = text;

    if (!text) {
        w->failed = true;
        return;
    }
    for (size_t i = 0; i < bytes->length; i += 3) {
        const size_t left = bytes->length - i;
        const uint32_t word = (uint32_t)bytes->data[i] << 16 |
                              (left > 1 ? (uint32_t)bytes->data[i + 1] << 8 : 0) |
                              (left > 2 ? bytes->data[i + 2] : 0);

        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[word & 63] : '=';
    }
    *out = '\0';
    jsonw_string(w, key, text);
    free(text);
}

static bool differs(const struct elements *got, const struct elements *wanted, const uint32_t *at)
{
    return elements_word(got, at) != elements_word(wanted, at);
}

/* Collects the lengths of runs of equal and differing elements in turn; the first may be 0. */
static void collect_runs(struct bytes *bytes, const struct elements *got,
                         const struct elements *wanted)
{
    uint32_t at[TENSOR_RANK_MAX] = {0};
    uint64_t run = 0;
    bool different = false;

    do {
        if (differs(got, wanted, at) != different) {
            put_number(bytes, run);
            different = !different;
            run = 0;
        }
        run++;
    } while (!bytes->full && elements_next(got, at));
    put_number(bytes, run);
}

/* Square blocks of the last two dimensions. */
struct blocks {
    uint32_t size; /* block size, in elements along both dimensions */
    uint32_t rows, columns;
    uint64_t planes;
};

static struct blocks find_blocks(const struct elements *elements)
{
    const uint32_t rank = elements->rank;
    const uint32_t rows = rank > 1 ? elements->shape[rank - 2] : 1;
    const uint32_t columns = elements->shape[rank - 1];
    struct blocks blocks = {.size = 1, .planes = 1};

    do {
        blocks.size *= 2;
        blocks.rows = (rows - 1) / blocks.size + 1;
        blocks.columns = (columns - 1) / blocks.size + 1;
    } while ((uint64_t)blocks.rows * blocks.columns > BLOCKS_MAX && blocks.size < UINT32_MAX / 2);
    for (uint32_t d = 0; d + 2 < rank; d++)
        blocks.planes *= elements->shape[d];
    blocks.planes = blocks.planes < BLOCK_PLANES_MAX ? blocks.planes : BLOCK_PLANES_MAX;
    return blocks;
}

static void count_blocks(const struct blocks *blocks, uint32_t *counts, const struct elements *got,
                         const struct elements *wanted)
{
    const uint32_t rank = got->rank;
    uint64_t plane_elements = got->shape[rank - 1];
    uint32_t at[TENSOR_RANK_MAX] = {0};
    uint64_t index = 0;

    if (rank > 1)
        plane_elements *= got->shape[rank - 2];
    do {
        const uint64_t plane = index++ / plane_elements;
        const uint32_t row = rank > 1 ? at[rank - 2] / blocks->size : 0;

        if (plane == blocks->planes)
            return;
        counts[(plane * blocks->rows + row) * blocks->columns + at[rank - 1] / blocks->size] +=
            differs(got, wanted, at);
    } while (elements_next(got, at));
}

/* Writes for each block a byte: 0 for no difference, 255 if all elements differ. */
static void write_blocks(struct jsonw *w, const struct elements *got, const struct elements *wanted)
{
    const struct blocks blocks = find_blocks(got);
    const size_t count = (size_t)(blocks.planes * blocks.rows * blocks.columns);
    const double most = (double)blocks.size * (got->rank > 1 ? blocks.size : 1);
    uint32_t *counts = calloc(count, sizeof(*counts));
    struct bytes bytes = {.data = malloc(count), .max = count};

    if (counts && bytes.data) {
        count_blocks(&blocks, counts, got, wanted);
        for (size_t i = 0; i < count; i++) {
            const double part = (double)counts[i] / most;

            put_byte(&bytes, counts[i] ? (uint8_t)(1 + 254 * (part < 1 ? part : 1)) : 0);
        }
        jsonw_uint(w, "block", blocks.size);
        write_base64(w, "blocks", &bytes);
    } else {
        w->failed = true;
    }
    free(counts);
    free(bytes.data);
}

static void write_places(struct jsonw *w, const struct elements *got, const struct elements *wanted)
{
    struct bytes bytes = {.data = malloc(RUNS_BYTES_MAX), .max = RUNS_BYTES_MAX};

    if (!bytes.data) {
        w->failed = true;
        return;
    }
    collect_runs(&bytes, got, wanted);
    if (bytes.full)
        write_blocks(w, got, wanted);
    else
        write_base64(w, "runs", &bytes);
    free(bytes.data);
}

/* Writes values in C order: of all elements, or of the first differing elements. */
static void write_cell_values(struct jsonw *w, const char *key, const struct elements *of,
                              const struct elements *got, const struct elements *wanted, bool all)
{
    uint32_t at[TENSOR_RANK_MAX] = {0};
    uint32_t count = 0;
    char text[DTYPE_TEXT_MAX];

    jsonw_array_begin(w, key);
    do {
        if (!all && !differs(got, wanted, at))
            continue;
        dtype_json(w, NULL, of->dtype, dtype_text(of->dtype, elements_at(of, at), text));
        count++;
    } while ((all || count < VALUES_MAX) && elements_next(got, at));
    jsonw_array_end(w);
}

/* Writes the object. Both tensors must have the same dtype and shape. */
static void html_cells_write(struct jsonw *w, const struct elements *got,
                             const struct elements *wanted)
{
    const bool all = elements_count(got) <= WHOLE_MAX;

    jsonw_object_begin(w, NULL);
    print_json_shape(w, "shape", got->rank, got->shape);
    write_places(w, got, wanted);
    jsonw_bool(w, "all", all);
    write_cell_values(w, "got", got, got, wanted, all);
    write_cell_values(w, "wanted", wanted, got, wanted, all);
    jsonw_object_end(w);
}

enum {
    JOB_BYTES_MAX = 1 << 20, /* maximum size of a job file that is read */
    JOB_TEXT_MAX = 8 << 10,  /* bytes of the job file that the page shows */
    PICTURE_MAX = 160 << 10, /* limit on the size of a picture; a larger one is omitted */
    ELEMENTS_MAX = 64 << 20, /* larger tensors are not compared again */
    SHAPE_TEXT_MAX = 80
};

/* A kept case. */
struct evidence_case {
    const char *path; /* path of the job file */
    size_t number;
    struct text text;
    struct job_file file;
    struct resolved resolved;
    struct tensor_file given; /* the result of the failed job */
    struct difference difference;
};

static void write_reason(struct textw *w, const char *what, const struct fault *fault)
{
    textw_printf(w, "<p class=\"missing\">%s: ", what);
    html_text(w, fault->text);
    textw_printf(w, "</p>\n");
}

/* Copies a drawing into the page. The number of the failure makes the drawing's ids unique. */
static void write_drawing(struct textw *w, const char *svg, size_t number)
{
    static const char *const marks[] = {"id=\"", "url(#"};
    const char *at = strstr(svg, "<svg ");

    if (!at)
        return;
    textw_printf(w, "<svg role=\"img\" aria-label=\"The move from source to destination\" ");
    at += strlen("<svg ");
    while (*at) {
        size_t length = strcspn(at, "iu"), skip = 1;

        textw_printf(w, "%.*s", (int)length, at);
        at += length;
        if (!*at)
            break;
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
            if (strncmp(at, marks[i], strlen(marks[i])) != 0)
                continue;
            skip = strlen(marks[i]);
            textw_printf(w, "%sf%zu-", marks[i], number);
            at += skip;
            skip = 0;
            break;
        }
        if (skip)
            textw_printf(w, "%c", *at++);
    }
}

static void write_picture(struct textw *w, const struct evidence_case *c)
{
    const uint32_t channels = c->resolved.job->common.channels;
    struct explained explained;
    struct fault fault;
    struct textw svg;

    textw_printf(w, "<h4>Move</h4>\n");
    if (explained_init(&explained, &c->file, &c->resolved, channels, &fault)) {
        write_reason(w, "There is no picture", &fault);
        return;
    }
    textw_init(&svg);
    svg_picture(&svg, &explained);
    if (svg.failed) {
        w->failed = true;
    } else if (svg.length > PICTURE_MAX) {
        textw_printf(w, "<p class=\"missing\">The picture is too large for this page: "
                        "mlictl explain --svg draws it.</p>\n");
    } else {
        textw_printf(w, "<figure class=\"picture\">");
        write_drawing(w, svg.data, c->number);
        textw_printf(w, "</figure>\n");
    }
    textw_finish(&svg);
}

/* Makes the path of a file of the result beside the job file. Returns 0; or -1 with the fault. */
static int make_path(const struct evidence_case *c, const char *ending, char **path,
                     struct fault *fault)
{
    const char *slash = strrchr(c->path, '/');
    const int length = slash ? (int)(slash - c->path) + 1 : 0;

    if (asprintf(path, "%.*sgiven.%s", length, c->path, ending) >= 0)
        return 0;
    *path = NULL;
    return fault_no_memory(fault);
}

/* Opens the result beside the job file. Returns 0; or -1 with the fault. */
static int open_given(struct evidence_case *c, char **path, struct fault *fault)
{
    const struct tensor_file *whole = &c->resolved.whole;

    if (make_path(c, file_format_word(whole->format), path, fault))
        return -1;
    if (tensor_file_open(&c->given, *path, whole->format, NULL, fault))
        return -1;
    if (whole->format != FILE_FORMAT_RAW)
        return 0;
    if (whole->header.rank == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the output is raw bytes");
    return tensor_file_set_raw(&c->given, &whole->header, whole->strides, fault);
}

static int find_difference(struct evidence_case *c, char **path, struct fault *fault)
{
    uint64_t elements = 1;

    if (c->resolved.expect.fd < 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the job expects no file");
    if (open_given(c, path, fault))
        return -1;
    for (uint32_t d = 0; d < c->given.header.rank; d++)
        elements *= c->given.header.shape[d];
    if (elements > ELEMENTS_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "the tensors have more than %d elements",
                         ELEMENTS_MAX);
    return outcome_find_difference(&c->resolved, &c->given, &c->difference, fault);
}

static void write_first(struct textw *w, const struct differing *differing)
{
    char place[DIFFERING_TEXT_MAX];

    textw_printf(
        w, "<table class=\"first\"><caption>The first differing elements</caption>"
           "<thead><tr><th scope=\"col\">element</th><th scope=\"col\">got</th>"
           "<th scope=\"col\">expected</th><th scope=\"col\">origin</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < differing->first_count; i++) {
        const struct differing_element *element = &differing->first[i];

        textw_printf(
            w,
            "<tr><th scope=\"row\">%s</th><td class=\"got\">%s</td><td class=\"wanted\">%s</td>"
            "<td>%s</td></tr>\n",
            differing_place(place, differing->rank, element->at), element->a, element->b,
            element->origin);
    }
    textw_printf(w, "</tbody></table>\n");
}

static void write_cells(struct textw *w, const struct evidence_case *c)
{
    const struct elements got = compare_elements(&c->given);
    const struct elements wanted = compare_elements(&c->resolved.expect);
    struct jsonw json;

    jsonw_init(&json);
    html_cells_write(&json, &got, &wanted);
    const char *text = jsonw_text(&json);
    if (text)
        textw_printf(
            w, "<div class=\"cells\"><script type=\"application/json\">%s</script></div>\n", text);
    else
        w->failed = true;
    jsonw_finish(&json);
}

static void write_cause(struct textw *w, const char *what, const char *sentence)
{
    textw_printf(w, "<p class=\"cause\"><b>%s:</b> ", what);
    html_text(w, sentence);
    textw_printf(w, "</p>\n");
}

static void write_values(struct textw *w, const struct evidence_case *c)
{
    const struct difference *difference = &c->difference;
    const struct diagnosis *diagnosis = &difference->diagnosis;
    char text[DIFFERING_TEXT_MAX];

    if (*diagnosis->text)
        write_cause(w, "Diagnosis", diagnosis->text);
    if (*diagnosis->places)
        write_cause(w, "Places", diagnosis->places);
    textw_printf(w, "<p>%" PRIu64 " of %" PRIu64 " elements differ: %s", difference->count,
                 difference->elements,
                 differing_summary(&difference->differing, difference->elements, text));
    textw_printf(w, ".");
    if (*differing_planes(&difference->differing, text))
        textw_printf(w, " %s.", text);
    textw_printf(w, "</p>\n");
    write_cells(w, c);
    write_first(w, &difference->differing);
}

/* Writes a difference of another kind, for example of the shapes. */
static void write_difference(struct textw *w, const struct difference *difference)
{
    char text[COMPARE_TEXT_MAX];

    textw_printf(w, "<p>");
    html_text(w, difference_text(difference, NULL, NULL, text));
    textw_printf(w, "</p>\n");
}

static void write_elements(struct textw *w, struct evidence_case *c)
{
    struct fault fault;
    char *path = NULL;

    textw_printf(w, "<h4>Elements</h4>\n");
    if (find_difference(c, &path, &fault))
        write_reason(w, "The elements are not shown", &fault);
    else if (c->difference.kind == DIFFERENCE_VALUES)
        write_values(w, c);
    else
        write_difference(w, &c->difference);
    tensor_file_close(&c->given);
    free(path);
}

/* Writes how the parameters of the result differ, or that they are the same. */
static void write_params(struct textw *w, struct evidence_case *c)
{
    struct tensor_desc given = {0};
    struct fault fault;
    char *path = NULL;

    textw_printf(w, "<h4>Quantisation parameters</h4>\n");
    if (make_path(c, "json", &path, &fault) || params_load(&given, path, -1, &fault)) {
        write_reason(w, "The parameters are not shown", &fault);
    } else {
        compare_params(&given, &c->resolved.wanted, &c->difference);
        write_difference(w, &c->difference);
    }
    tensor_desc_finish(&given);
    free(path);
}

static void write_job(struct textw *w, const struct text *text)
{
    char *shown = strndup(text->bytes, text->length < JOB_TEXT_MAX ? text->length : JOB_TEXT_MAX);

    if (!shown) {
        w->failed = true;
        return;
    }
    textw_printf(w, "<h4>Job</h4>\n<pre class=\"job\" tabindex=\"0\">");
    html_lines(w, shown);
    textw_printf(w, "%s</pre>\n", text->length > JOB_TEXT_MAX ? "\n..." : "");
    free(shown);
}

static void write_resolved(struct textw *w, struct evidence_case *c)
{
    static const struct produced nothing = {.memory = true, .without_golden = true};
    struct fault fault;

    if (resolved_plan(&c->resolved, &c->file, &c->file.list.jobs[0], &nothing, &fault)) {
        write_reason(w, "The job cannot be explained", &fault);
    } else {
        if (c->resolved.job->expect.kind == EXPECT_FILE)
            write_elements(w, c);
        if (c->resolved.has_wanted)
            write_params(w, c);
        write_picture(w, c);
    }
    resolved_finish(&c->resolved);
}

void html_evidence(struct textw *w, const char *kept, size_t number)
{
    struct evidence_case *c = calloc(1, sizeof(*c));
    struct fault fault;

    if (!c) {
        w->failed = true;
        return;
    }
    c->path = kept;
    c->number = number;
    c->given.fd = -1;
    if (text_load(&c->text, kept, JOB_BYTES_MAX, true, &fault) ||
        job_file_load_text(&c->file, kept, &c->text, &fault)) {
        write_reason(w, "The kept case cannot be read", &fault);
    } else {
        write_resolved(w, c);
        write_job(w, &c->text);
        job_file_finish(&c->file);
    }
    text_finish(&c->text);
    free(c);
}
