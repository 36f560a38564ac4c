/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One job of a simulated client, and the check of its result: a random move between two files, the
 * bytes that the oracle of tests/property expects, and the bytes that must not change.
 */
#ifndef SIM_ERRAND_H
#define SIM_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_client.h"

struct process;

enum { PLACE_BYTES = 16384 };

/* A file that the client and the simulation have mapped. */
struct place {
    struct process *process;
    int fd;
    unsigned char *bytes;
};

void place_open(struct place *place, struct process *process, bool on_disk);
void place_close(struct place *place);

struct errand {
    struct place src, dst;
    bool open; /* true: the files of `src` and `dst` are open */
    mli_client_job job;
    unsigned char before[PLACE_BYTES], expected[PLACE_BYTES];
    bool written[PLACE_BYTES]; /* number of bytes that the move writes */
    uint64_t bytes;
};

/** Opens the files of both places if they are not open. */
void errand_open(struct errand *errand, struct process *process, bool on_disk);
/** Closes the files. If a transfer still runs, it writes to memory that no client reads. */
void errand_close(struct errand *errand);
/** Makes a random job of at most about `size` bytes, and fills its memory. */
void errand_prepare(struct errand *errand, uint32_t size);
/** Makes a job that copies `size` bytes. */
void errand_prepare_copy(struct errand *errand, uint32_t size);
/** Fills the destination again, and computes what the next start of the job must write. */
void errand_refresh(struct errand *errand);
/** Checks after a success that every byte is as expected. */
void errand_check_done(const struct errand *errand, const char *how);
/** Checks after a failure that no byte outside the written elements has changed. */
void errand_check_failed(const struct errand *errand, const char *how);

#endif /* SIM_ERRAND_H */
