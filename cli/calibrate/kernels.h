/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl calibrate --kernels: measures the thresholds of libmli's kernels on this machine. */
#ifndef CLI_CALIBRATE_KERNELS_H
#define CLI_CALIBRATE_KERNELS_H

#include <stdint.h>

#include "cli/exit_code.h"
#include "cli/term/print.h"

/* The options of the command that concern kernels. */
struct kernels_request {
    const char *output; /* path of the file to write; null: print only */
    uint64_t seconds;   /* time for measuring; 0: the default */
};

/** Measures, prints the result in the style, and writes the file. Returns the exit code. */
enum exit_code calibrate_kernels(const struct print_style *style,
                                 const struct kernels_request *request);

#endif /* CLI_CALIBRATE_KERNELS_H */
