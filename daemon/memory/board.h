/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memories of the board that the target profile describes. Each piece of a memory is a range of
 * addresses with a holder: a buffer, a job or a prepared job. The bytes of a piece are in a
 * client's file (region.h); only its addresses are board addresses.
 *
 *     target profile --> board_init()
 *     buffer.alloc, a job with "memory" --> board_place() --> region->piece
 *     the last holder of the region leaves --> board_remove()
 *
 * A memory keeps its pieces in the order of their addresses. Before the first piece and behind each
 * piece is a gap, the free bytes up to the next piece, possibly none. Placing takes the smallest
 * gap that is large enough; of equal gaps, the first. Trees of the gaps (by size, by address) and
 * of the pieces (by user) make placing, removing and their messages take O(log n) steps. There is
 * no allocation: the piece and the gap behind it are in the structure of their holder.
 *
 * Only the loop's thread may call these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/link.h"
#include "daemon/base/treap.h"
#include "target/profile/target_profile.h"

struct board_memory;

/* The holders of a memory of the board. Quotas need the sums of their pieces, messages their names.
 */

/* Sums over pieces. */
struct board_sums {
    uint64_t bytes, count, largest;
};

/** Returns the bytes and the number of a user's pieces; `largest` of the result is not valid. */
struct board_sums board_sums_of_user(const struct board_memory *memory, uid_t uid);

enum board_kind { BOARD_BUFFER, BOARD_JOB, BOARD_PREPARED };

/* Who uses a piece of a memory: the user, and the buffer, job or prepared job. */
struct board_holder {
    uid_t uid;
    uint64_t client; /* number of the connection */
    enum board_kind kind;
    uint64_t number; /* number of the buffer, job or prepared job */
};

/* Free bytes behind a piece or at the beginning of a memory. Offsets count from that beginning. */
struct board_gap {
    struct treap_node by_size, by_address;
    struct link *before; /* the piece before the gap; &memory->pieces if the gap is first */
    uint64_t from, end;  /* offsets of the free bytes */
    uint64_t usable;     /* bytes from the first aligned address on */
};

/* A range of addresses of the board that a holder uses. */
struct board_piece {
    struct link link;            /* link in memory->pieces */
    struct board_memory *memory; /* memory of the piece; null for zeros, which need none */
    uint64_t address, size;
    struct board_holder holder;
    struct board_gap gap;      /* gap behind the piece */
    struct treap_node by_user; /* ordered by user, then by address */
    struct board_sums sums; /* sums over this piece and all pieces below it in the tree by_user */
};

struct board_memory {
    const struct profile_memory *described; /* description of the memory, in board->profile */
    struct link pieces;                     /* struct board_piece, in the order of addresses */
    struct board_gap gap;                   /* gap before the first piece */
    struct treap gaps_by_size, gaps_by_address, pieces_by_user;
    uint64_t used;  /* bytes of all pieces */
    uint32_t count; /* number of pieces */
};

struct board {
    struct target_profile profile;
    char digest[PROFILE_DIGEST_SIZE];                   /* digest of the profile */
    struct board_memory memories[PROFILE_MEMORIES_MAX]; /* one entry for each of profile.memories */
};

/* The board as one holder sees it. */
struct board_use {
    struct board *board;
    struct board_holder holder;
    uint32_t percent; /* quotas.memory_percent: maximum share of a memory for the holder's user */
};

/* The size and address of a piece for board_place(), and the names that faults use. */
struct board_want {
    const struct board_use *use;
    uint64_t bytes;             /* at least 1 */
    uint64_t besides;           /* bytes of this memory for the job's other tensor; only
                                   board_refuse() reads this */
    bool exact;                 /* true: the piece begins at `address` or is refused */
    uint64_t address;           /* address of the first byte on the board */
    const char *name, *pointer; /* names of the member in messages and pointers of faults:
                                   "src.memory", "/src/memory" */
};

/** Initialises empty memories. Copies *profile. *board must not move afterwards. */
void board_init(struct board *board, const struct target_profile *profile);

/** Returns the state of a memory. `described` is its description in board->profile. */
struct board_memory *board_memory_of(struct board *board, const struct profile_memory *described);

/**
 * Places a piece, which must be in no memory. Returns 0, or -1 with *fault filled: LIMIT (the
 * user's quota), NO_ROOM, or INVALID_PARAMS at /address (the memory does not have this address).
 * The message of NO_ROOM names the largest holders, and the sum of the other users' bytes. If an
 * exact address was wanted, it names the first occupied range and its holder. Only root and the
 * user of the service are told the holders of other users.
 */
int board_place(struct board_memory *memory, struct board_piece *piece,
                const struct board_want *want, struct fault *fault);

/**
 * Fills *fault (LIMIT or NO_ROOM) for a job whose two tensors do not fit into the memory together:
 * want->bytes for one, want->besides for the other. Call it when neither has memory. Returns -1.
 */
int board_refuse(const struct board_memory *memory, const struct board_want *want,
                 struct fault *fault);

/** Returns the size of the largest free range in bytes. */
uint64_t board_largest(const struct board_memory *memory);

/** Removes the piece from its memory. Does nothing if the piece is in no memory. */
void board_remove(struct board_piece *piece);
