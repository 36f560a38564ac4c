/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backlog: replies that a client has not read yet, in bytes, for each connection and user:
 *
 *     unread      bytes in the outbox, because the socket is full
 *     expected    upper bounds of large replies to come, of jobs and job.waits
 *
 * Requests wait while their replies may not fit (hold.h). A client is closed if its requests wait
 * for this reason, and it reads nothing for limits.reply_timeout_ms.
 */
#ifndef DAEMON_BACKLOG_H
#define DAEMON_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct client;

enum {
    BACKLOG_HIGH = 256 * 1024,            /* unread bytes above which no input is taken */
    BACKLOG_LOW = 64 * 1024,              /* unread bytes below which input is taken again */
    BACKLOG_EXPECTED = 2 * 1024 * 1024,   /* unread and expected bytes that stop jobs and waits */
    BACKLOG_UNREAD_MAX = 16 * 1024 * 1024 /* unread bytes that close the connection */
};

struct backlog {
    uint64_t unread, expected;
    uint64_t sent; /* outbox.sent at the time when the timer was started */
    uv_timer_t timer;
};

/**
 * Returns an upper bound of the bytes of `count` per-axis indices in a job's reply. The rest of a
 * reply, less than 1 KiB, does not count: limits.jobs_per_client limits it.
 */
uint64_t backlog_of_result(uint64_t count);

/** Updates the count of unread bytes from the outbox. */
void backlog_count(struct client *client);
/** Adds expected bytes. Call backlog_unexpect() when the reply is in the outbox or dropped. */
void backlog_expect(struct client *client, uint64_t bytes);
void backlog_unexpect(struct client *client, uint64_t bytes);

/** Returns whether the reply of one more job or job.wait fits. */
bool backlog_has_room_for_jobs(const struct client *client);
/**
 * Returns false if the user exceeds the quota of reply bytes and this client has unread replies.
 */
bool backlog_has_room(const struct client *client);

/** Starts or stops the timer within which the client must read some bytes. */
void backlog_watch(struct client *client);

#endif /* DAEMON_BACKLOG_H */
