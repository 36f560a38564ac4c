/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain data of a batch, which reports show and state files keep as lines of JSON:
 *
 *     struct batch_outline    the cases of a run            {"event":"begin",...}
 *     struct case_result      the result of a case          {"event":"case",...}
 *     struct batch_summary    the result of the run         {"event":"end",...}
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/report/fingerprint.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/* Shards: the cases of a batch, divided by their names among several machines. */

struct shard {
    uint32_t index, count; /* index from 1; both 0: all cases */
};

/** Reads a shard such as "2/4". Returns 0, or -1 with the fault filled. */
int shard_parse(const char *text, struct shard *shard, struct fault *fault);

/**
 * Reads the value of --shard: "2/4", or "auto" or "auto/4", which read environment variables as
 * mlictl-batch(1) describes. Returns 0, or -1 with a fault that names the variable.
 */
int shard_choose(const char *text, struct shard *shard, struct fault *fault);

enum { SHARD_TEXT_MAX = 24 };
/** Writes a shard as "2/4". Returns `out`. */
const char *shard_text(char out[SHARD_TEXT_MAX], const struct shard *shard);

/** Returns the shard of a case, from 1 to `shards`: digest64() of its name modulo `shards`, + 1. */
uint32_t shard_of(const char *name, uint32_t shards);

/* Versions of the state file's format. Version 2: each result has its fingerprint. Version 3: a run
 * may be open (batch_outline.open). Version 4: a case may have the status RAN. */
enum { OUTLINE_FORMAT_FINGERPRINTS = 2, OUTLINE_FORMAT = 4 };

struct batch_outline {
    size_t total;         /* number of cases of all shards */
    size_t selected;      /* cases of this shard */
    size_t resumed;       /* cases of this shard with a valid earlier result: they do not run */
    struct shard shard;   /* 0/0: not sharded */
    uint64_t set;         /* digest_add() of all `total` names */
    uint64_t resumed_set; /* digest_add() of all `resumed` names; not in the file */
    bool anew;            /* true: the run starts over (state_file.h); only in a state file */
    bool open;            /* true: the run still adds cases, and their numbers are not known (0) */
    bool older;           /* read from a line with an older format, or without a format */
};

/** Returns whether two runs have the same shard and the same cases. */
bool batch_outline_same(const struct batch_outline *a, const struct batch_outline *b);

/** Writes the members of a "begin" or "outline" event, including "event", into the open object. */
void batch_outline_write(struct jsonw *w, const char *event, const struct batch_outline *outline);
/** Reads a "begin" or "outline" event. Returns 0, or -1 with value's fault filled. */
int batch_outline_read(const struct json *value, struct batch_outline *outline);

/* X(name, word): the result of a case. mlictl-batch(1) documents the words. RAN: all jobs
 * succeeded, but none has "expect". */
#define CASE_STATUS_TABLE(X)                                                                       \
    X(PASSED, "passed")                                                                            \
    X(RAN, "ran")                                                                                  \
    X(FLAKY, "flaky")                                                                              \
    X(FAILED, "failed")                                                                            \
    X(ERROR, "error")                                                                              \
    X(UPDATED, "updated")

/* X(name, word): the reason why a case did not pass. The reasons from UNREADABLE on are errors. */
#define CASE_REASON_TABLE(X)                                                                       \
    X(NONE, "")                                                                                    \
    X(MISMATCH, "mismatch")       /* the result differs from the expected result */                \
    X(REFUSED, "refused")         /* an unexpected error, or another error than expected */        \
    X(NOT_REFUSED, "not refused") /* the expected error did not occur */                           \
    X(NO_EXPECT, "no expect")     /* nothing is compared, which --require-expect forbids */        \
    X(CHANNEL, "channel")         /* a DMA channel failed or is stuck */                           \
    X(UNREADABLE, "unreadable")   /* the job file, or a file that a job names, cannot be read */   \
    X(TIMEOUT, "timeout")         /* --timeout, or a job's own time limit, has passed */           \
    X(STORAGE, "storage")         /* out of memory, disk space or file descriptors */              \
    X(SERVICE, "service")         /* a lost connection, a shutdown, a limit of the service */      \
    X(INPUTS, "inputs") /* the files of the queue's workers differ from the enqueued files */      \
    X(LOST, "lost")     /* the workers of a queue that took the case have died */
#define CASE_ENUM(name, word) CASE_##name,
enum case_status { CASE_STATUS_TABLE(CASE_ENUM) CASE_STATUS_COUNT };
#undef CASE_ENUM
#define CASE_ENUM(name, word) CASE_WHY_##name,
enum case_reason { CASE_REASON_TABLE(CASE_ENUM) CASE_REASON_COUNT };
#undef CASE_ENUM

/* Precedes the path of the kept result at the end of a message. */
#define RESULT_GIVEN "; the result is "

struct case_result {
    char *name; /* name of the case */
    char *file; /* path of the job file */
    enum case_status status;
    enum case_reason reason; /* reason of the first attempt that did not pass */
    uint32_t attempts;
    uint64_t ns;    /* duration of the last attempt, including the time to read files */
    uint64_t bytes; /* bytes moved by the last attempt */
    /* Times of the last attempt's jobs that moved data: predicted for the board of --profile (0:
     * unknown), and measured on this host. */
    uint64_t predicted_ns, transfers_ns;
    uint32_t line, column; /* place of a syntax error in the job file, from 1; 0: none */
    struct fingerprint fingerprint;
    /* These members are NULL if they do not apply. */
    char *remark;        /* a sentence about what the last attempt does not compare */
    char *message;       /* message as `mlictl run` prints it, without the file name */
    char *pointer;       /* JSON pointer into the job file */
    char *difference;    /* JSON object like that of `mlictl diff --json` */
    char *kept;          /* path of the kept job file, which reproduces the failure */
    char *rerun_command; /* shell command that runs the kept job file; the member "again" in JSON */
    char *rerun_reason;  /* why --resume ran the case again; not in state files */
};

/* The origin of a member of struct case_result: the whole case, the last attempt, or the first
 * failed attempt. */
enum result_part { RESULT_OWN, RESULT_LAST, RESULT_FAILURE };

/**
 * Exchanges the members of one part: RESULT_LAST, what the last attempt measured and read, or
 * RESULT_FAILURE, why the first failed attempt did not pass.
 */
void case_result_exchange(struct case_result *one, struct case_result *other,
                          enum result_part part);

/** Frees the members; `struct case_result r = {0}` is an empty result. */
void case_result_finish(struct case_result *result);

const char *case_status_word(enum case_status status);
const char *case_reason_word(enum case_reason reason);

/** Writes `before` and the numbers of cases with a status from `first` on: "9 failed, 1 error".
 * Writes nothing, and returns false, if there are none. */
bool case_counts_write(struct textw *w, const size_t count[], enum case_status first,
                       const char *before);

/** Returns whether the exit code can be 0 if a case ended with this status. */
bool case_status_is_good(enum case_status status, bool flaky_is_good);

/** Returns whether the reason makes the status ERROR: the case could not be judged. */
bool case_reason_is_error(enum case_reason reason);

/**
 * Writes member "name"; for a name that is not UTF-8 also its bytes in hexadecimal, "name_bytes".
 */
void case_name_write(struct jsonw *w, const char *name);

/**
 * Writes the members of a "case" event, including "event", into the open object. With
 * `fingerprint`, as in state files, writes the fingerprint instead of rerun_reason.
 */
void case_result_write(struct jsonw *w, const struct case_result *result, bool fingerprint);
/** Reads a "case" event. Returns 0, or -1 with value's fault filled and *result empty. */
int case_result_read(const struct json *value, struct case_result *result);

/**
 * Writes position, place and message of a result, escaped with `rule`, for example "cases/a.json:
 * expect: 2 of 24 elements differ".
 */
void case_result_sentence(struct textw *w, const struct case_result *result, escaped_rule rule);

struct batch_summary {
    size_t count[CASE_STATUS_COUNT];
    size_t not_run;
    size_t resumed;        /* reused results of an open run; not written */
    uint64_t ns;           /* duration of the run, in ns */
    size_t predicted;      /* cases with predicted_ns */
    uint64_t predicted_ns; /* sum of predicted_ns of these cases */
    uint64_t transfers_ns; /* sum of transfers_ns of these cases */
    enum exit_code exit;
};

/** Counts a result. */
void batch_summary_add(struct batch_summary *summary, const struct case_result *result);

/** Returns the number of cases that ended. */
size_t batch_summary_ended(const struct batch_summary *summary);

/** Returns DONE if all cases ran and all are good, else FAILED. Ignores summary->exit. */
enum exit_code batch_summary_exit(const struct batch_summary *summary, bool flaky_is_good);

/** Writes the members of an "end" event, including "event", into the open object. */
void batch_summary_write(struct jsonw *w, const struct batch_summary *summary);
/** Reads an "end" event. Returns 0, or -1 with *value->fault filled. */
int batch_summary_read(const struct json *value, struct batch_summary *summary);
