/* SPDX-License-Identifier: BSD-3-Clause */
/* How requests refer to jobs: by number, or by the name of a job of the same connection. */
#ifndef PROTO_JOB_REF_H
#define PROTO_JOB_REF_H

#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

struct job_ref {
    uint64_t number; /* from 1; 0: by name */
    char *name;      /* owned; null: by number */
};

struct job_refs {
    struct job_ref *refs;
    size_t count;
};

/** Returns 0, or -1 with value's fault filled and *ref empty. */
int job_ref_read(const struct json *value, struct job_ref *ref);
void job_ref_finish(struct job_ref *ref);
void job_ref_write(struct jsonw *w, const char *key, const struct job_ref *ref);

/** An array of 0 .. `max` references; an absent value is an empty one. As job_ref_read(). */
int job_refs_read(const struct json *value, size_t max, struct job_refs *refs);
void job_refs_finish(struct job_refs *refs);
void job_refs_write(struct jsonw *w, const char *key, const struct job_refs *refs);

#endif /* PROTO_JOB_REF_H */
