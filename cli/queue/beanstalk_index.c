/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/beanstalk_index.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct enqueued *)a)->item.name, ((const struct enqueued *)b)->item.name);
}

static void enqueued_free(void *one)
{
    struct enqueued *enqueued = one;

    queue_case_finish(&enqueued->item);
    free(enqueued->results);
    free(enqueued->result);
    free(enqueued);
}

void index_finish(struct index *index)
{
    tdestroy(index->root, enqueued_free);
}

struct enqueued *index_find(const struct index *index, const struct queue_case *item)
{
    const struct enqueued key = {.item = *item};
    struct enqueued *const *node = tfind(&key, &index->root, compare);

    return node ? *node : NULL;
}

bool enqueued_is(const struct queue_case *a, const struct queue_case *b)
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

static int note_job(struct enqueued *one, uint64_t id, struct fault *fault)
{
    uint64_t *results = reallocarray(one->results, one->result_count + 1, sizeof(*results));

    if (!results)
        return fault_no_memory(fault);
    one->results = results;
    results[one->result_count++] = id;
    return 0;
}

/* Notes a result: the first one with the inputs of its case counts. */
static int take_result(void *context, uint64_t id, const char *body, size_t length,
                       struct fault *fault)
{
    struct index *index = context;
    struct queue_case item;
    char *result;
    int status = 0;

    if (read_record(body, length, &item, &result, fault))
        return -1;
    struct enqueued *one = index_find(index, &item);
    if (!one || !enqueued_is(&one->item, &item)) {
        index->changed++;
    } else if ((status = note_job(one, id, fault)) == 0 && one->result) {
        index->duplicates++;
    } else if (status == 0) {
        one->result = result;
        index->failed += *result != QUEUE_GOOD;
        if (index->first_result == 0)
            index->first_result = id;
        index->last_result = id;
        result = NULL;
    }
    free(result);
    queue_case_finish(&item);
    return status;
}

int index_read(struct index *index, struct tubes *tubes, struct fault *fault)
{
    return tubes_read(tubes, TUBE_ENQUEUED, take_enqueued, index, fault) ||
                   tubes_read(tubes, TUBE_RESULTS, take_result, index, fault)
               ? -1
               : 0;
}
