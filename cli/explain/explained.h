/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job is going to do, as plain data: what text, JSON and pictures of it are made from.
 *
 *     struct resolved -> explained.c   the move as libmli will make it (mli_explain.h), what each
 *                                      channel does of it
 *                     -> sheet.c       for people      picture.h   drawn
 *                     -> facts.c       for programs
 */
#ifndef CLI_EXPLAINED_H
#define CLI_EXPLAINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/resolve.h"
#include "mli_engine.h"
#include "mli_explain.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "proto/json/textw.h"

/* Dimensions of one tensor of rank 2 or more. */
struct picture_view {
    uint32_t rows, columns;
};

struct picture_views {
    struct picture_view src, dst;
};

/* One of the job's tensors. */
struct explained_side {
    const char *file; /* as the job names it; borrowed */
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK];  /* dst: of all of the output, of which a move may write a part */
    int32_t strides[MLI_MAX_RANK]; /* in elements */
    uint64_t offset;               /* of the first element in the file, in bytes */
    uint64_t bytes;                /* from the first element to the end of the data */
    int32_t quant_axis;            /* dimension with quantisation parameters of its own; -1: none */
};

/* What one channel does. */
struct explained_part {
    uint64_t bytes;       /* written */
    uint64_t rows;        /* runs of contiguous bytes */
    uint64_t descriptors; /* that the engine makes of it */
};

struct explained {
    const char *file;    /* the job file, as given; borrowed, as are the next two */
    const char *pointer; /* of the job in it: "", "/3" or "/jobs/3" */
    const char *name;    /* of the job; null: none */
    const char *op;      /* "mov" or "permute" */
    const char *type;    /* of the elements: "fx8" */
    bool update;         /* the output exists: only what the move writes is replaced */
    struct explained_side src, dst;
    /* Addresses in its plan are no memory: they count from src_base and dst_base, which are as far
       into a page as the tensors are when they are mapped. */
    mli_explanation move;
    const uint8_t *src_base, *dst_base;
    struct picture_views views;   /* rows and columns of pictures; all 0: the default ones */
    const char *engine;           /* its name */
    struct mli_channel_caps caps; /* of its channels */
    uint32_t channels;            /* that the transfer has */
    uint32_t parts;               /* channels with something to do */
    struct explained_part part[MLI_MOV_MAX_CHANNELS];
    bool timed;         /* memcpy_ns was measured */
    uint64_t memcpy_ns; /* memcpy of as many bytes takes on this machine */
};

/**
 * Explains a job that resolved_init() has taken, on `channels` channels of the engine that the
 * library has. Borrows from file, job and *resolved. Returns 0, or -1 with the fault, pointers
 * relative to the job.
 */
int explained_init(struct explained *explained, const struct job_file *file,
                   const struct resolved *resolved, uint32_t channels, struct fault *fault);

/** Offset of an address of the plan from the source's, or the destination's, first element. */
static inline uint64_t explained_src_at(const struct explained *explained, const uint8_t *address)
{
    return (uintptr_t)address - (uintptr_t)explained->src_base;
}

static inline uint64_t explained_dst_at(const struct explained *explained, const uint8_t *address)
{
    return (uintptr_t)address - (uintptr_t)explained->dst_base;
}

/* X(name, word for people, name in JSON), in the order in which they are taken. */
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

/** The shape after a step; of the last, the destination's up to what is written. Returns whether
 *  the step does anything. */
bool explained_step_shape(const mli_explanation *move, enum step step,
                          uint64_t shape[MLI_MAX_RANK]);

/** Coordinates of the first and the last element that is read; false: none is. */
bool explained_read_box(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                        uint64_t last[MLI_MAX_RANK]);

/** The same of what is written. */
void explained_written_box(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                           uint64_t last[MLI_MAX_RANK]);

/** Measures memcpy_ns. Takes a fraction of a second; without memory `timed` stays false. */
void explained_time_memcpy(struct explained *explained);

/** A line that names the job, and all the others. */
void explained_text(struct textw *w, const struct explained *explained);

/** Writes them all as one object. */
void explained_json(struct jsonw *w, const struct explained *explained);

#endif /* CLI_EXPLAINED_H */
