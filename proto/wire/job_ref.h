/* SPDX-License-Identifier: BSD-3-Clause */
/* References to jobs in requests: a number, or the name of a job of the same connection. */
#ifndef PROTO_JOB_REF_H
#define PROTO_JOB_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

struct job_ref {
    uint64_t number; /* number of the job, from 1; 0: the name refers to the job */
    char *name;      /* name of the job; owned; null: the number refers to the job */
};

struct job_refs {
    struct job_ref *refs;
    size_t count;
};

/**
 * Reads a job's name: 1 .. PROTO_NAME_MAX of A-Z a-z 0-9 _ . : - and copies it to *name, which the
 * caller frees. Returns 0 or -1 with value's fault filled.
 */
int job_name_read(const struct json *value, char **name);
/**
 * Like job_name_read(), but refuses names of digits only, because numbers on the wire refer to jobs
 * too.
 */
int job_name_read_wire(const struct json *value, char **name);
/** Returns whether a name has a character other than a digit. */
bool job_name_is_wire(const char *name);
/** Complains that `value` is a name of digits only. Returns -1. */
int job_name_complain_digits(const struct json *value);

/** Reads a reference. Returns 0, or -1 with value's fault filled and *ref empty. */
int job_ref_read(const struct json *value, struct job_ref *ref);
void job_ref_finish(struct job_ref *ref);
void job_ref_write(struct jsonw *w, const char *key, const struct job_ref *ref);

/**
 * Reads an array of 0 .. `max` references; an absent value is an empty array. Otherwise like
 * job_ref_read().
 */
int job_refs_read(const struct json *value, size_t max, struct job_refs *refs);
void job_refs_finish(struct job_refs *refs);
void job_refs_write(struct jsonw *w, const char *key, const struct job_refs *refs);

#endif /* PROTO_JOB_REF_H */
