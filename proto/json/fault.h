/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fault: what went wrong, where in the JSON, and a sentence about it. It is what every function
 * of proto/ reports, what travels as the "error" of a reply, and what mlictl prints.
 */
#ifndef PROTO_FAULT_H
#define PROTO_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "mli_types.h"

/*
 * Every error of the wire: X(name, code, meaning). Codes from -32700 to -32600 are JSON-RPC's own.
 * The enum, fault_name() and the table in PROTOCOL.md come from here.
 */
#define FAULT_TABLE(X)                                                                             \
    X(PARSE_ERROR, -32700, "the text is not JSON as this service accepts it")                      \
    X(INVALID_REQUEST, -32600, "the object is not a JSON-RPC 2.0 request")                         \
    X(METHOD_NOT_FOUND, -32601, "there is no such method")                                         \
    X(INVALID_PARAMS, -32602, "a member is missing, unknown, twice there, or of the wrong type")   \
    X(INTERNAL, -32603, "the service could not do its part (memory, system call)")                 \
    X(REFUSED, -32000, "libmli refused the move; `status` says with which MLI_STATUS")             \
    X(BAD_DESCRIPTOR, -32001, "a descriptor is missing, too small, or not what it must be")        \
    X(LIMIT, -32002, "a limit of the service is reached; the message names it")                    \
    X(TIMED_OUT, -32003, "the job was not done within its timeout_ms")                             \
    X(CANCELLED, -32004, "the job was cancelled")                                                  \
    X(IO_ERROR, -32005, "a file shrank or its storage failed while the job ran")                   \
    X(SHUTTING_DOWN, -32006, "the service is shutting down or drained and takes no new jobs")      \
    X(STREAM_ERROR, -32007, "the stream cannot be followed any more; the connection closes")       \
    X(DMA_ERROR, -32008, "a DMA channel failed while the job ran; the message says where")         \
    X(PREDECESSOR_FAILED, -32009, "a job named in `after` did not end well")                       \
    X(CHANNEL_STUCK, -32010, "a DMA channel does not come back and was taken out of service")      \
    X(FORBIDDEN, -32011, "the user of this connection may not do that")                            \
    X(NOT_FOUND, -32012, "there is no such job, prepared job or buffer, or not any more")

enum fault_code {
    FAULT_NONE = 0,
#define FAULT_ENUM(name, code, text) FAULT_##name = (code),
    FAULT_TABLE(FAULT_ENUM)
#undef FAULT_ENUM
};

enum { FAULT_POINTER_MAX = 256, FAULT_TEXT_MAX = 320 };

struct fault {
    enum fault_code code;
    mli_status status;               /* MLI_STATUS_OK unless code is FAULT_REFUSED */
    unsigned line, column;           /* 1-based place in the text; 0 where it is not known */
    bool has_pointer;                /* the root's pointer is the empty string */
    char pointer[FAULT_POINTER_MAX]; /* RFC 6901, to the offending member */
    char text[FAULT_TEXT_MAX];       /* a sentence: what, and what was expected */
};

/**
 * Fills *fault and returns -1, so that callers can `return fault_set(...)`. `pointer` may be null
 * (unknown place). Texts that do not fit are cut at a character boundary.
 */
int fault_set(struct fault *fault, enum fault_code code, const char *pointer, const char *format,
              ...) __attribute__((format(printf, 4, 5)));

/**
 * A refusal of libmli: code FAULT_REFUSED with `status`, and the text of mli_last_error(). The
 * field that text begins with becomes a JSON pointer into a job: "cfg.offset[1]: ..." is
 * /cfg/offset/1, "src. ..." is /src, "dst. ..." is /dst ("in."/"out." likewise). Returns -1.
 */
int fault_set_refused(struct fault *fault, mli_status status, const char *last_error);

/** Puts `prefix` (a JSON pointer, as "/jobs/3") before the fault's pointer. */
void fault_prefix(struct fault *fault, const char *prefix);

/** Name of a code, as "INVALID_PARAMS"; "UNKNOWN" for one that is none. Static storage. */
const char *fault_name(int code);

/*
 * Building an RFC 6901 JSON pointer in a fixed buffer. What does not fit is cut, never in the
 * middle of a character or of an escape. Private to proto/.
 */
struct pointer {
    char *out; /* zero-terminated at any time */
    size_t size, length;
    bool full;
};

/** Begins with the root's pointer, the empty string. `size` is at least 1. */
void pointer_init(struct pointer *pointer, char *out, size_t size);
/** Begins a token; its text follows by pointer_text(), in one or many calls. */
void pointer_token(struct pointer *pointer);
/** Whole characters of the token that was begun; '~' and '/' are escaped here. */
void pointer_text(struct pointer *pointer, const char *text, size_t length);
/** A token that is an array's index. */
void pointer_index(struct pointer *pointer, size_t index);

#endif /* PROTO_FAULT_H */
