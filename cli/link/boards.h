/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boards at serial lines, as the rest of mlictl sees them. boards/link implements the functions,
 * and main() chooses them. A build without boards/link (-Dboards=disabled) only refuses boards.
 */
#pragma once

#include "cli/options.h"
#include "cli/term/exit_code.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

struct board_link;
struct buffer_spec;
struct job_result;
struct resolved;
struct round_plan;
struct selftest_report;

/* Words of help texts, and examples, that only a build with boards has. */
#define BOARDS_ABSENT "this mlictl was built without boards; build it with -Dboards=enabled"
#if MLI_BOARDS
#define BOARDS_WORDS(...)  __VA_ARGS__
#define BOARDS_OPTION(...) OPTION("host", "URL", __VA_ARGS__)
#else
#define BOARDS_WORDS(...)
#define BOARDS_OPTION(...) OPTION("host", "URL", .absent = BOARDS_ABSENT)
#endif

/* Requests to a board that only a daemon can fulfil. */
enum board_misuse { BOARD_IS_NO_DAEMON, BOARD_HAS_NO_SOCKET, BOARD_FETCHES_NOTHING };

enum { BOARD_LIMITS_SOURCE_MAX = 128 };

/* The limits of one job on a board. */
struct board_limits {
    uint64_t bytes; /* maximum size of a tensor or buffer */
    uint32_t channels, buffers;
    char source[BOARD_LIMITS_SOURCE_MAX]; /* name of the component that has these limits, for
                                             messages */
};

struct board_calls {
    const char *agent; /* name of the program that answers on a board, for messages */

    /** Opens the board that a URL of -H names. Returns null with the fault if that fails. */
    struct board_link *(*open)(const char *url, struct fault *fault);
    /** Closes the line. Accepts null. */
    void (*close)(struct board_link *link);
    /** Returns the line and its speed, for messages. */
    const char *(*where)(const struct board_link *link);
    /** Returns whether the board is lost: all calls fail from then on. */
    bool (*is_lost)(const struct board_link *link);
    void (*limits)(const struct board_link *link, struct board_limits *limits);
    /** Calls `show` from now on with the progress of each job on the line, in bytes. */
    void (*follow)(struct board_link *link,
                   void (*show)(void *context, uint64_t done, uint64_t total), void *context);

    /**
     * Runs a resolved job. Its output already has its full size. Sends the source unless it is on
     * the board, moves, and writes the destination into the output. Returns 0 with *result, which
     * the caller finishes; or -1 with the fault.
     */
    int (*run)(struct board_link *link, const struct resolved *resolved, struct job_result *result,
               struct fault *fault);

    /** Allocates a buffer of zeros for a job file. Returns 0 with its number, or -1. */
    int (*alloc)(struct board_link *link, const struct buffer_spec *spec, uint32_t *buffer,
                 struct fault *fault);
    void (*free)(struct board_link *link, uint32_t buffer);
    /** Returns a file in memory with the bytes of a buffer, which the caller closes; or -1. */
    int (*fetch)(struct board_link *link, uint32_t buffer, uint64_t bytes);

    /**
     * Answers a request that both daemons and boards can answer: writes the reply to `line`.
     * Returns 0, or -1 with the fault.
     */
    int (*answer)(struct board_link *link, const char *method, struct jsonw *line,
                  struct fault *fault);
    /** Prints the board's description of itself: `mlictl info`, for people and as members of JSON.
     */
    void (*print_info)(const struct board_link *link, const struct print_style *style);
    void (*write_info)(const struct board_link *link, struct jsonw *w);

    /** Fills the fault if a command needs a daemon but `url` names a board. Returns -1. */
    int (*refuse)(const char *url, enum board_misuse misuse, struct fault *fault);
    /**
     * Checks that --host of `mlictl run` names a board, and that the other options suit a board.
     * Returns 0 or -1.
     */
    int (*check_run)(const struct options *options, struct fault *fault);
    /** Runs `mlictl selftest` on the board of --host. */
    enum exit_code (*selftest)(struct selftest_report *report, struct round_plan *plan,
                               uint64_t seconds, const struct options *options);
};

/** The functions in use; at first only `open` and `refuse`, which say that there are no boards. */
extern const struct board_calls *board_calls;

/** The functions of boards/link. Only a build with boards defines them. */
extern const struct board_calls board_link_calls;

/** Returns whether a URL of -H names a board, not a daemon. Accepts null. */
bool is_board_url(const char *url);
