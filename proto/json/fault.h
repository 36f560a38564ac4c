/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fault: an error code, its place in the JSON, and a message. Every function of proto/ reports
 * errors in this form, the service sends faults as the "error" of replies, and mlictl prints them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "mli_types.h"

/*
 * All errors of the protocol: X(name, code, meaning). Codes from -32700 to -32600 are those of
 * JSON-RPC. The enum and fault_name() come from this table; PROTOCOL.md repeats it, and a test
 * compares the two.
 *
 * To add an error, start here: add a line, the same line to PROTOCOL.md, and its name to "error" in
 * proto/file/job.schema.json.
 */
#define FAULT_TABLE(X)                                                                             \
    X(PARSE_ERROR, -32700, "the text is not JSON, or not JSON that this service accepts")          \
    X(INVALID_REQUEST, -32600, "the object is not a JSON-RPC 2.0 request")                         \
    X(METHOD_NOT_FOUND, -32601, "the method does not exist")                                       \
    X(INVALID_PARAMS, -32602, "a member is missing, unknown, duplicate, or of the wrong type")     \
    X(INTERNAL, -32603, "the service itself failed (memory, system call)")                         \
    X(REFUSED, -32000, "libmli or the target profile refused the job; `status`: the MLI_STATUS")   \
    X(BAD_DESCRIPTOR, -32001, "a descriptor is missing, too small, or of the wrong kind")          \
    X(LIMIT, -32002, "a limit of the service is reached; the message names it")                    \
    X(TIMED_OUT, -32003, "the job was not done within its timeout_ms")                             \
    X(CANCELLED, -32004, "the job was cancelled")                                                  \
    X(IO_ERROR, -32005, "a file shrank or its storage failed while the job ran")                   \
    X(SHUTTING_DOWN, -32006, "the service is shutting down or drained and takes no new jobs")      \
    X(STREAM_ERROR, -32007, "the stream cannot be parsed any further; the connection closes")      \
    X(DMA_ERROR, -32008, "a DMA channel failed while the job ran; the message says where")         \
    X(PREDECESSOR_FAILED, -32009, "a job named in `after` failed or was cancelled")                \
    X(CHANNEL_STUCK, -32010, "a DMA channel is stuck and was taken out of service")                \
    X(FORBIDDEN, -32011, "the user of this connection may not do that")                            \
    X(NOT_FOUND, -32012, "the job, prepared job or buffer does not exist, or no longer does")      \
    X(NO_ROOM, -32013, "a memory of the board has no room; the message names its largest holders")

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
    unsigned line, column;           /* place in the parsed text, from 1; 0 if unknown */
    bool has_pointer;                /* true: the pointer is known; the pointer of the root is "" */
    char pointer[FAULT_POINTER_MAX]; /* RFC 6901 pointer of the member at fault */
    char text[FAULT_TEXT_MAX];       /* the message: what was given, what is allowed */
};

/* Fills *fault. */
void fault_fill(struct fault *fault, enum fault_code code, const char *pointer, const char *format,
                ...) __attribute__((format(printf, 4, 5)));

/* Returns -1. With the constant -1 in its place, compilers would warn of an unused value. */
static inline int fault_failed(void)
{
    return -1;
}

/**
 * int fault_set(fault, code, pointer, format, ...): fills *fault and returns -1, so that callers
 * can `return fault_set(...)`. `pointer` is null if the place is unknown. Cuts a pointer or text
 * that is too long, but never inside a character. A macro, so that analyzers see the value -1.
 */
#define fault_set(...) (fault_fill(__VA_ARGS__), fault_failed())

/** Fills *fault with FAULT_INTERNAL and "out of memory". Returns -1. */
static inline int fault_no_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
}

/**
 * Fills *fault with FAULT_REFUSED, `status` and the text of mli_last_error(). The field that the
 * text begins with becomes a JSON pointer into a job: "cfg.offset[1]: ..." becomes /cfg/offset/1,
 * "src. ..." and "in. ..." become /src, "dst. ..." and "out. ..." become /dst. In the text,
 * "dst.mem_stride" becomes "dst.strides", its name in a job. Returns -1.
 */
int fault_set_refused(struct fault *fault, mli_status status, const char *last_error);

/** Prepends `prefix`, a JSON pointer such as "/jobs/3", to the fault's pointer. */
void fault_prefix(struct fault *fault, const char *prefix);

/** Returns the name of a code, such as "INVALID_PARAMS", or "UNKNOWN". Static storage. */
const char *fault_name(int code);

/*
 * Builds an RFC 6901 JSON pointer in a fixed buffer. A pointer that is too long is cut, never
 * inside a character or an escape. Private to proto/.
 */
struct pointer {
    char *out; /* the pointer; zero-terminated at any time */
    size_t size, length;
    bool full;
};

/** Begins with the root's pointer, the empty string. `size` is at least 1. */
void pointer_init(struct pointer *pointer, char *out, size_t size);
/** Begins a token; its text follows in one or several calls of pointer_text(). */
void pointer_token(struct pointer *pointer);
/** Appends whole characters to the current token; escapes '~' and '/'. */
void pointer_text(struct pointer *pointer, const char *text, size_t length);
/** Appends an array index to the pointer, as a token. */
void pointer_index(struct pointer *pointer, size_t index);
