/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A board as the service of a command, beside daemons: struct board_calls of cli/link/boards.h.
 * Runs resolved jobs, holds the buffers of job files, answers info, stats and ping.
 */
#ifndef CLI_BOARD_LINK_H
#define CLI_BOARD_LINK_H

#include "boards/link/board_cache.h"
#include "cli/job/resolve.h"
#include "cli/link/boards.h"
#include "proto/wire/daemon_calls.h"
#include "proto/wire/job_result.h"

struct board_link {
    struct board board;
    struct board_cache cache;
    uint64_t opened_ns;
    uint64_t jobs, done, failed, cancelled, bytes_moved;
    struct histogram moving;
};

/** `run` and `selftest` of struct board_calls. */
int board_link_run(struct board_link *link, const struct resolved *resolved,
                   struct job_result *result, struct fault *fault);
enum exit_code board_selftest(struct selftest_report *report, struct round_plan *plan,
                              uint64_t seconds, const struct options *options);

#endif /* CLI_BOARD_LINK_H */
