/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/beanstalk_store.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/queue/beanstalk_index.h"

/* Puts sent before their replies are read. */
enum { AHEAD = 64, ID_MAX = 24 };

/* Adding. */

/* Puts `count` bodies, and sets the ids of their jobs. */
static int put_all(struct tubes *tubes, enum tube tube, char *const *bodies, const size_t *lengths,
                   size_t count, uint32_t ttr_s, uint64_t *ids, struct fault *fault)
{
    struct beanstalk_reply reply;

    if (tubes_use(tubes, tube, fault))
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (beanstalk_put(&tubes->link, PRIORITY_FIRST, ttr_s, bodies[i], lengths[i], fault))
            return -1;
    }
    int status = 0;
    for (size_t i = 0; i < count; i++) {
        if (beanstalk_receive(&tubes->link, &reply, fault))
            return -1;
        if (reply.word != BEANSTALK_INSERTED)
            status = beanstalk_unexpected(&reply, fault);
        ids[i] = reply.id;
    }
    return status;
}

struct chunk {
    const struct queue_case *cases[AHEAD];
    char *bodies[AHEAD];
    size_t lengths[AHEAD];
    uint64_t ids[AHEAD];
    size_t count;
};

static void chunk_clear(struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i++) {
        free(chunk->bodies[i]);
        chunk->bodies[i] = NULL;
    }
}

/* Writes the bodies of the cases, with the ids of their jobs if `ids` is set. */
static int chunk_write(struct chunk *chunk, bool ids, struct fault *fault)
{
    char id[ID_MAX];

    chunk_clear(chunk);
    for (size_t i = 0; i < chunk->count; i++) {
        snprintf(id, sizeof(id), "%" PRIu64, chunk->ids[i]);
        chunk->bodies[i] = queue_record_write(chunk->cases[i], ids ? id : NULL, &chunk->lengths[i]);
        if (!chunk->bodies[i])
            return fault_no_memory(fault);
    }
    return 0;
}

/* Puts the cases first: an enqueue that dies before the records leaves cases that the next enqueue
 * adds a second time, and one of their results counts. */
static int chunk_put(struct tubes *tubes, struct chunk *chunk, uint32_t ttr_s, struct fault *fault)
{
    uint64_t ignored[AHEAD];

    const int status = chunk_write(chunk, false, fault) ||
                       put_all(tubes, TUBE_CASES, chunk->bodies, chunk->lengths, chunk->count,
                               ttr_s, chunk->ids, fault) ||
                       chunk_write(chunk, true, fault) ||
                       put_all(tubes, TUBE_ENQUEUED, chunk->bodies, chunk->lengths, chunk->count,
                               RECORD_TTR_S, ignored, fault);
    chunk_clear(chunk);
    chunk->count = 0;
    return status ? -1 : 0;
}

/* Deletes the job of a case, its results, and its record. This connection holds the last two. A
 * worker may still run the case: its result does not count if the inputs have changed. */
static int delete_old(struct tubes *tubes, const struct enqueued *old, struct fault *fault)
{
    struct beanstalk_reply ignored;

    for (size_t i = 0; i < old->result_count; i++) {
        if (tubes_ask(tubes, "delete", old->results[i], &ignored, fault))
            return -1;
    }
    return tubes_ask(tubes, "delete", old->job, &ignored, fault) ||
           tubes_ask(tubes, "delete", old->id, &ignored, fault);
}

/* Returns whether a known case stays as it is. */
static bool stays(const struct enqueued *old, const struct queue_case *item, bool again)
{
    if (!enqueued_is(&old->item, item))
        return false;
    return !old->result || *old->result == QUEUE_GOOD || (*old->result == QUEUE_BAD && !again);
}

static int check_paths(const struct index *index, const struct queue_case *cases, size_t count,
                       struct fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        const struct enqueued *old = index_find(index, &cases[i]);

        if (old && strcmp(old->item.path, cases[i].path) != 0)
            return queue_refuse_path(&old->item, fault);
    }
    return 0;
}

static int add_to(struct tubes *tubes, const struct index *index, const struct queue_case *cases,
                  size_t count, uint32_t ttr_s, bool again, struct queue_added *added,
                  struct fault *fault)
{
    struct chunk chunk = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        const struct enqueued *old = index_find(index, &cases[i]);

        if (old && stays(old, &cases[i], again)) {
            added->known++;
            continue;
        }
        added->replaced += old != NULL;
        added->added += old == NULL;
        if (old && delete_old(tubes, old, fault))
            return -1;
        chunk.cases[chunk.count++] = &cases[i];
        if (chunk.count == AHEAD && chunk_put(tubes, &chunk, ttr_s, fault))
            return -1;
    }
    return chunk.count ? chunk_put(tubes, &chunk, ttr_s, fault) : 0;
}

int beanstalk_add(void *state, const struct queue_case *cases, size_t count, uint32_t lease_ms,
                  bool again, struct queue_added *added, struct fault *fault)
{
    struct index index = {0};

    *added = (struct queue_added){0};
    int status = index_read(&index, state, fault) || check_paths(&index, cases, count, fault) ||
                 add_to(state, &index, cases, count, (lease_ms + 999) / 1000, again, added, fault);
    index_finish(&index);
    return status ? -1 : tubes_reopen(state, fault);
}

/* Reading. */

int beanstalk_count(void *state, struct queue_counts *counts, struct fault *fault)
{
    struct tube_counts cases, enqueued;

    if (tubes_count(state, TUBE_CASES, &cases, fault) ||
        tubes_count(state, TUBE_ENQUEUED, &enqueued, fault))
        return -1;
    *counts = (struct queue_counts){.cases = enqueued.ready + enqueued.reserved,
                                    .waiting = cases.ready + cases.others,
                                    .leased = cases.reserved};
    const uint64_t open = counts->waiting + counts->leased;
    counts->done = counts->cases > open ? counts->cases - open : 0;
    return 0;
}

/* Reads cases and results; afterwards their jobs are ready again. */
static int read_index(struct tubes *tubes, struct index *index, struct fault *fault)
{
    return index_read(index, tubes, fault) ? -1 : tubes_reopen(tubes, fault);
}

struct visit {
    struct tubes *tubes;
    struct queue_status *status;
    struct queue_entries *entries;
    int result;
    struct fault *fault;
};

/* Adds a holder if a worker has reserved the job of the case. */
static int visit_holder(const struct visit *visit, const struct enqueued *one)
{
    struct beanstalk_reply reply;

    if (one->result)
        return 0;
    if (tubes_ask(visit->tubes, "stats-job", one->job, &reply, visit->fault))
        return -1;
    if (reply.word != BEANSTALK_OK || !beanstalk_stat_is(&reply, "state", "reserved"))
        return 0;
    const struct queue_holder holder = {.name = strdup(one->item.name),
                                        .left_ms = 1000 * beanstalk_stat(&reply, "time-left")};
    if (holder.name && queue_status_add(visit->status, &holder) == 0)
        return 0;
    free(holder.name);
    return fault_no_memory(visit->fault);
}

/* Moves the case to the entries. */
static int visit_entry(const struct visit *visit, struct enqueued *one)
{
    struct queue_entry entry = {.item = one->item};

    if (one->result)
        entry.result = strdup(one->result + 1);
    if ((one->result && !entry.result) || queue_entries_add(visit->entries, &entry)) {
        free(entry.result);
        return fault_no_memory(visit->fault);
    }
    one->item = (struct queue_case){0}; /* The entry owns the strings now. */
    return 0;
}

static void visit_node(const void *node, VISIT order, void *context)
{
    struct visit *visit = context;
    struct enqueued *one = *(struct enqueued *const *)node;

    if (visit->result || (order != postorder && order != leaf))
        return;
    visit->result = visit->entries ? visit_entry(visit, one) : visit_holder(visit, one);
}

int beanstalk_status(void *state, struct queue_status *status, struct fault *fault)
{
    struct index index = {0};
    struct visit visit = {.tubes = state, .status = status, .fault = fault};

    if (beanstalk_count(state, &status->counts, fault) || read_index(state, &index, fault)) {
        index_finish(&index);
        return -1;
    }
    status->counts.failed = index.failed;
    if (status->counts.leased > 0)
        twalk_r(index.root, visit_node, &visit);
    index_finish(&index);
    return visit.result;
}

/* Computes the time from the first result to the last one, in whole seconds: the server knows the
 * ages of jobs. */
static int measure(struct tubes *tubes, const struct index *index, uint64_t *ns,
                   struct fault *fault)
{
    struct beanstalk_reply reply;
    uint64_t first, last;

    if (index->first_result == 0)
        return 0;
    if (tubes_ask(tubes, "stats-job", index->first_result, &reply, fault))
        return -1;
    first = beanstalk_stat(&reply, "age");
    if (tubes_ask(tubes, "stats-job", index->last_result, &reply, fault))
        return -1;
    last = beanstalk_stat(&reply, "age");
    *ns = first > last ? (first - last) * 1000000000 : 0;
    return 0;
}

int beanstalk_read(void *state, struct queue_entries *entries, struct fault *fault)
{
    struct index index = {0};
    struct visit visit = {.entries = entries, .fault = fault};

    visit.result = read_index(state, &index, fault) || measure(state, &index, &entries->ns, fault);
    if (visit.result == 0)
        twalk_r(index.root, visit_node, &visit);
    entries->duplicates = index.duplicates;
    entries->changed = index.changed;
    queue_entries_sort(entries);
    index_finish(&index);
    return visit.result ? -1 : 0;
}

/* Removing. */

/* Deletes the jobs of a tube one by one. */
static int delete_all(struct tubes *tubes, enum tube tube, struct fault *fault)
{
    struct beanstalk_reply reply;

    if (tubes_watch(tubes, tube, fault))
        return -1;
    for (;;) {
        if (tubes_ask(tubes, "reserve-with-timeout", 0, &reply, fault))
            return -1;
        if (reply.word == BEANSTALK_TIMED_OUT)
            return 0;
        if (reply.word != BEANSTALK_RESERVED)
            return beanstalk_unexpected(&reply, fault);
        if (tubes_ask(tubes, "delete", reply.id, &reply, fault))
            return -1;
    }
}

/* The records go last: without them the queue would be empty for another collect. */
int beanstalk_remove(void *state, struct fault *fault)
{
    return delete_all(state, TUBE_CASES, fault) || delete_all(state, TUBE_RESULTS, fault) ||
                   delete_all(state, TUBE_ENQUEUED, fault)
               ? -1
               : 0;
}
