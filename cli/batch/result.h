/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_RESULT_H
#define CLI_BATCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/fingerprint.h"
#include "cli/batch/shard.h"
#include "cli/exit_code.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/* Numbers in the lines of a state file. */
/* The greatest number of JSON: jsonw_uint() writes none above. */
#define COUNT_MAX ((UINT64_C(1) << 53) - 1)

/** Requires member `key`, a whole number from 0 to `max`. Returns 0, or -1 with the fault filled.
 */
int count_read(const struct json *object, const char *key, uint64_t max, uint64_t *out);

/*
 * What became of a case, as plain data: what cases give, reports show, and state files keep.
 *
 *     cases.c     PATH... -> the cases, by name
 *     workers.c   workers, each with its own connection -> attempt.c: one attempt at one case
 *     struct case_result ---> report.h: what people and CI servers see
 *                        \--> state_file.h: one line of a state file, for --resume and merge
 */
/* X(name, word): how a case ended. The words are those of mlictl-batch(1). */
#define CASE_STATUS_TABLE(X)                                                                       \
    X(PASSED, "passed")                                                                            \
    X(FLAKY, "flaky")                                                                              \
    X(FAILED, "failed")                                                                            \
    X(ERROR, "error")                                                                              \
    X(UPDATED, "updated")

/* X(name, word): why it did not pass. */
#define CASE_REASON_TABLE(X)                                                                       \
    X(NONE, "")                                                                                    \
    X(MISMATCH, "mismatch")       /* the result differs from what is expected */                   \
    X(REFUSED, "refused")         /* or failed, and should not have, or not with this error */     \
    X(NOT_REFUSED, "not refused") /* an error was expected, and did not come */                    \
    X(CHANNEL, "channel")         /* a DMA channel failed, or does not come back */                \
    X(UNREADABLE, "unreadable")   /* the job file, or a file of it */                              \
    X(TIMEOUT, "timeout")         /* an attempt took longer than --timeout or its own limit */     \
    X(STORAGE, "storage")         /* no memory, no disk, no descriptors */                         \
    X(SERVICE, "service")         /* a lost connection, a shutdown, a limit of the service */

#define CASE_ENUM(name, word) CASE_##name,
enum case_status { CASE_STATUS_TABLE(CASE_ENUM) CASE_STATUS_COUNT };
#undef CASE_ENUM
#define CASE_ENUM(name, word) CASE_WHY_##name,
enum case_reason { CASE_REASON_TABLE(CASE_ENUM) CASE_REASON_COUNT };
#undef CASE_ENUM

/* Before the path of the kept result, at the end of a message. */
#define RESULT_GIVEN "; the result is "

struct case_result {
    char *name; /* of the case */
    char *file; /* its job file, as it was found */
    enum case_status status;
    enum case_reason reason; /* of the first attempt that did not pass */
    uint32_t attempts;
    uint64_t ns;    /* the last attempt, files included */
    uint64_t bytes; /* moved by the last attempt */
    struct fingerprint fingerprint;
    /* Null where there is nothing to tell. */
    char *message;       /* a sentence, as `mlictl run` would say it, without the file */
    char *pointer;       /* into the job file */
    char *difference;    /* JSON, as `mlictl diff --json` tells it */
    char *kept;          /* the job file that does it again */
    char *rerun_command; /* the command that does so, for a shell */
    char *rerun_reason;  /* why it ran again although --resume knew a result; in no state file */
};

/** Frees what a result holds; `struct case_result r = {0}` is an empty one. */
void case_result_finish(struct case_result *result);

const char *case_status_word(enum case_status status);
const char *case_reason_word(enum case_reason reason);

/** Whether the exit code may be 0 with it. */
bool case_status_is_good(enum case_status status, bool flaky_is_good);

/** Whether nobody can tell what the case is worth: the machine is at fault, or a file. */
bool case_reason_is_error(enum case_reason reason);

/**
 * The members of a "case" event, `event` too, into the object that is open; with the fingerprint
 * and the basis for a state file. A name that is no UTF-8 is written as such, and its bytes beside
 * it.
 */
void case_result_write(struct jsonw *w, const struct case_result *result, bool fingerprint);
/** The reverse. Returns 0, or -1 with value's fault filled and *result empty. */
int case_result_read(const struct json *value, struct case_result *result);

/* What a batch is going to run. */
/* Of a state file: 2 says of each result what it depends on. */
enum { OUTLINE_FORMAT = 2 };

struct batch_outline {
    size_t total;       /* cases before --shard */
    size_t selected;    /* those of this shard */
    size_t resumed;     /* of these, how many stand in the state file already and are not run */
    struct shard shard; /* 0/0: not sharded */
    uint64_t set;       /* digest_add() of all `total` names */
    uint64_t kept;      /* and of the `resumed` ones; is not written */
    bool anew;          /* in a state file: lines before this one are of no use to merge */
    bool older;         /* it was read without the current format */
};

/** Whether both are the same part of the same cases. */
bool batch_outline_same(const struct batch_outline *a, const struct batch_outline *b);

/** The members of a "begin" event, `event` too, into the object that is open. */
void batch_outline_write(struct jsonw *w, const struct batch_outline *outline);
/** The reverse. Returns 0, or -1 with value's fault filled. */
int batch_outline_read(const struct json *value, struct batch_outline *outline);

/* What became of a batch. */
struct batch_summary {
    size_t count[CASE_STATUS_COUNT];
    size_t not_run;
    uint64_t ns; /* of the whole batch */
    enum exit_code exit;
};

/** Cases that ended. */
size_t batch_summary_ended(const struct batch_summary *summary);

/** DONE or FAILED, by what the cases ended with; a lost connection and ^C are the runner's to say.
 */
enum exit_code batch_summary_exit(const struct batch_summary *summary, bool flaky_is_good);

/** The members of an "end" event, `event` too, into the object that is open. */
void batch_summary_write(struct jsonw *w, const struct batch_summary *summary);
/** The reverse. Returns 0, or -1 with value's fault filled. */
int batch_summary_read(const struct json *value, struct batch_summary *summary);

#endif /* CLI_BATCH_RESULT_H */
