/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl optimise: fuses chains of moves, and proves that the outputs stay the same. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/file/output.h"
#include "cli/file/place.h"
#include "cli/job/job_rules.h"
#include "cli/link/embedded.h"
#include "cli/optimise/optimise.h"

static const struct option options_table[] = {
    {"output", "FILE", "Write the new job file to FILE; - is standard output (default: none).",
     .takes = &value_job_file},
    {"force", NULL, "Replace an existing FILE."},
    {"check", NULL, "Exit with code 1 if the file has more jobs than necessary."},
    {"intermediate", "PATTERN",
     "Treat files with this name as intermediate: nobody else needs them (default: none).",
     .repeats = true},
    {"all-intermediates", NULL,
     "Treat each file that one job creates and another one reads as intermediate."},
    {"drop", "NAME",
     "Omit the jobs that write this buffer or file, which no job reads (default: none).",
     .repeats = true},
    {"raw", NULL, "Read .npy files as raw files, at the offset of their elements, if it helps."},
    {"profile", "NAME",
     "Show the times on the board of this target profile: a name or a path (default: none).",
     .takes = &value_profile},
    {"engine", "SPEC", "Move the bytes of the proof with this engine (default: the library's).",
     .takes = &value_engine},
    EMBEDDED_LIMIT_OPTION,
    OPTIONS_COMMON,
};

static size_t collect(const struct options *options, const char *name,
                      const char *values[OPTIONS_REPEATS_MAX])
{
    size_t count = 0, at = 0;
    const char *value;

    while ((value = options_next(options, name, &at)))
        values[count++] = value;
    return count;
}

/* Refuses a name of --drop or a pattern of --intermediate that matches no buffer and no output of
 * the jobs. */
static int check_names(const struct options *options, const char *option,
                       const struct job_list *list, struct fault *fault)
{
    const char **names = calloc(list->buffer_count + list->count + 1, sizeof(*names));
    const char *near, *wanted = NULL;
    size_t count = 0, at = 0, i = 0;

    if (!names)
        return fault_no_memory(fault);
    for (i = 0; i < list->buffer_count; i++)
        names[count++] = list->buffers[i].name;
    for (i = 0; i < list->count; i++)
        if (list->jobs[i].dst.file)
            names[count++] = list->jobs[i].dst.file;
    i = 0; /* at the end: the index of the first match of the last name, or the count */
    while (i < count && (wanted = options_next(options, option, &at)))
        for (i = 0; i < count && fnmatch(wanted, names[i], 0) != 0;)
            i++;
    if (i == count) {
        near = nearest_word(wanted, names);
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "--%s %s: no job writes a buffer or file with this name%s%s%s", option, wanted,
                  near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    free(names);
    return i == count ? -1 : 0;
}

static const char *target_of(const struct options *options)
{
    const char *path = options_get(options, "output");

    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Refuses to write the job file over a file that its jobs read or write. */
static int check_target(const struct options *options, const struct program *p, struct fault *fault)
{
    const char *target = target_of(options);

    for (size_t i = 0; target && i < p->store_count; i++) {
        struct place place;

        if (!p->stores[i].is_buffer && place_of(target, &place) &&
            place_compare(&place, &p->stores[i].place) == 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--output %s: a job reads or writes this file; give another", target);
    }
    return 0;
}

static int save(const struct options *options, const struct jsonw *text, struct fault *fault)
{
    const char *target = target_of(options);
    const bool force = options_get(options, "force") != NULL;

    return target ? output_save(target, text->data, text->length, force, fault) : 0;
}

static void print_result(const struct options *options, const struct optimised *result)
{
    const struct print_style style = options_style(options);
    struct textw text;
    struct jsonw json;

    textw_init(&text);
    if (options_get(options, "output") && !target_of(options)) {
        textw_printf(&text, "%.*s", (int)result->text.length, result->text.data);
        print_text(&text);
    } else if (style.json) {
        jsonw_init(&json);
        optimise_report_json(&json, result);
        print_json(&json);
    } else if (!style.quiet) {
        optimise_report_text(&text, result);
        print_text(&text);
    }
    textw_finish(&text);
}

static int check_options(const struct options *options)
{
    if (options_get(options, "force") && !target_of(options))
        return print_refusal("--force requires --output FILE: without it optimise writes no file");
    if (options_get(options, "output") && !target_of(options) && options_get(options, "json"))
        return print_refusal(
            "--json cannot be combined with --output -: both write to standard output");
    return 0;
}

/* Returns the options without --profile, because the proof runs both job files without a board. */
static struct options without_profile(const struct options *options)
{
    struct options without = *options;

    for (size_t i = 0; options->table[i].name; i++) {
        if (strcmp(options->table[i].name, "profile") == 0)
            without.values[i] = NULL;
    }
    return without;
}

static enum exit_code optimise_file(const struct options *options, struct job_file *file,
                                    const struct target_profile *profile)
{
    const struct options of_proof = without_profile(options);
    const struct print_style style = options_style(options);
    const char *patterns[OPTIONS_REPEATS_MAX], *dropped[OPTIONS_REPEATS_MAX];
    const struct optimise_request request = {
        .intermediates = {.all = options_get(options, "all-intermediates") != NULL,
                          .patterns = patterns,
                          .pattern_count = collect(options, "intermediate", patterns),
                          .dropped = dropped,
                          .dropped_count = collect(options, "drop", dropped)},
        .raw = options_get(options, "raw") != NULL,
        .path = options_get(options, "output"),
        .options = &of_proof,
        .profile = profile};
    struct optimised result;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (check_names(options, "intermediate", &file->list, &fault) ||
        check_names(options, "drop", &file->list, &fault))
        return print_failure(&style, file->path, &fault);
    if (optimise(&result, file, &request, &fault) || check_target(options, &result.first, &fault) ||
        save(options, &result.text, &fault)) {
        code = print_failure(&style, file->path, &fault);
    } else {
        print_result(options, &result);
        if (options_get(options, "check") && result.after.jobs < result.before.jobs)
            code = EXIT_CODE_FAILED;
    }
    optimised_finish(&result);
    return code;
}

static enum exit_code run(const struct options *options)
{
    const struct print_style style = options_style(options);
    struct job_rules rules = {0};
    struct job_file file;
    struct fault fault;
    enum exit_code code;

    if (check_options(options))
        return EXIT_CODE_INVALID;
    if (job_file_load(&file, options->arguments[0], &fault))
        return print_failure(&style, job_file_label(options->arguments[0]), &fault);
    code = job_rules_init(&rules, options, &fault) ? print_failure(&style, NULL, &fault)
                                                   : optimise_file(options, &file, rules.profile);
    job_rules_finish(&rules);
    job_file_finish(&file);
    return code;
}

const struct command cmd_optimise = {
    .name = "optimise",
    .arguments = "JOB.json",
    .count = 1,
    .summary = "fuse chains of moves into fewer moves",
    .details =
        "Replaces jobs that pass a tensor on through a buffer by one job if one can do the same.\n"
        "Runs the old and new jobs on position-coded data in memory and compares all outputs.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = {{"show which jobs can be fused or removed", "mlictl optimise job.json"},
                 {"write the new job file",
                  "mlictl optimise --all-intermediates job.json -o fused.json"},
                 {"fail in CI if a chain of moves could be one move",
                  "mlictl optimise --check -q job.json"}},
    .run = run,
};
