/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a command use a board in place of a daemon, through struct board_calls of cli/link/boards.h.
 * The board runs resolved jobs, holds the buffers of job files, and answers info, stats and ping.
 */
#pragma once

#include "boards/link/serial_board.h"
#include "cli/job/resolve.h"
#include "cli/link/boards.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"

/*
 * Bytes that are in buffers of the board already, found by their digest: sources of earlier jobs,
 * and outputs that may become sources. The least recently used ones make room.
 */
enum { BOARD_CACHE_MAX = 32 };

struct board_cached {
    uint16_t buffer;        /* SERIAL_NO_BUFFER: the entry is free */
    bool pinned;            /* true: a job uses the buffer */
    uint64_t bytes, digest; /* XXH64 */
    uint32_t crc;
    uint64_t used; /* number of the last use: the image that was not used for longest goes first */
};

struct board_cache {
    struct board_cached list[BOARD_CACHE_MAX];
    uint64_t clock;
};

struct board_link {
    struct board board;
    struct board_cache cache;
    uint64_t jobs, done, failed, cancelled, bytes_moved;
    struct histogram moving;
};

/** Allocates a buffer, and frees old entries until the buffer fits. Returns the same values as
 * board_alloc(). */
int board_cache_alloc(struct board_cache *cache, struct board *board, uint64_t bytes,
                      uint16_t *buffer, struct fault *fault);

/** `run` and `selftest` of struct board_calls. */
int board_link_run(struct board_link *link, const struct resolved *resolved,
                   struct job_result *result, struct fault *fault);
enum exit_code board_selftest(struct selftest_report *report, struct round_plan *plan,
                              uint64_t seconds, const struct options *options);
