/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of the commands that talk to a daemon (info, ping, stats, status, jobs, wait,
 * cancel, drain, resume, top, trace): connect, call, print the answer as text or as JSON, exit
 * code.
 *
 *     session_run()            connects, runs the command's function, closes the connection
 *       session_ask()          one call, and its printed answer
 *         session_call()       the call: parameters, reply, struct with the answer
 *         session_print()      lines for people, or one object with --json
 *
 * To add a command that asks for one thing, describe the call in a struct question and pass it to
 * session_ask(); cmd_info.c is the shortest example.
 */
#pragma once

#include "cli/link/daemon_link.h"
#include "cli/options.h"
#include "cli/term/print.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"

/* The tables of commands without options of their own, for session_run() and session_run_any(). */
extern const struct option session_options[], session_any_options[];

struct session {
    const struct options *options;
    struct print_style style;
    struct daemon_link link;
};

typedef enum exit_code session_fn(struct session *session, void *context);

/**
 * Connects to the daemon that the options name and calls `talk`. Prints the reason if the
 * connection fails. Returns the exit code of the command.
 */
enum exit_code session_run(const struct options *options, session_fn *talk, void *context);

/** Like session_run(), but also connects to a board at a serial line. */
enum exit_code session_run_any(const struct options *options, session_fn *talk, void *context);

/* One call of a method, and how its answer is printed. */
struct question {
    const char *method;
    const char *job;         /* number of the job that the call is about, as given; or null */
    uint32_t job_timeout_ms; /* parameter timeout_ms, if `job` is set; 0: not sent */
    struct jsonw *params;    /* parameters, if `job` is null; or null */
    int timeout_ms;          /* time limit for the reply; 0: DAEMON_LINK_ASK_MS, -1: no limit */
    /** Fills the answer from the result. Returns 0 or -1. Null: the result is ignored. */
    int (*read)(const struct json *result, void *answer);
    void (*print)(const struct session *session, const void *answer); /* prints lines for people */
    /** Writes the members of the object that --json prints. */
    void (*write)(struct jsonw *w, const struct session *session, const void *answer);
};

/** Calls the method and fills *answer. Returns 0, or -1 with the fault filled. */
int session_call(struct session *session, const struct question *question, void *answer,
                 struct fault *fault);

/** Prints an answer in the form that the session's options choose. */
void session_print(const struct session *session, const struct question *question,
                   const void *answer);

/** Calls the method and prints the answer, or what went wrong. Returns the exit code. */
enum exit_code session_ask(struct session *session, const struct question *question, void *answer);

/** Fills *stats by daemon.stats. Returns 0, or -1 with the fault filled. */
int session_stats(struct session *session, struct daemon_stats *stats, struct fault *fault);

/**
 * Calls `each` for one page of job.list, the latest job first, and moves query->before to the end
 * of the page. *more (may be null): whether the daemon has older jobs. Returns 0, or -1 with the
 * fault filled.
 */
int session_list(struct session *session, struct job_list_query *query,
                 void (*each)(void *context, const struct job_info *info), void *context,
                 bool *more, struct fault *fault);

/**
 * Checks that all arguments are job numbers. Returns 0, or -1 after printing the argument that is
 * not.
 */
int session_check_jobs(const struct options *options);

/** Writes a job number, as given on the command line, as member "job". */
void session_write_job(struct jsonw *w, const char *argument);

/* The state of a job at a daemon, printed as a line of a table or as an object. */

/** The heading of the table of job_print_line(). */
#define JOB_PRINT_HEADING                                                                          \
    "     JOB  STATE      PRIO  CHANNELS        BYTES    QUEUED    MOVING  NAME"

/** Writes a line of the table, without a newline. */
void job_print_line(struct textw *w, const struct job_info *info);

/** Prints a line of the table, after the heading if the line is the first. */
void job_print_table(const struct print_style *style, const struct job_info *info, bool first);

/** Returns the colour of a state. */
enum colour_role job_state_colour(enum job_state state);

/** Prints the object of a job. */
void job_print_json(const struct job_info *info);
