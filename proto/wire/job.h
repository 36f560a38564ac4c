/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job on the wire, the params of job.submit and job.prepare: one move or permute, with its
 * tensors in file descriptors or buffers.
 *
 *     job file -> proto/file/job_file.h: struct job_spec -> mlictl opens the files -> struct job
 *     program  -> mli_client_job ---------------------------> libmli_client -------> struct job
 *     struct job -> job_wire_write() ==== socket ====> job_wire_read() -> struct job -> mlid
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/tensor_desc.h"
#include "proto/wire/wire_limits.h"

/* References to jobs in requests: a number, or the name of a job of the same connection. */

struct job_ref {
    uint64_t number; /* number of the job, from 1; 0: the name refers to the job */
    char *name;      /* name of the job; owned; null: the number refers to the job */
};

struct job_refs {
    struct job_ref *refs;
    size_t count;
};

/**
 * Reads a job's name (1 .. PROTO_NAME_MAX of the characters A-Z a-z 0-9 _ . : -) and copies it to
 * *name, which the caller frees. Returns 0, or -1 with value's fault filled.
 */
int job_name_read(const struct json *value, char **name);
/**
 * Like job_name_read(), but refuses names of digits only, because they look like the number of a
 * job.
 */
int job_name_read_wire(const struct json *value, char **name);
/** Returns whether the wire allows a name: it has a character other than a digit. */
bool job_name_is_wire(const char *name);

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

/*
 * The members that jobs have on the wire (struct job) and in files (struct job_spec).
 *
 * To add a member, start here: add it to struct job_common, to JOB_COMMON_KEYS, job_common_read()
 * and job_common_write(), and describe it in PROTOCOL.md, man/mlictl-job.5.scd and
 * proto/file/job.schema.json.
 */

/* Bytes of the name of a target profile or of a memory of a board, with the zero byte. */
enum { MEMORY_NAME_MAX = 32 };

enum job_op { JOB_OP_NONE = 0, JOB_OP_MOV, JOB_OP_PERMUTE };

/* Number of entries given for each array of cfg; 0: the array is neutral. */
struct cfg_lengths {
    uint8_t offset, size, sub_sample_step, perm_dim, padding_pre, padding_post, dst_offset,
        dst_mem_stride;
};

struct job_common {
    enum job_op op;
    char *name; /* name of the job; owned; or null */
    /* Entries that were not given have neutral values. cfgs[1] has dimensions 4 to 7 of a job in a
     * file; job_cfg() finds the entry of a dimension. */
    union {
        mli_mov_cfg_t cfg;
        mli_mov_cfg_t cfgs[TENSOR_RANK_MAX / MLI_MAX_RANK];
    };
    struct cfg_lengths lengths;
    uint32_t channels;   /* 1 .. MLI_MOV_MAX_CHANNELS */
    int32_t priority;    /* -1, 0 or 1: low, normal, high */
    uint32_t timeout_ms; /* 0: no timeout */
};

/* The entry of dimension d in an array of cfg, such as job_cfg(common, offset, d). */
#define job_cfg(common, field, d) ((common)->cfgs[(d) / MLI_MAX_RANK].field[(d) % MLI_MAX_RANK])

/** Sets a neutral cfg and one channel; makes all other members empty. */
void job_common_init(struct job_common *common);
void job_common_finish(struct job_common *common);

/** Sets the length of each array of cfg, except neutral arrays, to `rank`. */
void job_common_set_lengths(struct job_common *common, uint32_t rank);

/**
 * Checks what depends on the source's rank: each cfg array and the destination's shape and strides
 * are absent or have `rank` entries, and the cfg of a permute has no array but perm_dim. Rank 0
 * means unknown. Fault pointers, such as "/cfg/offset", are relative to the job. Returns 0 or -1.
 */
int job_check_rank(const struct job_common *common, const struct tensor_desc *dst, uint32_t rank,
                   struct fault *fault);

/* Private to proto/. The reading functions return 0, or -1 with the object's fault filled. */

/** The members that job_common_read() reads, for the keys that json_object() allows. */
#define JOB_COMMON_KEYS "op", "name", "cfg", "channels", "priority", "timeout_ms"

/** Reads the members of struct job_common, each may be absent; arrays of cfg have at most
 * `rank_max` entries. */
int job_common_read(struct job_common *common, const struct json *object, uint32_t rank_max);
/**
 * Writes the members that differ from job_common_init() into the object that is open. `name`: the
 * job's name, or null to leave it out.
 */
void job_common_write(struct jsonw *w, const char *name, const struct job_common *common);

/**
 * Reads the member "memory" of "src" or "dst", the name of a board's memory; empties *out if it is
 * absent.
 */
int memory_name_read(const struct json *object, char out[MEMORY_NAME_MAX]);
/** Like memory_name_read(), but reads the member `key`. */
int memory_member_read(const struct json *object, const char *key, char out[MEMORY_NAME_MAX]);

/** Checks the destination's parameters in `object` against the source's type, because a move does
 * not change the type. */
int job_check_dst(const struct tensor_desc *src, const struct tensor_desc *dst,
                  const struct json *object);

/**
 * Copies the parameters of the destination before a move, `given`, to those of the result, `own`;
 * the move does not write its first `kept` entries. Returns 0, or -1 with a fault at "/dst".
 */
int job_preset_params(struct quant *own, const struct quant *given, uint32_t kept,
                      struct fault *fault);

/*
 * State and description of a job, in job.status, job.list, job.wait and events. To add a member,
 * start here: add it to struct job_info, to the table info_members in job.c, and to PROTOCOL.md.
 */

/* X(name, word on the wire) */
#define JOB_STATE_TABLE(X)                                                                         \
    X(WAITING, "waiting")                                                                          \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(DONE, "done")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(CANCELLED, "cancelled")

enum job_state {
#define JOB_STATE_ENUM(name, word) JOB_STATE_##name,
    JOB_STATE_TABLE(JOB_STATE_ENUM)
#undef JOB_STATE_ENUM
        JOB_STATE_COUNT
};

/** Returns the name of a state. Static storage. */
const char *job_state_name(enum job_state state);

/** Read and write arrays of state names as bits 1 << enum job_state. */
int job_states_read(const struct json *array, uint32_t *states);
void job_states_write(struct jsonw *w, const char *key, uint32_t states);

enum tensor_where { TENSOR_NOWHERE = 0, TENSOR_IN_FD, TENSOR_IN_BUFFER };

/* A tensor and the descriptor or buffer that holds it. */
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

/* The result of a detached job.submit and of job.cancel, and an item of job.wait's "jobs". */
struct job_brief {
    uint64_t job;
    enum job_state state;
};
void job_brief_write_members(struct jsonw *w, const struct job_brief *brief);
/** Reads a struct job_brief. Returns 0 or -1 (fault); skips unknown members. */
int job_brief_read(const struct json *value, struct job_brief *brief);

struct job_info {
    uint64_t job;
    char name[PROTO_NAME_MAX + 1]; /* name of the job; empty: no name */
    enum job_state state;
    uint64_t client;
    uint32_t uid;
    int32_t priority;
    uint32_t channels;
    int32_t first_channel; /* first channel of the job; -1: not started */
    uint64_t bytes, bytes_done;
    bool detached;
    uint64_t ns_queued, ns_moving;
    const struct fault *error; /* null: no error. job_info_read() makes it point at `fault` */
    struct fault fault;        /* storage for the error; only job_info_read() fills it */
};

/** Writes the description of a job as an object; `key` is null inside an array. */
void job_info_write(struct jsonw *w, const char *key, const struct job_info *info);
/** Writes only the members of the description, into the object that is open. */
void job_info_write_members(struct jsonw *w, const struct job_info *info);
/**
 * Reads the description of a job. Returns 0 or -1 (fault); skips unknown members. Do not copy
 * *info: info->error may point into *info.
 */
int job_info_read(const struct json *value, struct job_info *info);

/* The results of job.submit (sent at the job's end) and of job.prepare. */

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

/** Sets the defaults of struct job_common; makes all other members empty. */
void job_init(struct job *job);
void job_finish(struct job *job);

/**
 * Reads the params of job.submit into *job. `fds` is the number of the request's descriptors.
 * Returns 0, or -1 with the fault of params filled (pointers relative to params) and *job empty.
 */
int job_wire_read(const struct json *params, uint32_t fds, struct job *job);
/** Like job_wire_read(), but for job.prepare: without "after", "detach" and "timeout_ms". */
int job_wire_read_prepare(const struct json *params, uint32_t fds, struct job *job);
/**
 * Writes the members of the params of job.submit or job.prepare. Leaves out a name of digits only:
 * job files allow it, the wire does not.
 */
void job_wire_write_members(struct jsonw *w, const struct job *job);
/** Writes the params of the job as member `key`. */
void job_wire_write(struct jsonw *w, const char *key, const struct job *job);
