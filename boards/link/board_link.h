/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A board as the service of a command, beside daemons (link/daemon_link.h): runs resolved jobs,
 * holds the buffers of job files, answers info, stats and ping.
 */
#ifndef CLI_BOARD_LINK_H
#define CLI_BOARD_LINK_H

#include "boards/link/board_cache.h"
#include "cli/job/resolve.h"
#include "proto/wire/daemon_calls.h"
#include "proto/wire/job_result.h"

struct board_link {
    struct board board;
    struct board_cache cache;
    uint64_t opened_ns;
    uint64_t jobs, done, failed, cancelled, bytes_moved;
    struct histogram moving;
};

/** Opens the board that a URL of -H names. Returns null with the fault if that fails. */
struct board_link *board_link_open(const char *url, struct fault *fault);
/** Closes the line. Accepts null. */
void board_link_close(struct board_link *link);

/** Lets `show` report the bytes on the line of each job. */
void board_link_follow(struct board_link *link,
                       void (*show)(void *context, uint64_t done, uint64_t total), void *context);

/**
 * Runs a resolved job, whose output has its size: sends the source unless it is on the board,
 * moves, and writes the destination into the output. Returns 0 with *result, which the caller
 * finishes; or -1 with the fault.
 */
int board_link_run(struct board_link *link, const struct resolved *resolved,
                   struct job_result *result, struct fault *fault);

/** Allocates a buffer of zeros for a job file. Returns 0 with its number, or -1 with the fault. */
int board_link_alloc(struct board_link *link, uint64_t bytes, uint32_t *buffer,
                     struct fault *fault);
void board_link_free(struct board_link *link, uint32_t buffer);
/** Returns a file in memory with the bytes of a buffer, which the caller closes; or -1. */
int board_link_fetch(struct board_link *link, uint32_t buffer, uint64_t bytes);

/**
 * Answers a request to a daemon that a board can answer too, with a reply line. Returns 0, or -1
 * with the fault.
 */
int board_link_answer(struct board_link *link, const char *method, struct jsonw *line,
                      struct fault *fault);

#endif /* CLI_BOARD_LINK_H */
