/* SPDX-License-Identifier: BSD-3-Clause */
/* One HTTP connection for the metrics: reads the request, writes the reply, waits for the peer to
 * close, all within 5 s. Its handles do not keep the loop alive. */
#ifndef DAEMON_SCRAPE_H
#define DAEMON_SCRAPE_H

#include <stddef.h>
#include <uv.h>

#include "proto/json/textw.h"

struct service;

enum { SCRAPE_REQUEST_MAX = 4096, SCRAPE_TIMEOUT_MS = 5000 };

struct scrape {
    struct service *service;
    enum { SCRAPE_FREE, SCRAPE_READS, SCRAPE_WRITES, SCRAPE_WAITS, SCRAPE_CLOSES } phase;
    int fd;
    unsigned handles; /* not closed yet */
    uv_poll_t poll;
    uv_timer_t timer;
    size_t length, sent;
    char request[SCRAPE_REQUEST_MAX + 1];
    struct textw reply;
    void (*gone)(struct scrape *scrape); /* it is free again */
    void *owner;
};

/** Serves a connection, which it owns from now on; scrape->gone is called in the end, but not where
 *  it returns -errno. */
int scrape_begin(struct scrape *scrape, struct service *service, int fd);
/** Harmless where it is free. */
void scrape_end(struct scrape *scrape);

#endif /* DAEMON_SCRAPE_H */
