/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the fuzzed service: makes requests from bytes, and keeps track of missing replies. */
#ifndef TEST_FUZZ_CLIENTS_H
#define TEST_FUZZ_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz_reader.h"

enum { FUZZ_REQUESTS_MAX = 512 };

struct fuzz_client {
    int fd; /* -1: not connected */
    struct frame in;
    bool exact; /* true: only correct lines were sent, so each must have a reply */
    bool missing[FUZZ_REQUESTS_MAX]; /* by id; true: the request has no reply yet */
    bool greeted;                    /* true: the service has sent its greeting */
    int last, pending;
};

/** Connects the client to a socket, which it then owns. */
void fuzz_client_init(struct fuzz_client *client, int socket);
void fuzz_client_close(struct fuzz_client *client);

/** Sends a request that the input's bytes choose, or bytes that are not a request. */
void fuzz_client_request(struct fuzz_client *client, struct fuzz_reader *reader);
/** Sends a request without descriptors. */
void fuzz_client_call(struct fuzz_client *client, const char *method, const char *params);
/** Takes the replies that have come, and checks that each belongs to one request. */
void fuzz_client_receive(struct fuzz_client *client);

#endif /* TEST_FUZZ_CLIENTS_H */
