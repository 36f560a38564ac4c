/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli_client: moves and permutes on a service (mlid) from a C program.
 *
 *     mli_client *client;
 *     mli_client_error error;
 *     mli_client_job job;
 *     mli_client_result result;
 *     if (mli_client_connect(NULL, &client, &error) < 0) ...
 *     mli_client_job_init(&job);
 *     job.src = (mli_tensor){.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
 *     job.src_memory.fd = src;
 *     job.dst_memory.fd = dst;
 *     mli_mov_cfg_for_permute(&job.cfg, (const uint8_t[4]){1, 0});
 *     if (mli_client_submit(client, &job, &result, &error) < 0)
 *         puts(error.message);
 *
 * Glossary
 *   client    one connection to a service, and what was asked for over it.
 *   buffer    memory that the service has mapped once and jobs name by a number.
 *   prepared  a job that was checked and planned once, to be started often.
 *   ticket    a request whose answer has not been taken yet.
 *   inline    a stream that carries no descriptors (ssh): their bytes travel instead.
 *
 * Returns. Functions that return int return 0, or a negative code (enum mli_client_code, or one of
 * the service: the table in PROTOCOL.md) after filling *error, which may be null; what they would
 * have filled is then left alone. Any of them may return the codes of the enum: no further ones are
 * listed but where they mean something of their own.
 *
 * Threads. One client is for one thread at a time; distinct clients have nothing in common.
 *
 * Waiting. Calls that need an answer wait for it, and take in whatever else comes meanwhile: then
 * callbacks run. mli_client_submit_async(), mli_client_start(), mli_client_flush() and
 * mli_client_dispatch() never wait. Callbacks run inside mli_client_dispatch() and calls that wait,
 * nowhere else. A callback may begin requests; a call that waits, or mli_client_close(), is refused
 * there (MLI_CLIENT_MISUSE).
 *
 * A connection that is lost fails every ticket, and all later calls, with MLI_CLIENT_LOST (or with
 * what the service said before it hung up). SIGPIPE is never raised.
 */
#ifndef MLI_CLIENT_H
#define MLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct mli_client mli_client;
typedef uint64_t mli_client_ticket; /* never 0 */

/* ---- Errors ---- */

/* Codes of the library itself: X(name, value, meaning). The service's are below -32000. */
#define MLI_CLIENT_CODE_TABLE(X)                                                                   \
    X(LOST, -1, "the connection is lost")                                                          \
    X(NO_SERVICE, -2, "nobody listens there")                                                      \
    X(BUSY, -3, "the service takes no connection now: it is stopped or overloaded")                \
    X(WAITED, -4, "the time given to wait is over; the request goes on")                           \
    X(INTERRUPTED, -5, "the interrupt descriptor became readable; the request goes on")            \
    X(NO_MEMORY, -6, "this process has no memory left")                                            \
    X(SYSTEM, -7, "a system call failed; the message says which")                                  \
    X(MISUSE, -8, "an argument is none, or the call is not allowed here")                          \
    X(UNREADABLE, -9, "the service's answer does not have what it should")                         \
    X(IMPOSSIBLE, -10, "not over this transport: it carries no descriptors")

enum mli_client_code {
    MLI_CLIENT_OK = 0,
#define MLI_CLIENT_CODE_ENUM(name, value, text) MLI_CLIENT_##name = (value),
    MLI_CLIENT_CODE_TABLE(MLI_CLIENT_CODE_ENUM)
#undef MLI_CLIENT_CODE_ENUM
};

/** What went wrong. */
typedef struct mli_client_error {
    int code;          /**< below 0; enum mli_client_code, or the service's */
    mli_status status; /**< with REFUSED (-32000): what libmli said; else MLI_STATUS_OK */
    uint64_t job;      /**< the job whose error it is, where several were waited for; else 0 */
    bool has_pointer;  /**< the root's pointer is the empty string */
    char name[32];     /**< of the code, as "INVALID_PARAMS" or "LOST" */
    char pointer[256]; /**< JSON pointer into the job or the request, as "/cfg/offset/1" */
    char message[320]; /**< a sentence: what, and what was expected */
} mli_client_error;

/* ---- Connections ---- */

/**
 * Connects to the service at `path`; null: at $MLID_SOCKET, else $XDG_RUNTIME_DIR/mlid.sock, if
 * that is an absolute path of at most 107 bytes, else /run/mlid.sock. Waits up to 5 s while the
 * service's backlog is full (then BUSY). *client is to be closed by the caller. NO_SERVICE: nobody
 * listens. Whether the service serves this user is told by the first call.
 */
int mli_client_connect(const char *path, mli_client **client, mli_client_error *error);

/** mli_client_connect() with an interrupt descriptor from the beginning. */
int mli_client_connect_interruptible(const char *path, int interrupt, mli_client **client,
                                     mli_client_error *error);

enum { MLI_CLIENT_PATH_MAX = 108 };

/** Where mli_client_connect(path) looks for the service: `path`, or the default for null. MISUSE:
 * it is too long for a socket. */
int mli_client_socket_path(const char *path, char out[MLI_CLIENT_PATH_MAX],
                           mli_client_error *error);

/** The connection alone, for those who speak the protocol themselves: *socket is non-blocking,
 *  close-on-exec and the caller's. `interrupt` may be -1. */
int mli_client_open_socket(const char *path, int interrupt, int *socket, mli_client_error *error);

enum { MLI_CLIENT_INLINE = 1 }; /* flag: the stream carries no descriptors */

/**
 * Talks over a connected stream socket, which the library owns from now on, also on failure, and
 * makes non-blocking. `flags`: 0 or MLI_CLIENT_INLINE.
 */
int mli_client_adopt(int socket, unsigned flags, mli_client **client, mli_client_error *error);

/**
 * Starts argv[0] (found along $PATH, no shell) with a socket as its standard input and output, and
 * speaks with it the inline form of the protocol, as `mlictl proxy` does. Its standard error is
 * ours. mli_client_close() closes the socket, gives it 2 s to end, then terminates it.
 */
int mli_client_spawn(char *const argv[], mli_client **client, mli_client_error *error);

/**
 * The end of it: queued jobs of the connection are dropped, running ones cancelled, buffers and
 * prepared jobs released; callbacks are not called. Mappings of buffers that were not released
 * stay. Null is fine.
 */
void mli_client_close(mli_client *client);

/**
 * What the command of mli_client_spawn() ended with, when the connection is lost: its exit code,
 * 128 + the signal's number, or -1 where there is no command or it does not end (waits up to 2 s).
 */
int mli_client_command_status(mli_client *client);

/** Where it is connected to; "" for a socket that was adopted, argv[0] of a command. */
const char *mli_client_path(const mli_client *client);

/** False once the connection is lost. */
bool mli_client_connected(const mli_client *client);

/** A descriptor that, once readable, ends every waiting call with INTERRUPTED. -1: none. */
void mli_client_set_interrupt(mli_client *client, int interrupt);

/**
 * Milliseconds that calls without a timeout of their own wait for their answer; -1, as at first: as
 * long as it takes. What comes later is dropped.
 */
void mli_client_set_timeout(mli_client *client, int timeout_ms);

/** What the service says first; the numbers are limits of this connection. */
typedef struct mli_client_greeting {
    uint32_t protocol;
    char version[32];
    uint64_t client; /**< number of this connection, as in lists and events */
    uint64_t jobs, job_bytes, buffers, buffer_bytes, prepared;
} mli_client_greeting;

/** Waits for the greeting, which need not be done. */
int mli_client_greet(mli_client *client, mli_client_greeting *greeting, mli_client_error *error);

/* ---- The event loop's side ---- */

/** To be polled; -1 once the connection is lost. */
int mli_client_fd(const mli_client *client);
/** What to poll it for: POLLIN, and POLLOUT while something waits to be sent. */
short mli_client_poll_events(const mli_client *client);
/** Sends what waits, as far as the socket takes it. Requests are gathered until this, until 32 KiB
 *  wait, or until a call that dispatches or waits. */
int mli_client_flush(mli_client *client, mli_client_error *error);
/** Sends and takes in what can be without waiting, and calls callbacks. */
int mli_client_dispatch(mli_client *client, mli_client_error *error);
/** Requests that are not answered yet. */
size_t mli_client_pending(const mli_client *client);

/* ---- Buffers ---- */

typedef struct mli_client_buffer {
    uint32_t id;   /**< from 1; what jobs name */
    uint64_t size; /**< bytes */
    bool writable; /**< jobs may write */
    bool sealed;   /**< its file cannot shrink */
    int fd;        /**< of an allocated one; else -1 */
    void *address; /**< where an allocated one is mapped, shared, for reading and writing */
} mli_client_buffer;

enum mli_client_access { MLI_CLIENT_ANY_ACCESS, MLI_CLIENT_READ, MLI_CLIENT_WRITE };

/**
 * Names a file, memfd or dma-buf of the caller's for jobs: its first `size` bytes (0: all). The
 * descriptor stays the caller's and may be closed.
 */
int mli_client_buffer_register(mli_client *client, int fd, uint64_t size,
                               enum mli_client_access access, mli_client_buffer *buffer,
                               mli_client_error *error);
/** The service makes `size` bytes of zeros; they are mapped here. */
int mli_client_buffer_alloc(mli_client *client, uint64_t size, mli_client_buffer *buffer,
                            mli_client_error *error);
/**
 * New jobs cannot name it any more. Also unmaps and closes an allocated one, whatever is returned;
 * *buffer is zeroed, with fd -1.
 */
int mli_client_buffer_release(mli_client *client, mli_client_buffer *buffer,
                              mli_client_error *error);

/* ---- Jobs ---- */

/** Where a tensor lies. */
typedef struct mli_client_memory {
    uint32_t buffer; /**< a buffer's id; 0: in `fd` */
    int fd;          /**< stays the caller's; may be closed once the call has returned */
    uint64_t offset; /**< bytes before the first element */
    bool fresh;      /**< destination, inline only: it holds zeros, its bytes need not be sent */
} mli_client_memory;

/** A job: by its number, or (number 0) by name, the latest of that name of this connection. */
typedef struct mli_client_ref {
    uint64_t number;
    const char *name;
} mli_client_ref;

enum mli_client_op { MLI_CLIENT_MOV, MLI_CLIENT_PERMUTE };
enum { MLI_CLIENT_AFTER_MAX = 64 };

/** One move or permute. Everything it points to stays the caller's. */
typedef struct mli_client_job {
    enum mli_client_op op;
    const char *name; /**< or null */
    /** Type, rank, shape, strides and parameters; `data` is not looked at. */
    mli_tensor src;
    /**
     * What is known of the tensor that is written into: rank 0, or its shape, strides and, of a
     * per-axis source, its per-axis parameters. Strides of 0 are packed, by the extents of this
     * shape. `data` and the type are not looked at.
     */
    mli_tensor dst;
    mli_client_memory src_memory, dst_memory;
    mli_mov_cfg_t cfg;           /**< of a permute, only perm_dim */
    uint32_t channels;           /**< 1 .. 16 */
    int32_t priority;            /**< -1, 0, 1 */
    uint32_t timeout_ms;         /**< from its arrival at the service; 0: none */
    const mli_client_ref *after; /**< jobs that must have ended well before */
    size_t after_count;
} mli_client_job;

/** A move of everything, on one channel; descriptors -1. */
void mli_client_job_init(mli_client_job *job);

/** What a job gave. */
typedef struct mli_client_result {
    uint64_t job;   /**< its number */
    bool has_dst;   /**< false after a start of a prepared job */
    mli_tensor dst; /**< without data; per-axis parameters are owned by the result */
    uint64_t bytes; /**< written */
    uint32_t channels;
    char engine[24];
    uint64_t ns_queued, ns_moving; /**< from arrival to start, from start to end */
    void *owned;                   /**< private */
} mli_client_result;

/** Frees what a result or a prepared job's layout owns, not the structure. Null is fine. */
void mli_client_result_free(mli_client_result *result);

/**
 * An answer: *result, or null and *error. Both are the library's, until the callback returns. The
 * ticket is no more.
 */
typedef void mli_client_done_fn(mli_client *client, mli_client_ticket ticket,
                                const mli_client_result *result, const mli_client_error *error,
                                void *user);

/**
 * Sends the job and waits until it is done. *result is to be freed; null: not wanted. Inline, the
 * descriptors' files are read and written from their beginning to their end (up to 1 GiB in all).
 */
int mli_client_submit(mli_client *client, const mli_client_job *job, mli_client_result *result,
                      mli_client_error *error);
/** The same without waiting. `done` null: the answer is kept for mli_client_wait(). */
int mli_client_submit_async(mli_client *client, const mli_client_job *job, mli_client_done_fn *done,
                            void *user, mli_client_ticket *ticket, mli_client_error *error);
/** Returns once the service has taken the job, which outlives the connection. */
int mli_client_submit_detached(mli_client *client, const mli_client_job *job, uint64_t *number,
                               mli_client_error *error);

typedef struct mli_client_prepared {
    uint32_t id;    /**< from 1 */
    uint64_t bytes; /**< written by each start */
    mli_tensor dst; /**< as in a result */
    void *owned;    /**< private */
} mli_client_prepared;

/** Checks and plans a job (one without `after` and `timeout_ms`). IMPOSSIBLE inline. */
int mli_client_prepare(mli_client *client, const mli_client_job *job, mli_client_prepared *prepared,
                       mli_client_error *error);
/** Ends it and frees what *prepared owns, whatever is returned. */
int mli_client_prepared_release(mli_client *client, mli_client_prepared *prepared,
                                mli_client_error *error);

/** Other memory for a prepared tensor that lies in a buffer; all zero: as prepared. */
typedef struct mli_client_other {
    uint32_t buffer; /**< 0: the one it was prepared with */
    bool has_offset;
    uint64_t offset; /**< bytes, counted in the buffer */
} mli_client_other;

/** How to start a prepared job: {.prepared = id} is enough. */
typedef struct mli_client_start_args {
    uint32_t prepared;
    mli_client_other src, dst;
    bool has_priority; /**< else as prepared */
    int32_t priority;
    uint32_t timeout_ms;
    const mli_client_ref *after;
    size_t after_count;
} mli_client_start_args;

/** Starts a prepared job; as mli_client_submit_async(). */
int mli_client_start(mli_client *client, const mli_client_start_args *args,
                     mli_client_done_fn *done, void *user, mli_client_ticket *ticket,
                     mli_client_error *error);

/**
 * Waits for the answer to a ticket that has no callback, `timeout_ms` at most (-1: as long as it
 * takes). The ticket is used up, but not by WAITED, INTERRUPTED and MISUSE.
 */
int mli_client_wait(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_result *result, mli_client_error *error);
/** Whether mli_client_wait() would return at once. */
bool mli_client_done(const mli_client *client, mli_client_ticket ticket);
/** Nobody wants its answer any more; the job goes on. A callback is not called. */
void mli_client_forget(mli_client *client, mli_client_ticket ticket);
/** Waits until nothing is pending. */
int mli_client_wait_pending(mli_client *client, int timeout_ms, mli_client_error *error);

/* ---- Looking after jobs ---- */

/* X(name, word on the wire) */
#define MLI_CLIENT_STATE_TABLE(X)                                                                  \
    X(WAITING, "waiting")                                                                          \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(DONE, "done")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(CANCELLED, "cancelled")

enum mli_client_state {
#define MLI_CLIENT_STATE_ENUM(name, word) MLI_CLIENT_##name,
    MLI_CLIENT_STATE_TABLE(MLI_CLIENT_STATE_ENUM)
#undef MLI_CLIENT_STATE_ENUM
};

typedef struct mli_client_job_info {
    uint64_t job;
    char name[129]; /**< empty: none */
    enum mli_client_state state;
    uint64_t client;
    uint32_t uid;
    int32_t priority;
    uint32_t channels;
    int32_t first_channel; /**< -1: never started */
    uint64_t bytes, bytes_done;
    bool detached;
    uint64_t ns_queued, ns_moving;
    mli_client_error error; /**< code 0: none */
} mli_client_job_info;

int mli_client_status(mli_client *client, mli_client_ref ref, mli_client_job_info *info,
                      mli_client_error *error);
/** *state: how far it is: RUNNING where it has yet to stop. May be null. */
int mli_client_cancel(mli_client *client, mli_client_ref ref, enum mli_client_state *state,
                      mli_client_error *error);
/** Waits for a job as the service does: its own error, or TIMED_OUT (-32003) after `timeout_ms`
 *  (0: none). *result is to be freed; may be null. */
int mli_client_wait_job(mli_client *client, mli_client_ref ref, uint32_t timeout_ms,
                        mli_client_result *result, mli_client_error *error);
/** Waits until the last of up to 1024 jobs has ended; the error is that of the first one, in this
 *  order, that did not end well. `count` 0: all jobs of this connection. */
int mli_client_wait_jobs(mli_client *client, const mli_client_ref *refs, size_t count,
                         uint32_t timeout_ms, mli_client_error *error);

typedef struct mli_client_query {
    uint32_t states;  /**< bit 1 << enum mli_client_state; 0: all */
    uint64_t client;  /**< 0: all */
    const char *name; /**< null: all */
    uint64_t before;  /**< only jobs with a lower number; 0: all */
    uint32_t limit;   /**< 1 .. 1000; 0: 100 */
} mli_client_query;

/** The latest first. *jobs is to be freed with free(). `more` may be null. */
int mli_client_list(mli_client *client, const mli_client_query *query, mli_client_job_info **jobs,
                    size_t *count, bool *more, mli_client_error *error);

/* ---- The service ---- */

enum mli_client_phase { MLI_CLIENT_SERVING, MLI_CLIENT_DRAINING, MLI_CLIENT_DRAINED };

typedef struct mli_client_info {
    char version[32];
    uint32_t protocol;
    enum mli_client_phase phase;
    char engine[24];
    uint32_t pid;
    uint64_t uptime_ms;
    uint32_t channels, channels_busy, channels_quarantined, channel_offset;
    uint32_t clients, clients_max;
    uint32_t jobs_queued, jobs_running, jobs_per_client_max;
    uint64_t jobs_done, jobs_failed, bytes_moved;
} mli_client_info;

int mli_client_ping(mli_client *client, mli_client_error *error);
int mli_client_get_info(mli_client *client, mli_client_info *info, mli_client_error *error);

enum { MLI_CLIENT_BUCKETS = 24 };
/** Bucket i counts times below 1024 << i ns that no bucket before counts; the last the rest. */
typedef struct mli_client_histogram {
    uint64_t count, sum_ns, buckets[MLI_CLIENT_BUCKETS];
} mli_client_histogram;

typedef struct mli_client_channel {
    uint32_t channel;
    bool busy, quarantined;
    uint64_t submitted, completed, failed, cancelled, bytes, rows, busy_ns;
    uint64_t job; /**< that holds it; 0: none */
} mli_client_channel;

typedef struct mli_client_stats {
    enum mli_client_phase phase;
    uint64_t uptime_ms;
    uint64_t submitted, done, failed, cancelled, refused; /**< jobs since the start */
    uint32_t waiting, queued[3], running;                 /**< now; queued: low, normal, high */
    uint64_t bytes_moved;
    uint32_t clients, buffers, prepared; /**< now */
    uint64_t clients_accepted, clients_turned_away;
    uint64_t buffer_bytes, events_dropped;
    mli_client_histogram times_queued, times_moving;
    uint32_t channel_count;
    mli_client_channel channels[16];
} mli_client_stats;

int mli_client_get_stats(mli_client *client, mli_client_stats *stats, mli_client_error *error);

/** For root and the service's user: no new jobs. `wait`: until the last one has ended. */
int mli_client_drain(mli_client *client, bool wait, enum mli_client_phase *phase,
                     mli_client_error *error);
int mli_client_resume(mli_client *client, enum mli_client_phase *phase, mli_client_error *error);

/* ---- Events ---- */

enum mli_client_event_kind {
    MLI_CLIENT_EVENT_QUEUED,
    MLI_CLIENT_EVENT_STARTED,
    MLI_CLIENT_EVENT_PROGRESS,
    MLI_CLIENT_EVENT_DONE
};
enum mli_client_scope { MLI_CLIENT_SCOPE_CONNECTION, MLI_CLIENT_SCOPE_USER, MLI_CLIENT_SCOPE_ALL };

typedef struct mli_client_event {
    enum mli_client_event_kind kind;
    uint64_t time_ns; /**< of the service's monotonic clock */
    uint64_t dropped; /**< events lost since the one before */
    mli_client_job_info job;
} mli_client_event;

typedef void mli_client_event_fn(mli_client *client, const mli_client_event *event, void *user);

/**
 * Events of jobs from now on. `events`: bit 1 << enum mli_client_event_kind; 0 ends it.
 * `interval_ms`: 20 to 60000, between two progress events of a job; 0: 250.
 */
int mli_client_subscribe(mli_client *client, uint32_t events, enum mli_client_scope scope,
                         uint32_t interval_ms, mli_client_event_fn *callback, void *user,
                         mli_client_error *error);

/* ---- Anything else ---- */

/** A descriptor that goes with a call. Over a unix socket the flags do not matter. */
typedef struct mli_client_attachment {
    int fd;
    bool send; /**< inline: its bytes travel; else the other side begins with zeros */
    bool back; /**< inline: what the other side holds after a result is written into it */
} mli_client_attachment;

/**
 * Any method of the protocol: `params` is a JSON object without a newline, or null. *line becomes
 * the whole reply, a JSON object as PROTOCOL.md says, zero-terminated; it is to be freed with
 * free(). An error that the service answers is an error here. Waits `timeout_ms` at most; -1: as
 * long as it takes.
 */
int mli_client_call(mli_client *client, const char *method, const char *params,
                    const mli_client_attachment *attachments, size_t count, int timeout_ms,
                    char **line, size_t *length, mli_client_error *error);

/** Every notification as it comes, one JSON object, not zero-terminated. Null: none. */
typedef void mli_client_notify_fn(mli_client *client, const char *line, size_t length, void *user);
void mli_client_set_notify(mli_client *client, mli_client_notify_fn *notify, void *user);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLI_CLIENT_H */
