/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"

/* The registry. */

void registry_init(struct registry *registry)
{
    hash_table_init(&registry->by_number);
    hash_table_init(&registry->by_name);
    link_init(&registry->entries);
}

void registry_finish(struct registry *registry)
{
    hash_table_finish(&registry->by_number);
    hash_table_finish(&registry->by_name);
}

static uint64_t number_hash(const struct registry *registry, uint64_t number)
{
    return hash_table_hash(&registry->by_number, number, NULL, 0);
}

static uint64_t name_hash(const struct registry *registry, uint64_t client, const char *name)
{
    return hash_table_hash(&registry->by_name, client, name, strlen(name));
}

static struct entry *find_name(const struct registry *registry, uint64_t hash, uint64_t client,
                               const char *name)
{
    struct hash_node *node = hash_table_chain(&registry->by_name, hash);

    for (; node; node = node->next) {
        struct entry *entry = LINK_OWNER(node, struct entry, by_name);

        if (node->hash == hash && entry->client == client && strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

static void take_name(struct registry *registry, struct entry *entry)
{
    const uint64_t hash = name_hash(registry, entry->client, entry->name);
    struct entry *before = find_name(registry, hash, entry->client, entry->name);

    if (before)
        hash_table_replace(&before->by_name, &entry->by_name);
    else
        hash_table_add(&registry->by_name, &entry->by_name, hash);
}

void registry_add(struct registry *registry, struct entry *entry)
{
    hash_table_add(&registry->by_number, &entry->by_number, number_hash(registry, entry->number));
    link_append(&registry->entries, &entry->of_all);
    link_append(&entry->user->entries, &entry->of_user);
    if (entry->name)
        take_name(registry, entry);
}

void registry_replace(struct registry *registry, struct entry *from, struct entry *to)
{
    hash_table_replace(&from->by_number, &to->by_number);
    link_replace(&from->of_all, &to->of_all);
    link_replace(&from->of_user, &to->of_user);
    if (!from->by_name.at)
        return;
    if (to->name)
        hash_table_replace(&from->by_name, &to->by_name);
    else /* registry_add() had no memory for the name */
        hash_table_remove(&registry->by_name, &from->by_name);
}

void registry_remove(struct registry *registry, struct entry *entry)
{
    if (!entry->by_number.at)
        return;
    hash_table_remove(&registry->by_number, &entry->by_number);
    hash_table_remove(&registry->by_name, &entry->by_name);
    link_remove(&entry->of_all);
    link_remove(&entry->of_user);
}

void registry_hide_name(struct registry *registry, uint64_t client, const char *name)
{
    struct entry *entry = find_name(registry, name_hash(registry, client, name), client, name);

    if (entry)
        hash_table_remove(&registry->by_name, &entry->by_name);
}

struct entry *registry_find(const struct registry *registry, uint64_t number)
{
    struct hash_node *node = hash_table_chain(&registry->by_number, number_hash(registry, number));

    for (; node; node = node->next) {
        struct entry *entry = LINK_OWNER(node, struct entry, by_number);

        if (entry->number == number)
            return entry;
    }
    return NULL;
}

struct entry *registry_find_name(const struct registry *registry, uint64_t client, const char *name)
{
    return find_name(registry, name_hash(registry, client, name), client, name);
}

/* The history. */

enum {
    /* A quarter of a user's records may be records whose results the client has read. */
    DELIVERED_PART = 4,
    /* A new record deletes at most so many old ones while there are more than a lowered limit. */
    FORGOTTEN_MAX = 4
};

static void ranks_init(struct ranks *ranks)
{
    for (int i = 0; i < HISTORY_RANKS * HISTORY_STEPS; i++)
        link_init(&ranks->lists[i]);
}

void history_init(struct history *history, struct registry *registry, uint32_t limit)
{
    *history = (struct history){.registry = registry, .limit = limit};
    link_init(&history->shelves);
    ranks_init(&history->by_count);
    ranks_init(&history->by_quant);
}

struct record *record_create(const struct entry *entry, const struct fault *fault)
{
    struct record *record = seam.calloc(1, sizeof *record);

    if (!record)
        return NULL;
    record->entry.user = entry->user;
    record->entry.number = entry->number;
    record->entry.client = entry->client;
    record->entry.name = entry->name ? strdup(entry->name) : NULL;
    record->entry.ended = true;
    link_init(&record->in_all);
    link_init(&record->in_heavy);
    record->result.dst.quant.axis = -1;
    record->fault = fault ? seam.calloc(1, sizeof *record->fault) : NULL;
    if (record->fault)
        *record->fault = *fault;
    return record;
}

void record_free(struct record *record)
{
    job_result_finish(&record->result);
    free(record->fault);
    free((char *)(uintptr_t)record->entry.name);
    free(record);
}

/* Returns the bytes of the record's per-axis parameters: 0, or at least HISTORY_QUANT_MIN, so that
 * a large record never replaces thousands of records. */
static uint64_t quant_bytes(const struct record *record)
{
    const struct quant *quant = &record->result.dst.quant;
    const uint64_t bytes = (uint64_t)quant->count * (2 * sizeof *quant->scale + 1);

    return bytes > 0 && bytes < HISTORY_QUANT_MIN ? HISTORY_QUANT_MIN : bytes;
}

/* Moves a user's shelf to the end of the list for `amount`; an amount of 0 is in no list. */
static void rank(struct ranks *ranks, struct link *link, uint64_t amount)
{
    int i;
    uint64_t scaled;

    link_remove(link);
    if (amount == 0)
        return;
    i = 63 - __builtin_clzll(amount);
    scaled = (amount << HISTORY_STEP_BITS) >> i; /* HISTORY_STEPS .. 2 * HISTORY_STEPS - 1 */
    link_append(&ranks->lists[i * HISTORY_STEPS + (int)scaled - HISTORY_STEPS], link);
}

static void rank_shelf(struct history *history, struct shelf *shelf)
{
    rank(&history->by_count, &shelf->by_count, shelf->count);
    rank(&history->by_quant, &shelf->by_quant, shelf->quant_bytes);
}

/*
 * Returns a shelf with the largest amount: of the last list that is not empty, the shelf that
 * changed last. At least one list must not be empty.
 */
static struct link *top(struct ranks *ranks)
{
    struct link *list = &ranks->lists[HISTORY_RANKS * HISTORY_STEPS - 1];

    while (link_empty(list))
        list--;
    return list->prev;
}

static struct link *list_of(struct shelf_lists *lists, const struct record *record)
{
    return record->undelivered ? &lists->undelivered : &lists->delivered;
}

static void place(struct record *record)
{
    struct shelf *shelf = &record->entry.user->shelf;

    link_append(list_of(&shelf->all, record), &record->in_all);
    if (quant_bytes(record) > 0)
        link_append(list_of(&shelf->heavy, record), &record->in_heavy);
}

/* Returns the first link of `list`, or of `other` if `list` is empty. The analyser does not see
 * that forget() unlinks a record before it frees it. */
static struct link *first_of(const struct link *list, const struct link *other)
{
    return link_empty(list) ? other->next : list->next; /* NOLINT(clang-analyzer-unix.Malloc) */
}

static void forget(struct history *history, struct record *record)
{
    struct user *user = record->entry.user;
    struct shelf *shelf = &user->shelf;

    link_remove(&record->in_all);
    link_remove(&record->in_heavy);
    shelf->count--;
    shelf->undelivered -= record->undelivered;
    shelf->quant_bytes -= quant_bytes(record);
    history->count--;
    history->quant_bytes -= quant_bytes(record);
    if (shelf->count == 0) {
        link_remove(&shelf->in_history);
        history->shelf_count--;
    }
    rank_shelf(history, shelf);
    registry_remove(history->registry, &record->entry);
    record_free(record);
    user_drop(user);
}

static void forget_oldest(struct history *history, const struct shelf *shelf)
{
    const struct shelf_lists *all = &shelf->all;
    const bool delivered = shelf->count - shelf->undelivered > history->limit / DELIVERED_PART;
    struct link *first = delivered ? first_of(&all->delivered, &all->undelivered)
                                   : first_of(&all->undelivered, &all->delivered);

    forget(history, LINK_OWNER(first, struct record, in_all));
}

static void forget_oldest_heavy(struct history *history, const struct shelf *shelf)
{
    struct link *first = first_of(&shelf->heavy.delivered, &shelf->heavy.undelivered);

    forget(history, LINK_OWNER(first, struct record, in_heavy));
}

/* Forgets old records of a user to make space for a record with `quant` bytes of per-axis
 * parameters. */
static void make_room(struct history *history, const struct shelf *shelf, uint64_t quant)
{
    while (quant > 0 && shelf->quant_bytes + quant > HISTORY_QUANT_MAX)
        forget_oldest_heavy(history, shelf);
    for (int i = 0; i < FORGOTTEN_MAX && shelf->count > 0 && shelf->count >= history->limit; i++)
        forget_oldest(history, shelf);
}

/* Forgets a record if all users together have too many records. */
static bool trim_all(struct history *history)
{
    if (history->count <= (uint64_t)history->limit * HISTORY_SHARES)
        return false;
    forget_oldest(history, LINK_OWNER(top(&history->by_count), struct shelf, by_count));
    return true;
}

void history_finish(struct history *history)
{
    history_set_limit(history, 0);
    while (history_trim(history))
        ;
}

void history_set_limit(struct history *history, uint32_t limit)
{
    history->limit = limit;
    history->to_check = history->shelf_count;
}

bool history_trim(struct history *history)
{
    struct shelf *shelf;

    if (history->to_check == 0 || link_empty(&history->shelves))
        return trim_all(history);
    shelf = LINK_OWNER(history->shelves.next, struct shelf, in_history);
    if (shelf->count > history->limit) {
        forget_oldest(history, shelf);
        return true;
    }
    link_remove(&shelf->in_history);
    link_append(&history->shelves, &shelf->in_history);
    history->to_check--;
    return true;
}

void history_add(struct history *history, struct record *record)
{
    struct user *user = record->entry.user;
    struct shelf *shelf = &user->shelf;
    const uint64_t quant = quant_bytes(record);

    user->holders++; /* do this first, so that forgetting an old record does not free the user */
    make_room(history, shelf, quant <= HISTORY_QUANT_MAX ? quant : 0);
    if (history->limit == 0 || quant > HISTORY_QUANT_MAX) {
        registry_remove(history->registry, &record->entry);
        record_free(record);
        user_drop(user);
        return;
    }
    place(record);
    if (shelf->count++ == 0) {
        link_append(&history->shelves, &shelf->in_history);
        history->shelf_count++;
    }
    shelf->undelivered += record->undelivered;
    shelf->quant_bytes += quant;
    history->count++;
    history->quant_bytes += quant;
    rank_shelf(history, shelf);
    for (int i = 0; i < FORGOTTEN_MAX && trim_all(history); i++)
        ;
    while (history->quant_bytes > (uint64_t)HISTORY_QUANT_MAX * HISTORY_SHARES)
        forget_oldest_heavy(history, LINK_OWNER(top(&history->by_quant), struct shelf, by_quant));
}

void history_delivered(struct record *record)
{
    if (!record->undelivered)
        return;
    link_remove(&record->in_all);
    link_remove(&record->in_heavy);
    record->undelivered = false;
    record->entry.user->shelf.undelivered--;
    place(record);
}

void record_info(const struct record *record, struct job_info *info)
{
    *info = (struct job_info){
        .job = record->entry.number,
        .state = record->state,
        .client = record->entry.client,
        .uid = record->entry.user->uid,
        .priority = record->priority,
        .channels = record->channels,
        .first_channel = record->first_channel,
        .bytes = record->bytes,
        .bytes_done = record->bytes_done,
        .detached = record->detached,
        .ns_queued = record->ns_queued,
        .ns_moving = record->ns_moving,
        .error = record->fault,
    };
    snprintf(info->name, sizeof info->name, "%s", record->entry.name ? record->entry.name : "");
}
