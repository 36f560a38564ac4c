/* SPDX-License-Identifier: BSD-3-Clause */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/resume.h"
#include "cli/file/place.h"
#include "cli/file/text.h"
#include "cli/term/print.h"
#include "proto/file/job_spec.h"
#include "proto/grow.h"
#include "proto/json/jsonw.h"
#include "proto/wire/xxh64.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Adds a borrowed name to a tree. Returns 1 if the name is new, 0 if the tree had it, -1 if out of
 * memory. */
static int add_name(void **names, const char *name)
{
    const char *const *node = tsearch(name, names, compare_names);

    return node ? *node == name : -1;
}

static void keep_name(void *name)
{
    (void)name;
}

struct collector {
    struct fingerprint *fingerprint;
    void *known; /* tree of names: files in the fingerprint, and files that an earlier job writes */
    size_t bytes; /* total bytes of the names in the fingerprint */
    size_t capacity;
};

static int note(struct collector *collector, enum input_role role, const char *name)
{
    struct fingerprint *fingerprint = collector->fingerprint;

    const int fresh = name ? add_name(&collector->known, name) : 0;
    if (fresh <= 0)
        return fresh;
    collector->bytes += strlen(name);
    if (fingerprint->count == FINGERPRINT_FILES_MAX || collector->bytes > FINGERPRINT_NAMES_MAX ||
        list_grow(&fingerprint->files, fingerprint->count, &collector->capacity,
                  sizeof(*fingerprint->files)))
        return -1;
    struct input_file *file = &fingerprint->files[fingerprint->count];
    *file = (struct input_file){.role = role, .name = strdup(name)};
    fingerprint->count += file->name != NULL;
    return file->name ? 0 : -1;
}

static int collect(struct collector *collector, const struct job_file *file)
{
    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->list.order[i]];

        if (note(collector, INPUT_SRC, job->src.file) ||
            (job->dst.update && !job->dst.part && note(collector, INPUT_DST, job->dst.file)) ||
            note(collector, INPUT_EXPECT, job->expect.golden.file) ||
            note(collector, INPUT_EXPECT, job->expect.golden.params))
            return -1;
        if ((job->dst.file && add_name(&collector->known, job->dst.file) < 0) ||
            (job->dst.params && add_name(&collector->known, job->dst.params) < 0))
            return -1;
    }
    return 0;
}

static void note_contents(struct fingerprint *fingerprint, const struct job_file *file,
                          struct contents *contents, bool recheck)
{
    for (size_t i = 0; i < fingerprint->count; i++) {
        struct content *content = &fingerprint->files[i].content, now = {.word = CONTENT_CHANGED};
        char *path = job_file_path(file, fingerprint->files[i].name);

        if (!recheck && path)
            contents_find(contents, path, content);
        else if (!path || !contents_same(contents, path, content, &now))
            *content = (struct content){.word = CONTENT_CHANGED};
        free(path);
    }
}

/* Clears the fingerprint except job_file, which is known even if the other inputs are not. */
static void forget_inputs(struct fingerprint *fingerprint)
{
    uint64_t job_file = fingerprint->job_file;

    fingerprint_finish(fingerprint);
    fingerprint->job_file = job_file;
}

void resume_note_inputs(struct fingerprint *fingerprint, const struct job_file *file,
                        struct contents *contents)
{
    struct collector collector = {.fingerprint = fingerprint};

    fingerprint->known = collect(&collector, file) == 0;
    tdestroy(collector.known, keep_name);
    if (fingerprint->known)
        note_contents(fingerprint, file, contents, false);
    else
        forget_inputs(fingerprint);
}

void resume_recheck_inputs(struct fingerprint *fingerprint, const struct job_file *file,
                           struct contents *contents)
{
    note_contents(fingerprint, file, contents, true);
}

static const char *how_changed(const struct content *then, const struct content *now)
{
    if (strcmp(now->word, CONTENT_MISSING) == 0)
        return "is missing now";
    return strcmp(then->word, CONTENT_MISSING) == 0 ? "exists now" : "changed";
}

/* Returns whether an input has changed. *why then says which one, on the heap; NULL: no memory. */
static bool changed_input(const struct fingerprint *fingerprint, const char *path,
                          struct contents *contents, char **why)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;

    for (size_t i = 0; i < fingerprint->count; i++) {
        const struct input_file *file = &fingerprint->files[i];
        struct content now = {.word = CONTENT_CHANGED};
        char *joined;

        if (asprintf(&joined, "%.*s%s", *file->name == '/' ? 0 : length, path, file->name) < 0)
            joined = NULL;
        bool same = joined && contents_same(contents, joined, &file->content, &now);

        if (!same && joined)
            place_simplify(joined);
        if (!same && (!joined || asprintf(why, "%s %s %s", input_role_text(file->role), joined,
                                          how_changed(&file->content, &now)) < 0))
            *why = NULL;
        free(joined);
        if (!same)
            return true;
    }
    return false;
}

enum { REASONS_SHOWN_MAX = 8 };

/* Check the setup first: if it changed, no file has to be read. */
static const char *common_reason(const struct fingerprint *then, const struct run_setup *now)
{
    if (!then->known)
        return "the state file has no complete fingerprint of the case";
    if (then->setup.program != now->program)
        return "mlictl changed";
    if (then->setup.service != now->service)
        return "the engine, its channels, the target profile, $MLI_CPU_MASK, $MLI_STREAM_MIN or "
               "the daemon changed";
    if (then->setup.options != now->options)
        return "an option that can change results changed, such as --repeat or --timeout";
    return NULL;
}

/* Returns whether the kept case exists where this run would keep it. */
static bool is_kept(const struct keeping *keeping, const struct case_result *then)
{
    static const char job[] = "/job.json";
    char *place = kept_place(keeping->directory, then->name);
    size_t length = place ? strlen(place) : 0;
    bool there = place && strncmp(then->kept, place, length) == 0 &&
                 strcmp(then->kept + length, job) == 0 && access(then->kept, F_OK) == 0;

    free(place);
    return there;
}

/* A result of an earlier run names files that this run wrote. Returns why the result cannot be used
 * any more, such as a missing file, or NULL. */
static const char *output_reason(const struct resume *resume, const struct case_result *then)
{
    const struct keeping *keeping = resume->keeping;

    if (then->status == CASE_UPDATED)
        return "--update-golden must write its result again";
    if (then->kept && keeping->directory && !is_kept(keeping, then))
        return "its kept files are missing";
    return NULL;
}

/* Cuts "; the result is batch-failed/a/given.npy" off the message. */
static void cut_given(struct case_result *result)
{
    const char *slash = strrchr(result->kept, '/');
    char *given = NULL, *at;
    int length = slash ? (int)(slash - result->kept) + 1 : 0;

    if (!result->message || asprintf(&given, RESULT_GIVEN "%.*sgiven.", length, result->kept) < 0)
        return;
    at = strstr(result->message, given);
    if (at)
        *at = '\0';
    free(given);
}

/* Removes the paths of kept files that no longer exist from the result. */
static void drop_kept(struct case_result *result)
{
    if (!result->kept || access(result->kept, F_OK) == 0)
        return;
    cut_given(result);
    free(result->kept);
    free(result->rerun_command);
    result->kept = result->rerun_command = NULL;
}

/* Sets *valid. If the result is not valid, returns the reason, on the heap, or NULL if out of
 * memory. */
static char *reason_of(const struct resume *resume, const struct case_result *then,
                       struct batch_case *batch_case, bool *valid)
{
    const char *why = common_reason(&then->fingerprint, resume->setup);
    bool changed = false;
    char *text = NULL;

    if (!why && then->fingerprint.job_file != case_digest(batch_case))
        why = "the job file changed";
    if (!why)
        changed = changed_input(&then->fingerprint, batch_case->file, resume->contents, &text);
    if (!why && !changed && resume->rerun &&
        !case_status_is_good(then->status, resume->flaky_is_good))
        why = "the last result was not a pass";
    if (!why && !changed)
        why = output_reason(resume, then);
    *valid = !why && !changed;
    return why ? strdup(why) : text;
}

const struct case_result *resume_find(const struct resume *resume, struct batch_case *batch_case)
{
    struct state_record *record = state_find(resume->state, batch_case->name);
    bool valid;

    if (!record)
        return NULL;
    batch_case->rerun_reason = reason_of(resume, &record->result, batch_case, &valid);
    if (!valid)
        return NULL;
    drop_kept(&record->result);
    return &record->result;
}

struct reason {
    const struct batch_case *first;
    size_t count;
};

/* Returns the entry for the reason of a case, or NULL if the table is full. */
static struct reason *reason_for(struct reason *reasons, size_t *count,
                                 const struct batch_case *batch_case)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(reasons[i].first->rerun_reason, batch_case->rerun_reason) == 0)
            return &reasons[i];
    }
    if (*count == REASONS_SHOWN_MAX)
        return NULL;
    reasons[*count] = (struct reason){.first = batch_case};
    return &reasons[(*count)++];
}

static void report_reason(struct batch_report *report, const struct reason *reason)
{
    struct textw w;

    textw_init(&w);
    if (reason->count == 1)
        textw_printf(&w, "%s runs again: %s", reason->first->file, reason->first->rerun_reason);
    else
        textw_printf(&w, "%zu cases run again: %s", reason->count, reason->first->rerun_reason);
    if (w.failed)
        print_lost();
    else
        batch_report_note(report, w.data);
    textw_finish(&w);
}

void resume_report(struct batch_report *report, struct batch_case *const *cases, size_t count)
{
    struct reason reasons[REASONS_SHOWN_MAX];
    size_t shown = 0, others = 0;
    char text[80];

    for (size_t i = 0; i < count; i++) {
        struct reason *reason =
            cases[i]->rerun_reason ? reason_for(reasons, &shown, cases[i]) : NULL;

        if (reason)
            reason->count++;
        else if (cases[i]->rerun_reason)
            others++;
    }
    for (size_t i = 0; i < shown; i++)
        report_reason(report, &reasons[i]);
    if (others == 0)
        return;
    snprintf(text, sizeof(text), "%zu more cases run again, for other reasons", others);
    batch_report_note(report, text);
}

uint64_t case_inputs_of(const struct fingerprint *fingerprint)
{
    struct xxh64 x;

    xxh64_init(&x);
    xxh64_add(&x, &fingerprint->job_file, sizeof(fingerprint->job_file));
    for (size_t i = 0; fingerprint->known && i < fingerprint->count; i++) {
        const struct input_file *file = &fingerprint->files[i];
        const char *role = input_role_text(file->role);

        xxh64_add(&x, role, strlen(role) + 1);
        xxh64_add(&x, file->name, strlen(file->name) + 1);
        xxh64_add(&x, file->content.word, strlen(file->content.word) + 1);
    }
    return xxh64_value(&x);
}

int case_inputs_read(const char *path, struct contents *contents, uint64_t *inputs,
                     struct fault *fault)
{
    struct fingerprint fingerprint = {.known = true};
    struct job_file file;
    struct text text = {0};
    struct fault ignored;
    char shown[PRINT_PATH_MAX];
    const int status = text_load(&text, path, JOB_FILE_BYTES_MAX, true, fault);

    if (status) {
        const struct fault why = *fault;

        fault_set(fault, why.code, NULL, "%s: %s", print_path(shown, path), why.text);
    } else {
        fingerprint.job_file = digest64(text.bytes, text.length);
        /* If the job file is invalid, no other file can change the result. */
        if (job_file_load_text(&file, path, &text, &ignored) == 0) {
            resume_note_inputs(&fingerprint, &file, contents);
            job_file_finish(&file);
        }
        *inputs = case_inputs_of(&fingerprint);
    }
    fingerprint_finish(&fingerprint);
    text_finish(&text);
    return status;
}
