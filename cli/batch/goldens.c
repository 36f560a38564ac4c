/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/goldens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/job/produced.h"
#include "cli/tensor/params.h"
#include "proto/file/job_spec.h"

static const char suffix[] = ".new";

char *golden_new(const char *golden)
{
    struct stat status;
    char *path = NULL;

    if (!golden || asprintf(&path, "%s%s", golden, suffix) < 0)
        return NULL;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        return path;
    free(path);
    return NULL;
}

/*
 * Calls `visit` with the path of each file that the jobs name, until it returns true; `golden`: the
 * file has expected elements or parameters. Returns whether it did; also if out of memory.
 */
static bool any_file(const struct job_file *file,
                     bool (*visit)(void *context, char *path, bool golden), void *context)
{
    bool stop = false;

    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[i];
        const char *const names[] = {job->expect.golden.file, job->expect.golden.params,
                                     job->src.file, job->dst.file, job->dst.params};

        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]) && !stop; k++) {
            char *path = names[k] ? job_file_path(file, names[k]) : NULL;

            stop = names[k] && (!path || visit(context, path, k < 2));
            free(path);
        }
    }
    return stop;
}

static bool has_new(void *context, char *path, bool golden)
{
    char *fresh = golden ? golden_new(path) : NULL;
    const bool has = fresh != NULL;

    (void)context;
    free(fresh);
    return has;
}

bool goldens_have_new(const struct job_file *file)
{
    return any_file(file, has_new, NULL);
}

/* A set of paths. */

static bool set_has(const struct produced *set, const char *path)
{
    const struct tensor_file *found;

    return produced_find(set, path, &found) == 0 && found;
}

/* Returns 0, or -errno. */
static int set_add(struct produced *set, const char *path)
{
    static const struct tensor_file closed = {.fd = -1};

    return produced_add(set, path, &closed, -1);
}

/* Adds a file, and with `golden` its GOLDEN.new. Returns 0, or -errno. */
static int set_add_both(struct produced *set, const char *path, bool golden)
{
    char *fresh = golden ? golden_new(path) : NULL;
    int error = set_add(set, path);

    if (!error && fresh)
        error = set_add(set, fresh);
    free(fresh);
    return error;
}

/* Removing GOLDEN.new. */

struct cleaning {
    struct produced needed; /* files that jobs name, and GOLDEN.new of cases that do not pass */
    struct batch_report *report;
    bool passed; /* the current case has passed */
};

static bool need(void *context, char *path, bool golden)
{
    struct cleaning *cleaning = context;

    return set_add_both(&cleaning->needed, path, golden && !cleaning->passed);
}

static bool clean(void *context, char *path, bool golden)
{
    struct cleaning *cleaning = context;
    char *fresh = golden && cleaning->passed ? golden_new(path) : NULL, *text = NULL;

    if (fresh && !set_has(&cleaning->needed, fresh) && unlink(fresh) == 0 &&
        asprintf(&text, "%s is removed: its case passes again", fresh) >= 0)
        batch_report_note(cleaning->report, text);
    free(text);
    free(fresh);
    return false;
}

/* Calls `visit` for the files of all cases, until it returns true. Returns whether it did. */
static bool any_of_cases(const struct cases *cases, struct cleaning *cleaning,
                         bool (*visit)(void *context, char *path, bool golden))
{
    bool stop = false;
    struct job_file file;
    struct fault ignored;

    for (size_t i = 0; i < cases->count && !stop; i++) {
        if (job_file_load(&file, cases->list[i]->file, &ignored))
            continue;
        cleaning->passed = cases->list[i]->passed;
        stop = any_file(&file, visit, cleaning);
        job_file_finish(&file);
    }
    return stop;
}

void goldens_clean(const struct cases *cases, struct batch_report *report)
{
    struct cleaning cleaning = {.report = report};

    if (!any_of_cases(cases->left_out, &cleaning, need) && !any_of_cases(cases, &cleaning, need))
        any_of_cases(cases, &cleaning, clean);
    produced_finish(&cleaning.needed);
}

/* --unused. */

struct listing {
    struct print_style *style;
    struct cases *others;        /* files that may be unused */
    struct produced used;        /* files that jobs name, GOLDEN.new, and files that were printed */
    struct produced directories; /* directories whose files are in `others` */
    struct fault fault;
};

static void put(void *context, const char *path)
{
    const struct print_style *style = context;
    struct jsonw w;

    print_line(style, "%s", path);
    if (!style->json)
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", path);
    print_object(&w);
}

/* Returns whether the file may be a golden file or GOLDEN.new: a tensor by its ending, or a file
 * of parameters by its content. */
static bool may_be_golden(const char *path)
{
    const size_t length = strlen(path), cut = strlen(suffix);
    const bool is_new = length > cut && strcmp(path + length - cut, suffix) == 0;
    char *name = strndup(path, is_new ? length - cut : length);
    const char *dot = name ? strrchr(name, '.') : NULL;
    bool may = dot && strcmp(dot + 1, file_format_word(file_format_of_name(name))) == 0;

    if (dot && strcmp(dot, ".json") == 0) {
        struct tensor_desc params;
        struct fault ignored;

        may = params_load(&params, path, -1, &ignored) == 0;
        tensor_desc_finish(&params);
    }
    free(name);
    return may;
}

/* Marks a file as used. For a golden file also marks GOLDEN.new, and adds the files in its
 * directory to the list. */
static bool use(void *context, char *path, bool golden)
{
    struct listing *listing = context;
    const bool failed = set_add_both(&listing->used, path, golden);
    char *slash = strrchr(path, '/');

    if (slash)
        slash[slash == path] = '\0'; /* the directory; "/" stays */
    const char *directory = slash ? path : ".";
    if (failed || !golden || set_has(&listing->directories, directory))
        return failed;
    return set_add(&listing->directories, directory) ||
           cases_add_files(listing->others, directory, &listing->fault);
}

static enum exit_code use_cases(struct listing *listing, const struct cases *cases)
{
    struct job_file file;

    for (size_t i = 0; i < cases->count; i++) {
        const char *path = cases->list[i]->file;

        if (job_file_load(&file, path, &listing->fault))
            return print_failure(listing->style, path, &listing->fault);
        fault_no_memory(&listing->fault); /* the usual reason to fail */
        const bool failed = any_file(&file, use, listing);
        job_file_finish(&file);
        if (failed)
            return print_failure(listing->style, NULL, &listing->fault);
    }
    return EXIT_CODE_DONE;
}

enum exit_code goldens_list_unused(const struct cases *cases, const struct keeping *keeping,
                                   struct print_style *style)
{
    struct listing listing = {.style = style, .others = cases->others};
    enum exit_code code = use_cases(&listing, cases);

    for (size_t i = 0; i < listing.others->count && code == EXIT_CODE_DONE; i++) {
        const char *path = listing.others->list[i]->file;

        if (set_has(&listing.used, path) || !may_be_golden(path))
            continue;
        put(style, path);
        if (set_add(&listing.used, path))
            code = print_no_memory();
    }
    if (code == EXIT_CODE_DONE && keeping->directory)
        kept_list_unused(keeping, cases, put, style);
    produced_finish(&listing.used);
    produced_finish(&listing.directories);
    return code;
}
