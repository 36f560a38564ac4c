/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Costs measured on a processor: the member "measured" of a profile's costs. mlictl calibrate
 * writes them, target/cost/measured_cost.h computes with them, docs/profiles.md explains them.
 *
 *     time of a move = formula * factor of tree 1 * factor of tree 2 * ...
 *
 * The formula has figures for each class of move and for footprints from the first-level cache to
 * memory. A tree is a correction: it asks for numbers of the move (run, rows, ...) and ends with a
 * factor.
 *
 * To add a class of move, a figure or a number, start here: extend its table, compute it in
 * target/cost/measured_cost.c, and add it to docs/profiles.md and conf/profile.schema.json.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/* X(name, key): the classes of moves, by the kernel that moves most bytes. */
#define MOVE_CLASS_TABLE(X)                                                                        \
    X(ZEROS, "zeros")                                                                              \
    X(ROW, "row")                                                                                  \
    X(SHORT_ROWS, "short-rows")                                                                    \
    X(MIDDLE_ROWS, "middle-rows")                                                                  \
    X(LONG_ROWS, "long-rows")                                                                      \
    X(GATHER_1, "gather-1")                                                                        \
    X(GATHER_2, "gather-2")                                                                        \
    X(GATHER_4, "gather-4")                                                                        \
    X(GATHER_8, "gather-8")                                                                        \
    X(TRANSPOSE_1, "transpose-1")                                                                  \
    X(TRANSPOSE_2, "transpose-2")                                                                  \
    X(TRANSPOSE_4, "transpose-4")                                                                  \
    X(TRANSPOSE_8, "transpose-8")

enum move_class {
#define MOVE_CLASS_ENUM(name, key) MOVE_CLASS_##name,
    MOVE_CLASS_TABLE(MOVE_CLASS_ENUM)
#undef MOVE_CLASS_ENUM
        MOVE_CLASSES
};

/* X(name, key): costs of a class of moves that do not depend on the footprint. */
#define MEASURED_FIGURE_TABLE(X)                                                                   \
    X(START, "start")                                                                              \
    X(LOOP, "loop")                                                                                \
    X(SLAB, "slab")                                                                                \
    X(PLANE, "plane")                                                                              \
    X(CALL, "call")                                                                                \
    X(ROW, "row")                                                                                  \
    X(STORE, "store")                                                                              \
    X(ZERO_ROW, "zero_row")                                                                        \
    X(ZERO_STORE, "zero_store")

enum measured_figure {
#define MEASURED_FIGURE_ENUM(name, key) MEASURED_##name,
    MEASURED_FIGURE_TABLE(MEASURED_FIGURE_ENUM)
#undef MEASURED_FIGURE_ENUM
        MEASURED_FIGURES
};

/* X(name, key): costs of a class of moves that are given for each footprint. */
#define MEASURED_LEVEL_TABLE(X)                                                                    \
    X(READ, "read")                                                                                \
    X(WRITTEN, "written")                                                                          \
    X(READ_LINES, "read_lines")                                                                    \
    X(WRITTEN_LINES, "written_lines")                                                              \
    X(ZERO_LINES, "zero_lines")

enum measured_level {
#define MEASURED_LEVEL_ENUM(name, key) MEASURED_##name,
    MEASURED_LEVEL_TABLE(MEASURED_LEVEL_ENUM)
#undef MEASURED_LEVEL_ENUM
        MEASURED_LEVELS
};

/* X(name, key): the numbers of a move that decision trees compare. target/cost/measured_cost.h
 * explains them. */
#define MOVE_NUMBER_TABLE(X)                                                                       \
    X(FORMULA, "formula")                                                                          \
    X(CLASS, "class")                                                                              \
    X(RUN, "run")                                                                                  \
    X(LOOPS, "loops")                                                                              \
    X(BYTES, "bytes")                                                                              \
    X(ROWS, "rows")                                                                                \
    X(READ, "read")                                                                                \
    X(WRITTEN, "written")                                                                          \
    X(READ_LINES, "read_lines")                                                                    \
    X(WRITTEN_LINES, "written_lines")                                                              \
    X(FOOTPRINT, "footprint")                                                                      \
    X(READ_PAGES, "read_pages")                                                                    \
    X(WRITTEN_PAGES, "written_pages")                                                              \
    X(READ_DENSITY, "read_density")                                                                \
    X(WRITTEN_DENSITY, "written_density")                                                          \
    X(COUNT_1, "count_1")                                                                          \
    X(COUNT_2, "count_2")                                                                          \
    X(COUNT_3, "count_3")                                                                          \
    X(COUNT_4, "count_4")                                                                          \
    X(SRC_STEP_1, "src_step_1")                                                                    \
    X(SRC_STEP_2, "src_step_2")                                                                    \
    X(SRC_STEP_3, "src_step_3")                                                                    \
    X(SRC_STEP_4, "src_step_4")                                                                    \
    X(DST_STEP_1, "dst_step_1")                                                                    \
    X(DST_STEP_2, "dst_step_2")                                                                    \
    X(DST_STEP_3, "dst_step_3")                                                                    \
    X(DST_STEP_4, "dst_step_4")                                                                    \
    X(SRC_GAP_1, "src_gap_1")                                                                      \
    X(DST_GAP_1, "dst_gap_1")                                                                      \
    X(DST_GAP_2, "dst_gap_2")                                                                      \
    X(SRC_POWER_1, "src_power_1")                                                                  \
    X(SRC_POWER_2, "src_power_2")                                                                  \
    X(DST_POWER_1, "dst_power_1")                                                                  \
    X(DST_POWER_2, "dst_power_2")                                                                  \
    X(CALLS, "calls")                                                                              \
    X(KERNEL_ROWS, "kernel_rows")                                                                  \
    X(KERNEL_COLUMNS, "kernel_columns")                                                            \
    X(MERGED_ROWS, "merged_rows")                                                                  \
    X(MERGED_COLUMNS, "merged_columns")                                                            \
    X(ROWS_REST, "rows_rest")                                                                      \
    X(COLUMNS_REST, "columns_rest")                                                                \
    X(RUN_REST, "run_rest")                                                                        \
    X(SRC_OFFSET, "src_offset")                                                                    \
    X(DST_OFFSET, "dst_offset")                                                                    \
    X(SRC_ALIGNMENT, "src_alignment")                                                              \
    X(DST_ALIGNMENT, "dst_alignment")                                                              \
    X(PAGE_DISTANCE, "page_distance")                                                              \
    X(SLABS, "slabs")                                                                              \
    X(ZERO_BYTES, "zero_bytes")                                                                    \
    X(ZERO_ROWS, "zero_rows")                                                                      \
    X(FIRST_ZEROS, "first_zeros")                                                                  \
    X(LAST_ZEROS, "last_zeros")                                                                    \
    X(LAST_ZERO_LOOPS, "last_zero_loops")                                                          \
    X(ZERO_LINES, "zero_lines")                                                                    \
    X(ZERO_COUNT, "zero_count")                                                                    \
    X(ZERO_STEP, "zero_step")                                                                      \
    X(LARGEST_ZEROS, "largest_zeros")

enum move_number {
#define MOVE_NUMBER_ENUM(name, key) NUMBER_##name,
    MOVE_NUMBER_TABLE(MOVE_NUMBER_ENUM)
#undef MOVE_NUMBER_ENUM
        MOVE_NUMBERS
};

/** The keys of the tables; each array ends with null. */
extern const char *const move_class_keys[],
    *const measured_figure_keys[], *const measured_level_keys[], *const move_number_keys[];

enum {
    MEASURED_FOOTPRINTS_MAX = 8,
    MEASURED_TREES_MAX = 256,
    MEASURED_NODES_MAX = 16384,
    MEASURED_TREE_TEXT_MAX = 16 * 1024, /* maximum length of a tree in a profile, in bytes */
    MEASURED_TREE_DEPTH_MAX = 64
};

/* A node of a tree: a question, or an end. */
struct tree_node {
    float value;      /* question: is the number less than this value? end: natural logarithm of the
                         factor */
    uint16_t yes, no; /* indices of the next nodes after the answers yes and no */
    uint8_t number;   /* enum move_number; TREE_END marks a leaf of the tree */
};
enum { TREE_END = 255 };

/* A cost in millionths of a cycle. The file has cycles, as 12 or "0.125". */
typedef uint64_t profile_cost;

struct measured_class {
    bool present;
    profile_cost single[MEASURED_FIGURES];
    profile_cost level[MEASURED_LEVELS][MEASURED_FOOTPRINTS_MAX];
};

/* Times are in cycles of the profile's clock. */
struct measured_costs {
    bool present;
    uint32_t footprints, trees, nodes;           /* numbers of entries in the arrays below */
    uint64_t footprint[MEASURED_FOOTPRINTS_MAX]; /* bytes, ascending */
    struct measured_class class[MOVE_CLASSES];   /* a class that was not measured takes the costs of
                                                    MOVE_CLASS_LONG_ROWS */
    uint16_t tree[MEASURED_TREES_MAX];           /* index of the first node of each tree */
    struct tree_node node[MEASURED_NODES_MAX];
};

/**
 * Reads the member "measured" of `costs`; *measured is zeroed before. Returns 0, even if the member
 * is absent, or -1 with the fault filled.
 */
int measured_costs_read(struct measured_costs *measured, const struct json *costs);

/** Writes the member "measured" if the costs are present. */
void measured_costs_write(struct jsonw *w, const struct measured_costs *measured);

/**
 * Reads the text of a tree, such as "run<16?0.93:rows<100?1.2:1". Returns 0; or the position after
 * the first wrong byte, with the node count unchanged.
 */
size_t measured_tree_read(struct measured_costs *measured, const char *text);

/** Writes the text of a tree. */
void measured_tree_write(struct textw *w, const struct measured_costs *measured, uint32_t tree);

/* A cost: a number of cycles with up to six digits after the point. */
#define PROFILE_CYCLE    UINT64_C(1000000)
#define PROFILE_COST_MAX UINT64_MAX /* stands for all sums that exceed 64 bits */

enum { PROFILE_COST_TEXT_MAX = 24 };

/** Return a sum and a product, or UINT64_MAX if the result exceeds 64 bits. */
static inline uint64_t cost_plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t cost_times(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
/** Returns a number of cycles as a cost; more than `most` cycles count as `most`. */
profile_cost profile_cost_rounded(double cycles, double most);

/** Writes cycles as digits, with a point if there is a fraction: "12", "0.125". Returns `out`. */
const char *profile_cost_text(char out[PROFILE_COST_TEXT_MAX], profile_cost cost);

/** Like profile_cost_text(), for people: writes PROFILE_COST_MAX as "> 18446744073709". */
const char *profile_cost_words(char out[PROFILE_COST_TEXT_MAX], profile_cost cost);

/** Reads an integer or a string with a decimal fraction. Returns 0, or -1 with the fault filled. */
int profile_cost_read(const struct json *value, profile_cost *out);

/** Writes a cost in the form that profile_cost_read() accepts. */
void profile_cost_write(struct jsonw *w, const char *key, profile_cost cost);
