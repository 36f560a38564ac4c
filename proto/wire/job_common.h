/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members that jobs have on the wire (struct job) and in files (struct job_spec).
 *
 * To add a member, start here: add it to struct job_common, to JOB_COMMON_KEYS, job_common_read()
 * and job_common_write(), and describe it in PROTOCOL.md, man/mlictl-job.5.scd and
 * proto/file/job.schema.json.
 */
#ifndef PROTO_JOB_COMMON_H
#define PROTO_JOB_COMMON_H

#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/tensor_desc.h"

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
    char *name;        /* name of the job; owned; or null */
    mli_mov_cfg_t cfg; /* entries that were not given have neutral values */
    struct cfg_lengths lengths;
    uint32_t channels;   /* 1 .. MLI_MOV_MAX_CHANNELS */
    int32_t priority;    /* -1, 0 or 1: low, normal, high */
    uint32_t timeout_ms; /* 0: no timeout */
};

/** Sets a neutral cfg and one channel; makes all other members empty. */
void job_common_init(struct job_common *common);
void job_common_finish(struct job_common *common);

/** Sets the number of entries of each list of cfg that is not neutral to `rank`. */
void job_common_set_lengths(struct job_common *common, uint32_t rank);

/**
 * Checks what depends on the source's rank: each cfg array and the destination's shape and strides
 * are absent or have `rank` entries, and the cfg of a permute has no array but perm_dim. Rank 0
 * means unknown. Fault pointers are relative to the job, as "/cfg/offset". Returns 0 or -1.
 */
int job_check_rank(const struct job_common *common, const struct tensor_desc *dst, uint32_t rank,
                   struct fault *fault);

/* Private to proto/. Readers return 0, or -1 with the object's fault filled. */

/** The members that job_common_read() reads, for json_object()'s list. */
#define JOB_COMMON_KEYS "op", "name", "cfg", "channels", "priority", "timeout_ms"

/** Reads the members of struct job_common; each member may be absent. */
int job_common_read(struct job_common *common, const struct json *object);
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
/** Reads the member `key`, the name of a board's memory. Otherwise as memory_name_read(). */
int memory_member_read(const struct json *object, const char *key, char out[MEMORY_NAME_MAX]);

/** Checks the destination's parameters in `object` against the source's type, because a move does
 * not change the type. */
int job_check_dst(const struct tensor_desc *src, const struct tensor_desc *dst,
                  const struct json *object);

#endif /* PROTO_JOB_COMMON_H */
