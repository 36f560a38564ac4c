/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service: what mlid is, without the process around it. `mlictl run` embeds the same one.
 *
 *     socket -> client.c (frames, replies) -> job.submit -> admit.c (descriptors -> mappings,
 *     tensors) -> queue.c -> dispatch.c (channels) -> complete.c (threads) -> libmli -> reply
 *
 * The loop's thread owns all state; only complete.c crosses threads.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include "config.h"

struct uv_loop_s;
struct service;

/**
 * Creates the service on a loop; nothing listens yet. Sets the library's channel pool, of which a
 * process has one, the log level, and a handler of SIGBUS (sigbus.h). Transfers run on libuv's
 * thread pool: UV_THREADPOOL_SIZE below config->channels makes them wait there.
 * Returns 0 or -errno (-EBUSY: others in this process hold channels).
 */
int service_create(struct uv_loop_s *loop, const struct config *config, struct service **out);

/**
 * Creates, binds (mode set before bind; a stale socket file nobody listens on is replaced, a live
 * one is not: -EADDRINUSE) and listens at config->socket. Returns 0 or -errno.
 */
int service_listen(struct service *service);

/** Serves a connected stream socket; owns it from now on, also on failure. Returns 0 or -errno. */
int service_adopt(struct service *service, int socket);

/**
 * Takes no new connections and jobs; answers queued jobs with SHUTTING_DOWN, finishes and answers
 * running ones, then closes everything, so that the loop runs out of handles and uv_run() returns.
 * Where running jobs outlast config->drain_ms they are answered SHUTTING_DOWN too, and uv_stop()
 * makes uv_run() return non-zero: the caller may end the process, or run the loop again until the
 * jobs are done.
 */
void service_shutdown(struct service *service);

/**
 * After uv_run() has returned; shuts down first where nobody has, running the loop until that is
 * done. Gives the channel pool back. Null is fine.
 */
void service_destroy(struct service *service);

/*
 * The embedded form: a service with its own loop on its own thread, and one connection to it.
 */
struct service_thread;

/** Returns 0 with *socket connected to the service (caller closes it), or -errno. */
int service_thread_start(const struct config *config, struct service_thread **out, int *socket);

/** Shuts the service down, waits for it and frees it. Null is fine. */
void service_thread_stop(struct service_thread *thread);

#endif /* DAEMON_SERVICE_H */
