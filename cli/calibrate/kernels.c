/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/kernel_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/file/output.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "mli_helpers_api.h"

enum { VALUE_TEXT = 32 };

/*
 * Shows the progress at most ten times a second; *context is the time at which it showed the last
 * line.
 */
static void show(void *context, const char *what, double done)
{
    char line[PRINT_TEXT_MAX];
    uint64_t *shown_ns = context;
    const uint64_t now = clock_ns();

    if (now - *shown_ns < UINT64_C(100) * CLOCK_NS_PER_MS)
        return;
    *shown_ns = now;
    snprintf(line, sizeof line, "kernels: %s, %.0f %%", what, done > 1 ? 100 : done * 100);
    terminal_line_show(line);
}

static void write_date(char out[TUNING_WORD_MAX])
{
    const time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || strftime(out, TUNING_WORD_MAX, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        out[0] = '\0';
}

static void fill_file(struct tuning_file *file, const struct kernel_search *search,
                      const struct machine *machine, uint64_t seconds)
{
    memset(file, 0, sizeof *file);
    file->machine = *machine;
    snprintf(file->level, sizeof file->level, "%s", mli_cpu_level());
    snprintf(file->library, sizeof file->library, "%s", mli_version());
    write_date(file->date);
    file->seconds = seconds;
    file->tuning = search->tuning;
    file->defaults = search->defaults;
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (search->verdict[i] == KERNEL_CHANGED)
            file->gain[i] = (uint64_t)(search->gain[i] * 1000 + 0.5);
}

static int write_file(const char *path, const struct tuning_file *file, struct fault *fault)
{
    struct jsonw w;
    const char *text;
    int result;

    jsonw_init_lines(&w, 3);
    tuning_file_write(file, &w, NULL);
    jsonw_newline(&w);
    text = jsonw_text(&w);
    result = output_save(path, text, w.length, true, fault);
    jsonw_finish(&w);
    return result;
}

/* Writes a value: a number of bytes with its unit, or a plain number. */
static const char *value_text(char out[VALUE_TEXT], size_t field, uint64_t value)
{
    char bytes[PRINT_TEXT_MAX];
    const char *name = tuning_fields[field].name;

    if (tuning_field_is_threshold(field) && value == UINT64_MAX)
        snprintf(out, VALUE_TEXT, "never");
    else if (strcmp(name, "gather_lines") == 0 || strcmp(name, "tile_columns") == 0 ||
             strcmp(name, "panel_rows") == 0 || strcmp(name, "stage_rows") == 0)
        snprintf(out, VALUE_TEXT, "%" PRIu64, value);
    else
        snprintf(out, VALUE_TEXT, "%.31s", print_bytes(bytes, value));
    return out;
}

static const char *verdict_text(char out[PRINT_TEXT_MAX], const struct kernel_search *search,
                                size_t field)
{
    switch (search->verdict[field]) {
    case KERNEL_CHANGED:
        snprintf(out, PRINT_TEXT_MAX, "%.1f %% faster", search->gain[field] * 100);
        return out;
    case KERNEL_UNSURE:
        return "not confirmed";
    case KERNEL_UNMEASURED:
        return "not measured";
    case KERNEL_ABSENT:
        return "none";
    default:
        return "";
    }
}

static void print_table(const struct kernel_search *search)
{
    struct grid grid;
    struct textw text = {0};

    grid_init(&grid, "lrrl");
    grid_add(&grid, "VALUE\tDEFAULT\tMEASURED\tMOVES THAT DEPEND ON IT");
    for (size_t i = 0; i < TUNING_FIELDS; i++) {
        char otherwise[VALUE_TEXT], value[VALUE_TEXT], verdict[PRINT_TEXT_MAX];

        value_text(otherwise, i, tuning_field_get(&search->defaults, i));
        value_text(value, i, tuning_field_get(&search->tuning, i));
        grid_add(&grid, "%s\t%s\t%s\t%s", tuning_fields[i].name, otherwise, value,
                 verdict_text(verdict, search, i));
    }
    grid_write(&grid, "", &text);
    print_text(&text);
}

static void print_machine(const struct print_style *style, const struct machine *machine)
{
    char l1d[PRINT_TEXT_MAX], l2[PRINT_TEXT_MAX], l3[PRINT_TEXT_MAX];

    print_line(style, "%s; caches %s, %s, %s; kernels: %s", machine->cpu,
               print_bytes(l1d, machine->caches.l1d), print_bytes(l2, machine->caches.l2),
               print_bytes(l3, machine->caches.l3), mli_cpu_level());
}

static void print_result(const struct print_style *style, const struct tuning_file *file,
                         const struct kernel_search *search, const char *output)
{
    struct jsonw w;

    if (style->json) {
        jsonw_init(&w);
        tuning_file_write(file, &w, NULL);
        print_json(&w);
        return;
    }
    if (style->quiet)
        return;
    print_machine(style, &file->machine);
    print_table(search);
    if (search->incomplete)
        print_line(style, "to measure the other values, give --seconds %" PRIu64,
                   2 * file->seconds);
    if (output)
        print_line(style, "wrote %s; use it with --tuning or $MLI_TUNING", output);
    else
        print_line(style, "-o FILE writes the values to a file for --tuning");
}

/* Checks that the file can be written before the measurement. */
static int check_output(const char *path, struct fault *fault)
{
    struct output output;
    int result;

    if (!path)
        return 0;
    result = output_init(&output, path, NULL, fault);
    output_finish(&output);
    return result;
}

static int measure(struct kernel_search *search, const struct machine *machine, uint64_t seconds,
                   const struct print_style *style, struct fault *fault)
{
    uint64_t shown_ns = 0;
    const struct kernel_progress progress = {.show = show, .context = &shown_ns};
    mli_tuning defaults = {.size = sizeof defaults};
    const bool live = !style->json && !style->quiet && terminal_draws(STDERR_FILENO);
    int result;

    (void)mli_tuning_default(&defaults, &machine->caches);
    if (mli_tuning_set(&defaults) != MLI_STATUS_OK)
        return fault_set(fault, FAULT_REFUSED, NULL, "%s", mli_last_error());
    if (live)
        terminal_line_begin(STDERR_FILENO);
    result = kernel_search_run(search, &defaults, seconds, &progress, fault);
    if (live)
        terminal_line_end();
    return result;
}

enum exit_code calibrate_kernels(const struct print_style *style, const char *output,
                                 uint64_t seconds)
{
    struct kernel_search search = {0};
    struct tuning_file file;
    struct machine machine;
    struct fault fault;

    if (check_output(output, &fault) < 0)
        return print_failure(style, NULL, &fault);
    machine_read(&machine, "");
    if (measure(&search, &machine, seconds, style, &fault) < 0)
        return print_failure(style, NULL, &fault);
    fill_file(&file, &search, &machine, seconds);
    if (output && write_file(output, &file, &fault) < 0)
        return print_failure(style, NULL, &fault);
    print_result(style, &file, &search, output);
    return EXIT_CODE_DONE;
}
