/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remarks about a move on a board: advice, not errors. The rules that refuse jobs are in
 * target/profile/profile_rules.h; docs/profiles.md describes both.
 *
 * To add a remark, start here: add it to the table, make it in board_remarks.c, and describe it in
 * docs/profiles.md and mlictl-explain(1).
 */
#ifndef CLI_BOARD_REMARKS_H
#define CLI_BOARD_REMARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_explain.h"
#include "proto/json/jsonw.h"

struct explained_board;

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

enum { BOARD_REMARKS_MAX = 6 }; /* two of a kind for both sides */

struct board_remarks {
    uint32_t count;
    struct board_remark list[BOARD_REMARKS_MAX];
};

/** Makes the remarks on a move whose cost is known. `kernel`: the job is a permute. */
void board_remarks_make(struct board_remarks *remarks, const struct explained_board *board,
                        const mli_explanation *move, bool kernel);

/** Removes the remarks that are not about addresses. */
void board_remarks_retain_addresses(struct board_remarks *remarks);

/** Returns the word of a remark. Static storage. */
const char *board_remark_word(enum board_remark_kind kind);

/** Writes the remarks as an array of {rule, message}. */
void board_remarks_json(struct jsonw *w, const char *key, const struct board_remarks *remarks);

#endif /* CLI_BOARD_REMARKS_H */
