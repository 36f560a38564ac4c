/* SPDX-License-Identifier: BSD-3-Clause */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "client.h"
#include "history.h"
#include "refs.h"
#include "seam.h"
#include "state.h"
#include "task.h"

/* The most that one job takes: a name, a pointer and a sentence, all of it escaped. */
enum { ITEM_MAX = 8 * 1024 };

static bool matches(const struct entry *entry, const struct client *client,
                    const struct job_list_query *query)
{
    return (query->before == 0 || entry->number < query->before) &&
           (query->client == 0 || entry->client == query->client) &&
           (query->states == 0 || (query->states >> entry_state(entry) & 1)) &&
           (!query->name || (entry->name && strcmp(entry->name, query->name) == 0)) &&
           refs_visible(client, entry);
}

/*
 * The entries are a heap with the lowest number at its root while they are gathered: of many jobs
 * only those stay that are asked for, whatever the order in which they come.
 */
static void sink(struct listing *listing, uint32_t at)
{
    const struct entry **heap = listing->entries;

    for (;;) {
        uint32_t lowest = 2 * at + 1;
        const struct entry *moved = heap[at];

        if (lowest >= listing->count)
            return;
        if (lowest + 1 < listing->count && heap[lowest + 1]->number < heap[lowest]->number)
            lowest++;
        if (moved->number < heap[lowest]->number)
            return;
        heap[at] = heap[lowest];
        heap[lowest] = moved;
        at = lowest;
    }
}

static void rise(struct listing *listing, uint32_t at)
{
    const struct entry **heap = listing->entries;

    while (at > 0 && heap[at]->number < heap[(at - 1) / 2]->number) {
        const struct entry *moved = heap[at];

        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
        heap[at] = moved;
    }
}

static void offer(struct listing *listing, const struct entry *entry)
{
    if (listing->count < listing->capacity) {
        listing->entries[listing->count] = entry;
        rise(listing, listing->count++);
    } else if (entry->number > listing->entries[0]->number) {
        listing->entries[0] = entry;
        sink(listing, 0);
    }
}

static int compare(const void *a, const void *b)
{
    const struct entry *const *left = a, *const *right = b;

    return (*left)->number < (*right)->number ? 1 : -1;
}

int listing_init(struct listing *listing, const struct client *client,
                 const struct job_list_query *query, struct fault *fault)
{
    const struct service *service = client->service;

    *listing = (struct listing){.limit = query->limit, .capacity = query->limit + 1};
    listing->entries = seam.calloc(listing->capacity, sizeof(const struct entry *));
    if (!listing->entries)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a list");
    for (struct link *l = service->tasks.next; l != &service->tasks; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, all_link);

        /* One that was given up while it runs is among the ended ones. */
        if (!task->ended && matches(&task->entry, client, query))
            offer(listing, &task->entry);
    }
    for (uint32_t i = 0; i < service->history.count; i++) {
        const struct record *record = history_at(&service->history, i);

        if (matches(&record->entry, client, query))
            offer(listing, &record->entry);
    }
    qsort(listing->entries, listing->count, sizeof(const struct entry *), compare);
    return 0;
}

void listing_finish(struct listing *listing)
{
    free(listing->entries);
    *listing = (struct listing){0};
}

void listing_write_members(const struct listing *listing, struct jsonw *w)
{
    uint32_t i = 0;

    jsonw_array_begin(w, "jobs");
    for (; i < listing->count && i < listing->limit; i++) {
        struct job_info info;

        if (w->length + 2 * ITEM_MAX > PROTO_REPLY_MAX)
            break;
        entry_info(listing->entries[i], &info);
        job_info_write(w, NULL, &info);
    }
    jsonw_array_end(w);
    jsonw_bool(w, "more", i < listing->count);
}
