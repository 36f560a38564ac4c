/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a job in a file: its tensors ("src", "dst": the file or buffer that holds each
 * tensor), the expected result ("expect"), and the buffers that the jobs of a file share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job.h"
#include "proto/wire/tensor_desc.h"

/* The SHA-256 of a file as text: "sha256:" and 64 hexadecimal digits. */

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = sizeof "sha256:" + 2 * SHA256_SIZE };

/** Parses a digest; digits may be upper or lower case. Returns false if the text is invalid. */
bool sha256_from_text(const char *text, uint8_t digest[SHA256_SIZE]);
/** Writes a digest with lower-case digits. Returns `out`. */
const char *sha256_to_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE]);

/* Limits of job files and of the names in them. mlictl-job(5) states them. */

enum {
    JOB_FILE_BYTES_MAX = 64 * 1024 * 1024,
    JOB_FILE_VALUES_MAX = 4 * 1024 * 1024, /* number of JSON values */
    JOB_FILE_QUANT_MAX = 8 * 1024 * 1024,  /* number of quantisation parameters of all jobs */
    JOB_FILE_JOBS_MAX = 256 * 1024,
    JOB_FILE_BUFFERS_MAX = 4096,
    JOB_PATH_MAX = 4095,  /* bytes of a file's name */
    JOB_TENSOR_MAX = 1023 /* bytes of a tensor's name in an archive */
};

/* X(name, word): `word` is the value of "format" and the ending of the file names. */
#define FILE_FORMAT_TABLE(X)                                                                       \
    X(NPY, "npy")                                                                                  \
    X(RAW, "raw") /* the default, also for unknown endings and for buffers */                      \
    X(NPZ, "npz")                                                                                  \
    X(SAFETENSORS, "safetensors")                                                                  \
    X(ONNX, "onnx")     /* an ONNX model: its constants are the tensors */                         \
    X(TFLITE, "tflite") /* a TFLite model: its constants are the tensors */                        \
    X(PB, "pb")         /* one ONNX tensor (TensorProto) */

enum file_format {
    FILE_FORMAT_AUTO = 0, /* the ending of the file's name gives the format */
#define FILE_FORMAT_ENUM(name, word) FILE_FORMAT_##name,
    FILE_FORMAT_TABLE(FILE_FORMAT_ENUM)
#undef FILE_FORMAT_ENUM
};

struct tensor_spec {
    char *file;              /* path as written in the job, relative to the job file; or null */
    char *buffer;            /* name of a buffer of the job file; or null */
    size_t buffer_index;     /* with `buffer`: index into the buffers of the job file */
    enum file_format format; /* format as written in the job */
    char *tensor;            /* src: the tensor's name in an archive; null: the only tensor */
    bool update;             /* dst: whether the job writes into an existing tensor */
    bool part;               /* dst: an earlier job makes the tensor; set after parsing */
    char *params;            /* dst: file for the result's quantisation parameters; or null */
    const char *dtype;       /* src, raw files and buffers: NumPy's dtype, static; or null */
    uint64_t offset;         /* raw files and buffers: bytes before the first element */
    char memory[MEMORY_NAME_MAX]; /* name of a memory of a target profile, in which the tensor is
                                     placed; or empty */
    struct tensor_desc desc;
};

/** The words of all formats, from FILE_FORMAT_AUTO + 1 on; null-terminated. */
extern const char *const file_format_words[];
/** Returns the word of a format other than FILE_FORMAT_AUTO. Static storage. */
const char *file_format_word(enum file_format format);
/**
 * Returns whether files of this format hold several named tensors. mlictl reads such files but
 * never writes them.
 */
bool file_format_is_archive(enum file_format format);
/** Returns whether tensors of this kind of archive are read and written in the archive itself. */
bool file_format_is_in_place(enum file_format format);
/** Returns whether "dst" makes a tensor with the given shape, of which the job writes a part. */
static inline bool tensor_spec_makes(const struct tensor_spec *dst)
{
    return dst->file && !dst->update && dst->desc.rank > 0;
}
/** Returns the format of a file by the ending of its name. */
enum file_format file_format_of_name(const char *file);

/** Frees the strings and the description; `struct tensor_spec spec = {0}` is an empty spec. */
void tensor_spec_finish(struct tensor_spec *spec);
/** Returns spec->format; if it is FILE_FORMAT_AUTO, the format by the ending of the file's name. */
enum file_format tensor_spec_format(const struct tensor_spec *spec);

/* Private to proto/file. The reading functions return 0, or -1 with the object's fault filled. */

/** The allowed members of "src" and of "dst", null-terminated. */
extern const char *const tensor_spec_src_keys[], *const tensor_spec_dst_keys[];

/** Reads all members except "dtype" and those of spec->desc; each member may be absent. */
int tensor_spec_read_place(struct tensor_spec *spec, const struct json *object);
/** Writes all members except "offset" and those of spec->desc into the object that is open. */
void tensor_spec_write_place(struct jsonw *w, const struct tensor_spec *spec);

int tensor_spec_read_src(struct tensor_spec *src, const struct json *object);
/** Reads "dst" and checks its parameters against the type of `src`. */
int tensor_spec_read_dst(struct tensor_spec *dst, const struct tensor_spec *src,
                         const struct json *object);

/* The member "expect" of a job in a job file: the result that a test expects. */

enum expectation_kind { EXPECT_NOTHING = 0, EXPECT_FILE, EXPECT_DIGEST, EXPECT_ERROR };

/* The expected result of a job. mlictl compares the result with it. */
struct expectation {
    enum expectation_kind kind;
    /* The golden file of EXPECT_FILE; and the expected parameters: `params` names their file, or
     * `desc` has type and quant. */
    struct tensor_spec golden;
    bool has_params; /* for EXPECT_FILE and EXPECT_DIGEST: compare the parameters, too */
    uint8_t digest[SHA256_SIZE]; /* for EXPECT_DIGEST: SHA-256 of the whole output file */
    const char *error; /* for EXPECT_ERROR: name of a status or of a fault; static storage */
    char *pointer;     /* for EXPECT_ERROR: expected pointer of the fault; null: any pointer */
};

/** Reads a job's "expect", which may be absent. Returns 0 or -1. */
int expectation_read(struct expectation *expect, const struct json *object);
/** Checks each member of an "expect" in "defaults" separately. Returns 0 or -1. */
int expectation_check_members(const struct json *object);
/** Writes the expectation as member `key`; writes nothing for EXPECT_NOTHING. */
void expectation_write(struct jsonw *w, const char *key, const struct expectation *expect);
/** Writes the members of "expect" into the object that is open. */
void expectation_write_members(struct jsonw *w, const struct expectation *expect);
/** Frees strings and descriptions; `struct expectation e = {0}` is an empty expectation. */
void expectation_finish(struct expectation *expect);

/** Returns whether a fault has the name of the expected error. */
bool expectation_names(const struct expectation *expect, const struct fault *fault);
/** Returns whether a fault has the expected pointer. Both pointers begin at the job. */
bool expectation_points_at(const struct expectation *expect, const struct fault *fault);

/** Returns the value of "error" for a fault: the status's name if libmli refused the move, else
 * fault_name(). */
const char *expectation_error_name(const struct fault *fault);

/*
 * Buffers of a job file, the entries of "buffers": memory that the jobs of the file share. A tensor
 * of a job names its buffer (struct tensor_spec).
 */

struct buffer_spec {
    char *name;
    uint64_t bytes;               /* at least 1 */
    char memory[MEMORY_NAME_MAX]; /* memory of the target profile that holds the buffer; or empty */
    bool has_address;             /* false: the service chooses the address in `memory` */
    uint64_t address;             /* address of the first byte on the board */
};

/** Frees the buffers and their array. */
void buffer_specs_finish(struct buffer_spec *buffers, size_t count);

/** Writes the buffers as member "buffers"; writes nothing if `count` is 0. */
void buffer_specs_write(struct jsonw *w, const struct buffer_spec *buffers, size_t count);

/* Private to proto/file. The functions with an int result return 0, or -1 with the fault filled. */

/** Reads "buffers", which may be absent, into a new array. Sets *count also on failure. */
int buffer_specs_read(const struct json *array, struct buffer_spec **buffers, size_t *count);
