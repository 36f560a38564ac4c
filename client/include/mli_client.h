/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli_client: runs moves and permutes on a service (mlid) from a C program.
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
 *   client    one connection to a service, with its pending requests.
 *   buffer    memory that the service maps once; jobs refer to it by number.
 *   prepared  a job that the service has checked and planned once, to start it often.
 *   ticket    a request whose reply the program has not taken yet.
 *   inline    over a stream that carries no descriptors (ssh), file contents are sent instead.
 *
 * Returns. A function that returns int returns 0, or fills *error and returns a negative code: one
 * of enum mli_client_code, or one of the service (see the table in PROTOCOL.md). `error` may be
 * null. On an error the other outputs are unchanged. Every function may return every code; the
 * descriptions below mention a code only where it has a special meaning.
 *
 * Threads. Only one thread at a time may use a client; distinct clients are independent.
 *
 * Waiting. A call that needs a reply waits for it, and handles all other lines that arrive
 * meanwhile. Functions whose names end in _async, mli_client_start(), mli_client_flush() and
 * mli_client_dispatch() never wait. Callbacks run only inside mli_client_dispatch() and inside
 * calls that wait. In a callback, calls that do not wait are allowed; calls that wait fail with
 * MLI_CLIENT_MISUSE, and mli_client_close() does nothing.
 *
 * When the connection is lost, all tickets and all later calls fail with MLI_CLIENT_LOST, or with
 * the error that the service sent before it closed the connection. SIGPIPE is never raised.
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

/* Codes of the library: X(name, value, meaning). Codes of the service are -32000 and below. */
#define MLI_CLIENT_CODE_TABLE(X)                                                                   \
    X(LOST, -1, "the connection is lost")                                                          \
    X(NO_SERVICE, -2, "no service listens at this path")                                           \
    X(BUSY, -3, "the service accepts no connection: it is stopped or overloaded")                  \
    X(WAITED, -4, "the wait timed out; the request continues")                                     \
    X(INTERRUPTED, -5, "the interrupt descriptor became readable; the request continues")          \
    X(NO_MEMORY, -6, "this process has no memory left")                                            \
    X(SYSTEM, -7, "a system call failed; the message says which")                                  \
    X(MISUSE, -8, "an argument is invalid, or the call is not allowed now")                        \
    X(UNREADABLE, -9, "a member of the service's reply is missing or invalid")                     \
    X(IMPOSSIBLE, -10, "the transport carries no descriptors, which this call needs")

enum mli_client_code {
    MLI_CLIENT_OK = 0,
#define MLI_CLIENT_CODE_ENUM(name, value, text) MLI_CLIENT_##name = (value),
    MLI_CLIENT_CODE_TABLE(MLI_CLIENT_CODE_ENUM)
#undef MLI_CLIENT_CODE_ENUM
};

/** An error. */
typedef struct mli_client_error {
    int code;          /**< negative: enum mli_client_code, or a code of the service */
    mli_status status; /**< libmli's status if code is REFUSED (-32000); else MLI_STATUS_OK */
    uint64_t job;      /**< number of the failed job if the call waited for several; else 0 */
    bool has_pointer;  /**< true: `pointer` is known; the pointer of the root is "" */
    char name[32];     /**< name of the code, like "INVALID_PARAMS" or "LOST" */
    char pointer[256]; /**< JSON pointer into the job or the request, like "/cfg/offset/1" */
    char message[320]; /**< text: what was given and what is allowed */
} mli_client_error;

/* ---- Connections ---- */

/**
 * Connects to the service at `path`. If `path` is null, the socket is $MLID_SOCKET, else
 * $XDG_RUNTIME_DIR/mlid.sock if that is an absolute path of at most 107 bytes, else /run/mlid.sock.
 * Waits up to 5 s while the service's backlog is full, then returns BUSY. The caller closes
 * *client. Returns NO_SERVICE if no service listens. If the service does not serve this user, the
 * first call fails.
 */
int mli_client_connect(const char *path, mli_client **client, mli_client_error *error);

/** Like mli_client_connect(), with an interrupt descriptor: see mli_client_set_interrupt(). */
int mli_client_connect_interruptible(const char *path, int interrupt, mli_client **client,
                                     mli_client_error *error);

enum { MLI_CLIENT_PATH_MAX = 108 };

/** Writes the path that mli_client_connect(path) connects to. Returns MISUSE if it is too long. */
int mli_client_socket_path(const char *path, char out[MLI_CLIENT_PATH_MAX],
                           mli_client_error *error);

/**
 * Only connects, for programs that implement the protocol themselves. The caller owns *socket,
 * which is non-blocking and close-on-exec. `interrupt` is a descriptor or -1.
 */
int mli_client_open_socket(const char *path, int interrupt, int *socket, mli_client_error *error);

enum { MLI_CLIENT_INLINE = 1 }; /* flag: the stream carries no descriptors */

/**
 * Creates a client of a connected stream socket. The library takes ownership of the socket, also on
 * failure, and makes it non-blocking. `flags`: 0 or MLI_CLIENT_INLINE.
 */
int mli_client_adopt(int socket, unsigned flags, mli_client **client, mli_client_error *error);

/**
 * Starts the command argv[0] (searched in $PATH, without a shell) with a socket as its standard
 * input and output, and uses the inline form of the protocol over it; `mlictl proxy` is such a
 * command. The command inherits standard error. mli_client_close() closes the socket,
 * and terminates the command after 2 s.
 */
int mli_client_spawn(char *const argv[], mli_client **client, mli_client_error *error);

/**
 * Closes the connection. The service drops its queued jobs, cancels its running jobs, and releases
 * its buffers and prepared jobs. Callbacks are not called. Buffers that were not released stay
 * mapped in this process. `client` may be null.
 */
void mli_client_close(mli_client *client);

/**
 * Returns the exit code of the command of mli_client_spawn() after the connection is lost, or 128 +
 * the number of the signal that ended it. Waits up to 2 s for its end. Returns -1 if the client has
 * no command, is connected, or the command does not end.
 */
int mli_client_command_status(mli_client *client);

/** Returns the path of the service's socket, argv[0] of a command, or "" for an adopted socket. */
const char *mli_client_path(const mli_client *client);

/** Returns false when the connection is lost. */
bool mli_client_connected(const mli_client *client);

/** Sets a descriptor that, while readable, ends waiting calls with INTERRUPTED; -1 removes it. */
void mli_client_set_interrupt(mli_client *client, int interrupt);

/**
 * Sets the milliseconds that calls without a timeout parameter wait for their reply; -1, the
 * default, waits forever. A reply that arrives later is dropped.
 */
void mli_client_set_timeout(mli_client *client, int timeout_ms);

/** The first line of the service. The members from `jobs` to `prepared` are limits of this
 * connection. */
typedef struct mli_client_greeting {
    uint32_t protocol;
    char version[32];
    uint64_t client; /**< number of this connection in lists and events */
    uint64_t jobs, job_bytes, buffers, buffer_bytes, prepared;
} mli_client_greeting;

/** Waits for the greeting. This call is optional. */
int mli_client_greet(mli_client *client, mli_client_greeting *greeting, mli_client_error *error);

/* ---- Event loops ---- */

/** Returns the descriptor to poll, or -1 when the connection is lost. */
int mli_client_fd(const mli_client *client);
/** Returns the events to poll for: POLLIN, and POLLOUT while requests are queued. */
short mli_client_poll_events(const mli_client *client);
/** Sends queued requests without waiting, but for 1 ms while the kernel refuses further descriptors
 *  of this user (ETOOMANYREFS) because services have not received earlier ones. Requests stay
 *  queued until this call, a call that dispatches or waits, or until 32 KiB are queued. */
int mli_client_flush(mli_client *client, mli_client_error *error);
/** Sends and receives without waiting, and calls callbacks. */
int mli_client_dispatch(mli_client *client, mli_client_error *error);
/** Returns the number of requests without a reply. */
size_t mli_client_pending(const mli_client *client);

/* ---- Buffers ---- */

typedef struct mli_client_buffer {
    uint32_t id;   /**< number of the buffer, from 1, for mli_client_memory */
    uint64_t size; /**< bytes */
    bool writable; /**< true: jobs may write to the buffer */
    bool sealed;   /**< true: the file cannot shrink */
    int fd;        /**< descriptor of an allocated buffer; else -1 */
    void *address; /**< shared, writable mapping of an allocated buffer; else null */
} mli_client_buffer;

enum mli_client_access { MLI_CLIENT_ANY_ACCESS, MLI_CLIENT_READ, MLI_CLIENT_WRITE };

/**
 * Registers the first `size` bytes (0: all) of a file, memfd or dma-buf as a buffer. The caller
 * keeps the descriptor and may close it.
 */
int mli_client_buffer_register(mli_client *client, int fd, uint64_t size,
                               enum mli_client_access access, mli_client_buffer *buffer,
                               mli_client_error *error);
/** Makes the service allocate a buffer of `size` zero bytes, and maps it. */
int mli_client_buffer_alloc(mli_client *client, uint64_t size, mli_client_buffer *buffer,
                            mli_client_error *error);
/** A range of a board's memory, for mli_client_buffer_alloc_on(). */
typedef struct mli_client_board_range {
    const char *memory; /**< name of a memory of the service's target profile */
    bool exact;         /**< true: the buffer begins at `address`; false: the service chooses */
    uint64_t address;   /**< address of the first byte on the board; set by the call */
} mli_client_board_range;

/**
 * Makes the service allocate a buffer in a memory of its board, like mli_client_buffer_alloc(). A
 * range that is in use is refused with the service's code NO_ROOM.
 */
int mli_client_buffer_alloc_on(mli_client *client, uint64_t size, mli_client_board_range *range,
                               mli_client_buffer *buffer, mli_client_error *error);
/**
 * Releases a buffer: new jobs can no longer use it. Unmaps and closes an allocated buffer, and
 * clears *buffer (fd -1), also on an error.
 */
int mli_client_buffer_release(mli_client *client, mli_client_buffer *buffer,
                              mli_client_error *error);

/* ---- Jobs ---- */

/** The memory that holds a tensor's elements. */
typedef struct mli_client_memory {
    uint32_t buffer; /**< id of a buffer; 0: the file `fd` */
    int fd;          /**< owned by the caller, who may close it after the call */
    uint64_t offset; /**< bytes before the first element */
    bool fresh;      /**< true: the destination is all zeros; inline, its bytes are not sent */
} mli_client_memory;

/** Refers to a job by its number, or by the number 0 and a name: this connection's latest job with
 * that name. */
typedef struct mli_client_ref {
    uint64_t number;
    const char *name;
} mli_client_ref;

enum mli_client_op { MLI_CLIENT_MOV, MLI_CLIENT_PERMUTE };
enum { MLI_CLIENT_AFTER_MAX = 64 };

/** One move or permute. The caller owns all memory that its members point to. */
typedef struct mli_client_job {
    enum mli_client_op op;
    const char *name; /**< name of the job, or null */
    /** Type, rank, shape, strides and parameters of the source; `data` is ignored. */
    mli_tensor src;
    /**
     * The destination. Rank 0 for a new tensor; for an existing tensor its shape, its strides and,
     * if the source has per-axis parameters, its per-axis parameters. Strides of 0 mean packed with
     * this shape. `data` and the type are ignored.
     */
    mli_tensor dst;
    mli_client_memory src_memory, dst_memory;
    mli_mov_cfg_t cfg;   /**< the configuration; a permute uses only perm_dim */
    uint32_t channels;   /**< number of channels, 1 .. 16 */
    int32_t priority;    /**< priority: -1, 0 or 1 */
    uint32_t timeout_ms; /**< time limit since the service received the job; 0: no timeout */
    const mli_client_ref *after; /**< jobs that must succeed before this job starts */
    size_t after_count;
} mli_client_job;

/** Sets the defaults: a move of the whole tensor on one channel; descriptors -1. */
void mli_client_job_init(mli_client_job *job);

/** The result of a job. */
typedef struct mli_client_result {
    uint64_t job;   /**< number of the job */
    bool has_dst;   /**< false after a start of a prepared job */
    mli_tensor dst; /**< the destination; `data` is null; the result owns the per-axis parameters */
    uint64_t bytes; /**< number of bytes written to the destination */
    uint32_t channels;
    char engine[24];
    uint64_t ns_queued, ns_moving; /**< time from admission to start, and from start to end */
    void *owned;                   /**< private */
} mli_client_result;

/** Frees the parameters that a result owns, not the structure. `result` may be null. */
void mli_client_result_free(mli_client_result *result);

/**
 * Callback for the end of a request: `result`, or null and `error`. The library owns both, and
 * frees them after the callback. The ticket is no longer valid.
 */
typedef void mli_client_done_fn(mli_client *client, mli_client_ticket ticket,
                                const mli_client_result *result, const mli_client_error *error,
                                void *user);

/**
 * Sends a job and waits until it is done. `result` may be null; else free it with
 * mli_client_result_free(). Inline, the library reads and writes the whole files of the
 * descriptors, at most 1 GiB in total.
 */
int mli_client_submit(mli_client *client, const mli_client_job *job, mli_client_result *result,
                      mli_client_error *error);
/** Sends a job without waiting. If `done` is null, take the reply with mli_client_wait(). */
int mli_client_submit_async(mli_client *client, const mli_client_job *job, mli_client_done_fn *done,
                            void *user, mli_client_ticket *ticket, mli_client_error *error);
/** Sends a job that continues after the connection is closed, and waits until it is admitted. */
int mli_client_submit_detached(mli_client *client, const mli_client_job *job, uint64_t *number,
                               mli_client_error *error);

typedef struct mli_client_prepared {
    uint32_t id;    /**< number of the prepared job, at least 1 */
    uint64_t bytes; /**< number of bytes that each start writes */
    mli_tensor dst; /**< the destination, as in a result */
    void *owned;    /**< private */
} mli_client_prepared;

/** Checks and plans a job, which must have no `after` and no `timeout_ms`. Returns IMPOSSIBLE if
 * the connection is inline. */
int mli_client_prepare(mli_client *client, const mli_client_job *job, mli_client_prepared *prepared,
                       mli_client_error *error);
/** Releases a prepared job. Frees the parameters that *prepared owns, also on an error. */
int mli_client_prepared_release(mli_client *client, mli_client_prepared *prepared,
                                mli_client_error *error);

/** Other memory of a tensor for one start of a prepared job; the tensor must be in a buffer. If all
 * members are zero, the start uses the memory given to mli_client_prepare(). */
typedef struct mli_client_other {
    uint32_t buffer; /**< number of the buffer; 0: the buffer of mli_client_prepare() */
    bool has_offset;
    uint64_t offset; /**< bytes from the beginning of the buffer */
} mli_client_other;

/** Arguments of a start; only `prepared` is required. */
typedef struct mli_client_start_args {
    uint32_t prepared;
    mli_client_other src, dst;
    bool has_priority; /**< true: use `priority`; false: use the priority of mli_client_prepare() */
    int32_t priority;
    uint32_t timeout_ms;
    const mli_client_ref *after;
    size_t after_count;
} mli_client_start_args;

/**
 * Starts a prepared job without waiting. `done` and `ticket` are as for mli_client_submit_async().
 */
int mli_client_start(mli_client *client, const mli_client_start_args *args,
                     mli_client_done_fn *done, void *user, mli_client_ticket *ticket,
                     mli_client_error *error);

/**
 * Waits at most `timeout_ms` (-1: forever) for the reply to a ticket without a callback. The ticket
 * stays valid only after WAITED, INTERRUPTED and MISUSE.
 */
int mli_client_wait(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_result *result, mli_client_error *error);
/** Returns whether mli_client_wait() would return at once. */
bool mli_client_done(const mli_client *client, mli_client_ticket ticket);
/** Drops the reply to a ticket when it arrives, without calling a callback. The job continues. */
void mli_client_forget(mli_client *client, mli_client_ticket ticket);
/** Waits until no request is pending. */
int mli_client_wait_pending(mli_client *client, int timeout_ms, mli_client_error *error);

/* ---- Status of jobs ---- */

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
    char name[129]; /**< name of the job; empty: no name */
    enum mli_client_state state;
    uint64_t client;
    uint32_t uid;
    int32_t priority;
    uint32_t channels;
    int32_t first_channel; /**< first channel of the job; -1: not started */
    uint64_t bytes, bytes_done;
    bool detached;
    uint64_t ns_queued, ns_moving;
    mli_client_error error; /**< error of the job; code 0: no error */
} mli_client_job_info;

int mli_client_status(mli_client *client, mli_client_ref ref, mli_client_job_info *info,
                      mli_client_error *error);
/**
 * Cancels a job. *state (may be null) becomes the job's state, RUNNING while the job is stopping.
 */
int mli_client_cancel(mli_client *client, mli_client_ref ref, enum mli_client_state *state,
                      mli_client_error *error);
/** Waits for the end of any job with job.wait. Returns the job's error, or TIMED_OUT (-32003) after
 *  `timeout_ms` (0: no timeout). Free *result; `result` may be null. */
int mli_client_wait_job(mli_client *client, mli_client_ref ref, uint32_t timeout_ms,
                        mli_client_result *result, mli_client_error *error);
/** Waits until all of up to 1024 jobs have ended. Returns the error of the first job in `refs` that
 *  failed or was cancelled. `count` 0: all jobs of this connection. */
int mli_client_wait_jobs(mli_client *client, const mli_client_ref *refs, size_t count,
                         uint32_t timeout_ms, mli_client_error *error);

typedef struct mli_client_query {
    uint32_t states;  /**< bits 1 << enum mli_client_state; 0: all states */
    uint64_t client;  /**< number of the client; 0: all clients */
    const char *name; /**< name of the jobs; null: all names */
    uint64_t before;  /**< list only jobs with lower numbers; 0: all jobs */
    uint32_t limit;   /**< maximum number of jobs, 1 .. 1000; 0: 100 */
} mli_client_query;

/**
 * Lists jobs, the latest first. Free *jobs with free(). *more (may be null) becomes true if there
 * are older jobs.
 */
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
/** Bucket i counts the times below 1024 << i ns that no earlier bucket counts; the last bucket
 * counts all longer times. */
typedef struct mli_client_histogram {
    uint64_t count, sum_ns, buckets[MLI_CLIENT_BUCKETS];
} mli_client_histogram;

typedef struct mli_client_channel {
    uint32_t channel;
    bool busy, quarantined;
    uint64_t submitted, completed, failed, cancelled, bytes, rows, busy_ns;
    uint64_t job; /**< the job on the channel; 0: no job */
} mli_client_channel;

typedef struct mli_client_stats {
    enum mli_client_phase phase;
    uint64_t uptime_ms;
    uint64_t submitted, done, failed, cancelled, refused; /**< jobs since the start */
    uint32_t waiting, queued[3], running; /**< numbers of jobs now; queued: low, normal, high */
    uint64_t bytes_moved;
    uint32_t clients, buffers, prepared; /**< now */
    uint64_t clients_accepted, clients_turned_away;
    uint64_t buffer_bytes, events_dropped;
    mli_client_histogram times_queued, times_moving;
    uint32_t channel_count;
    mli_client_channel channels[16];
} mli_client_stats;

int mli_client_get_stats(mli_client *client, mli_client_stats *stats, mli_client_error *error);

/**
 * Makes the service refuse new jobs; only for root and the service's user. With `wait`, returns
 * when the last job has ended.
 */
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
    uint64_t time_ns; /**< time of the event on the service's monotonic clock */
    uint64_t dropped; /**< events lost since the previous event */
    mli_client_job_info job;
} mli_client_event;

typedef void mli_client_event_fn(mli_client *client, const mli_client_event *event, void *user);

/**
 * Subscribes to events of jobs. `events`: bits 1 << enum mli_client_event_kind; 0 unsubscribes.
 * `interval_ms`: time between two progress events of a job, 20 to 60000; 0: 250.
 */
int mli_client_subscribe(mli_client *client, uint32_t events, enum mli_client_scope scope,
                         uint32_t interval_ms, mli_client_event_fn *callback, void *user,
                         mli_client_error *error);

/* ---- Any method ---- */

/** A descriptor that is sent with a call. It must be open, else the call returns MISUSE. The flags
 * have an effect only on an inline connection. */
typedef struct mli_client_attachment {
    int fd;
    bool send; /**< true: send the bytes of the file; false: the remote copy begins with zeros */
    bool back; /**< true: write the bytes of the remote copy to the file after success */
} mli_client_attachment;

/**
 * Calls any method of the protocol. `params` is a JSON object without a newline, or null. *line
 * becomes the whole reply, a zero-terminated JSON object as in PROTOCOL.md; free it with free(). An
 * error reply is returned as an error. Waits at most `timeout_ms`; -1: forever.
 */
int mli_client_call(mli_client *client, const char *method, const char *params,
                    const mli_client_attachment *attachments, size_t count, int timeout_ms,
                    char **line, size_t *length, mli_client_error *error);

/**
 * Callback for a reply: `line` is the reply as in mli_client_call(); or `line` is null, and `error`
 * is the reason. The library owns both, and frees them after the callback. The callback owns `fd`,
 * the descriptor of the reply, or -1.
 */
typedef void mli_client_reply_fn(mli_client *client, mli_client_ticket ticket, const char *line,
                                 size_t length, int fd, const mli_client_error *error, void *user);

/** Like mli_client_call(), but does not wait: the reply goes to `done`, which is not null. */
int mli_client_call_async(mli_client *client, const char *method, const char *params,
                          const mli_client_attachment *attachments, size_t count,
                          mli_client_reply_fn *done, void *user, mli_client_ticket *ticket,
                          mli_client_error *error);
/** Like mli_client_prepare(), but does not wait: the reply of job.prepare goes to `done`. */
int mli_client_prepare_async(mli_client *client, const mli_client_job *job,
                             mli_client_reply_fn *done, void *user, mli_client_ticket *ticket,
                             mli_client_error *error);

/**
 * Sets the callback for every notification: one JSON object, not zero-terminated. Null: no
 * callback.
 */
typedef void mli_client_notify_fn(mli_client *client, const char *line, size_t length, void *user);
void mli_client_set_notify(mli_client *client, mli_client_notify_fn *notify, void *user);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* MLI_CLIENT_H */
