/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of requests without a reply. A ticket, which is the request's id on the wire, contains
 * the slot's number from 1 and the slot's generation: the slot is found by an index, and a request
 * that stays pending for long occupies only one slot.
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
    SLOT_RESULT, /* the reply is kept as `result`: the end of a job */
    SLOT_REPLY,  /* the reply is kept as `reply` */
    SLOT_LINE    /* the reply is kept as `line`, its text */
};

/* An output file for the bytes that follow a reply (inline). */
struct slot_back {
    int fd; /* descriptor; owned; -1: the reply has no bytes for the file */
    uint64_t size;
};

struct slot {
    uint32_t generation; /* from 1 */
    uint32_t next_free;
    enum slot_state state;
    enum slot_kind kind;
    bool forgotten;    /* true: drop the reply when it arrives */
    bool suspect;      /* true: the source file became shorter while the library sent it */
    int suspect_error; /* errno if it could not be read */
    mli_client_done_fn *done;
    mli_client_reply_fn *reply_done; /* SLOT_LINE only */
    void *user;
    mli_client_result result;
    mli_client_error *error; /* error of the request; owned, see error_copy() */
    struct rpc_reply *reply; /* owned */
    char *line;              /* owned */
    size_t length;
    int fd; /* descriptor of the reply; owned; -1: no descriptor */
    uint32_t back_count;
    struct slot_back *backs; /* output files of the request; owned; null: no files */
};

struct table {
    struct slot *slots;
    uint32_t capacity, used; /* slots [0, used) have been in use at least once */
    uint32_t first_free;     /* the first free slot; NO_SLOT: no free slot below `used` */
    size_t waiting;
};

enum { TABLE_MAX = (1 << 20) - 1 };

void table_init(struct table *table);
void table_finish(struct table *table);

/** Takes a slot in SLOT_WAITING; null if there is no memory or TABLE_MAX slots are in use. */
struct slot *table_take(struct table *table, mli_client_ticket *ticket);
/** Returns the slot of a ticket, or null if the ticket is invalid. Valid until table_take(). */
struct slot *table_find(const struct table *table, mli_client_ticket ticket);
mli_client_ticket table_ticket(const struct table *table, const struct slot *slot);
/** Frees the slot and its contents. */
void table_release(struct table *table, struct slot *slot);

/** Changes the state of a slot from SLOT_WAITING to `state`. */
void slot_end(struct table *table, struct slot *slot, enum slot_state state);

#endif /* CLIENT_TABLE_H */
