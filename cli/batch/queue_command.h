/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of mlictl batch for a queue:
 *
 *     mlictl batch enqueue --queue URL PATH...    queue_enqueue.c
 *     mlictl batch --queue URL                    source_queue.c: a worker
 *     mlictl batch status --queue URL             queue_status.c
 *     mlictl batch collect --queue URL            queue_collect.c
 */
#ifndef CLI_BATCH_QUEUE_COMMAND_H
#define CLI_BATCH_QUEUE_COMMAND_H

#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/queue/queue.h"

#define QUEUE_OPTIONS                                                                              \
    {"queue", 0, "URL",                                                                            \
     "Run the cases of the queue at redis://HOST/NAME or beanstalk://HOST/NAME (default: none)."}, \
        {"password-file", 0, "FILE",                                                               \
         "Read the password of the queue from FILE (default: $MLI_QUEUE_PASSWORD).",               \
         .takes = &value_file},                                                                    \
        {"root", 0, "DIR", "Read the cases of a queue below DIR (default: .).",                    \
         .takes = &value_directory},                                                               \
        {"follow", 0, NULL, "Wait for further cases at the end of the queue."},                    \
        {"reconnect", 0, "S", "Stop S s after the queue was lost (default: 30 s)."},               \
        {"lease", 0, "S",                                                                          \
         "Set the time until enqueued cases are handed out again (default: 30 s)."},               \
        {"again", 0, NULL, "Run the enqueued cases again that did not pass."},                     \
    {                                                                                              \
        "remove", 0, NULL, "Remove the queue after collect has reported all its cases."            \
    }

/** Opens the queue of the options; `shown` becomes its URL without the password. Hides the password
 * in the command line of the process. Returns 0, or -1 with the fault filled. */
int queue_command_open(const struct options *options, struct queue **queue,
                       char shown[sizeof(((struct queue_url *)0)->shown)], struct fault *fault);

/** Runs the command that the first argument names: enqueue, status or collect. Returns whether it
 * names one. */
bool queue_command_run(const struct options *options, enum exit_code *code);

enum exit_code queue_enqueue(const struct options *options);
enum exit_code queue_show_status(const struct options *options);
enum exit_code queue_collect(const struct options *options);

#endif /* CLI_BATCH_QUEUE_COMMAND_H */
