/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: threads that run cases in parallel. Only the thread that calls workers_run() calls the
 * callbacks, so reports and state file need no lock.
 *
 *     worker: take a case -> trial_run(): attempts until the verdict -> hand in the result
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/attempt.h"
#include "cli/batch/cases.h"
#include "cli/batch/connector.h"
#include "cli/batch/kept.h"
#include "cli/queue/queue.h"
#include "cli/report/fingerprint.h"
#include "cli/report/result.h"
#include "proto/json/fault.h"

struct trial;

/*
 * The sources of the cases that workers run:
 *
 *     source_list     cases that are all known before the first case runs
 *     source_input    lines of standard input, as they arrive
 *     source_queue    cases of a queue on a server
 *
 * To add a source, write source_NAME.c with a struct case_source, and choose it in cmd_batch.c.
 */

enum source_answer {
    SOURCE_CASE,    /* a case */
    SOURCE_LATER,   /* no case is available now: ask again */
    SOURCE_END,     /* no further case */
    SOURCE_REFUSED, /* an invalid case, with the reason; ask again */
    SOURCE_NOTE,    /* no case, but a message to print; ask again */
    SOURCE_LOST     /* no further case, because of a fault */
};

/** Fills the fault: there is no memory for the cases of a source. Returns SOURCE_LOST. */
static inline enum source_answer source_no_memory(struct fault *fault)
{
    fault_no_memory(fault);
    return SOURCE_LOST;
}

/* The decision about a case of an open run: it runs, or has a known result; --filter or --shard
 * leaves it out; or it is invalid. */
enum admission { CASE_ADMITTED, CASE_LEFT_OUT, CASE_REFUSED };

/* Workers call the functions from several threads at a time. */
struct case_source {
    /**
     * Sets *out to the next case, which stays valid until the run ends. Waits at most a fraction of
     * a second before it answers SOURCE_LATER. With SOURCE_REFUSED, SOURCE_NOTE and SOURCE_LOST the
     * fault is filled. A case that has a known result is reported without a run.
     */
    enum source_answer (*take)(void *context, struct batch_case **out, struct fault *fault);
    /** Called by the worker after the trial of a case. May change trial->end. May be NULL. */
    void (*ended)(void *context, struct batch_case *batch_case, struct trial *trial);
    void *context;
};

/* A list of cases, in the order in which they begin. */
struct source_list {
    struct batch_case *const *cases;
    size_t count;
    atomic_size_t next;
};

/** Makes a source of a list of cases. The source borrows *list. */
struct case_source source_list_of(struct source_list *list);

/*
 * The source of `mlictl batch -`: the lines of standard input. Each line is a line of a manifest.
 * A case runs as soon as its line is complete, while the program at the other end of the pipe may
 * still search for further cases.
 */

struct source_input {
    int fd;
    struct cases *cases; /* list to which the admitted cases are added */
    /** Called for one case at a time. Sets the fault if the case is refused. */
    enum admission (*admit)(void *context, struct batch_case *batch_case, struct fault *fault);
    void *context;
    /* Private: */
    pthread_mutex_t mutex; /* protects the members below and `cases` */
    struct manifest manifest;
    struct cases fresh; /* cases of the manifest line that was read last */
    size_t next;        /* index of the next entry to take */
    void *names;        /* tree of the names of all cases */
    char *buffer;       /* bytes of lines that were read */
    size_t begin, end;  /* range of the bytes in `buffer` that were not taken */
    bool skips;         /* the current line is too long: skip its rest */
    bool at_end, ended; /* read() has returned 0; all lines in `buffer` were taken too */
};

/** Makes a source of standard input. The caller has set the members of *input up to `context`. */
struct case_source source_input_init(struct source_input *input);
void source_input_finish(struct source_input *input);

/*
 * The source of `mlictl batch --queue`: cases from a queue on a server, one for each worker at a
 * time. A case runs only if its files are equal to the enqueued files.
 */

/* Maximum number of refused cases whose names a worker keeps. */
enum { REFUSED_MAX = 256 };

struct source_queue {
    struct cases *cases;       /* list to which cases are added */
    const char *root;          /* paths in the queue are relative to this directory */
    struct contents *contents; /* checksums of files */
    bool follow;               /* when no case is left, wait for further cases */
    /* Private: */
    struct queue *queue;
    pthread_mutex_t mutex;      /* protects the members below and `cases` */
    uint32_t in_row;            /* number of refusals since the last result */
    char *refused[REFUSED_MAX]; /* names of cases that this worker has refused */
    size_t refused_count;
    bool ended; /* every case has a result */
};

/**
 * Opens the queue of the options. The caller has set the members `cases` and `contents` of
 * `source`. Returns 0, or -1 with the fault filled; source_queue_finish() is legal in both cases.
 */
int source_queue_open(struct source_queue *source, const struct options *options,
                      struct fault *fault);
struct case_source source_queue_of(struct source_queue *source);
void source_queue_finish(struct source_queue *source);

enum { WORKERS_MAX = 256 };

struct workers_plan {
    struct trial_plan trial;
    const struct connector *connector;
    uint32_t workers; /* 0: nothing runs */
    bool fail_fast, flaky_is_good;
    struct case_source source;
};

/* Called by the thread that called workers_run(). */
struct workers_callbacks {
    /** Records an ended case; `trial` is valid until the callback returns, which may take its
     * result. Returns false to start no further case. */
    bool (*ended)(void *context, struct batch_case *batch_case, struct trial *trial);
    /**
     * reused() records a result that is known from an earlier run. refused() records why the source
     * refused a case. Each may be NULL if the source has no such cases.
     */
    void (*reused)(void *context, const struct batch_case *batch_case);
    void (*refused)(void *context, const struct fault *fault);
    /** Reports a message of the source, or why the result of a case does not count; `batch_case` is
     * NULL for a message without a case. */
    void (*note)(void *context, struct batch_case *batch_case, const struct fault *fault);
    /** Called about ten times a second. */
    void (*tick)(void *context);
    void *context;
};

/**
 * Runs all cases of the source. `first` becomes the connection of the first worker and is closed.
 * Returns DONE; STOPPED after ^C; or the code of *fault, which is why no further case began.
 */
enum exit_code workers_run(const struct workers_plan *plan, struct daemon_link *first,
                           const struct workers_callbacks *callbacks, struct fault *fault);
