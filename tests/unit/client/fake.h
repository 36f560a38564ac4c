/* SPDX-License-Identifier: BSD-3-Clause */
/* A service that says what the test tells it, at the other end of a socket pair. */
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include "mli_client.h"
#include "tests/support/proto_unit.h"

struct fake {
    int fd; /* the service's end */
    mli_client *client;
    size_t fds_before; /* open in this process */
};

void fake_init(struct fake *fake, unsigned flags);
/** Closes both ends; no descriptor may be left. */
void fake_finish(struct fake *fake);

/** Sends `text` with every ' turned into ". */
void fake_say(struct fake *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fake_say_with_fd(struct fake *fake, int fd, const char *text);
/** Everything the client has sent by now, zero-terminated, in static storage. */
const char *fake_hear(struct fake *fake);
void fake_hang_up(struct fake *fake);

/** The answer to a start. */
void fake_say_result(struct fake *fake, mli_client_ticket ticket, uint64_t job);

#endif /* TEST_FAKE_H */
