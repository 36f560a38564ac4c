/* SPDX-License-Identifier: BSD-3-Clause */
/* The holders of a memory of the board: sums for quotas, and names for messages. */
#ifndef DAEMON_BOARD_HOLDERS_H
#define DAEMON_BOARD_HOLDERS_H

#include "daemon/memory/board.h"

/* The order of board_memory.pieces_by_user, with board_piece.sums. */
extern const struct treap_kind board_by_user;

/** Returns the sums of the pieces of a user, without the largest one. */
struct board_sums board_sums_of_user(const struct board_memory *memory, uid_t uid);

enum { BOARD_HOLDER_TEXT_MAX = 96 };
/** Writes "buffer 3 of client 2 (uid 1000)". */
void board_holder_text(char out[BOARD_HOLDER_TEXT_MAX], const struct board_holder *holder);

/**
 * Writes "; buffer 3 of client 2 (uid 1000) holds 131072 B; job 7 of client 2 (uid 1000) holds 64 B
 * in 2 ranges; ...": up to three holders of the largest pieces that `reader` may see, and the sums
 * of all other pieces. Cuts a text that is too long.
 */
void board_holders_text(char *out, size_t size, const struct board_memory *memory, uid_t reader);

#endif /* DAEMON_BOARD_HOLDERS_H */
