/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are not answered yet. A ticket is the request's id on the wire: the slot's number
 * from 1, and how often the slot was used, so that finding one is an index, and a request that
 * stays open for long costs one slot.
 */
#ifndef CLIENT_TABLE_H
#define CLIENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_client.h"

struct rpc_reply;

enum slot_state { SLOT_FREE, SLOT_WAITING, SLOT_DONE, SLOT_FAILED };
enum slot_kind {
    SLOT_RESULT, /* a job's end: `result` */
    SLOT_REPLY,  /* anything: `reply` */
    SLOT_LINE    /* anything, as it came: `line` */
};

/* Where bytes that come back go. */
struct slot_back {
    int fd; /* owned; -1: none are wanted */
    uint64_t size;
};

struct slot {
    uint32_t generation; /* from 1 */
    uint32_t next_free;
    enum slot_state state;
    enum slot_kind kind;
    bool forgotten; /* the answer is dropped when it comes */
    bool suspect;   /* its source became shorter while it was sent */
    mli_client_done_fn *done;
    void *user;
    mli_client_result result;
    mli_client_error *error; /* owned, or one of those that outlive the slot: see slot_fail() */
    struct rpc_reply *reply; /* owned */
    char *line;              /* owned */
    size_t length;
    int fd; /* that came with the answer; owned; -1: none */
    uint32_t back_count;
    struct slot_back *backs; /* owned; null: none */
};

struct table {
    struct slot *slots;
    uint32_t capacity, used; /* used: slots that were ever taken */
    uint32_t first_free;     /* NO_SLOT: none */
    size_t waiting;
};

enum { TABLE_MAX = (1 << 20) - 1 };

void table_init(struct table *table);
void table_finish(struct table *table);

/** A slot in SLOT_WAITING; null: no memory, or TABLE_MAX are in use. */
struct slot *table_take(struct table *table, mli_client_ticket *ticket);
/** Null where there is no such request (any more). Valid until table_take(). */
struct slot *table_find(const struct table *table, mli_client_ticket ticket);
mli_client_ticket table_ticket(const struct table *table, const struct slot *slot);
/** Frees what the slot holds. */
void table_release(struct table *table, struct slot *slot);

/** The end of SLOT_WAITING. */
void slot_end(struct table *table, struct slot *slot, enum slot_state state);

#endif /* CLIENT_TABLE_H */
