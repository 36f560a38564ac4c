/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_SIZES = 8, OPTIONS_CASES = 16, OPTIONS_ELEMS = 3 };

struct options {
    uint32_t kib[OPTIONS_SIZES];
    int kib_count;
    const char *text[OPTIONS_CASES]; /* parts of names of selected cases; empty: all cases */
    int text_count;
    uint32_t elem[OPTIONS_ELEMS];
    int elem_count;
    bool neighbours, levels, lines, peers, calls, quick, spoil;
    int rounds; /* number of rounds; 0: as many as the time budget allows */
    uint64_t seed;
    const char *csv, *json, *svg;
    const char *tuning; /* file of `mlictl calibrate --kernels`, or null */
};

/*
 * Reads the command line. Returns 0; 1 after printing the help; 2 after a message about wrong
 * options.
 */
int options_parse(struct options *o, int argc, char **argv);

#endif
