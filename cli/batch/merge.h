/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch merge: one report of the state files of all shards. */
#ifndef CLI_BATCH_MERGE_H
#define CLI_BATCH_MERGE_H

#include "cli/exit_code.h"
#include "cli/options.h"

/**
 * `options` are those of `mlictl batch`, the first argument is the word "merge". Options that say
 * what is run, or how, are refused.
 */
enum exit_code batch_merge(const struct options *options);

#endif /* CLI_BATCH_MERGE_H */
