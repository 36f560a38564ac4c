/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random move on a board: tensors in the board's memories, the plan of libmli, and the result
 * that the oracle (tests/property) computes by a loop over elements.
 */
#ifndef TEST_BOARD_CASE_H
#define TEST_BOARD_CASE_H

#include "mli_explain.h"
#include "tests/property/move_oracle.h"
#include "tests/target/board_model.h"
#include "tests/target/limit_move.h"

/* Bytes of memory that are in use. */
struct board_span {
    uint64_t begin, end;
};
enum { BOARD_SPANS_MAX = 4 };

struct board_case {
    struct draw draw;
    struct random_move move;
    const char *kind;       /* kind of the move, for messages */
    uint64_t src, dst;      /* addresses of the tensors */
    uint64_t zeros;         /* address of CONTROLLER_ZEROS_SIZE zero bytes; 0: no block of zeros */
    struct board_span list; /* memory for the descriptors */
    struct board_span taken[BOARD_SPANS_MAX];
    size_t taken_count;
    struct oracle oracle;
    mli_explanation explained;
};

/*
 * Makes the random move of (seed, index), places its tensors, and plans it. After a failure,
 * returns false and sets *why to a message.
 */
bool board_case_draw(struct board_case *c, const struct target_profile *profile, uint64_t seed,
                     uint64_t index, const char **why);

/*
 * Fills the memory with its bytes before the move, and sets the bytes that the oracle expects after
 * it.
 */
void board_case_begin(const struct board_case *c, struct board *board);

/* Moves a piece by a loop over its rows for `who` (PROFILE_CORE or PROFILE_DMA). Returns false
 * after a fault of the board. */
bool board_move_piece(struct board *board, uint32_t who, const struct mli_descriptor *piece);

void board_case_print(const struct board_case *c);

#endif /* TEST_BOARD_CASE_H */
