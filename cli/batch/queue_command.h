/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of mlictl batch for a queue: queue_commands.c, or queue_absent.c in a build without
 * hiredis. */
#ifndef CLI_BATCH_QUEUE_COMMAND_H
#define CLI_BATCH_QUEUE_COMMAND_H

#include "cli/options.h"
#include "cli/queue/queue.h"
#include "cli/term/exit_code.h"

#define QUEUE_OPTIONS                                                                              \
    {"queue", 0, "URL", "Run the cases of the queue at redis://HOST/NAME (default: none)."},       \
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
int batch_queue_open(const struct options *options, struct queue **queue,
                     char shown[QUEUE_SHOWN_MAX], struct fault *fault);

enum exit_code batch_enqueue(const struct options *options);
enum exit_code batch_show_status(const struct options *options);
enum exit_code batch_collect(const struct options *options);

#endif /* CLI_BATCH_QUEUE_COMMAND_H */
