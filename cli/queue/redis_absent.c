/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces redis_queue.c and redis_link.c in a build without hiredis. */
#include "cli/queue/queue.h"

static int absent(const struct queue_url *url, const char *worker, void **state,
                  struct fault *fault)
{
    (void)url;
    (void)worker;
    (void)state;
    return fault_set(
        fault, FAULT_INVALID_PARAMS, NULL,
        "this mlictl was built without hiredis, the client library of Redis: build it with "
        "-Dredis=enabled (Debian: libhiredis-dev), or use beanstalk://");
}

const struct queue_backend queue_redis = {.connect = absent};
