/* SPDX-License-Identifier: BSD-3-Clause */
/* A failure: wrong bytes, or a call, a callback or a counter that is wrong. */
#pragma once

#include "cli/selftest/selftest_case.h"

/*
 * The bytes of a case's frames. Two bits of a byte are its zone; six bits are a counter of its
 * offset in the frame. The counter is never 0, so a byte 0 was cleared.
 */

/* Memory for a case, in whole pages. Each buffer has space for the largest tensor and
 * FRAME_GUARDS_MAX bytes. */
struct images {
    uint8_t *src, *src_image;   /* source given to the move, and a copy of it */
    uint8_t *dst, *expected;    /* destination given to the move, and the expected result */
    mli_mov_memory attached[2]; /* memory of source and destination, attached to the engine */
};

/**
 * Allocates the memory, and attaches it to the engine's device. Returns 0 or -ENOMEM. Call it after
 * the engine is chosen.
 */
int images_init(struct images *images, uint64_t max_bytes);
void images_finish(struct images *images);

/** Fills all four buffers. */
void images_fill(struct images *images, const struct move_case *c);

/** Restores the bytes of the destination that the move has written. */
void images_rearm(const struct images *images, const struct move_case *c);

/** One element of a move, by the definition at the top of mli_mov_api.h. */
struct element {
    uint32_t at[MLI_MAX_RANK]; /* coordinate among the written elements of the destination */
    bool inside;               /* true: an element of the source; false: padding */
    size_t src, dst; /* offsets of the element from the beginning of the frames, in bytes */
};

/* Wrong bytes in a frame. */
struct mismatch {
    bool in_src;     /* true: the source was changed; false: the destination is wrong */
    size_t at;       /* first wrong byte of the frame */
    size_t count;    /* number of wrong bytes */
    bool in_element; /* true: byte `at` belongs to an element that the move writes */
    uint32_t element[MLI_MAX_RANK]; /* coordinate of the element in the destination */
    uint32_t byte;                  /* index of the byte in the element */
    uint8_t expected, found;
};

/** Compares source and destination with what they should contain. Returns whether a byte differs.
 */
bool mismatch_find(struct mismatch *mismatch, const struct images *images,
                   const struct move_case *c);

enum { MISMATCH_TEXT_MAX = 512 };
/** Writes a sentence with the place of the wrong bytes and their likely origin. Returns `out`. */
const char *mismatch_text(const struct mismatch *mismatch, const struct images *images,
                          const struct move_case *c, char out[MISMATCH_TEXT_MAX]);

/* X(name): the name is `kind` in JSON. */
#define FAILURE_KINDS(X)                                                                           \
    X(none)                                                                                        \
    X(mismatch) /* a byte is wrong */                                                              \
    X(refused)  /* a call returned a wrong status */                                               \
    X(error)    /* a transfer ended with an error */                                               \
    X(stuck)    /* a transfer did not end in time */                                               \
    X(callback) /* a callback was not called exactly once, or not as registered */                 \
    X(layout)   /* the destination's fields are wrong */                                           \
    X(counters) /* a channel's statistics do not add up */

enum failure_kind {
#define FAILURE_ENUM(name) FAILURE_##name,
    FAILURE_KINDS(FAILURE_ENUM)
#undef FAILURE_ENUM
};

enum { FAILURE_TEXT_MAX = 640 };

struct failure {
    enum failure_kind kind;
    bool has_case; /* true: the failure has a case; false: it concerns the engine as a whole */
    struct move_case c;
    struct mismatch mismatch; /* wrong bytes, for FAILURE_mismatch */
    char text[FAILURE_TEXT_MAX];
};

/** Records a failure, unless one is recorded already: the first is the cause. Returns -1. */
int failure_set(struct failure *failure, enum failure_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const char *failure_kind_name(enum failure_kind kind);
