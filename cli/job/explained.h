/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a job's move before the move runs: files, libmli's plan (mli_explain.h) and
 * channels. `explain` prints it (cli/explain/explain.h); the checks of jobs (job_rules.h, races.h)
 * and the move on a board (explained_board.h) follow from it.
 *
 * To add a fact, start here: add it to struct explained, fill it in explained_init(), and print it
 * in explain_text.c and explain_json.c (members are documented in mlictl-explain(1)).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/job/resolve.h"
#include "mli_engine.h"
#include "mli_explain.h"
#include "proto/json/fault.h"

struct explained_board;

/* The dimensions that a picture shows as rows and columns, of a tensor of rank 2 or more. */
struct picture_view {
    uint32_t rows, columns;
};

struct picture_views {
    struct picture_view src, dst;
};

/* One of the job's tensors. */
struct explained_side {
    const char *file;   /* the file as the job names it; borrowed; null: in a buffer */
    const char *path;   /* the same file for open(); borrowed */
    const char *buffer; /* name of the buffer; borrowed; null: in a file */
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK];  /* shape of the tensor; dst: shape of the whole output, even if
                                      the move writes only a part */
    int32_t strides[MLI_MAX_RANK]; /* strides in elements */
    uint64_t offset;               /* offset of the first element in the file or buffer, in bytes */
    uint64_t bytes;     /* number of bytes from the first element to the end of the data */
    int32_t quant_axis; /* dimension of per-axis quantisation parameters, or -1 */
};

/* The part of a move that one channel carries out. */
struct explained_part {
    uint64_t bytes;       /* written */
    uint64_t rows;        /* runs of contiguous bytes */
    uint64_t descriptors; /* descriptors that the engine needs for the part */
};

struct explained {
    const char *file;    /* the job file's path as given; borrowed, like `pointer` and `name` */
    const char *pointer; /* JSON pointer of the job in the file: "", "/3" or "/jobs/3" */
    const char *name;    /* name of the job, or null */
    bool numbered;       /* the name of the job's C function needs its number */
    const char *op;      /* "mov" or "permute" */
    const char *type;    /* type of the elements: "fx8" */
    /* Headers of a source and its destination with elements of 8 or 16 bytes or more than 4
     * dimensions, which move as parts or folded; borrowed from struct resolved. Null: the tensors
     * move as they are. */
    const struct npy_header *whole, *whole_dst;
    const char *stage; /* memory that the job is staged through; or null; borrowed */
    bool update;       /* the output exists, and the move overwrites a region of it */
    struct explained_side src, dst;
    /* There is no memory at the addresses of the plan: subtract src_base or dst_base to get
     * offsets. An address has the same offset in a page as if the tensor's file were mapped. */
    mli_explanation move;
    const uint8_t *src_base, *dst_base;
    struct picture_views views;   /* rows and columns of pictures; all 0: the defaults */
    const char *engine;           /* the engine's name */
    struct mli_channel_caps caps; /* capabilities of the engine's channels */
    uint32_t channels;            /* number of channels of the transfer */
    uint32_t parts;               /* number of channels that share the move */
    struct explained_part part[MLI_MOV_MAX_CHANNELS];
    /* The move on a board (explained_board.h), or null; borrowed. */
    const struct explained_board *board;
    bool timed;         /* memcpy_ns was measured */
    uint64_t memcpy_ns; /* time of a memcpy of the plan's bytes on this machine */
};

/**
 * Explains a job that resolved_init() accepted, on `channels` channels of the library's current
 * engine. Borrows strings from *file and *resolved. Returns 0, or -1 with the fault, whose pointers
 * are relative to the job.
 */
int explained_init(struct explained *explained, const struct job_file *file,
                   const struct resolved *resolved, uint32_t channels, struct fault *fault);

/** Allocates the parameters that the result has per axis; own->axis is the axis of these
 * parameters, or -1 if there are none. quant_alloc(own, 0) frees them. Returns 0 or -1. */
int explained_own_parameters(const struct resolved *resolved, struct quant *own,
                             struct fault *fault);

/**
 * Explains only the move of a job. `dst_bytes` is the size of the destination, `own` has the
 * quantisation parameters of the result. Returns 0, or -1 with the fault.
 */
int explained_move(mli_explanation *move, const struct resolved *resolved, uint64_t dst_bytes,
                   const struct quant *own, struct fault *fault);

/**
 * Refuses, as the service does, a move inside one buffer if the span of the bytes read overlaps
 * the span of the bytes written. A span reaches from the first byte to the last. Accepts all
 * staged jobs. Returns 0 or -1.
 */
int explained_check_apart(const struct explained *explained, const struct resolved *resolved,
                          struct fault *fault);

/** Returns what messages have before the name of a tensor: "buffer ", or nothing for a file. */
static inline const char *explained_kind(const struct explained_side *side)
{
    return side->buffer ? "buffer " : "";
}

/** Returns the name of a tensor's file or buffer. */
static inline const char *explained_place(const struct explained_side *side)
{
    return side->buffer ? side->buffer : side->file;
}

/** Returns descriptor `index` of a plan: 0 is the copy, and the others write zeros. */
struct mli_copy_box explained_box(const struct mli_plan *plan, size_t index);

/** Returns the offset of a plan's source address from the source's first element, in bytes. */
static inline uint64_t explained_src_at(const struct explained *explained, const uint8_t *address)
{
    return (uintptr_t)address - (uintptr_t)explained->src_base;
}

/** Returns the offset of a plan's destination address from the destination's first element. */
static inline uint64_t explained_dst_at(const struct explained *explained, const uint8_t *address)
{
    return (uintptr_t)address - (uintptr_t)explained->dst_base;
}

/* X(name, word for people, name in JSON): the steps of a move, in the order of execution. */
#define STEP_TABLE(X)                                                                              \
    X(PAD, "pad", "padded")                                                                        \
    X(CROP, "crop", "window")                                                                      \
    X(SUBSAMPLE, "subsample", "sampled")                                                           \
    X(PERMUTE, "permute", "permuted")                                                              \
    X(PLACE, "place", "placed")

#define STEP_ENUM(name, word, member) STEP_##name,
enum step { STEP_TABLE(STEP_ENUM) STEP_COUNT };
#undef STEP_ENUM

const char *explained_step_word(enum step step);
const char *explained_step_member(enum step step);

/**
 * Computes the shape after a step. After STEP_PLACE, it is the smallest destination that contains
 * the region. Returns whether the step changes anything.
 */
bool explained_step_shape(const mli_explanation *move, enum step step,
                          uint64_t shape[MLI_MAX_RANK]);

/** Computes the coordinates of the first and last element that is read. Returns false if no element
 * is read. */
bool explained_read_box(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                        uint64_t last[MLI_MAX_RANK]);

/** Computes the coordinates of the first and last element that is written. */
void explained_written_box(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                           uint64_t last[MLI_MAX_RANK]);

/** Measures memcpy_ns in a fraction of a second. If out of memory, `timed` stays false. */
void explained_time_memcpy(struct explained *explained);
