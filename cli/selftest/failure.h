/* SPDX-License-Identifier: BSD-3-Clause */
/* What was not as it must be. */
#ifndef CLI_SELFTEST_FAILURE_H
#define CLI_SELFTEST_FAILURE_H

#include "cli/selftest/mismatch.h"

/* X(name): as `kind` in JSON. */
#define FAILURE_KINDS(X)                                                                           \
    X(none)                                                                                        \
    X(mismatch) /* a byte is wrong */                                                              \
    X(refused)  /* a call returned another status than it must */                                  \
    X(error)    /* a transfer ended with an error */                                               \
    X(stuck)    /* a transfer did not end in time */                                               \
    X(callback) /* not called exactly once, or not as registered */                                \
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
    bool has_case; /* else it concerns the engine as a whole */
    struct move_case c;
    struct mismatch mismatch; /* of a FAILURE_mismatch */
    char text[FAILURE_TEXT_MAX];
};

/** Notes it, unless something is noted already: the first is the cause. Returns -1. */
int failure_set(struct failure *failure, enum failure_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const char *failure_kind_name(enum failure_kind kind);

#endif /* CLI_SELFTEST_FAILURE_H */
