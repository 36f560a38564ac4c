/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.list: replies with the latest jobs that match a query and that the client may see. Finds the
 * jobs, then writes them, both in slices of the loop's time.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/chores.h"
#include "daemon/base/seam.h"
#include "daemon/net/net.h"
#include "proto/wire/methods.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"

enum {
    ITEM_MAX = 8 * 1024, /* bytes of the longest job, with name, pointer and sentence escaped */
    LOOKS = 32,          /* jobs that are checked between two readings of the clock */
    QUICK = 16           /* a reply with more jobs is written in slices */
};

/*
 * A walk from the latest job to the first. Jobs may be added and removed between two slices, so
 * `mark` keeps the position of the walk in the ring.
 */
struct listing {
    struct pending pending; /* first */
    struct chore chore;
    struct client *client;
    struct job_list_query query; /* the query, which owns its name */
    struct entry mark; /* stands in the list of jobs where the listing goes on; number 0 */
    struct jsonw w;    /* text of the reply */
    bool writing;      /* true: the walk has ended */
    uint32_t written;  /* how many of `numbers` are written or skipped */
    uint32_t count;
    uint64_t numbers[]; /* numbers of matching jobs, the latest first */
};

static bool sees_all(const struct client *client)
{
    return client->session.flow->user->uid == 0;
}

/* Returns the ring of all jobs that the client may see. */
static struct link *ring_of(const struct client *client)
{
    return sees_all(client) ? &client->net->jobs->registry.entries
                            : &client->session.flow->user->entries;
}

static struct link *link_of(const struct client *client, struct entry *entry)
{
    return sees_all(client) ? &entry->of_all : &entry->of_user;
}

static const struct entry *entry_of(const struct client *client, struct link *link)
{
    return sees_all(client) ? LINK_OWNER(link, struct entry, of_all)
                            : LINK_OWNER(link, struct entry, of_user);
}

static bool matches(const struct entry *entry, const struct job_list_query *query)
{
    return entry->number != 0 && /* the entry of another listing's cursor has number 0 */
           (query->before == 0 || entry->number < query->before) &&
           (query->client == 0 || entry->client == query->client) &&
           (query->states == 0 || (query->states >> entry_state(entry) & 1)) &&
           (!query->name || (entry->name && strcmp(entry->name, query->name) == 0));
}

/* Returns the link at which the walk starts: the next older job than query.before, if the client
 * may see that job; else the latest job. */
static struct link *first_link(const struct listing *listing)
{
    const struct client *client = listing->client;
    struct entry *before = NULL;

    if (listing->query.before > 0)
        before = registry_find(&client->net->jobs->registry, listing->query.before);
    return before && refs_visible(client->session.flow->user, before)
               ? link_of(client, before)->prev
               : ring_of(client)->prev;
}

/* Checks jobs from `l` on, for a slice of time. Returns the entry for the next slice, or NULL at
 * the end. */
static struct link *look(struct listing *listing, struct link *l)
{
    const struct link *ring = ring_of(listing->client);
    const uint64_t begin = uv_hrtime();
    unsigned looks = 0;

    for (; l != ring && listing->count <= listing->query.limit; l = l->prev) {
        const struct entry *entry = entry_of(listing->client, l);

        if (++looks % LOOKS == 0 && uv_hrtime() - begin > CHORE_SLICE_NS)
            return l;
        if (matches(entry, &listing->query))
            listing->numbers[listing->count++] = entry->number;
    }
    return NULL;
}

static void begin_reply(struct listing *listing, const struct answer *answer)
{
    listing->writing = true;
    rpc_result_begin(&listing->w, &answer->id, 0);
    jsonw_array_begin(&listing->w, "jobs");
}

/* Writes the next job. Returns false if all jobs are written, or if the reply is full. */
static bool write_next(struct listing *listing)
{
    const struct registry *registry = &listing->client->net->jobs->registry;
    const struct entry *entry;
    struct job_info info;

    if (listing->written >= listing->count || listing->written >= listing->query.limit)
        return false;
    entry = registry_find(registry, listing->numbers[listing->written]);
    /* Skips a job that was forgotten, or whose state no longer matches the query. */
    if (entry && matches(entry, &listing->query)) {
        if (listing->w.length + 2 * ITEM_MAX > PROTO_REPLY_MAX)
            return false;
        entry_info(entry, &info);
        job_info_write(&listing->w, NULL, &info);
    }
    listing->written++;
    return true;
}

/* Writes jobs for a slice of time. Returns false if the reply is not complete yet. */
static bool write_slice(struct listing *listing)
{
    const uint64_t begin = uv_hrtime();

    while (write_next(listing))
        if (uv_hrtime() - begin > CHORE_SLICE_NS)
            return false;
    jsonw_array_end(&listing->w);
    jsonw_bool(&listing->w, "more", listing->written < listing->count);
    rpc_result_end(&listing->w);
    return true;
}

static void destroy(struct listing *listing)
{
    link_remove(link_of(listing->client, &listing->mark));
    chore_remove(&listing->chore);
    job_list_query_finish(&listing->query);
    jsonw_finish(&listing->w);
    free(listing);
}

static void drop(struct pending *pending)
{
    struct listing *listing =
        (struct listing *)(void *)pending /* `pending` is the first member of struct listing */;

    destroy(listing);
}

/* Makes the walk continue from `next` in the next round of the loop. */
static void put_off(struct listing *listing, struct link *next)
{
    link_append(next->next,
                link_of(listing->client, &listing->mark)); /* position right behind `next` */
    chore_add(listing->client->net->chores, &listing->chore);
}

/* Continues the walk. Returns whether it has ended. */
static bool walk_slice(struct listing *listing)
{
    struct link *mark = link_of(listing->client, &listing->mark), *next = mark->prev;

    link_remove(mark);
    next = look(listing, next);
    if (next)
        put_off(listing, next);
    return !next;
}

static void finish(struct listing *listing)
{
    struct client *client = listing->client;

    answer_text(&listing->pending.answer, &listing->w);
    client_end_listing(client); /* makes the client handle the lines that waited */
    pending_remove(&listing->pending);
    destroy(listing);
}

static void on_chore(struct chore *chore)
{
    struct listing *listing = LINK_OWNER(chore, struct listing, chore);

    if (!listing->writing) {
        if (!walk_slice(listing))
            return;
        begin_reply(listing, &listing->pending.answer);
    } else if (write_slice(listing)) {
        finish(listing);
        return;
    }
    chore_add(listing->client->net->chores, &listing->chore);
}

/* Creates a listing, and takes ownership of the query's name. Returns NULL if out of memory. */
static struct listing *create(struct client *client, struct job_list_query *query)
{
    struct listing *listing =
        seam.calloc(1, sizeof *listing + (query->limit + 1) * sizeof *listing->numbers);

    if (!listing)
        return NULL;
    listing->client = client;
    listing->query = *query;
    query->name = NULL;
    link_init(&listing->mark.of_all);
    link_init(&listing->mark.of_user);
    chore_init(&listing->chore, on_chore);
    jsonw_init(&listing->w);
    return listing;
}

/*
 * Answers now, or after some rounds of the loop if many jobs must be looked at or written; the
 * connection's next requests wait until then. Takes over query->name, which it frees.
 */
static const struct ended *listing_answer(struct call *call, struct job_list_query *query)
{
    struct listing *listing = create(call->client, query);
    const struct ended *ended;
    struct link *next;

    if (!listing) {
        fault_set(&call->request->fault, FAULT_INTERNAL, NULL, "no memory for a list");
        return call_refuse(call);
    }
    next = look(listing, first_link(listing));
    if (!next) {
        begin_reply(listing, &call->answer);
        if (listing->count <= QUICK && write_slice(listing)) {
            ended = answer_text(&call->answer, &listing->w);
            destroy(listing);
            return ended;
        }
        chore_add(call->client->net->chores, &listing->chore);
    } else {
        put_off(listing, next);
    }
    client_begin_listing(call->client);
    return pending_add(&listing->pending, call, 0, drop);
}

const struct ended *job_list_call(struct call *call)
{
    struct rpc_request *request = call->request;
    const struct ended *ended;
    struct job_list_query query;

    if (job_list_query_read(&request->params, &query) < 0)
        return call_refuse(call);
    ended = listing_answer(call, &query);
    job_list_query_finish(&query);
    return ended;
}
