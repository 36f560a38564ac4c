/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs commands of mlictl in this process. Their output goes to memory. */
#ifndef TEST_FUZZ_MLICTL_H
#define TEST_FUZZ_MLICTL_H

#include <stddef.h>

enum { MLICTL_WORDS_MAX = 64 };

struct mlictl_call {
    int code;        /* exit code */
    char *out, *err; /* standard output and standard error, zero-terminated */
    size_t out_length, err_length;
};

/**
 * Runs `mlictl WORDS...` in the scratch directory (fuzz_scratch.h); the words end with null. Aborts
 * if the exit code is unknown, or if a failure has no message. mlictl_finish() frees the output.
 */
struct mlictl_call mlictl_run(const char *const *words);
void mlictl_finish(struct mlictl_call *call);

/** Checks and removes a file of the scratch directory, if a command has written the file. */
void mlictl_check_file(const char *name, void (*check)(const char *text, size_t length));

#endif /* TEST_FUZZ_MLICTL_H */
