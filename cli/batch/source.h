/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sources of the cases that workers run:
 *
 *     source_list     cases that are all known before the first one runs
 *     source_input    lines of standard input, as they come
 *     source_queue    cases of a queue on a server
 *
 * To add a source, write source_NAME.c with a struct case_source, and choose it in cmd_batch.c.
 */
#ifndef CLI_BATCH_SOURCE_H
#define CLI_BATCH_SOURCE_H

#include <stdatomic.h>
#include <stddef.h>

#include "cli/batch/cases.h"
#include "proto/json/fault.h"

struct trial;

enum source_answer {
    SOURCE_CASE,    /* a case */
    SOURCE_LATER,   /* no case at the moment: ask again */
    SOURCE_END,     /* no further case */
    SOURCE_REFUSED, /* an invalid case, and why; ask again */
    SOURCE_NOTE,    /* a message; ask again */
    SOURCE_LOST     /* no further case, because of a fault */
};

/* The decision about a case of an open run: it runs, or has a known result; --filter or --shard
 * leave it out; it is invalid. */
enum admission { CASE_ADMITTED, CASE_LEFT_OUT, CASE_REFUSED };

/* Workers call the functions from several threads at a time. */
struct case_source {
    /**
     * Sets *out to the next case, which stays valid until the run ends. Waits at most a fraction of
     * a second before it answers SOURCE_LATER. With SOURCE_REFUSED, SOURCE_NOTE and SOURCE_LOST the
     * fault is filled. A case that has a known result is reported without a run.
     */
    enum source_answer (*take)(void *context, struct batch_case **out, struct fault *fault);
    /** The worker calls it after the trial of a case. It may change trial->end. May be NULL. */
    void (*ended)(void *context, struct batch_case *batch_case, struct trial *trial);
    void *context;
};

/* A list of cases, in the order in which they begin. */
struct source_list {
    struct batch_case *const *cases;
    size_t count;
    atomic_size_t next;
};

/** Returns the source of a list, which it borrows. */
struct case_source source_list_of(struct source_list *list);

#endif /* CLI_BATCH_SOURCE_H */
