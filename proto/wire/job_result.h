/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of job.submit (sent at the job's end) and of job.prepare. */
#ifndef PROTO_JOB_RESULT_H
#define PROTO_JOB_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/tensor_desc.h"

/* The destination after the move, and the cost of the transfer. */
struct job_result {
    uint64_t job; /* the job's number */
    bool has_dst; /* false for the start of a prepared job: job.prepare has described dst */
    struct tensor_desc dst;
    uint64_t bytes; /* number of bytes written to the destination */
    uint32_t channels;
    char engine[24];
    uint64_t ns_queued; /* nanoseconds from admission to start */
    uint64_t ns_moving; /* nanoseconds from start to end */
};

/** Frees the description of dst; `struct job_result r = {0}` is an empty result. */
void job_result_finish(struct job_result *result);
void job_result_write(struct jsonw *w, const char *key, const struct job_result *result);
/** Reads a result from JSON; ignores unknown members. Returns 0, or -1 with the fault of `value`
 * filled and *result empty. */
int job_result_read(const struct json *value, struct job_result *result);

/* The result of job.prepare. */
struct job_prepared {
    uint32_t prepared; /* number of the prepared job, from 1 */
    uint64_t bytes;    /* number of bytes that each start writes */
    struct tensor_desc dst;
};
void job_prepared_finish(struct job_prepared *prepared);
/** Writes the members of the result of job.prepare. */
void job_prepared_write_members(struct jsonw *w, const struct job_prepared *prepared);
/** Reads the result of job.prepare, like job_result_read(). */
int job_prepared_read(const struct json *value, struct job_prepared *prepared);

#endif /* PROTO_JOB_RESULT_H */
