/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuning of libmli's kernels for the moves of this process. */
#pragma once

#include "cli/options.h"
#include "cli/term/exit_code.h"

/** Option of the commands that move in this process. */
#define TUNING_OPTION                                                                              \
    OPTION("tuning", "FILE",                                                                       \
           "Use the kernels' sizes that calibrate wrote to FILE (default: $MLI_TUNING, or "        \
           "mli/tuning.json of your configuration directory, if it exists).",                      \
           .takes = &value_file)

/**
 * Loads the file of --tuning; else that of $MLI_TUNING (empty: no file); else mli/tuning.json in
 * $XDG_CONFIG_HOME or ~/.config, if it exists. Ignores a file of another machine, and a default
 * file that is not valid, with a warning on stderr. Returns EXIT_CODE_DONE, or another code after
 * printing what is wrong.
 */
enum exit_code tuning_choose(const struct options *options);
