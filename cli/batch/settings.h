/* SPDX-License-Identifier: BSD-3-Clause */
/* What the options of `mlictl batch` say of what is run, and how. */
#ifndef CLI_BATCH_SETTINGS_H
#define CLI_BATCH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/batch/shard.h"
#include "cli/batch/trial.h"
#include "cli/options.h"

struct settings {
    uint32_t workers;
    uint32_t channels; /* of the service in this process; 0: all that its engine has */
    struct shard shard;
    struct trial_plan trial;
    const char *keep; /* directory of what failed, be it written or not: no place for cases */
    const char *resume;
    bool whole; /* all cases of the arguments: neither --filter nor --shard */
    bool rerun, list, fail_fast, flaky_is_good;
};

/** Returns 0, or -1 after saying on stderr what is wrong. */
int settings_read(struct settings *settings, const struct options *options);

#endif /* CLI_BATCH_SETTINGS_H */
