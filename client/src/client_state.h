/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli_client: one connection to mlid. Data flow of a request and its reply:
 *
 *     mli_client_*(): jobs.c, prepared.c, buffers.c, service.c
 *         -> params as JSON (convert.c) -> request.c (envelope, slot) -> struct out -> socket
 *     socket -> receive.c (lines, bytes) -> quick.c, or rpc_reply_parse() -> slot (client_table.c)
 *         -> callback, or the call that waits (request.c)
 *
 * To add a method, start here: declare it in mli_client.h, and write it like mli_client_get_info()
 * in service.c: write its params with proto's write function, call_begin(), read the reply with
 * proto's read function, call_finish(). Test it in tests/unit/client/test_calls.c. proto/wire/rpc.h
 * has proto's half.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "mli_client.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/events.h"
#include "proto/wire/frame.h"
#include "proto/wire/job.h"
#include "proto/wire/rpc.h"
#include "proto/wire/tensor_desc.h"

/* Errors (client_error.c). */

/** Fills *error, which may be null. Returns `code`. */
int error_set(mli_client_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Converts an error reply; `job` as in fault_object_read(). Returns its code. */
int error_from_fault(mli_client_error *error, const struct fault *fault, uint64_t job);

/** Copies an error to the heap; returns a static NO_MEMORY error if there is no memory. */
mli_client_error *error_copy(const mli_client_error *error);
/** Frees a result of error_copy() or null. */
void error_free(mli_client_error *error);
/** Copies an error to *to, which may be null. Returns the code. */
int error_give(mli_client_error *to, const mli_client_error *from);

/*
 * The table of requests without a reply (client_table.c). A ticket, which is the request's id on
 * the wire, contains the slot's number from 1 and the slot's generation: the slot is found by an
 * index, and a request that stays pending for long occupies only one slot.
 */

enum slot_state { SLOT_FREE, SLOT_WAITING, SLOT_DONE, SLOT_FAILED };
enum slot_kind {
    SLOT_RESULT, /* the reply, which ends a job, is kept as `result` */
    SLOT_REPLY,  /* the reply is kept as `reply` */
    SLOT_LINE    /* the reply is kept as `line`, its text */
};

/* An output file for the bytes that follow a reply (inline). */
struct slot_back {
    int fd; /* descriptor; owned; -1: the reply has no bytes for the file */
    uint64_t size;
};

struct slot {
    uint32_t generation; /* from 1 */
    uint32_t next_free;
    enum slot_state state;
    enum slot_kind kind;
    bool forgotten;    /* true: drop the reply when it arrives */
    bool suspect;      /* true: the source file became shorter while the library sent it */
    int suspect_error; /* errno if the source file could not be read */
    mli_client_done_fn *done;
    mli_client_reply_fn *reply_done; /* SLOT_LINE only */
    void *user;
    mli_client_result result;
    mli_client_error *error; /* error of the request; owned, see error_copy() */
    struct rpc_reply *reply; /* owned */
    char *line;              /* owned */
    size_t length;
    int fd; /* descriptor of the reply; owned; -1: no descriptor */
    uint32_t back_count;
    struct slot_back *backs; /* output files of the request; owned; null: no files */
};

struct table {
    struct slot *slots;
    uint32_t capacity, used; /* slots [0, used) have been in use at least once */
    uint32_t first_free;     /* the first free slot; NO_SLOT: no free slot below `used` */
    size_t waiting;
};

enum { TABLE_MAX = (1 << 20) - 1 };

void table_init(struct table *table);
void table_finish(struct table *table);

/** Allocates a slot in the state SLOT_WAITING; null if there is no memory or TABLE_MAX slots are in
 * use. */
struct slot *table_take(struct table *table, mli_client_ticket *ticket);
/** Returns the slot of a ticket, or null if the ticket is invalid. Valid until table_take(). */
struct slot *table_find(const struct table *table, mli_client_ticket ticket);
mli_client_ticket table_ticket(const struct table *table, const struct slot *slot);
/** Frees the slot and its contents. */
void table_release(struct table *table, struct slot *slot);

/** Changes the state of a slot from SLOT_WAITING to `state`. */
void slot_end(struct table *table, struct slot *slot, enum slot_state state);

enum { SOCKET_PATH_MAX = MLI_CLIENT_PATH_MAX, OUT_ENOUGH = 32 * 1024 };

/* A reply on an inline connection: the bytes of its files follow the reply line. */
struct payload {
    mli_client_ticket ticket; /* ticket of the request whose bytes follow; 0: none follow */
    uint32_t count, index;
    uint64_t offset, left[PROTO_FDS_MAX];
};

struct mli_client {
    int socket; /* descriptor of the socket; -1: the connection is lost */
    bool inlined;
    pid_t child; /* process of the command; 0: no command */
    char path[SOCKET_PATH_MAX];
    int interrupt, timeout_ms;
    struct frame in;
    struct out out;
    struct payload payload;
    struct table table;
    struct jsonw params; /* params of the current request; the memory is reused */
    mli_client_error lost;
    unsigned depth; /* number of nested callbacks that are running */
    bool greeted;
    struct hello hello;
    mli_client_event_fn *on_event;
    void *event_user;
    mli_client_notify_fn *on_notify;
    void *notify_user;
};

/** Returns the milliseconds of the monotonic clock. */
static inline int64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/** Returns the time `timeout_ms` from now, or -1 for never if `timeout_ms` is negative. */
static inline int64_t clock_deadline(int timeout_ms)
{
    return timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
}

/** Begins the member "params" of a request. Returns the writer, in which its object is open. */
static inline struct jsonw *request_params(mli_client *client)
{
    jsonw_reset(&client->params);
    jsonw_object_begin(&client->params, NULL);
    return &client->params;
}

/** Ends params. Returns their text, or null if there was no memory. */
static inline const char *request_params_end(mli_client *client)
{
    jsonw_object_end(&client->params);
    return jsonw_text(&client->params);
}

/* The command of mli_client_spawn() (child.c): its standard input and output are one end of a
 * socket pair. */

/** Starts a command. Returns 0 with the process and this end of the socket pair, or a code. */
int child_start(char *const argv[], pid_t *child, int *socket, mli_client_error *error);

/** Waits up to 2 s for the end of a process. Returns its exit code, 128 + its signal, or -1 if it
 * still runs. */
int child_wait(pid_t child);

/** Waits until a process with a closed socket ends; sends SIGTERM after 2 s, SIGKILL after 4. */
void child_end(pid_t child);

/* Conversions between the caller's structures and proto's (convert.c). */

/* The descriptors of a job. */
struct job_parts {
    mli_client_attachment attachments[2];
    size_t count;
};

/** Writes the job as "params" of the client's next request, and its descriptors to *parts. Returns
 * 0 or an error code. */
int describe_job(mli_client *client, const mli_client_job *job, bool detach,
                 struct job_parts *parts, mli_client_error *error);

/** Converts references; *out borrows their names. Returns 0 or MLI_CLIENT_MISUSE. */
int describe_refs(const mli_client_ref *refs, size_t count, struct job_ref *out,
                  mli_client_error *error);

/** Reads the result of a job. Returns 0 or MLI_CLIENT_UNREADABLE. */
int result_read(const struct json *value, mli_client_result *result, mli_client_error *error);

/** Converts a description to a tensor and empties *desc. *owned becomes the block of the tensor's
 *  arrays, which the caller frees; or null. */
void result_take_layout(struct tensor_desc *desc, mli_tensor *tensor, void **owned);

/** Converts a job's description. */
void info_convert(mli_client_job_info *to, const struct job_info *from);

/*
 * The two most frequent lines (quick.c), without a JSON parser or writer: a start of a prepared job
 * without options, and its reply exactly as mlid writes it. Programs send hundreds of thousands per
 * second. All other lines use the parser and writer of proto.
 */

enum { QUICK_START_MAX = 256 };

/** Writes a job.start that has only `prepared`, `src` and `dst`. Returns the length of the line. */
size_t quick_write_start(char text[QUICK_START_MAX], uint64_t id,
                         const mli_client_start_args *args);

/** Reads the reply to a start. Returns false, with *result undefined, for any other line. */
bool quick_read_result(const char *line, size_t length, uint64_t *id, mli_client_result *result);

/*
 * Receives lines, their descriptors, and the bytes after a line; completes the pending requests
 * (receive.c).
 */

/** Receives a bounded amount without waiting, and calls callbacks. Returns 0, or the code with
 * which the connection was lost. */
int receive(mli_client *client);

/** Shuts the socket down after a failed send. Lines that have arrived can still be received; then
 * the connection is lost. */
void connection_hang_up(mli_client *client);

/**
 * Closes the socket and fails all waiting requests with `why`. Returns the error code of the first
 * call of this function: later calls do not replace it.
 */
int connection_lose(mli_client *client, const mli_client_error *why);
/** Calls connection_lose() with the message "the connection to the daemon is lost: <format>". */
int connection_lost(mli_client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sends requests, and waits for replies (request.c). */

/** Sends and receives once, after waiting for the socket at most until `deadline`, a time of
 *  clock_deadline(). Returns 0 or an error code. */
int wait_round(mli_client *client, int64_t deadline, mli_client_error *error);

/**
 * Waits until a request has ended. Returns 0 with the reply in its slot; WAITED or INTERRUPTED with
 * the request still pending; or the code with which the request failed, with its slot released.
 */
int wait_for_answer(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_error *error);

/* A request to send, and the destination of its reply. */
struct request {
    const char *method;
    const char *params; /* JSON text; null: no params */
    size_t params_length;
    const mli_client_attachment *attachments;
    size_t count;
    enum slot_kind kind;
    mli_client_done_fn *done;
    mli_client_reply_fn *reply_done; /* SLOT_LINE only */
    void *user;
};

/** Queues a request; sends it at once if it has descriptors. Returns 0 or a code. */
int request_send(mli_client *client, const struct request *request, mli_client_ticket *ticket,
                 mli_client_error *error);

/** Refuses calls from callbacks. Returns 0 or MLI_CLIENT_MISUSE. */
int request_may_wait(const mli_client *client, mli_client_error *error);

/**
 * Sends a request, with the params of request_params() if `with_params`, and waits for the reply.
 * Returns 0 with the reply, which call_finish() frees; or a code.
 */
struct call {
    mli_client *client;
    mli_client_ticket ticket;
    struct rpc_reply *reply;
};
int call_begin(struct call *call, mli_client *client, const char *method, bool with_params,
               const mli_client_attachment *attachments, size_t count, mli_client_error *error);
/** Passes the descriptor of the reply to the caller; returns -1 if the reply has no descriptor. */
int call_take_fd(struct call *call);
void call_finish(struct call *call);
/**
 * Like call_finish(), for an invalid reply: also fills the error. Returns MLI_CLIENT_UNREADABLE.
 */
int call_unreadable(struct call *call, mli_client_error *error);
