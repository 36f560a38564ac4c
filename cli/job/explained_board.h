/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move, or a whole job, on a board: the places of the tensors in the board's memories, the
 * descriptors that the DMA controller executes, their cost, and remarks. All of this follows from a
 * target profile (target/) and the plan of the move (explained.h). A staged job is the sum of its
 * three steps.
 *
 * Remarks are advice, not errors: the rules that refuse jobs are in target/profile/profile_rules.h;
 * docs/profiles.md describes both. To add a remark, start here: add it to the table, make it in
 * board_remarks_make(), and describe it in docs/profiles.md and mlictl-explain(1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/job/buffer_places.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "mli_explain.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "target/controller/controller.h"
#include "target/cost/cost.h"
#include "target/profile/target_profile.h"

struct explained;

enum { BOARD_SHOWN_DEFAULT = 4 }; /* number of descriptors that are printed */

/* A tensor in a memory of the board. */
struct board_place {
    const struct profile_memory *memory;
    uint64_t address; /* address of the first element */
    uint64_t bytes;   /* number of bytes from `address` to the last byte that is accessed */
    bool in_buffer;   /* a buffer of the job file determines the address */
};

/* X(name, word, is about addresses): the word names the remark in the output. `validate` and `run`
 * print remarks about addresses only; `explain` prints all. */
#define BOARD_REMARK_TABLE(X)                                                                      \
    X(EVEN_ADDRESS, "even-address", true)                                                          \
    X(BANK_CONFLICT, "bank-conflict", true)                                                        \
    X(SAME_BANK, "same-bank", true)                                                                \
    X(CORE, "core-moves", false)

enum board_remark_kind {
#define BOARD_REMARK_ENUM(name, word, about_addresses) BOARD_REMARK_##name,
    BOARD_REMARK_TABLE(BOARD_REMARK_ENUM)
#undef BOARD_REMARK_ENUM
};

struct board_remark {
    enum board_remark_kind kind;
    char text[240]; /* a sentence */
};

enum { BOARD_REMARKS_MAX = 6 }; /* source and destination have at most one remark of each kind */

struct board_remarks {
    uint32_t count;
    struct board_remark list[BOARD_REMARKS_MAX];
};

struct explained_board {
    const struct target_profile *profile;
    struct board_place src, dst;
    struct board_place stage; /* place of the two buffers of a staged job: memory and bytes */
    uint64_t zeros;           /* address of the block of zeros */
    uint64_t list_address[MLI_MOV_MAX_CHANNELS]; /* address of the descriptors of each channel */
    uint32_t channels;                           /* number of channels that share the move */
    bool kernel; /* true: a kernel on the core permutes in vector memory, without descriptors */
    struct kernel_work work; /* work of the core's kernel; only if `kernel` is true */
    /* Plan of each channel, with addresses of the board. */
    struct mli_plan part[MLI_MOV_MAX_CHANNELS];
    struct list_count count; /* counts of all channels together */
    struct move_cost cost;
    uint64_t shown; /* descriptors to print at most */
    struct board_remarks remarks;
};

/* The board, and the job file. All pointers are borrowed. */
struct job_board_context {
    const struct target_profile *profile;
    const struct job_file *file;
    const struct buffer_places *buffers; /* the buffers of `file` on the board */
    const struct produced *produced;     /* files that count as existing; null: none */
};

/**
 * Places the tensors of an explained job: a tensor in a buffer at the buffer's place; any other
 * tensor after the buffers, in the memory that the job names, or else in the largest memory that
 * the DMA controller reaches. Returns 0, or -1 with the fault, whose pointers are relative to the
 * job: an unknown memory, or one that is too small.
 */
int explained_board_init(struct explained_board *board, const struct job_board_context *context,
                         const struct resolved *resolved, const struct explained *explained,
                         uint64_t shown, struct fault *fault);

/**
 * Adds to `sum` the costs of a move that begins after all others of `sum` have ended. The
 * destination of `sum` becomes that of this move.
 */
void explained_board_append(struct explained_board *sum, const struct explained_board *next);

/** Removes the remarks that are not about addresses. */
void board_remarks_retain_addresses(struct board_remarks *remarks);

/** Returns the word that names this kind of remark. Static storage. */
const char *board_remark_word(enum board_remark_kind kind);

/** Writes the remarks as an array of {rule, message}. */
void board_remarks_json(struct jsonw *w, const char *key, const struct board_remarks *remarks);

/**
 * Places a resolved job of the file on the board, and computes its cost. The remarks of a staged
 * job are those of its permute. Returns 0, or -1 with the fault.
 */
int job_board_init(struct explained_board *board, const struct job_board_context *context,
                   const struct resolved *resolved, struct fault *fault);
