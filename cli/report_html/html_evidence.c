/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report_html/html_evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/picture_svg.h"
#include "cli/file/text.h"
#include "cli/job/explained.h"
#include "cli/job/job_files.h"
#include "cli/job/outcome.h"
#include "cli/job/resolve.h"
#include "cli/report_html/html_cells.h"
#include "cli/report_html/html_text.h"
#include "cli/tensor/compare.h"

enum {
    JOB_BYTES_MAX = 1 << 20, /* bytes of a job file that is read */
    JOB_TEXT_MAX = 8 << 10,  /* bytes of the job file that the page shows */
    PICTURE_MAX = 160 << 10, /* a longer picture is left out */
    ELEMENTS_MAX = 64 << 20, /* larger tensors are not compared again */
    SHAPE_TEXT_MAX = 80
};

/* A kept case. */
struct evidence_case {
    const char *path; /* of the job file */
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

/* Copies a drawing into the page. Its ids get the number of the failure, because ids are unique. */
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

/* Opens the result beside the job file. Returns 0; or -1 with the fault. */
static int open_given(struct evidence_case *c, char **path, struct fault *fault)
{
    const struct tensor_file *whole = &c->resolved.whole;
    const char *slash = strrchr(c->path, '/');
    const int length = slash ? (int)(slash - c->path) + 1 : 0;

    if (asprintf(path, "%.*sgiven.%s", length, c->path, file_format_word(whole->format)) < 0) {
        *path = NULL;
        return fault_no_memory(fault);
    }
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
    html_text(w, difference_expected(difference, NULL, text));
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
