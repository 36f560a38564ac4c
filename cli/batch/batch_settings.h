/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of mlictl batch, as its options give them. */
#ifndef CLI_BATCH_SETTINGS_H
#define CLI_BATCH_SETTINGS_H

#include "cli/batch/batch.h"
#include "cli/options.h"

/**
 * Reads the options, and refuses those that cannot be combined. Returns 0, or -1 after a message.
 * The settings borrow strings of the options.
 */
int batch_settings_read(struct batch_settings *settings, const struct options *options);

#endif /* CLI_BATCH_SETTINGS_H */
