/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of a board's memory for tests: the memories of a profile at the board's addresses, stored
 * in pages that appear when they are first accessed. Each page has two contents: the bytes of the
 * memory now, and the bytes required at the end. At the beginning, both are the same random bytes.
 *
 * decode_NAME.c        reads descriptors and moves data here: board_read(), board_write()
 * test_controllers.c   puts descriptors here, writes the oracle's result with board_want(), and
 *                        compares everything with board_difference()
 *
 * An access outside the memories of the board is a fault: board->fault is set to a message, which
 * later faults do not replace.
 */
#ifndef TEST_BOARD_MODEL_H
#define TEST_BOARD_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/profile/target_profile.h"

enum { BOARD_PAGE = 1024, BOARD_FAULT_MAX = 256, BOARD_RECENT = 16 };

struct board_page {
    uint64_t number;
    uint8_t now[BOARD_PAGE], wanted[BOARD_PAGE];
};

struct board {
    const struct target_profile *profile;
    uint64_t salt;                           /* seed of the random bytes */
    struct board_page **page;                /* all pages; the first `used` pages are in use */
    size_t used, created;                    /* number of pages in use, and of allocated pages */
    uint32_t *slot;                          /* hash table: index in page[] + 1; 0: free */
    size_t slots;                            /* a power of two */
    struct board_page *recent[BOARD_RECENT]; /* the pages that were accessed last */
    uint64_t accessed, most; /* number of bytes read and written, and its limit, because a faulty
                                list may have no end */
    char fault[BOARD_FAULT_MAX]; /* empty: no fault */
};

/** Begins a model of the memories of *profile, which must stay. Returns -1 if out of memory. */
int board_init(struct board *board, const struct target_profile *profile);
void board_finish(struct board *board);

/**
 * Sets all bytes of the memories to random values, and removes the fault. The next list may read
 * and write at most `most` bytes, including its descriptors.
 */
void board_reset(struct board *board, uint64_t salt, uint64_t most);

/**
 * Reads or writes `size` bytes for `who` (PROFILE_DMA or PROFILE_CORE). If the bytes are not all in
 * one memory that `who` reaches, sets the fault and returns false.
 */
bool board_read(struct board *board, uint32_t who, uint64_t address, void *to, size_t size);
bool board_write(struct board *board, uint32_t who, uint64_t address, const void *from,
                 size_t size);

/** Copies `size` bytes, or writes zeros, with the accesses of the controller (for decoders). */
bool board_copy(struct board *board, uint64_t src, uint64_t dst, uint64_t size);
bool board_zero(struct board *board, uint64_t dst, uint64_t size);

/** Reads a little-endian number of 1 to 8 bytes for the controller; 0 after a fault. */
uint64_t board_number(struct board *board, uint64_t address, size_t size);

/** Writes bytes as a program does before it starts the controller. */
bool board_put(struct board *board, uint64_t address, const void *from, size_t size);

/** Read bytes without checking who reaches them; set the bytes that are required at the end. */
void board_peek(struct board *board, uint64_t address, void *to, size_t size);
void board_want(struct board *board, uint64_t address, const void *from, size_t size);

/** Returns how many bytes differ from the required ones; sets *first to the address of the first.
 */
uint64_t board_difference(const struct board *board, uint64_t *first);

/** Sets the fault if the board has no fault yet. Returns false. */
bool board_fail(struct board *board, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* TEST_BOARD_MODEL_H */
