/* SPDX-License-Identifier: BSD-3-Clause */
/* One job, carried out: resolved, sent, awaited, its output put in place and compared. */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

#include <stdbool.h>

#include "client.h"
#include "compare.h"
#include "exit_code.h"
#include "job.h"
#include "job_files.h"
#include "resolve.h"

/* What became of a job. */
struct outcome {
    enum exit_code exit;
    bool skipped;       /* never begun: `fault` says what kept it */
    bool described;     /* `type`, `src` and `dst` are filled */
    bool moved;         /* `result` is filled, the output is in place */
    uint64_t detached;  /* the number of a job that is not waited for; 0: none */
    bool compared;      /* `difference` is filled */
    bool disconnected;  /* the connection is gone, no other job can run */
    struct fault fault; /* FAULT_NONE where nothing went wrong, or only the comparison */
    mli_element_type type;
    struct npy_header src, dst; /* dst: the whole output file */
    struct job_result result;
    struct difference difference;
};

void outcome_finish(struct outcome *outcome);

/** Fills what a resolved job tells of itself. */
void outcome_describe(struct outcome *outcome, const struct resolved *resolved);

/** Gives the output its size before anything moves, and an update its bytes. Returns 0 or -1. */
int execute_prepare_output(struct resolved *resolved, struct fault *fault);
/** Writes the header of a new .npy. Returns 0 or -1. */
int execute_write_header(struct resolved *resolved, struct fault *fault);
/** What the service says of a descriptor concerns the file that it is to the user. */
void execute_translate(struct fault *fault);

/**
 * Runs a job of `file` over the connection, `context` being a struct client. *outcome is empty
 * before; its fault gets a pointer into the file. (It is the `job` of a struct sequence_work.)
 */
void execute_job(void *context, const struct job_file *file, const struct job *job,
                 struct outcome *outcome);

#endif /* CLI_EXECUTE_H */
