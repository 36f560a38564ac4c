/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job on the wire: one move or permute with its tensors in file descriptors or buffers: the
 * params of job.submit and job.prepare.
 *
 *     job file -> proto/file/job_file.h: struct job_spec -> mlictl opens the files -> struct job
 *     program  -> mli_client_job ---------------------------> libmli_client -------> struct job
 *     struct job -> job_wire_write() ==== socket ====> job_wire_read() -> struct job -> mlid
 */
#ifndef PROTO_JOB_H
#define PROTO_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job_common.h"
#include "proto/wire/job_ref.h"
#include "proto/wire/tensor_desc.h"

enum tensor_where { TENSOR_NOWHERE = 0, TENSOR_IN_FD, TENSOR_IN_BUFFER };

/* A tensor and its memory. */
struct tensor_ref {
    enum tensor_where where;
    uint32_t fd;     /* for TENSOR_IN_FD: index into the descriptors of the request */
    uint32_t buffer; /* for TENSOR_IN_BUFFER: number of the buffer, from 1 */
    uint64_t offset; /* bytes before the first element */
    /* TENSOR_IN_FD: the name of the memory (of the service's target profile) that holds the tensor
     * while the job exists; or empty */
    char memory[MEMORY_NAME_MAX];
    struct tensor_desc desc;
};

struct job {
    struct job_common common;
    struct tensor_ref src, dst;
    struct job_refs after; /* jobs that must end before this job starts */
    bool detach;           /* true: the reply does not wait for the job's end */
};

/** Sets the defaults of struct job_common; makes all other members empty. */
void job_init(struct job *job);
void job_finish(struct job *job);

/**
 * Reads the params of job.submit into *job. `fds` is the number of the request's descriptors.
 * Returns 0, or -1 with the fault of params filled (pointers relative to params) and *job empty.
 */
int job_wire_read(const struct json *params, uint32_t fds, struct job *job);
/**
 * Reads the params of job.prepare, like those of job.submit, but without "after", "detach" and
 * "timeout_ms".
 */
int job_wire_read_prepare(const struct json *params, uint32_t fds, struct job *job);
/**
 * Writes the members of the params of job.submit or job.prepare. Leaves out a name of digits only:
 * job files allow it, the wire does not.
 */
void job_wire_write_members(struct jsonw *w, const struct job *job);
/** Writes the params of the job as member `key`. */
void job_wire_write(struct jsonw *w, const char *key, const struct job *job);

#endif /* PROTO_JOB_H */
