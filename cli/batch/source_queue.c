/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/attempt.h"
#include "cli/batch/batch.h"
#include "cli/batch/resume.h"
#include "cli/batch/workers.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"

/* A worker polls the queue again after WAIT_MS. */
enum { WAIT_MS = 30 };

static void lease_free(struct queue_lease *lease)
{
    if (lease)
        queue_case_finish(&lease->item);
    free(lease);
}

static enum source_answer wait_for_more(void)
{
    struct pollfd wait = {.fd = cancel_fd(), .events = POLLIN};

    poll(&wait, 1, WAIT_MS);
    return SOURCE_LATER;
}

static enum source_answer take_none(struct source_queue *source, enum queue_answer answer,
                                    struct fault *fault)
{
    if (answer == QUEUE_LOST)
        return SOURCE_LOST;
    if (answer == QUEUE_LATER || source->follow)
        return wait_for_more();
    if (answer == QUEUE_EMPTY) {
        fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "the queue has no cases: add some with mlictl batch enqueue, or wait for them with "
            "--follow");
        return SOURCE_LOST;
    }
    pthread_mutex_lock(&source->mutex);
    source->ended = true;
    pthread_mutex_unlock(&source->mutex);
    return SOURCE_END;
}

/* Returns how this worker returns a case to the queue because its files differ. Only the first time
 * it is a refusal that the server counts. */
static enum queue_return note_refusal(struct source_queue *source, const char *name)
{
    enum queue_return how = QUEUE_REFUSED;

    pthread_mutex_lock(&source->mutex);
    for (size_t i = 0; i < source->refused_count; i++) {
        if (strcmp(source->refused[i], name) == 0)
            how = QUEUE_REFUSED_AGAIN;
    }
    if (how == QUEUE_REFUSED && source->refused_count < REFUSED_MAX) {
        source->refused[source->refused_count] = strdup(name);
        source->refused_count += source->refused[source->refused_count] != NULL;
    }
    pthread_mutex_unlock(&source->mutex);
    return how;
}

/* Gives back a case because its files differ on this machine. Stops this worker after the third
 * case in a row: the cause is then probably this machine. */
static enum source_answer refuse(struct source_queue *source, struct queue_lease *lease,
                                 const char *why, struct fault *fault)
{
    const struct queue_case *item = &lease->item;
    char shown[PRINT_PATH_MAX];

    if (queue_give_back(source->queue, lease, note_refusal(source, item->name), fault))
        return SOURCE_LOST;
    pthread_mutex_lock(&source->mutex);
    const bool stop = ++source->in_row >= QUEUE_REFUSALS_MAX;
    pthread_mutex_unlock(&source->mutex);
    fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s; the case waits for another worker%s",
              print_path(shown, item->path), why,
              stop ? ". This is the third refusal in a row: compare --root and the files of this "
                     "machine with those of mlictl batch enqueue"
                   : "");
    return stop ? SOURCE_LOST : SOURCE_NOTE;
}

/* Returns why the case must not run here, or NULL. */
static const char *check(const struct source_queue *source, const struct queue_lease *lease,
                         const char *file)
{
    uint64_t inputs;
    struct fault ignored;

    if (!queue_path_is_below(lease->item.path))
        return "the path is absolute or has \"..\"";
    if (case_inputs_read(file, source->contents, &inputs, &ignored))
        return "the job file cannot be read here";
    return inputs == lease->item.inputs
               ? NULL
               : "the files of the case differ from those that were enqueued";
}

/* Sets the verdict of a case that no worker can run. */
static void judge(struct batch_case *batch_case, const struct queue_lease *lease)
{
    if (lease->deliveries > QUEUE_DELIVERIES_MAX) {
        batch_case->reason = CASE_WHY_LOST;
        batch_case->verdict =
            "5 workers took the case, and none of them handed in a result: the case may crash or "
            "block mlictl";
    } else if (lease->refusals >= QUEUE_REFUSALS_MAX) {
        batch_case->reason = CASE_WHY_INPUTS;
        batch_case->verdict =
            "3 workers refused the case: they cannot read its files, or have other files than "
            "those enqueued; compare --root and the files of the machines, and enqueue it again";
    }
}

/* Makes a case from the lease; the case owns the lease from then on. */
static enum source_answer give(struct source_queue *source, struct queue_lease *lease, char *file,
                               struct batch_case **out, struct fault *fault)
{
    struct batch_case *batch_case = calloc(1, sizeof(*batch_case));
    char *name = strdup(lease->item.name);

    if (batch_case)
        *batch_case = (struct batch_case){.name = name, .file = file, .lease = lease};
    pthread_mutex_lock(&source->mutex);
    const bool added = name && batch_case && cases_append(source->cases, batch_case) == 0;
    pthread_mutex_unlock(&source->mutex);
    if (!added) {
        struct fault ignored;

        queue_give_back(source->queue, lease, QUEUE_UNTOUCHED, &ignored);
        free(batch_case);
        free(name);
        free(file);
        lease_free(lease);
        return source_no_memory(fault);
    }
    judge(batch_case, lease);
    *out = batch_case;
    return SOURCE_CASE;
}

static enum source_answer take_case(struct source_queue *source, struct queue_lease *lease,
                                    struct batch_case **out, struct fault *fault)
{
    char *file = NULL;
    const char *why = NULL;
    const bool here = strcmp(source->root, ".") == 0;

    if (asprintf(&file, "%s%s%s", here ? "" : source->root, here ? "" : "/", lease->item.path) < 0)
        file = NULL;
    if (file && lease->deliveries <= QUEUE_DELIVERIES_MAX && lease->refusals < QUEUE_REFUSALS_MAX)
        why = check(source, lease, file);
    if (!file || why) {
        const enum source_answer answer =
            refuse(source, lease, file ? why : "out of memory", fault);

        free(file);
        lease_free(lease);
        return answer;
    }
    return give(source, lease, file, out, fault);
}

static enum source_answer take(void *context, struct batch_case **out, struct fault *fault)
{
    struct source_queue *source = context;
    struct queue_lease *lease = calloc(1, sizeof(*lease));

    if (!lease)
        return source_no_memory(fault);
    const enum queue_answer answer = queue_take(source->queue, lease, fault);
    if (answer == QUEUE_CASE)
        return take_case(source, lease, out, fault);
    free(lease);
    return take_none(source, answer, fault);
}

/* Handing in. */

/* Returns the "case" event of a result, on the heap; or NULL if out of memory. */
static char *write_result(const struct case_result *result)
{
    struct jsonw w;

    jsonw_init_object(&w);
    case_result_write(&w, result, true);
    jsonw_object_end(&w);
    const char *text = jsonw_text(&w);
    char *copy = text ? strdup(text) : NULL;
    jsonw_finish(&w);
    return copy;
}

static void uncount(struct trial *trial, const struct batch_case *batch_case, const char *why)
{
    char shown[PRINT_PATH_MAX];

    trial->end = ATTEMPT_UNCOUNTED;
    fault_set(&trial->fault, FAULT_INVALID_PARAMS, NULL, "%s: %s",
              print_path(shown, batch_case->name), why);
}

static void settle(struct trial *trial, const struct batch_case *batch_case,
                   enum queue_outcome outcome)
{
    static const char *const whys[] = {
        [QUEUE_COUNTED] = NULL,
        [QUEUE_DUPLICATE] =
            "another worker has finished the case already; this result does not count",
        [QUEUE_CHANGED] =
            "the case was enqueued again with other files; this result does not count",
        [QUEUE_UNKNOWN] = "the queue no longer has this case; this result does not count"};

    if (whys[outcome])
        uncount(trial, batch_case, whys[outcome]);
}

static void hand_in(struct source_queue *source, const struct batch_case *batch_case,
                    struct trial *trial)
{
    const enum queue_grade grade = case_status_is_good(trial->result.status, true) ? QUEUE_GOOD
                                   : batch_case->verdict                           ? QUEUE_UNTRIED
                                                                                   : QUEUE_BAD;
    char *result = write_result(&trial->result);
    enum queue_outcome outcome = QUEUE_COUNTED;
    int status;

    if (result)
        status =
            queue_finish(source->queue, batch_case->lease, result, grade, &outcome, &trial->fault);
    else
        status =
            queue_give_back(source->queue, batch_case->lease, QUEUE_UNTOUCHED, &trial->fault) ||
            fault_no_memory(&trial->fault);
    if (status)
        trial->end = ATTEMPT_LOST;
    else
        settle(trial, batch_case, outcome);
    free(result);
}

static void ended(void *context, struct batch_case *batch_case, struct trial *trial)
{
    struct source_queue *source = context;
    struct queue_lease *lease = batch_case->lease;
    struct fault ignored;

    if (trial->end != ATTEMPT_ENDED) {
        queue_give_back(source->queue, lease, QUEUE_UNTOUCHED, &ignored);
    } else if (!batch_case->verdict &&
               case_inputs_of(&trial->result.fingerprint) != lease->item.inputs) {
        if (queue_give_back(source->queue, lease, note_refusal(source, lease->item.name),
                            &trial->fault))
            trial->end = ATTEMPT_LOST;
        else
            uncount(trial, batch_case,
                    "its files changed while it ran; it waits for another worker");
    } else {
        pthread_mutex_lock(&source->mutex);
        source->in_row = 0;
        pthread_mutex_unlock(&source->mutex);
        hand_in(source, batch_case, trial);
    }
    lease_free(lease);
    batch_case->lease = NULL;
}

int source_queue_open(struct source_queue *source, const struct options *options,
                      struct fault *fault)
{
    const char *root = options_get(options, "root");
    char shown[QUEUE_SHOWN_MAX];

    source->root = root ? root : ".";
    source->follow = options_get(options, "follow") != NULL;
    pthread_mutex_init(&source->mutex, NULL);
    return batch_queue_open(options, &source->queue, shown, fault);
}

struct case_source source_queue_of(struct source_queue *source)
{
    return (struct case_source){.take = take, .ended = ended, .context = source};
}

void source_queue_finish(struct source_queue *source)
{
    if (!source->root)
        return;
    for (size_t i = 0; i < source->refused_count; i++)
        free(source->refused[i]);
    queue_close(source->queue);
    pthread_mutex_destroy(&source->mutex);
}
