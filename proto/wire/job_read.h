/* SPDX-License-Identifier: BSD-3-Clause */
/* Members that a job has in a file as on the wire. Private to proto/. */
#ifndef PROTO_JOB_READ_H
#define PROTO_JOB_READ_H

#include "proto/wire/job.h"

/** Names of the members that job_read_common() understands, for json_object()'s list. */
#define JOB_COMMON_KEYS "op", "name", "cfg", "channels", "priority", "timeout_ms"

/** Reads those members; all of them may be absent. */
int job_read_common(struct job *job, const struct json *object);
/** Writes those members that are not what job_init() made them into the object that is open.
 *  `name`: the job's, or null where it is not to be written. */
void job_write_common(struct jsonw *w, const char *name, const struct job *job);

/** A job's name: 1 .. PROTO_NAME_MAX of A-Z a-z 0-9 _ . : - */
int job_read_name(const struct json *value, char **name);

/** The same on the wire, where a name is not made of digits only: numbers refer to jobs too. */
int job_read_wire_name(const struct json *value, char **name);
bool job_is_wire_name(const char *name);
int job_complain_digits(const struct json *value);

/** Requires member `key`; the complaint is "missing, <why>". */
int job_require(const struct json *object, const char *key, const char *why);

/**
 * Holds the destination's parameters, read from `object`, against the type of the source, which a
 * move keeps.
 */
int job_check_dst(const struct job *job, const struct json *object);

/** A required string, copied. */
int job_read_string(const struct json *value, size_t max, char **out);

/** Member `key`, a whole number within [min, max]; *number is left alone where it is absent. */
int job_read_number(const struct json *object, const char *key, int64_t min, int64_t max,
                    int64_t *number);

/** Refuses "tensor" beside a file that is no archive. */
int job_check_tensor(const struct tensor_ref *ref, const struct json *object);
/** Where a file is: the members that are no part of a tensor's description; each may be absent. */
int job_read_place(struct tensor_ref *ref, const struct json *object);
/** Writes them into the object that is open. */
void job_write_place(struct jsonw *w, const struct tensor_ref *ref);

/** Member "offset", bytes; 0 where it is absent. */
int job_read_offset(const struct json *object, uint64_t *offset);

#endif /* PROTO_JOB_READ_H */
