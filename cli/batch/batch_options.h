/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of mlictl batch: one table for all forms of the command. Each row also says which
 * forms take the option, and whether --resume runs cases again when its value changes.
 *
 * To add an option, start here:
 *   1. Add a row to the table in batch_options.c: name, argument, help and, in `uses`, the
 *      forms of the command that take it; and BATCH_NEUTRAL if it cannot change the result of a
 *      case that passes. Help, completion, --resume, merge and the forms for queues read the table.
 *   2. Read its value where it matters, with options_get() or, if it is a number,
 *      options_number(). An option that concerns the whole run is read once, in
 *      batch_settings_read(); set_plan() in cmd_batch.c hands it to the workers (workers.h).
 *   3. Describe it in man/mlictl-batch.1.scd: under OPTIONS; in the list of options that do not
 *      count for --resume, if it is BATCH_NEUTRAL; and under EXIT STATUS, if it changes the code.
 *      Say in python/mli/_batch_options.py whether the plugin of pytest takes it. The tests
 *      mlictl_man and python compare these two files with the table; the test mlictl_help lists
 *      the verbs with which the help of an option may begin.
 *   4. Test it in the file tests/integration/test_batch*.py of its topic: meson test -C build
 *      mlictl_batch_TOPIC mlictl_help mlictl_man. Add it to CHANGELOG.md.
 */
#pragma once

#include "cli/options.h"

/* The column `uses` of batch_options[]. */
enum {
    /* Forms of the command that take the option. An option with none of these bits belongs to a run
       and to a worker. */
    IN_RUN = 1,     /* mlictl batch PATH... */
    IN_WORKER = 2,  /* mlictl batch --queue URL */
    IN_MERGE = 4,   /* mlictl batch merge */
    IN_ENQUEUE = 8, /* mlictl batch enqueue --queue URL */
    IN_STATUS = 16,
    IN_COLLECT = 32,
    BATCH_FORMS = 63,
    /* The option's value cannot change the result of a case that passes. When the value of an
     * option without this bit changes, --resume runs all cases again. */
    BATCH_NEUTRAL = 64,
    BATCH_REPORT = IN_RUN | IN_WORKER | IN_MERGE | IN_COLLECT | BATCH_NEUTRAL
};

extern const struct option batch_options[];

#define BATCH_KEEP "batch-failed" /* the default of --keep */
