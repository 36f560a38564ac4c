/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists that backends fill: leases and entries. */
#include <stdlib.h>
#include <string.h>

#include "cli/queue/queue.h"
#include "cli/term/print.h"

enum { FIRST_CAPACITY = 64 };

static void holder_finish(struct queue_holder *holder)
{
    free(holder->name);
    free(holder->worker);
}

void queue_status_finish(struct queue_status *status)
{
    for (size_t i = 0; i < status->count; i++)
        holder_finish(&status->holders[i]);
    free(status->holders);
    *status = (struct queue_status){0};
}

int queue_status_add(struct queue_status *status, const struct queue_holder *holder)
{
    if (status->count == status->capacity) {
        const size_t capacity = status->capacity ? 2 * status->capacity : FIRST_CAPACITY;
        struct queue_holder *list = reallocarray(status->holders, capacity, sizeof(*list));

        if (!list)
            return -1;
        status->holders = list;
        status->capacity = capacity;
    }
    status->holders[status->count++] = *holder;
    return 0;
}

int queue_refuse_path(const struct queue_case *known, struct fault *fault)
{
    char shown[2][PRINT_PATH_MAX];

    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "it has a case %s already, with the job file %s: use another NAME for other "
                     "cases, or remove the queue with mlictl batch collect --remove",
                     print_path(shown[0], known->name), print_path(shown[1], known->path));
}

static void entry_finish(struct queue_entry *entry)
{
    queue_case_finish(&entry->item);
    free(entry->result);
}

void queue_entries_finish(struct queue_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        entry_finish(&entries->list[i]);
    free(entries->list);
    *entries = (struct queue_entries){0};
}

int queue_entries_add(struct queue_entries *entries, const struct queue_entry *entry)
{
    if (entries->count == entries->capacity) {
        const size_t capacity = entries->capacity ? 2 * entries->capacity : FIRST_CAPACITY;
        struct queue_entry *list = reallocarray(entries->list, capacity, sizeof(*list));

        if (!list)
            return -1;
        entries->list = list;
        entries->capacity = capacity;
    }
    entries->list[entries->count++] = *entry;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct queue_entry *)a)->item.name,
                  ((const struct queue_entry *)b)->item.name);
}

void queue_entries_sort(struct queue_entries *entries)
{
    size_t kept = 0;

    if (entries->count > 1)
        qsort(entries->list, entries->count, sizeof(*entries->list), compare_entries);
    for (size_t i = 0; i < entries->count; i++) {
        if (kept > 0 && compare_entries(&entries->list[kept - 1], &entries->list[i]) == 0)
            entry_finish(&entries->list[i]);
        else
            entries->list[kept++] = entries->list[i];
    }
    entries->count = kept;
}
