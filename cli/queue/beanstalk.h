/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of beanstalkd, as its protocol.txt describes the protocol: a line for each command, and
 * a line, possibly with a body, for each reply. Commands can be sent before the replies of earlier
 * ones are read.
 */
#ifndef CLI_QUEUE_BEANSTALK_H
#define CLI_QUEUE_BEANSTALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/queue/queue_url.h"
#include "proto/json/fault.h"

/* X(name, word, form): the replies. A form has an id (I), a size and a body (B), a word (W). */
#define BEANSTALK_REPLY_TABLE(X)                                                                   \
    X(INSERTED, "INSERTED", "I")                                                                   \
    X(BURIED, "BURIED", "i") /* with an id after put, without one after release */                 \
    X(USING, "USING", "W")                                                                         \
    X(RESERVED, "RESERVED", "IB")                                                                  \
    X(FOUND, "FOUND", "IB")                                                                        \
    X(OK, "OK", "B")                                                                               \
    X(WATCHING, "WATCHING", "I")                                                                   \
    X(DELETED, "DELETED", "")                                                                      \
    X(RELEASED, "RELEASED", "")                                                                    \
    X(TOUCHED, "TOUCHED", "")                                                                      \
    X(NOT_FOUND, "NOT_FOUND", "")                                                                  \
    X(NOT_IGNORED, "NOT_IGNORED", "")                                                              \
    X(TIMED_OUT, "TIMED_OUT", "")                                                                  \
    X(DEADLINE_SOON, "DEADLINE_SOON", "")                                                          \
    X(JOB_TOO_BIG, "JOB_TOO_BIG", "")                                                              \
    X(DRAINING, "DRAINING", "")                                                                    \
    X(OUT_OF_MEMORY, "OUT_OF_MEMORY", "")                                                          \
    X(INTERNAL_ERROR, "INTERNAL_ERROR", "")                                                        \
    X(EXPECTED_CRLF, "EXPECTED_CRLF", "")                                                          \
    X(BAD_FORMAT, "BAD_FORMAT", "")                                                                \
    X(UNKNOWN_COMMAND, "UNKNOWN_COMMAND", "")

enum beanstalk_word {
#define BEANSTALK_ENUM(name, word, form) BEANSTALK_##name,
    BEANSTALK_REPLY_TABLE(BEANSTALK_ENUM)
#undef BEANSTALK_ENUM
};

enum { BEANSTALK_LINE_MAX = 256, BEANSTALK_BODY_MAX = 64 << 20 };

struct beanstalk_reply {
    enum beanstalk_word word;
    uint64_t id;
    const char *body; /* valid until the next call */
    size_t length;
};

/**
 * Reads one reply of `length` received bytes. Sets *used to its size. Returns 1; 0 if bytes are
 * missing (*used is the number of bytes to wait for, if it is known, else 0); or -1 if the bytes
 * are no reply.
 */
int beanstalk_parse(const char *bytes, size_t length, struct beanstalk_reply *reply, size_t *used);

/** Returns the number after "key: " in the body of a stats command, or 0. */
uint64_t beanstalk_stat(const struct beanstalk_reply *reply, const char *key);
/** Returns whether a stats command has the line "key: value". */
bool beanstalk_stat_is(const struct beanstalk_reply *reply, const char *key, const char *value);

const char *beanstalk_word_text(enum beanstalk_word word);

struct beanstalk {
    int fd;
    char *buffer; /* received bytes */
    size_t begin, end, capacity;
};

/** Connects. Returns 0, or -1 with the fault filled. */
int beanstalk_open(struct beanstalk *link, const struct queue_url *url, struct fault *fault);
void beanstalk_close(struct beanstalk *link);

/** Sends a command without a body, without "\r\n". */
int beanstalk_send(struct beanstalk *link, struct fault *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Sends a put command. */
int beanstalk_put(struct beanstalk *link, uint32_t priority, uint32_t ttr_s, const char *body,
                  size_t length, struct fault *fault);
/** Reads a reply. Waits at most some seconds. */
int beanstalk_receive(struct beanstalk *link, struct beanstalk_reply *reply, struct fault *fault);
/** Sets a fault for a reply that the command does not have. Returns -1. */
int beanstalk_unexpected(const struct beanstalk_reply *reply, struct fault *fault);

#endif /* CLI_QUEUE_BEANSTALK_H */
