/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model: the time that a move takes on the board of a profile. It is a formula, not a
 * simulation, and as good as the figures of the profile; many of these are assumed (mlictl profile
 * show).
 *
 *     overhead = descriptors * descriptor + rows * row + conflicts * conflict
 *     read     = descriptors that read * latency of the source + bursts * burst + beats * beat
 *     written  = bursts * burst + beats * beat
 *     data     = the larger of read and written: a bus has separate lines for both
 *     core     = pieces that the core moves * core_call + their beats * core_beat
 *     total    = start + overhead + data + core + finish
 *
 * If the core moves everything, without a descriptor, start and finish are 0.
 *
 * Channels that share a move work in parallel, but share the bus:
 *
 *     total    = start + the larger of (overhead + data of the slowest channel) and (data of all
 *                channels, without latencies) + finish
 *
 * If the profile has the measured costs of a processor (measured_cost.h), the total is the measured
 * time of the slowest channel; "starting" has the figures start, loop and slab, "descriptors" those
 * of kernel calls, and all parts add up.
 *
 * A kernel that permutes in vector memory runs on the core, without the controller and the bus:
 *
 *     total    = core_call + vectors * kernel_vector + gathered elements * kernel_element
 *
 * For comparison, a memcpy of all bytes by the core: core_call + beats * core_beat.
 *
 * To add a figure to the model, start here: add it to struct profile_costs and to the formulas in
 * cost.c, above, and in docs/profiles.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_plan.h"
#include "target/profile/target_profile.h"

/* X(name, key in JSON, words for people): the parts of a cost. */
#define COST_PART_TABLE(X)                                                                         \
    X(START, "start", "starting the transfer")                                                     \
    X(DESCRIPTORS, "descriptors", "descriptors")                                                   \
    X(ROWS, "rows", "rows")                                                                        \
    X(CONFLICTS, "conflicts", "bank conflicts")                                                    \
    X(READ, "read", "reading")                                                                     \
    X(WRITTEN, "written", "writing")                                                               \
    X(CORE, "core", "moving by the core")                                                          \
    X(FINISH, "finish", "finishing the transfer")

enum cost_part {
#define COST_PART_ENUM(name, key, words) COST_##name,
    COST_PART_TABLE(COST_PART_ENUM)
#undef COST_PART_ENUM
        COST_PARTS
};

/* The JSON key of each part, and its words for people, such as "reading". */
extern const struct cost_part_word {
    const char *key, *words;
} cost_part_words[COST_PARTS];

/* The traffic on one side of a plan: reads of the source, or writes of the destination. */
struct traffic {
    uint64_t bytes;
    uint64_t rows;      /* contiguous runs */
    uint64_t beats;     /* aligned words of the bus that the rows touch */
    uint64_t bursts;    /* aligned blocks of the burst size that the rows touch */
    uint64_t conflicts; /* rows that begin in the same bank of the memory as the row before them */
};

struct move_cost {
    struct traffic read, written;
    uint64_t descriptors;          /* number of descriptors of all channels */
    uint32_t channels;             /* number of channels that share the move */
    profile_cost part[COST_PARTS]; /* times of the slowest channel; READ and WRITTEN overlap */
    enum cost_part dominant;       /* the largest part that adds to the total */
    profile_cost total;
    profile_cost bus; /* time of the total in which the bus is busy; at most the total */
    bool bus_bound;   /* true: the data of all channels on the bus takes longer than any channel */
    profile_cost memcpy_total; /* cost of a memcpy of all bytes by the core */
    enum move_class class;     /* class of the slowest channel's move; for measured costs only */
};

/* The input of the model for one channel. */
struct cost_channel {
    const struct mli_plan *plan;      /* plan of the channel, with board addresses */
    uint64_t descriptors;             /* number of descriptors that the controller executes */
    uint64_t core_pieces, core_bytes; /* pieces and bytes that the core moves instead */
    uint64_t fills; /* number of these descriptors that read nothing, and so have no latency */
};

/* The memories of source and destination. A null memory has no latency and no banks. */
struct cost_memories {
    const struct profile_memory *src, *dst;
};

/**
 * Computes the cost of a move that runs on `count` channels in parallel. Numbers that do
 * not fit become the largest profile_cost.
 */
void cost_of_move(struct move_cost *cost, const struct target_profile *profile,
                  const struct cost_memories *memories, const struct cost_channel *channels,
                  uint32_t count);

/* The work of a permute kernel. */
struct kernel_work {
    uint64_t vectors;  /* number of vectors that the kernel stores */
    uint64_t gathered; /* number of elements that the kernel gathers, because runs are shorter than
                          a vector */
};

/**
 * Computes the cost of a permute kernel on the core, for elements of `element` bytes. If the
 * profile has no figures of kernels or no vector width, the cost is that of a memcpy for each row.
 */
void cost_of_kernel(struct move_cost *cost, const struct target_profile *profile,
                    const struct cost_memories *memories, const struct mli_plan *plan,
                    uint32_t element);

/** Returns the work of a permute kernel. */
struct kernel_work kernel_work(const struct target_profile *profile, const struct mli_plan *plan,
                               uint32_t element);

/*
 * Beats of the core: if the core moves a whole plan, every row takes at least one beat. If the core
 * moves only the heads and tails of rows, each of these takes two beats more than its bytes need,
 * and the controller's traffic is counted as if the controller moved the whole plan.
 */

/** Returns a cost in nanoseconds of the profile's clock, rounded up. */
uint64_t cost_ns(const struct target_profile *profile, profile_cost cost);
