/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "cli/explain/c_code.h"
#include "cli/file/place.h"

/* Prints a job as text, after an empty line unless it is the first job. */
static void print_as_text(const struct explain_output *output, const struct explained *e)
{
    struct textw w;
    textw_init(&w);
    if (output->explained > 0)
        textw_printf(&w, "\n");
    explained_text(&w, e);
    if (output->picture) {
        textw_printf(&w, "\n");
        picture_text(&w, e, &output->characters);
    }
    print_text(&w);
}

/* Refuses a path of a drawing at which the job reads or writes a file. */
static int check_apart(const char *path, const struct job_file *file,
                       const struct resolved *resolved, struct fault *fault)
{
    const char *files[] = {file->path, resolved->src_path, resolved->dst_path,
                           resolved->params_path, resolved->expect_path};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] && place_same_file(path, files[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--svg: %s is a file of the job; choose another file", path);
    }
    return 0;
}

static int draw_to_file(const struct explain_output *output, size_t number,
                        const struct job_file *file, const struct resolved *resolved,
                        const struct explained *e, struct fault *fault)
{
    const struct job_spec *job = resolved->job;
    char *path =
        svg_target_path(&output->svg, number, (size_t)(job - file->list.jobs), job->common.name);
    int status = path ? 0 : fault_no_memory(fault);
    if (status == 0)
        status = check_apart(path, file, resolved, fault);
    if (status == 0)
        status = svg_picture_save(e, path, fault);
    free(path);
    return status;
}

/* Draws a job. A failure sets the exit code of the command, not the verdict on the job. */
static void draw(struct explain_output *output, size_t number, const struct job_file *file,
                 const struct resolved *resolved, const struct explained *e)
{
    struct fault fault;

    if (output->svg.path && draw_to_file(output, number, file, resolved, e, &fault)) {
        enum exit_code code = print_file_failure(&output->style, output->svg.path, &fault);
        if (output->drawn == EXIT_CODE_DONE)
            output->drawn = code;
    }
}

static void print_as_json(const struct explained *e)
{
    struct jsonw w;
    jsonw_init(&w);
    explained_json(&w, e);
    print_json(&w);
}

static void print_as_c(const struct explain_output *output, const struct explained *e,
                       const struct resolved *resolved)
{
    struct textw w;
    textw_init(&w);
    if (output->explained == 0)
        c_function_begin(&w, "explain");
    c_function(&w, e, resolved, output->explained);
    print_text(&w);
}

static void print(struct explain_output *output, struct explained *e,
                  const struct resolved *resolved)
{
    if (output->memcpy)
        explained_time_memcpy(e);
    if (output->c)
        print_as_c(output, e, resolved);
    else if (output->style.json)
        print_as_json(e);
    else if (!output->style.quiet && !output->on_stdout)
        print_as_text(output, e);
    output->explained++;
}

void explain_output_job(struct explain_output *output, size_t number, const struct job_file *file,
                        const struct resolved *resolved, struct explained *e)
{
    print(output, e, resolved);
    draw(output, number, file, resolved, e);
}

/* Prints the sums of the jobs, unless a drawing or a trace goes to standard output. */
static void print_sums(const struct explain_output *output, const struct timeline *timeline)
{
    struct textw text;
    struct jsonw w;

    if (output->style.json) {
        jsonw_init(&w);
        timeline_json(&w, timeline);
        print_json(&w);
    } else if (!output->style.quiet && !output->c && !output->on_stdout) {
        textw_init(&text);
        timeline_text(&text, timeline);
        print_text(&text);
    }
}

enum exit_code explain_output_timeline(struct explain_output *output, struct timeline *timeline)
{
    struct measured measured = {0};
    const char *path = output->measured;
    struct fault fault;
    int status = 0;

    timeline_end(timeline);
    if (timeline->failed)
        status = fault_no_memory(&fault);
    if (status == 0 && path) {
        status = measured_load(&measured, path, &fault);
        if (status == 0) {
            measured_match(&measured, timeline->slots, timeline->slot_count);
            timeline->measured = &measured;
        }
    }
    if (status == 0) {
        print_sums(output, timeline);
        path = output->trace;
        status = path ? timeline_trace_save(timeline, path, &fault) : 0;
    }
    if (status == 0) {
        path = output->timeline;
        status = path ? timeline_draw(timeline, path, &fault) : 0;
    }
    timeline->measured = NULL;
    measured_finish(&measured);
    if (status == 0)
        return EXIT_CODE_DONE;
    return path == output->measured ? print_failure(&output->style, path, &fault)
                                    : print_file_failure(&output->style, path, &fault);
}

/* Applies --color; --json disables colours. Returns 0, or -1 after an error message. */
static int choose_colours(const struct options *options)
{
    size_t when = 0;
    if (options_choice(options, "color", &when))
        return -1;
    if (when == 1 && !options_get(options, "json"))
        colour_force();
    else if (when == 2)
        colour_disable();
    return 0;
}

/* Refuses options of the timeline without --profile. Returns 0, or -1 after an error message. */
static int check_profile(const struct options *options)
{
    static const char *const names[] = {"trace", "timeline", "measured", "descriptors"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!options_get(options, names[i]) || options_get(options, "profile"))
            continue;
        return print_refusal("--%s requires --profile: it shows the model of a board", names[i]);
    }
    return 0;
}

/* Refuses two options with one file: the second file would replace the first. Returns 0 or -1. */
static int check_files(const struct options *options, const char *one, const char *other)
{
    const char *path = options_get(options, one), *same = options_get(options, other);

    if (!path || !same || !place_same_file(path, same))
        return 0;
    return print_refusal("--%s and --%s cannot be the same file: %s", one, other, path);
}

/* Refuses two options that write to standard output. Sets output->on_stdout to the option with "-".
 * Returns 0, or -1 after an error message. */
static int check_stdout(struct explain_output *output, const struct options *options)
{
    static const char *const names[] = {"svg", "trace", "timeline", "c", "json"};
    const char *first = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = options_get(options, names[i]);
        const bool is_file = i < 3; /* the other outputs always go to standard output */

        if (!value || (is_file && strcmp(value, "-") != 0))
            continue;
        if (first)
            return print_refusal(
                "--%s%s and --%s%s cannot be combined: both write to standard output", first,
                output->on_stdout ? " -" : "", names[i], is_file ? " -" : "");
        first = names[i];
        output->on_stdout |= is_file;
    }
    return 0;
}

int explain_output_read(struct explain_output *output, const struct options *options)
{
    if (choose_colours(options))
        return -1;
    *output = (struct explain_output){.style = options_style(options),
                                      .c = options_get(options, "c") != NULL,
                                      .picture = !options_get(options, "no-picture"),
                                      .characters = picture_text_style(),
                                      .svg = {.path = options_get(options, "svg")},
                                      .trace = options_get(options, "trace"),
                                      .timeline = options_get(options, "timeline"),
                                      .measured = options_get(options, "measured")};
    if (check_profile(options) || check_stdout(output, options) ||
        check_files(options, "trace", "measured") || check_files(options, "timeline", "measured") ||
        check_files(options, "svg", "timeline") || check_files(options, "svg", "trace") ||
        check_files(options, "trace", "timeline"))
        return -1;
    output->memcpy = !output->c && !options_get(options, "no-memcpy");
    if (output->svg.path && !*output->svg.path)
        return print_refusal("--svg requires the name of a file, or - for standard output");
    return 0;
}
