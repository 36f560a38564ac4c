/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch merge: checks that state files are of all shards of one batch, and reports them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/fingerprint.h"
#include "cli/report/report.h"
#include "cli/report/state_file.h"
#include "cli/term/print.h"

/* Size of the longest text, "shards 1 to 4294967294 of 4294967295". */
enum { GAP_NAME_MAX = 64 };

enum { PROBLEM_MAX = 1024 };

/* One state file. */
struct part {
    const char *path;
    struct state state;
    size_t current; /* number of records from lines that are current (state_file.h) */
};

struct merge {
    const struct options *options;
    struct batch_report *report;
    bool flaky_is_good;
    struct part *parts; /* parts in the order of the arguments; check_parts() sorts them by shard */
    size_t count;
    const struct case_result **results; /* results of all parts, sorted by name */
    size_t result_count;
};

/* Prints a problem of a state file, or of all state files if `file` is NULL. For missing or
 * incomplete shards, also reports a case `name` that did not run; else `name` is NULL. */
__attribute__((format(printf, 4, 5))) static void
problem(const struct merge *merge, const char *file, const char *name, const char *format, ...)
{
    char text[PROBLEM_MAX], shown[PRINT_PATH_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    print_error("%s%s%s", file ? print_path(shown, file) : "", file ? ": " : "", text);
    batch_report_problem(merge->options, file, NULL, text);
    if (name)
        batch_report_gap(merge->report, name, text);
}

/* Returns the shard of a state file; without --shard it is 1/1. */
static struct shard shard_in(const struct part *part)
{
    struct shard shard = part->state.outline.shard;

    return shard.count ? shard : (struct shard){.index = 1, .count = 1};
}

/* Prints a problem of a line of a state file. */
static void blame_line(const struct merge *merge, const char *file, const struct fault *fault)
{
    char text[PROBLEM_MAX], shown[PRINT_PATH_MAX], place[PRINT_PLACE_MAX];

    print_place(place, fault->pointer, fault->text);
    snprintf(text, sizeof(text), "%s%s; the file is not a state file, or was edited", place,
             fault->text);
    print_error("%s:%u:%u: %s", print_path(shown, file), fault->line, fault->column, text);
    batch_report_problem(merge->options, file, fault, text);
}

static enum exit_code load(const struct merge *merge, struct part *part)
{
    struct fault fault;

    if (state_load(&part->state, part->path, &fault)) {
        if (fault.line)
            blame_line(merge, part->path, &fault);
        else
            problem(merge, part->path, NULL, "%s", fault.text);
        enum exit_code code = exit_code_of(&fault);
        return code == EXIT_CODE_FAILED ? code : EXIT_CODE_INVALID;
    }
    if (!part->state.begun) {
        problem(merge, part->path, NULL, "the file has no complete \"begin\" line");
        return EXIT_CODE_FAILED;
    }
    if (part->state.outline.open) {
        problem(merge, part->path, NULL,
                "the run ended before standard input did; run it again with the same --resume");
        return EXIT_CODE_FAILED;
    }
    for (size_t i = 0; i < part->state.count; i++)
        part->current += part->state.records[i].current;
    return EXIT_CODE_DONE;
}

static enum exit_code load_all(const struct merge *merge)
{
    enum exit_code first = EXIT_CODE_DONE;

    for (size_t i = 0; i < merge->count; i++) {
        enum exit_code code = load(merge, &merge->parts[i]);

        if (first == EXIT_CODE_DONE)
            first = code;
    }
    return first;
}

/* Returns whether cases and number of shards of a file are equal to those of the first file. */
static bool is_of_same(const struct merge *merge, const struct part *part)
{
    const struct part *first = &merge->parts[0];
    const struct batch_outline *a = &first->state.outline, *b = &part->state.outline;
    char shown[PRINT_PATH_MAX], one[SHARD_TEXT_MAX], other[SHARD_TEXT_MAX];
    struct shard x = shard_in(first), y = shard_in(part);

    print_path(shown, first->path);
    if (a->total != b->total)
        problem(merge, part->path, NULL, "it has other cases than %s: %zu cases here, %zu there",
                shown, b->total, a->total);
    else if (a->set != b->set)
        problem(merge, part->path, NULL, "it has other cases than %s: the names differ", shown);
    else if (x.count != y.count)
        problem(merge, part->path, NULL, "it is shard %s, but %s is shard %s",
                shard_text(other, &y), shown, shard_text(one, &x));
    else
        return true;
    return false;
}

static int compare_parts(const void *a, const void *b)
{
    struct shard x = shard_in(a), y = shard_in(b);

    return (x.index > y.index) - (x.index < y.index);
}

/* Checks that the files are different shards of one batch, and sorts them by shard. */
static enum exit_code check_parts(struct merge *merge)
{
    bool good = true;

    for (size_t i = 1; i < merge->count; i++)
        good = is_of_same(merge, &merge->parts[i]) && good;
    if (!good)
        return EXIT_CODE_FAILED;
    qsort(merge->parts, merge->count, sizeof(*merge->parts), compare_parts);
    for (size_t i = 1; i < merge->count; i++) {
        const struct part *part = &merge->parts[i], *before = part - 1;
        struct shard shard = shard_in(part);
        char shown[PRINT_PATH_MAX], text[SHARD_TEXT_MAX];

        if (shard_in(before).index != shard.index)
            continue;
        problem(merge, part->path, NULL, "shard %s was given twice; the other file is %s",
                shard_text(text, &shard), print_path(shown, before->path));
        good = false;
    }
    return good ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

/* Reports shards `from` to `to` - 1 as missing. */
static void report_missing(const struct merge *merge, uint64_t from, uint64_t to)
{
    uint32_t count = shard_in(&merge->parts[0]).count;
    char name[GAP_NAME_MAX];

    if (to <= from)
        return;
    if (to - from == 1) {
        snprintf(name, sizeof(name), "shard %" PRIu64 " of %" PRIu32, from, count);
        problem(merge, NULL, name,
                "shard %" PRIu64 "/%" PRIu32 " is missing; run it with its own --resume", from,
                count);
    } else {
        snprintf(name, sizeof(name), "shards %" PRIu64 " to %" PRIu64 " of %" PRIu32, from, to - 1,
                 count);
        problem(merge, NULL, name, "%s are missing; run each with its own --resume", name);
    }
}

/* Reports missing and incomplete shards. Returns whether all shards are complete. */
static bool is_complete(const struct merge *merge)
{
    bool complete = true;
    uint64_t next = 1;

    for (size_t i = 0; i < merge->count; i++) {
        const struct part *part = &merge->parts[i];
        struct shard shard = shard_in(part);
        size_t selected = part->state.outline.selected;
        char text[SHARD_TEXT_MAX], name[GAP_NAME_MAX];

        report_missing(merge, next, shard.index);
        complete = complete && shard.index == next;
        next = (uint64_t)shard.index + 1;
        if (part->current >= selected)
            continue;
        snprintf(name, sizeof(name), "shard %" PRIu32 " of %" PRIu32, shard.index, shard.count);
        problem(merge, part->path, name,
                "shard %s: %zu of %zu cases have not run; run it again with the same --resume",
                shard_text(text, &shard), selected - part->current, selected);
        complete = false;
    }
    uint64_t count = shard_in(&merge->parts[0]).count;
    report_missing(merge, next, count + 1);
    return complete && next == count + 1;
}

static int compare_results(const void *a, const void *b)
{
    const struct case_result *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Collects the current results of all parts, sorted by name. */
static enum exit_code collect(struct merge *merge)
{
    size_t count = 0;

    for (size_t i = 0; i < merge->count; i++)
        count += merge->parts[i].current;
    merge->results = calloc(count + 1, sizeof(*merge->results));
    if (!merge->results)
        return print_no_memory();
    for (size_t i = 0; i < merge->count; i++) {
        const struct state *state = &merge->parts[i].state;

        for (size_t r = 0; r < state->count; r++) {
            if (state->records[r].current)
                merge->results[merge->result_count++] = &state->records[r].result;
        }
    }
    qsort(merge->results, count, sizeof(*merge->results), compare_results);
    return EXIT_CODE_DONE;
}

/* Refuses two results of one case, and, if all shards are complete, results whose names are not in
 * the batch. */
static enum exit_code check_results(const struct merge *merge, bool complete)
{
    const struct batch_outline *outline = &merge->parts[0].state.outline;
    uint64_t set = 0;

    for (size_t i = 0; i < merge->result_count; i++) {
        const char *name = merge->results[i]->name;

        set = digest_add(set, name);
        if (i == 0 || strcmp(merge->results[i - 1]->name, name) != 0)
            continue;
        problem(merge, NULL, NULL, "case %s is in two state files; at least one of them was edited",
                name);
        return EXIT_CODE_FAILED;
    }
    if (merge->result_count > outline->total || (complete && set != outline->set)) {
        problem(merge, NULL, NULL,
                "the state files have other cases than the batch; at least one of them was edited");
        return EXIT_CODE_FAILED;
    }
    return EXIT_CODE_DONE;
}

/* Writes the reports that a single run of all cases would write. */
static enum exit_code report_all(const struct merge *merge)
{
    const struct batch_outline *first = &merge->parts[0].state.outline;
    const struct batch_outline outline = {
        .total = first->total, .selected = first->total, .set = first->set};
    struct batch_summary summary = {.not_run = first->total - merge->result_count};

    batch_report_begin(merge->report, &outline);
    for (size_t i = 0; i < merge->result_count; i++) {
        batch_report_ended(merge->report, merge->results[i]);
        batch_report_result(merge->report, merge->results[i]);
        batch_summary_add(&summary, merge->results[i]);
    }
    /* Shards run in parallel, so the total duration is the duration of the slowest shard. */
    for (size_t i = 0; i < merge->count; i++) {
        if (merge->parts[i].state.ns > summary.ns)
            summary.ns = merge->parts[i].state.ns;
    }
    summary.exit = batch_summary_exit(&summary, merge->flaky_is_good);
    return batch_report_end(merge->report, &summary);
}

static enum exit_code merge_parts(struct merge *merge)
{
    enum exit_code code = batch_report_create(merge->options, &merge->report);

    if (code == EXIT_CODE_DONE)
        code = load_all(merge);
    if (code == EXIT_CODE_DONE)
        code = check_parts(merge);
    if (code == EXIT_CODE_DONE)
        code = collect(merge);
    if (code == EXIT_CODE_DONE) {
        bool complete = is_complete(merge);

        code = check_results(merge, complete);
        if (code == EXIT_CODE_DONE)
            code = report_all(merge);
        if (code == EXIT_CODE_DONE && !complete)
            code = EXIT_CODE_FAILED;
    }
    batch_report_destroy(merge->report);
    return code;
}

enum exit_code batch_merge(const struct options *options)
{
    struct merge merge = {.options = options};

    if (batch_report_flaky(options, &merge.flaky_is_good))
        return EXIT_CODE_INVALID;
    if (options->argument_count < 2)
        return print_invalid(
            "usage: mlictl batch merge [options] STATE...; see mlictl batch --help");
    merge.count = options->argument_count - 1;
    merge.parts = calloc(merge.count, sizeof(*merge.parts));
    if (!merge.parts)
        return print_no_memory();
    for (size_t i = 0; i < merge.count; i++)
        merge.parts[i].path = options->arguments[i + 1];
    enum exit_code code = merge_parts(&merge);
    for (size_t i = 0; i < merge.count; i++)
        state_finish(&merge.parts[i].state);
    free(merge.parts);
    free(merge.results);
    return code;
}
