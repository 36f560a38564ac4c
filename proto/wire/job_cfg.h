/* SPDX-License-Identifier: BSD-3-Clause */
/* The "cfg" of a job: eight arrays, from one table. Private to proto/. */
#ifndef PROTO_JOB_CFG_H
#define PROTO_JOB_CFG_H

#include "proto/wire/job.h"

/** Reads the arrays that `cfg` (or its defaults) has into job->cfg and job->lengths. */
int job_cfg_read(struct job *job, const struct json *cfg);
/** Writes member "cfg" into the object that is open; nothing where every field is neutral. */
void job_cfg_write(struct jsonw *w, const struct job *job);
/**
 * Every array is empty or has `rank` entries (0: any number, the rank is not known yet); a permute
 * has no array but perm_dim. Faults as job_check_rank().
 */
int job_cfg_check(const struct job *job, uint32_t rank, struct fault *fault);

#endif /* PROTO_JOB_CFG_H */
