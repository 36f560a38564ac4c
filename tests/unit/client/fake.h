/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake service at the other end of a socket pair: it sends the lines of the test. */
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include "mli_client.h"
#include "tests/support/proto_unit.h"

struct fake {
    int fd; /* the fake service's end of the socket pair */
    mli_client *client;
    size_t fds_before; /* number of open descriptors before the test */
};

void fake_init(struct fake *fake, unsigned flags);
/** Closes both ends, and checks that no descriptor is left. */
void fake_finish(struct fake *fake);

/** Sends `text` with every ' replaced by ". */
void fake_say(struct fake *fake, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fake_say_with_fd(struct fake *fake, int fd, const char *text);
/** Returns all that the client has sent, zero-terminated, in static storage. */
const char *fake_hear(struct fake *fake);
void fake_hang_up(struct fake *fake);

/** Sends the reply to a start. */
void fake_say_result(struct fake *fake, mli_client_ticket ticket, uint64_t job);

#endif /* TEST_FAKE_H */
