/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a job file as steps that read and write stores, for `mlictl optimise`. Data flow of
 * this folder:
 *
 *     struct job_file -> program.c    steps in the order of execution, and the stores (buffers and
 *                                     files) with everything that is written to them
 *          -> routes.c                 the sources that each step can read instead of intermediate
 *                                     results; reach.c finds who wrote the bytes that a step reads
 *          -> fusion.c                chooses a source for each step; the steps that are needed
 *          -> rewrite.c               the text of the new job file
 *          -> optimise.c              repeats this with the new file, also with jobs split into
 *                                     parts (job_parts.c), until no job can be saved
 *          -> proof.c                 runs both files on position-coded data and compares
 *          -> optimise_report.c       before and after, and the reasons for what stays
 *
 * index_map.h has the algebra of moves, move_form.h its inverse: from a map of indices to a cfg.
 * optimise.h is the interface for other commands.
 *
 * To fuse more jobs, start with index_map_compose() (which moves can be one), find_pins() in
 * program.c (which jobs are left alone) and KEPT_TABLE (the reasons that are printed).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/file/place.h"
#include "cli/job/job_files.h"
#include "cli/optimise/index_map.h"
#include "cli/optimise/move_form.h"
#include "proto/file/npy.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

/*
 * X(name, text): why a job or an intermediate result stays. A %s in a text stands for the name of
 * another job.
 */
#define KEPT_TABLE(X)                                                                              \
    X(NOT_KEPT, "")                                                                                \
    X(KEPT_OUTPUT, "its destination is an output: give --intermediate or --all-intermediates if "  \
                   "nobody else needs the file")                                                   \
    X(KEPT_UNREAD, "no job reads its destination: give --drop to remove it")                       \
    X(KEPT_UPDATED, "its destination existed before the first job")                                \
    X(KEPT_EXPECT, "it has \"expect\"")                                                            \
    X(KEPT_STAGE, "it has \"stage\"")                                                              \
    X(KEPT_MEMORY, "its source or destination is in a named memory of a profile")                  \
    X(KEPT_WIDE, "its elements have 8 or 16 bytes, or it has more than 4 dimensions")              \
    X(KEPT_PARAMS, "it writes a file of parameters")                                               \
    X(KEPT_SIZES, "%s reads its destination with elements of another size")                        \
    X(KEPT_ORDER, "%s reads its destination in an order that one move cannot have")                \
    X(KEPT_PIECES, "%s reads what several jobs wrote, and cannot be split with a gain")            \
    X(KEPT_HEADER, "%s reads its destination as raw bytes, with the header")                       \
    X(KEPT_OVERWRITTEN, "the source is overwritten before %s reads it")                            \
    X(KEPT_SAME, "%s would read and write the same file or buffer")                                \
    X(KEPT_RANK, "%s would need a source of another rank: --raw may help")                         \
    X(KEPT_BORDER, "%s would read an element where it must write a zero")                          \
    X(KEPT_PADDING, "%s would need more than 255 elements of padding")                             \
    X(KEPT_STEPS, "%s would need steps that the source's dimensions do not have: --raw may help")  \
    X(KEPT_RANGE, "%s would need numbers that exceed those of a job")                              \
    X(KEPT_DTYPE, "%s reads its destination as another dtype")                                     \
    X(KEPT_AXIS, "%s has parameters of an axis that the fused move pads")                          \
    X(KEPT_FROZEN, "%s must stay as it is: it has \"stage\", a named memory or an expected error") \
    X(KEPT_NO_GAIN, "%s needs it in any case")                                                     \
    X(KEPT_TOO_MANY, "the search for its readers stopped: too many jobs write the same buffer")    \
    X(KEPT_AFTER, "a job would have more than 64 names in \"after\"")

enum kept {
#define KEPT_ENUM(name, text) name,
    KEPT_TABLE(KEPT_ENUM)
#undef KEPT_ENUM
};

/* Maximum number of comparisons of a read with a write in one search, which take a second. */
#define PROGRAM_BUDGET UINT64_C(100000000)

/* No step, store or route. */
#define NONE SIZE_MAX

/* A move that writes a store. Writes are in the order of execution. */
struct write {
    size_t step;
    struct byte_set bytes;
};

/* A buffer, or a file that a job reads or writes. */
struct store {
    struct place place; /* place of the file; first, for place_compare() */
    bool is_buffer;
    size_t buffer;     /* index of the buffer in the job file */
    bool intermediate; /* nobody needs its content after the last job */
    bool read;         /* a job reads it */
    bool fixed;        /* another member than src and dst names the file */
    struct write *writes;
    size_t write_count, write_capacity;
};

/* A source from which a step can make its result, and the map from that source. */
enum { ROUTES_MAX = 8 };
struct route {
    struct index_map map; /* map from the source of step `base` to the destination of this step */
    size_t base;   /* index of the step whose source this step reads, with the content that step
                      `base` reads */
    uint32_t cost; /* number of jobs that are needed to make that source */
    bool possible; /* true: a job can have this move */
    bool open; /* the map could not be composed with all routes of the writer of the source; a map
                  that reads less may be possible */
};

/* A job, in the order of execution. */
struct program_step {
    const struct job_spec *job;
    size_t index;             /* index of the job in the file */
    size_t src, dst;          /* indices of stores; NONE for a job that expects an error */
    size_t params;            /* store of the parameters file that the job writes, or NONE */
    bool creates;             /* the job creates its file: no former content stays */
    bool raw_src;             /* the job describes its source: a raw file or a buffer */
    bool frozen;              /* the move of the job must not change */
    enum kept needed;         /* the reason why the job stays in any case; or NOT_KEPT */
    struct npy_header header; /* header of the source */
    struct move_source source;
    uint64_t dst_data; /* offset of the first element in the destination: after the header */
    struct index_map map;
    uint32_t dst_shape[MLI_MAX_RANK];  /* shape of the result, cfg.dst_offset included */
    int32_t dst_strides[MLI_MAX_RANK]; /* in elements */
    /* Source coordinate of sample `lo` of each axis of `map`, and of the sample after it. */
    uint64_t first[MLI_MAX_RANK], step[MLI_MAX_RANK];
    struct index_box *parts; /* parts of the samples that become jobs (job_parts.c); or null */
    size_t part_count;
    /* Members of routes.c and fusion.c: */
    struct route *routes; /* routes[0]: the job as it is; null: the job writes nothing */
    size_t route_count, chosen;
    uint32_t cost; /* number of jobs that are needed for the result, this job included */
    bool alive;
    enum kept obstacle; /* the last reason why the step cannot read an earlier source */
    size_t reader;      /* if `alive`: another step that needs the result; or NONE */
};

struct program {
    const struct job_file *file;
    struct program_step *steps;
    size_t count;
    struct store *stores;
    size_t store_count;
    uint64_t budget; /* comparisons of a read with a write that are left in this search */
};

/* Files and buffers that nobody needs after the last job, besides buffers without a memory. */
struct program_intermediates {
    bool all;                    /* true: every file that one job creates and another job reads */
    const char *const *patterns; /* if not `all`: patterns for the names of such files */
    size_t pattern_count;
    const char *const *dropped; /* names of buffers and files that no job reads, and nobody needs */
    size_t dropped_count;
};

/**
 * Resolves all jobs of a file; their sources must exist, or earlier jobs must write them. Returns
 * 0 or -1 with the fault, whose pointer is relative to the file; program_finish() may be called in
 * both cases.
 */
int program_init(struct program *program, const struct job_file *file,
                 const struct program_intermediates *intermediates, struct fault *fault);
void program_finish(struct program *program);

/** Parses the text `w` as a job file in the directory of the job file of `p`. Returns 0 or -1. */
int program_reload(struct job_file *file, const struct program *p, const struct jsonw *w,
                   struct fault *fault);

/** Returns the number of jobs that stay. */
size_t program_alive(const struct program *p);

/** Returns the text of a reason; static storage. */
const char *kept_text(enum kept kept);

/*
 * Chooses for each step the source that it reads, so that few jobs are needed. A step may read the
 * source of an earlier step that wrote its own source, directly or through other steps, if one
 * move can replace these moves and nothing has overwritten that source meanwhile. A step whose
 * result no step reads any longer is not needed.
 */

/** Sets the members `chosen`, `alive`, `obstacle` and `reader` of all steps. May be called again
 * after a change of `needed`. `raw`: a move may read a .npy file as a raw file. Returns 0, or -1
 * with the fault: out of memory, or cancelled. */
int fusion_find(struct program *p, bool raw, struct fault *fault);

/**
 * Writes the jobs that are alive, in the order of execution, with the sources that fusion_find()
 * chose, and the buffers that they use. `path`: the job file for which relative names are
 * rewritten; null: the job file of the program. Returns 0, or -1 with the fault. If a job would
 * need too many names in "after", sets `needed` of the removed jobs before that job, and *again:
 * the caller then calls fusion_find() again.
 */
int rewrite(struct program *p, bool raw, const char *path, struct jsonw *w, bool *again,
            struct fault *fault);

enum { PIECES_MAX = 64 };

/* Samples of a map that were written by one step. */
struct piece {
    size_t step;
    struct index_box given;
};

struct reach {
    enum kept why; /* NOT_KEPT, or the reason why the writers are unknown: then the members below
                      are not set */
    size_t count;
    struct piece pieces[PIECES_MAX]; /* from the newest write to the oldest; disjoint */
    bool all; /* the pieces cover all samples; else no step wrote the other samples */
};

/** Finds the steps before step `before` that wrote the bytes of `store` that `map` reads. */
void reach_find(struct program *p, const struct index_map *map, size_t store, size_t before,
                struct reach *reach);

/** Returns whether no step in [from, to) writes a byte of `store` that `map` reads. */
bool reach_is_unchanged(struct program *p, const struct index_map *map, size_t store, size_t from,
                        size_t to);

/** Returns the index of the first write of a store by step `step` or a later step. */
size_t reach_first_write(const struct store *store, size_t step);

/**
 * Finds the routes of a step; those of the earlier steps are known. Also sets the cost and the
 * obstacle of the step. `raw`: a move may read a .npy file as a raw file. Returns 0 or -1 (out of
 * memory).
 */
int routes_find(struct program *p, struct program_step *step, bool raw);

/* The source and the cfg of a step that uses a route. */
struct fused_move {
    struct move_source source;
    struct job_common common; /* cfg and its lengths, except the placement */
    bool free; /* true: the job must describe its source by shape, strides and offset of `source` */
};

/** Finds the move of a route. Returns NOT_KEPT, or the reason why no job can have it. */
enum kept route_form(const struct program *p, const struct program_step *step,
                     const struct route *route, bool raw, struct fused_move *move);

/**
 * Computes the quantisation parameters of the source of a fused move, so that the parameters of
 * the result stay the same. If *own, the caller frees *quant with quant_alloc(quant, 0); else
 * *quant borrows from the job. Returns 0 or -1 (out of memory).
 */
int route_quant(const struct program_step *step, const struct fused_move *move, struct quant *quant,
                bool *own);
