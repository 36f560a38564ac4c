/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies that a client has not read yet, counted in bytes for each connection and for each user:
 *
 *     unread      in the outbox, because the socket is full
 *     expected    upper bounds of large replies of jobs and job.waits that are under way
 *
 * Requests wait while their replies may not fit (hold.h). A client whose requests wait for it to
 * read, and who reads nothing for limits.reply_timeout_ms, is closed.
 */
#ifndef DAEMON_BACKLOG_H
#define DAEMON_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct client;

enum {
    BACKLOG_HIGH = 256 * 1024,            /* unread bytes: no more input is taken */
    BACKLOG_LOW = 64 * 1024,              /* unread bytes: input is taken again */
    BACKLOG_EXPECTED = 2 * 1024 * 1024,   /* unread and expected bytes: no more jobs and waits */
    BACKLOG_UNREAD_MAX = 16 * 1024 * 1024 /* unread bytes: the connection is closed */
};

struct backlog {
    uint64_t unread, expected;
    uint64_t sent; /* of the outbox, when the timer was started */
    uv_timer_t timer;
};

/**
 * Upper bound of the bytes that `count` per-axis indices take in a job's reply. The rest of a reply
 * is less than 1 KiB and is not counted: limits.jobs_per_client bounds it.
 */
uint64_t backlog_of_result(uint64_t count);

/** Counts what is in the outbox now. */
void backlog_count(struct client *client);
/** A reply is to come; backlog_unexpect() it when it is in the outbox or dropped. */
void backlog_expect(struct client *client, uint64_t bytes);
void backlog_unexpect(struct client *client, uint64_t bytes);

/** False where the reply of one more job or job.wait may not fit. */
bool backlog_has_room_for_jobs(const struct client *client);
/** False where the user has too many bytes in all, and some of them are unread on this client. */
bool backlog_has_room(const struct client *client);

/** Starts or stops the time that the client has to read. */
void backlog_watch(struct client *client);

#endif /* DAEMON_BACKLOG_H */
