/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job: one move or permute, as plain data. The same structure holds a job as it stands in a job
 * file (tensors are files) and as it travels to the daemon (tensors are descriptors); mlictl turns
 * the first kind into the second. No JSON exists past this header.
 */
#ifndef PROTO_JOB_H
#define PROTO_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/file/sha256_text.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job_ref.h"
#include "proto/wire/tensor_desc.h"

enum job_op { JOB_OP_NONE = 0, JOB_OP_MOV, JOB_OP_PERMUTE };

/* X(name, word): `word` is the value of "format", and how such files' names end. */
#define FILE_FORMAT_TABLE(X)                                                                       \
    X(NPY, "npy")                                                                                  \
    X(RAW, "raw") /* also any other ending */                                                      \
    X(NPZ, "npz")                                                                                  \
    X(SAFETENSORS, "safetensors")

enum file_format {
    FILE_FORMAT_AUTO = 0, /* by the name's ending */
#define FILE_FORMAT_ENUM(name, word) FILE_FORMAT_##name,
    FILE_FORMAT_TABLE(FILE_FORMAT_ENUM)
#undef FILE_FORMAT_ENUM
};

enum tensor_where { TENSOR_NOWHERE = 0, TENSOR_IN_FILE, TENSOR_IN_FD, TENSOR_IN_BUFFER };

/* Where a tensor lies and what it looks like. */
struct tensor_ref {
    enum tensor_where where;
    /* TENSOR_IN_FILE */
    char *file;              /* as written in the job: relative to the job file */
    enum file_format format; /* as it was given */
    char *tensor;            /* which one of an archive; null: the only one. Not of dst */
    bool update;             /* dst: write into the existing tensor */
    char *params;            /* dst: file for the result's quantisation parameters; or null */
    /* TENSOR_IN_FD */
    uint32_t fd; /* index into the message's descriptors */
    /* TENSOR_IN_BUFFER */
    uint32_t buffer; /* its number, from 1 */
    /* all (raw files, descriptors and buffers) */
    uint64_t offset; /* bytes before the first element */
    struct tensor_desc desc;
};

enum expectation_kind { EXPECT_NOTHING = 0, EXPECT_FILE, EXPECT_DIGEST, EXPECT_ERROR };

/* What has to come of a job, in a file; whoever runs the job holds it against what came. */
struct expectation {
    enum expectation_kind kind;
    struct tensor_ref golden;    /* EXPECT_FILE */
    uint8_t digest[DIGEST_SIZE]; /* EXPECT_DIGEST: of the whole output file */
    const char *error;           /* EXPECT_ERROR: name of a status or of a fault; static storage */
    char *pointer;               /* EXPECT_ERROR: what has to be at fault; null: anything */
};

/*
 * How many entries each cfg array was given (0: the field is neutral). The arrays of `cfg` are
 * filled up with neutral values, so cfg can be used as it is once the lengths are checked.
 */
struct cfg_lengths {
    uint8_t offset, size, sub_sample_step, perm_dim, padding_pre, padding_post, dst_offset,
        dst_mem_stride;
};

struct job {
    enum job_op op;
    char *name; /* or null */
    struct tensor_ref src, dst;
    mli_mov_cfg_t cfg;
    struct cfg_lengths lengths;
    char *slice;         /* in a file: the window as text, checked (slice.h); or null */
    uint32_t channels;   /* 1 .. MLI_MOV_MAX_CHANNELS */
    int32_t priority;    /* -1, 0 or 1: low, normal, high */
    uint32_t timeout_ms; /* 0: none */
    char **after;        /* in a file: names of jobs that must be done before */
    size_t after_count;
    struct job_refs after_refs; /* on the wire: the same */
    bool detach;                /* on the wire: answered at once */
    struct expectation expect;
    char pointer[32]; /* of this job in its file: "", "/3" or "/jobs/3" */
};

struct job_list {
    struct job *jobs;
    size_t count;
};

/** The words of all formats, from FILE_FORMAT_AUTO + 1 on; null-terminated. */
extern const char *const file_format_words[];
/** The word of a format that is not FILE_FORMAT_AUTO. */
const char *file_format_word(enum file_format format);
/** The format with that word; FILE_FORMAT_AUTO: there is none. */
enum file_format file_format_from_word(const char *word);
/** Whether such files hold several tensors, by name. They are read, never written. */
bool file_format_is_archive(enum file_format format);
/** The format that the ending of a file's name stands for. */
enum file_format file_format_of_name(const char *file);

/** The format of a tensor's file: `format`, or what FILE_FORMAT_AUTO stands for. */
enum file_format tensor_ref_format(const struct tensor_ref *ref);
/** Frees what it holds; `struct tensor_ref ref = {0}` is an empty one. */
void tensor_ref_finish(struct tensor_ref *ref);

/** Neutral cfg, one channel, everything else empty. */
void job_init(struct job *job);
void job_finish(struct job *job);
void job_list_finish(struct job_list *list);

/**
 * Checks what can be checked once the source's rank is known: every cfg array is empty or has
 * `rank` entries, as have the destination's shape and strides, and a permute's job has no cfg but
 * perm_dim. Rank 0 stands for "not known yet". Fault pointers are relative to the job (as
 * "/cfg/offset"). Returns 0 or -1.
 */
int job_check_rank(const struct job *job, uint32_t rank, struct fault *fault);

/*
 * Job files (DESIGN of the format: docs/job-file.md, proto/file/job.schema.json): one job, an array
 * of jobs, or {"defaults": {...}, "jobs": [...]}. Members of "defaults" hold for every job that
 * does not state them; "src", "dst" and "cfg" are merged member by member. Checks everything that
 * can be known without opening a tensor: types, ranges, unknown and duplicate keys, unique names,
 * "after" naming jobs of the same file without a cycle. Returns 0 with at least one job, or -1.
 */
int job_file_parse(const char *text, size_t length, struct job_list *list, struct fault *fault);

/** Writes a job as a job file's object (so that a failing case can be handed on). */
void job_file_write(struct jsonw *w, const char *key, const struct job *job);

/**
 * The "params" of job.submit -> *job (tensors in descriptors or buffers). `fds` is the message's
 * count. Returns 0, or -1 with the fault of params filled (pointers from params on) and *job empty.
 */
int job_wire_read(const struct json *params, uint32_t fds, struct job *job);
/** The same for job.prepare, which has no "after", "detach" and "timeout_ms". */
int job_wire_read_prepare(const struct json *params, uint32_t fds, struct job *job);
/**
 * The reverse: the members of the params of either. A name of digits only, which job files know, is
 * left out.
 */
void job_wire_write_members(struct jsonw *w, const struct job *job);
/** The same as member `key`. */
void job_wire_write(struct jsonw *w, const char *key, const struct job *job);

/* What a finished job tells: the destination as it now is, and what the transfer cost. */
struct job_result {
    uint64_t job; /* its number */
    bool has_dst; /* false: a prepared job's start, whose dst job.prepare has told */
    struct tensor_desc dst;
    uint64_t bytes; /* written to the destination */
    uint32_t channels;
    char engine[24];
    uint64_t ns_queued; /* from admission to start */
    uint64_t ns_moving; /* from start to done */
};

/** Frees what a result holds; `struct job_result r = {0}` is an empty one. */
void job_result_finish(struct job_result *result);
void job_result_write(struct jsonw *w, const char *key, const struct job_result *result);
/** Returns 0, or -1 with value's fault filled and *result empty. */
int job_result_read(const struct json *value, struct job_result *result);

/* What job.prepare answers. */
struct job_prepared {
    uint32_t prepared; /* from 1 */
    uint64_t bytes;    /* written by each start */
    struct tensor_desc dst;
};
void job_prepared_finish(struct job_prepared *prepared);
/** The members of the result. */
void job_prepared_write_members(struct jsonw *w, const struct job_prepared *prepared);
/** As job_result_read(). */
int job_prepared_read(const struct json *value, struct job_prepared *prepared);

#endif /* PROTO_JOB_H */
