/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/beanstalk_store.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/queue/beanstalk_tubes.h"

/* Puts sent before their replies are read. */
enum { AHEAD = 64, ID_MAX = 24 };

/* A case of the tube NAME-enqueued. */
struct enqueued {
    struct queue_case item;
    uint64_t id;  /* of this record */
    uint64_t job; /* of the case in the tube NAME */
    char *result; /* the first result with these inputs: GOOD and JSON; or NULL */
};

/* The cases by name: a tree of struct enqueued. */
struct index {
    void *root;
    uint64_t count, failed, duplicates, changed;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct enqueued *)a)->item.name, ((const struct enqueued *)b)->item.name);
}

static void enqueued_free(void *one)
{
    struct enqueued *enqueued = one;

    queue_case_finish(&enqueued->item);
    free(enqueued->result);
    free(enqueued);
}

static void index_finish(struct index *index)
{
    tdestroy(index->root, enqueued_free);
}

static struct enqueued *find(const struct index *index, const struct queue_case *item)
{
    const struct enqueued key = {.item = *item};
    struct enqueued *const *node = tfind(&key, &index->root, compare);

    return node ? *node : NULL;
}

static bool is_equal(const struct queue_case *a, const struct queue_case *b)
{
    return a->inputs == b->inputs && strcmp(a->name, b->name) == 0 && strcmp(a->path, b->path) == 0;
}

static int foreign(struct fault *fault)
{
    (void)fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                    "the tubes have jobs of another program; use another NAME");
    return -1;
}

static int read_record(const char *body, size_t length, struct queue_case *item, char **rest,
                       struct fault *fault)
{
    const char *more = NULL;
    size_t more_length = 0;

    *rest = NULL;
    switch (queue_record_read(body, length, item, &more, &more_length)) {
    case RECORD_INVALID:
        return foreign(fault);
    case RECORD_NO_MEMORY:
        return fault_no_memory(fault);
    case RECORD_GOOD:
        break;
    }
    *rest = more ? strndup(more, more_length) : NULL;
    if (*rest)
        return 0;
    queue_case_finish(item);
    return more ? fault_no_memory(fault) : foreign(fault);
}

/* Adds a case of the tube NAME-enqueued. Of two for one name, which an enqueue that died leaves,
 * the newer one counts. */
static int take_enqueued(void *context, uint64_t id, const char *body, size_t length,
                         struct fault *fault)
{
    struct index *index = context;
    struct enqueued *one = calloc(1, sizeof(*one));
    char *job = NULL;

    if (!one)
        return fault_no_memory(fault);
    if (read_record(body, length, &one->item, &job, fault)) {
        free(one);
        return -1;
    }
    one->id = id;
    one->job = strtoull(job, NULL, 10);
    free(job);
    struct enqueued **node = tsearch(one, &index->root, compare);
    if (!node) {
        enqueued_free(one);
        return fault_no_memory(fault);
    }
    index->count += *node == one;
    if (*node != one) {
        struct enqueued *older = (*node)->id < id ? *node : one;

        *node = older == one ? *node : one;
        enqueued_free(older);
    }
    return 0;
}

/* Notes a result: the first one with the inputs of its case counts. */
static int take_result(void *context, uint64_t id, const char *body, size_t length,
                       struct fault *fault)
{
    struct index *index = context;
    struct queue_case item;
    char *result;

    (void)id;
    if (read_record(body, length, &item, &result, fault))
        return -1;
    struct enqueued *one = find(index, &item);
    if (!one || !is_equal(&one->item, &item)) {
        index->changed++;
    } else if (one->result) {
        index->duplicates++;
    } else {
        one->result = result;
        index->failed += *result == '0';
        result = NULL;
    }
    free(result);
    queue_case_finish(&item);
    return 0;
}

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

/* Deletes the job of a case with other inputs, and its record, which this connection holds. A
 * worker may still run it: its result will not count. */
static int delete_old(struct tubes *tubes, const struct enqueued *old, struct fault *fault)
{
    struct beanstalk_reply ignored;

    return tubes_ask(tubes, "delete", old->job, &ignored, fault) ||
           tubes_ask(tubes, "delete", old->id, &ignored, fault);
}

static int add_to(struct tubes *tubes, const struct index *index, const struct queue_case *cases,
                  size_t count, uint32_t ttr_s, struct queue_added *added, struct fault *fault)
{
    struct chunk chunk = {.count = 0};

    for (size_t i = 0; i < count; i++) {
        const struct enqueued *old = find(index, &cases[i]);

        if (old && is_equal(&old->item, &cases[i])) {
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
                  struct queue_added *added, struct fault *fault)
{
    struct index index = {0};

    *added = (struct queue_added){0};
    int status = tubes_read(state, TUBE_ENQUEUED, take_enqueued, &index, fault);
    if (status == 0)
        status = add_to(state, &index, cases, count, (lease_ms + 999) / 1000, added, fault);
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
    return tubes_read(tubes, TUBE_ENQUEUED, take_enqueued, index, fault) ||
                   tubes_read(tubes, TUBE_RESULTS, take_result, index, fault) ||
                   tubes_reopen(tubes, fault)
               ? -1
               : 0;
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

int beanstalk_read(void *state, struct queue_entries *entries, struct fault *fault)
{
    struct index index = {0};
    struct visit visit = {.entries = entries, .fault = fault};

    if (read_index(state, &index, fault) == 0)
        twalk_r(index.root, visit_node, &visit);
    else
        visit.result = -1;
    entries->duplicates = index.duplicates;
    entries->changed = index.changed;
    queue_entries_sort(entries);
    index_finish(&index);
    return visit.result;
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
