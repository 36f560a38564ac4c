/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a job file as steps that read and write stores, for `mlictl optimise`. Data flow of
 * this folder:
 *
 *     struct job_file -> program.c    steps in the order of execution, and the stores (buffers and
 *                                     files) with everything that is written to them
 *          -> routes.c                 the sources that each step can read instead of intermediate
 *                                     results; reach.c finds the writers of the bytes that it reads
 *          -> fusion.c                chooses a source for each step; the steps that are needed
 *          -> rewrite.c               the text of the new job file
 *          -> optimise.c              the same for the new file, until nothing can be saved, also
 *                                     with jobs split into parts (job_parts.c)
 *          -> proof.c                 runs both files on position-coded data and compares
 *          -> optimise_report.c       before and after, and the reasons for what stays
 *
 * index_map.h has the algebra of moves, move_form.h its inverse: from a map of indices to a cfg.
 * optimise.h is the interface for other commands.
 *
 * To fuse more jobs, start with index_map_compose() (which moves can be one), find_pins() in
 * program.c (which jobs are left alone) and KEPT_TABLE (the reasons that are printed).
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

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
#include "proto/wire/wire_limits.h"

/* X(name, text): why a job or an intermediate result stays. A text with %s has another job. */
#define KEPT_TABLE(X)                                                                              \
    X(NOT_KEPT, "")                                                                                \
    X(KEPT_OUTPUT, "its destination is an output: give --intermediate or --all-intermediates if "  \
                   "nobody else needs the file")                                                   \
    X(KEPT_UNREAD, "no job reads its destination: give --drop to remove it")                       \
    X(KEPT_UPDATED, "its destination existed before the first job")                                \
    X(KEPT_EXPECT, "it has \"expect\"")                                                            \
    X(KEPT_STAGE, "it has \"stage\"")                                                              \
    X(KEPT_MEMORY, "its source or destination is in a named memory of a profile")                  \
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
    X(KEPT_TOO_MANY, "the search for its readers was ended: too many jobs write the same buffer")  \
    X(KEPT_AFTER, "a job would have more than 64 names in \"after\"")

enum kept {
#define KEPT_ENUM(name, text) name,
    KEPT_TABLE(KEPT_ENUM)
#undef KEPT_ENUM
};

/* Comparisons of a read with a write in one search: a second or two. */
#define PROGRAM_BUDGET UINT64_C(100000000)

/* No step, store or route. */
#define NONE SIZE_MAX

/* A move that writes a store, in the order of the writes. */
struct write {
    size_t step;
    struct byte_set bytes;
};

/* A buffer, or a file that a job reads or writes. */
struct store {
    bool is_buffer;
    size_t buffer;      /* index of the buffer in the job file */
    struct place place; /* of the file */
    bool intermediate;  /* nobody needs its content after the last job */
    bool read;          /* a job reads it */
    bool fixed;         /* another member than src and dst names the file */
    struct write *writes;
    size_t write_count, write_capacity;
};

/* The sources from which a step can make its result. */
enum { ROUTES_MAX = 8 };
struct route {
    struct index_map map; /* from the source of step `base` to the destination of the step */
    size_t base;          /* the step whose source is read, at the time of that step */
    uint32_t cost;        /* jobs that are needed for that source */
    bool possible;        /* a job can have this move */
    bool open; /* the writer of the source could not be composed with this map, or not all of its
                  routes; with a map that reads less it may be */
};

/* A job, in the order of execution. */
struct program_step {
    const struct job_spec *job;
    size_t index;             /* of the job in the file */
    size_t src, dst;          /* stores; NONE for a job that expects an error */
    size_t params;            /* store of the file of parameters that the job writes; or NONE */
    bool creates;             /* creates its file: nothing of its former content stays */
    bool raw_src;             /* the job describes its source: a raw file or a buffer */
    bool frozen;              /* its move must not change */
    enum kept needed;         /* the reason why the job stays in any case; or NOT_KEPT */
    struct npy_header header; /* of the source */
    struct move_source source;
    uint64_t dst_data; /* offset of the first element in the destination: the size of a header */
    struct index_map map;
    uint32_t dst_shape[MLI_MAX_RANK];  /* of the result, with cfg.dst_offset */
    int32_t dst_strides[MLI_MAX_RANK]; /* in elements */
    /* Source coordinate of sample `lo` of each axis of `map`, and of the sample after it. */
    uint64_t first[MLI_MAX_RANK], step[MLI_MAX_RANK];
    struct index_box *parts; /* of job_parts.c: the job is written as these parts of its samples */
    size_t part_count;
    /* Of routes.c and fusion.c. */
    struct route *routes; /* routes[0]: the job as it is; null: it writes nothing */
    size_t route_count, chosen;
    uint32_t cost; /* jobs that are needed for its result, with its own */
    bool alive;
    enum kept obstacle; /* the last reason why the step cannot read a source further up */
    size_t reader;      /* of a step that is alive: a step that needs its result; or NONE */
};

struct program {
    const struct job_file *file;
    struct program_step *steps;
    size_t count;
    struct store *stores;
    size_t store_count;
    uint64_t budget; /* of comparisons of a read with a write */
};

/* Files that nobody needs, besides buffers without a memory. */
struct program_intermediates {
    bool all;                    /* every file that one job creates and another one reads */
    const char *const *patterns; /* or those with a name that one of these patterns matches */
    size_t pattern_count;
    const char *const *dropped; /* buffers and files that no job reads, and that nobody needs */
    size_t dropped_count;
};

/**
 * Resolves all jobs of a file; their sources must exist, or earlier jobs must write them. Returns 0
 * or -1 with the fault, whose pointer is relative to the file; program_finish() is legal after
 * both.
 */
int program_init(struct program *program, const struct job_file *file,
                 const struct program_intermediates *intermediates, struct fault *fault);
void program_finish(struct program *program);

/** Reads the text of a job file that is beside the job file of `p`. Returns 0 or -1. */
int program_reload(struct job_file *file, const struct program *p, const struct jsonw *w,
                   struct fault *fault);

/** Returns the number of jobs that stay. */
size_t program_alive(const struct program *p);

/** Returns the text of a reason; static storage. */
const char *kept_text(enum kept kept);

/*
 * Chooses for each step the source that it reads, so that few jobs are needed. A step may read the
 * source of the step that wrote its own source (a route of its result), and so on upwards, if one
 * move can do both and nothing has overwritten that source meanwhile. Steps whose result nobody
 * reads any longer are not needed.
 */

/** Sets chosen, alive, obstacle and reader of all steps, also again after a change of `needed`.
 * `raw`: reads .npy files as raw files if a move needs it. Returns 0 or -1 (out of memory, or a
 * cancel). */
int fusion_find(struct program *p, bool raw, struct fault *fault);

/**
 * Writes the jobs that are alive, in the order of execution, with the sources that fusion_find()
 * chose, and the buffers that they use. `path`: the job file for which relative names are
 * rewritten; null: that of the program. Returns 0, or -1 with the fault. If a job would need too
 * many names in "after", sets `needed` of the removed jobs before it, and *again: the caller
 * chooses again.
 */
int rewrite(struct program *p, bool raw, const char *path, struct jsonw *w, bool *again,
            struct fault *fault);

enum { PIECES_MAX = 64 };

/* Samples of a map that one step wrote. */
struct piece {
    size_t step;
    struct index_box given;
};

struct reach {
    enum kept why; /* NOT_KEPT; or why the writers are unknown: the rest is then not filled */
    size_t count;
    struct piece pieces[PIECES_MAX]; /* the newest first; disjoint */
    bool all; /* the pieces have all samples; otherwise the others are zeros or older than all steps
               */
};

/** Finds the steps before `before` that wrote what `map` reads of `store`. */
void reach_find(struct program *p, const struct index_map *map, size_t store, size_t before,
                struct reach *reach);

/** Returns whether no step in [from, to) writes what `map` reads of `store`. */
bool reach_is_unchanged(struct program *p, const struct index_map *map, size_t store, size_t from,
                        size_t to);

/** Returns the index of the first write of a store by step `step` or a later one. */
size_t reach_first_write(const struct store *store, size_t step);

/**
 * Finds the routes of a step; those of the earlier steps are known. Sets also the cost and the
 * obstacle. `raw`: reads .npy files as raw files if a move needs it. Returns 0 or -1 (out of
 * memory).
 */
int routes_find(struct program *p, struct program_step *step, bool raw);

/* The source and the cfg of a step that reads a route. */
struct fused_move {
    struct move_source source;
    struct job_common common; /* cfg and lengths but for the placement */
    bool free;                /* shape, strides and offset are those of `source` */
};

/** Finds the move of a route. Returns NOT_KEPT, or the reason why no job can have it. */
enum kept route_form(const struct program *p, const struct program_step *step,
                     const struct route *route, bool raw, struct fused_move *move);

/**
 * Computes the quantisation parameters of the source of a fused move, so that those of the result
 * stay the same. *quant borrows from the job unless *own: then the caller frees it with
 * quant_alloc(quant, 0). Returns 0 or -1 (out of memory).
 */
int route_quant(const struct program_step *step, const struct fused_move *move, struct quant *quant,
                bool *own);

#endif /* CLI_PROGRAM_H */
