/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service: what mlid is, without the process around it. `mlictl run` embeds the same one.
 *
 *     socket -> client.c (frames, replies) -> job.submit -> admit.c (descriptors -> mappings,
 *     tensors) -> queue.c -> dispatch.c (channels) -> complete.c (start) -> libmli -> complete.c
 *     (end) -> dispatch.c -> reply
 *
 * The loop's thread owns all state. Two files cross threads: complete.c, which starts and ends
 * transfers, and reaper.c, which closes clients' descriptors and unmaps their memory.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include "daemon/config/config.h"

struct uv_loop_s;
struct service;
struct trace;

/**
 * Checks what config_check() cannot know: whether there is such an engine, takes its options, and
 * has these channels. Tries it out: the engine stays set, the channels are given back. Returns 0,
 * or -1 where the configuration is wrong (fault: the library's own sentence).
 */
int service_check(const struct config *config, struct fault *fault);

/**
 * Creates the service on a loop; nothing listens yet. Sets the library's engine and channel pool,
 * of which a process has one (so that it can have one service at a time), the log level, and a
 * handler of SIGBUS (sigbus.h). Transfers run on the DMA channels; tiny ones, and all with the
 * engine "inline", on the loop's thread.
 * Returns 0 or -errno (-EBUSY: another service or others in this process hold channels; -EINVAL:
 * what service_check() says).
 */
int service_create(struct uv_loop_s *loop, const struct config *config, struct service **out);

/**
 * Creates, binds (mode set before bind; a stale socket file nobody listens on is replaced, a live
 * one is not: -EADDRINUSE) and listens at config->socket. Returns 0 or -errno (-ENOENT also: there
 * is no such user or group as the configuration names).
 */
int service_listen(struct service *service);

/** The same with a socket that listens already, which the service owns from now on. */
int service_listen_on(struct service *service, int socket);

/** Serves a connected stream socket; owns it from now on, also on failure. Returns 0 or -errno. */
int service_adopt(struct service *service, int socket);

/**
 * Goes on with another configuration. What cannot change (reload.h) must be as it was. Limits that
 * became lower hold for what comes; nothing that is there is dropped.
 */
void service_reconfigure(struct service *service, const struct config *config);

/** Where events of jobs go; null: nowhere. It must stay until the service is destroyed or told
 *  otherwise. */
void service_set_trace(struct service *service, struct trace *trace);

/**
 * Takes no new connections and jobs; answers queued jobs with SHUTTING_DOWN, finishes and answers
 * running ones, then closes everything, so that the loop runs out of handles and uv_run() returns.
 * Where running jobs outlast config->drain_ms they are answered SHUTTING_DOWN too and cancelled,
 * and uv_stop() makes uv_run() return non-zero: the caller may end the process, or run the loop
 * again until the transfers have ended.
 */
void service_shutdown(struct service *service);

/**
 * After uv_run() has returned; shuts down first where nobody has, running the loop until that is
 * done. Gives the channel pool back. Null is fine.
 */
void service_destroy(struct service *service);

/*
 * The embedded form: a service with its own loop on its own thread, and connections to it.
 */
struct service_thread;

/** Returns 0 with *socket connected to the service (caller closes it), or -errno. */
int service_thread_start(const struct config *config, struct service_thread **out, int *socket);

/**
 * One more connection, from any thread; returns once it is served, 0 with *socket as above, or
 * -errno. Not while somebody calls service_thread_stop().
 */
int service_thread_connect(struct service_thread *thread, int *socket);

/** Shuts the service down, waits for it and frees it. Null is fine. */
void service_thread_stop(struct service_thread *thread);

#endif /* DAEMON_SERVICE_H */
