/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/fingerprint.h"
#include "cli/batch/kept.h"
#include "cli/batch/resume.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"

static enum exit_code out_of_memory(void)
{
    print_error("out of memory");
    return EXIT_CODE_FAILED;
}

static bool is_of_shard(const void *context, const char *name)
{
    const struct shard *shard = context;
    return shard_of(name, shard->count) == shard->index;
}

static void outline(struct book *book)
{
    struct cases *cases = book->cases;
    const struct shard *shard = &book->settings->shard;
    book->outline = (struct batch_outline){.total = cases->count, .shard = *shard};
    for (size_t i = 0; i < cases->count; i++)
        book->outline.set = digest_add(book->outline.set, cases->list[i].name);
    if (shard->count)
        cases_retain(cases, is_of_shard, shard);
    book->outline.selected = cases->count;
}

/* "shard 1/4", or what is not sharded. */
static const char *part_text(char out[PRINT_TEXT_MAX], const struct shard *shard)
{
    char text[SHARD_TEXT_MAX];
    if (shard->count == 0)
        return "of all shards";
    snprintf(out, PRINT_TEXT_MAX, "of shard %s", shard_text(text, shard));
    return out;
}

/*
 * Cases come and go, and --filter chooses: what stands in the file of others does no harm. Two
 * shards in one file would be taken for one.
 */
static int check_state(const struct book *book)
{
    const struct shard *now = &book->outline.shard, *then = &book->journal.state.outline.shard;
    char one[PRINT_TEXT_MAX], other[PRINT_TEXT_MAX];
    if (!book->journal.state.begun || (now->index == then->index && now->count == then->count))
        return 0;
    print_error("%s: it is %s, and this run is %s; give each shard its own --resume",
                book->settings->resume, part_text(one, then), part_text(other, now));
    return -1;
}

static enum exit_code open_journal(struct book *book)
{
    struct fault fault;
    if (!book->settings->resume)
        return EXIT_CODE_DONE;
    book->journals = true;
    book->contents = contents_create();
    if (!book->contents)
        return out_of_memory();
    if (journal_open(&book->journal, book->settings->resume, &fault)) {
        print_error("%s", fault.text);
        return exit_code_of(&fault);
    }
    return check_state(book) ? EXIT_CODE_INVALID : EXIT_CODE_DONE;
}

static int choose(struct book *book, const struct setup *setup)
{
    struct cases *cases = book->cases;
    const struct resume resume = {book->settings, &book->journal.state, setup, book->contents};
    book->todo = calloc(cases->count + 1, sizeof(*book->todo));
    book->ended = calloc(cases->count + 1, sizeof(*book->ended));
    book->passed = calloc(cases->count + 1, sizeof(*book->passed));
    book->known = calloc(cases->count + 1, sizeof(*book->known));
    if (!book->todo || !book->ended || !book->passed || !book->known)
        return -1;
    for (size_t i = 0; i < cases->count; i++) {
        struct batch_case *batch_case = &cases->list[i];
        if (book->journals)
            book->known[i] = resume_find(&resume, batch_case);
        if (book->known[i]) {
            book->outline.resumed++;
            book->outline.kept = digest_add(book->outline.kept, batch_case->name);
        } else {
            book->todo[book->todo_count++] = batch_case;
        }
    }
    return 0;
}

enum exit_code book_open(struct book *book, const struct settings *settings, struct cases *cases,
                         const struct options *options, const struct setup *setup)
{
    *book = (struct book){.settings = settings, .cases = cases, .journal.fd = -1};
    outline(book);
    if (settings->list)
        return EXIT_CODE_DONE;
    enum exit_code code = open_journal(book);
    if (code == EXIT_CODE_DONE && choose(book, setup))
        code = out_of_memory();
    if (code == EXIT_CODE_DONE)
        code = batch_report_create(options, &book->report);
    return code;
}

/* A full disk is told at once. Returns 0 or -1. */
static int written(struct book *book, int status, const struct fault *fault)
{
    if (status == 0)
        return 0;
    book->spoilt = true;
    print_error("%s", fault->text);
    return -1;
}

static void tell(struct book *book, const struct case_result *result)
{
    book->summary.count[result->status]++;
    batch_report_result(book->report, result);
}

int book_begin(struct book *book)
{
    struct fault fault;
    book->begin_ns = clock_ns();
    clock_gettime(CLOCK_REALTIME_COARSE, &book->begin);
    if (book->journals &&
        written(book, journal_begin(&book->journal, &book->outline, &fault), &fault))
        return -1;
    batch_report_begin(book->report, &book->outline);
    resume_tell(book->report, book->todo, book->todo_count);
    for (size_t i = 0; i < book->cases->count && book->outline.resumed > 0; i++) {
        const struct case_result *result = book->known[i];
        if (!result)
            continue;
        tell(book, result);
        if (!book->spoilt)
            written(book, journal_keep(&book->journal, result, &fault), &fault);
    }
    return 0;
}

static bool case_ended(void *context, size_t index, const struct trial *trial)
{
    struct book *book = context;
    struct fault fault;
    book->ended[index] = true;
    book->passed[index] = case_status_is_good(trial->result.status, true);
    if (book->journals && !book->spoilt)
        written(book, journal_add(&book->journal, &trial->result, &fault), &fault);
    tell(book, &trial->result);
    if (trial->complains && !book->complained) {
        book->complained = true;
        print_error("--keep: %s", trial->fault.text);
    }
    return !book->spoilt;
}

static void tick(void *context)
{
    struct book *book = context;
    uint32_t repeats = book->settings->trial.repeat;
    uint32_t now = atomic_load_explicit(&book->repeat_now, memory_order_relaxed);
    if (repeats > 1 && now > 0)
        batch_report_repeat(book->report, now, repeats);
    batch_report_tick(book->report, clock_ns() - book->begin_ns);
}

struct runner_ears book_ears(struct book *book)
{
    return (struct runner_ears){.ended = case_ended, .tick = tick, .context = book};
}

static void tell_not_run(struct book *book)
{
    for (size_t i = 0; i < book->todo_count; i++) {
        if (book->ended[i])
            continue;
        book->summary.not_run++;
        batch_report_not_run(book->report, book->todo[i]->name, book->todo[i]->file);
    }
}

static int compare_places(const void *a, const void *b)
{
    return strcmp(((const struct kept_case *)a)->place, ((const struct kept_case *)b)->place);
}

/* The cases of the run by their places; null: no memory. */
static struct kept_case *list_places(const struct book *book, const char *keep)
{
    const struct cases *cases = book->cases;
    struct kept_case *list = calloc(cases->count + 1, sizeof(*list));
    bool failed = !list;
    for (size_t i = 0; i < cases->count && !failed; i++) {
        list[i].place = keep_place(keep, cases->list[i].name);
        list[i].in_use = book->known[i] && !case_status_is_good(book->known[i]->status, true);
        failed = !list[i].place;
    }
    for (size_t i = 0; i < book->todo_count && !failed; i++)
        list[book->todo[i] - cases->list].in_use = !book->passed[i];
    if (!failed) {
        qsort(list, cases->count, sizeof(*list), compare_places);
        return list;
    }
    for (size_t i = 0; list && i < cases->count; i++)
        free(list[i].place);
    free(list);
    return NULL;
}

/* Removes what earlier runs kept of cases that pass now; after a run that is complete. */
static void clean(const struct book *book)
{
    const struct keeping *keeping = &book->settings->trial.keeping;
    if (!keeping->directory)
        return;
    kept_end(keeping->directory);
    struct kept_case *list =
        book->summary.not_run > 0 ? NULL : list_places(book, keeping->directory);
    if (!list)
        return;
    kept_clean(keeping, list, book->cases->count, book->settings->whole, &book->begin);
    for (size_t i = 0; i < book->cases->count; i++)
        free(list[i].place);
    free(list);
}

enum exit_code book_end(struct book *book, enum exit_code exit)
{
    struct batch_summary *summary = &book->summary;
    struct fault fault;
    tell_not_run(book);
    clean(book);
    summary->ns = clock_ns() - book->begin_ns;
    summary->exit = batch_summary_exit(summary, book->settings->flaky_is_good);
    if (book->spoilt)
        summary->exit = EXIT_CODE_FAILED;
    if (exit != EXIT_CODE_DONE && summary->not_run > 0)
        summary->exit = exit;
    if (book->journals && !book->spoilt &&
        written(book, journal_end(&book->journal, summary, &fault), &fault) &&
        summary->exit == EXIT_CODE_DONE)
        summary->exit = EXIT_CODE_FAILED;
    return batch_report_end(book->report, summary);
}

void book_finish(struct book *book)
{
    batch_report_destroy(book->report);
    journal_close(&book->journal);
    contents_destroy(book->contents);
    free(book->todo);
    free(book->ended);
    free(book->passed);
    free(book->known);
}
