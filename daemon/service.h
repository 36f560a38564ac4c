/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service: what mlid and the service that `mlictl run` embeds have in common. service.c puts it
 * together from these folders; each calls and includes only the folders below it
 * (tests/source/check_calls.py):
 *
 *     ops/      the process mlid: command line, signals, metrics, service manager
 *     service.c, embed.c
 *     net/      connections: requests in, replies and events out (net.h)
 *     job/      jobs: admit, queue, start on DMA channels, complete, remember (jobs.h)
 *     config/   the configuration file, quotas, users and addresses in it (config.h)
 *     memory/   clients' files as memory (buffer.h, region.h), the board's memories (board.h)
 *     base/     lists, tables, threads, the log
 *
 * The path of a job through the files:
 *
 *     socket --> net/client.c --> net/call.c --> net/submit.c --> job/jobs.c (memory/ maps its
 *     tensors) --> job/dispatch.c (a queue, then channels and a plan) --> job/completions.c -->
 *     libmli --> job/completions.c --> job/task.c --> net/submit.c --> socket
 *
 * The loop's thread owns all state. Two files use other threads too: job/completions.c starts and
 * ends transfers, base/reaper.c closes clients' descriptors and unmaps their memory.
 *
 * To add an RPC method, start in net/net.h; a key of the configuration, in config/config.h; a job
 * check or limit, in job/jobs.h; a number in the statistics, in net/net.h.
 */
#pragma once

#include "daemon/config/config.h"

struct daemon_stats;
struct uv_loop_s;
struct service;
struct trace;

/** Returns the number of DMA channels of the target profile; 0 if no profile can be loaded. */
uint32_t service_profile_channels(const struct config *config);

/** Checks that the target profile can be loaded. Returns the same values as service_check(). */
int service_check_profile(const struct config *config, struct fault *fault);

/**
 * Checks the target profile, and that the engine exists, accepts its options and has the configured
 * channels, which config_check() cannot check. Sets the engine, takes the channels and gives them
 * back. Returns 0, or -1 with *fault filled if the configuration is wrong.
 */
int service_check(const struct config *config, struct fault *fault);

/**
 * Creates the service on a loop; it does not listen yet. Sets the library's engine, channel pool
 * and target profile, the log level, and a handler of SIGBUS (sigbus.h). A process has one channel
 * pool, and therefore one service at a time. Transfers run on the DMA channels; tiny transfers, and
 * with the engine "inline" all transfers, run on the loop's thread. Returns 0 or -errno (-EBUSY:
 * another service or other code in this process holds channels; -EINVAL: service_check() refuses
 * the configuration).
 */
int service_create(struct uv_loop_s *loop, const struct config *config, struct service **out);

/**
 * Listens at config->socket. The socket file has its mode from the first moment. Replaces a stale
 * socket file, on which no process listens. Returns 0 or -errno (-EADDRINUSE: another process
 * listens at it; -ENOENT: the directory, or a configured user or group, does not exist).
 */
int service_listen(struct service *service);

/** Serves a socket that listens already; takes ownership, even on failure. Returns 0 or -errno. */
int service_listen_on(struct service *service, int socket);

/** Serves a connected stream socket, and takes ownership, even on failure. Returns 0 or -errno. */
int service_adopt(struct service *service, int socket);

/**
 * Applies another configuration. The keys that cannot change (config.h), and `embedded`, must be
 * unchanged. A lower limit applies to later requests; jobs, buffers and connections that exceed it
 * stay.
 */
void service_reconfigure(struct service *service, const struct config *config);

/**
 * Writes the events of jobs to a trace from now on; null ends this. The trace must outlive the
 * service or be replaced by null.
 */
void service_set_trace(struct service *service, struct trace *trace);

/** Fills all statistics, as daemon.stats reports them to root. */
void service_stats(struct service *service, struct daemon_stats *stats);

/**
 * Takes no new connections and jobs. Answers queued jobs with SHUTTING_DOWN, finishes and answers
 * running jobs, then closes all handles, so that uv_run() returns 0. If running jobs outlast
 * config->drain_ms, they are answered with SHUTTING_DOWN and cancelled, and uv_stop() makes
 * uv_run() return: non-zero if the service still waits for transfers or clients; the caller may
 * then end the process, or run the loop again until the transfers have ended.
 */
void service_shutdown(struct service *service);

/** Returns whether service_shutdown() has cancelled jobs that outlasted config->drain_ms. */
bool service_has_cut_jobs(const struct service *service);

/**
 * Frees the service, gives the channel pool back and restores the library's default profile. Call
 * it after uv_run() has returned. If service_shutdown() was not called, shuts the service down
 * first and runs the loop until the shutdown is complete. Accepts NULL.
 */
void service_destroy(struct service *service);

/** Checks that descriptors are left for a loop: libuv aborts without them. Returns 0 or -errno. */
int service_check_descriptors(void);

/* The embedded form: a service with its own loop on its own thread. */
struct service_thread;

/**
 * Makes libuv call `end` when it cannot enlarge an array: it would call abort() then. `end` ends
 * the program, and may run in any thread. Changes libuv in the whole process: for programs, not
 * libraries. Call it before all other functions that use libuv. Returns 0 or -errno.
 */
int service_thread_on_no_memory(void (*end)(void));

/** Starts a service. Returns 0 with *socket connected to it, which the caller closes; or -errno. */
int service_thread_start(const struct config *config, struct service_thread **out, int *socket);

/**
 * Makes one more connection. Returns when the service serves it: 0 with *socket connected to the
 * service, or -errno. Thread-safe, but do not call it during service_thread_stop().
 */
int service_thread_connect(struct service_thread *thread, int *socket);

/** Shuts the service down, waits until it has ended and frees it. Accepts NULL. */
void service_thread_stop(struct service_thread *thread);
