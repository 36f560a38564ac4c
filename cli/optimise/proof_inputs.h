/* SPDX-License-Identifier: BSD-3-Clause */
/* The inputs of a job file in memory, with position-coded data: for the proof. */
#ifndef CLI_PROOF_INPUTS_H
#define CLI_PROOF_INPUTS_H

#include "cli/job/produced.h"
#include "cli/optimise/coded_input.h"
#include "cli/optimise/program.h"

/* A tensor of an archive or a model, which a .npy file replaces in the proof. */
struct proof_tensor {
    const char *file, *tensor; /* as jobs name them; borrowed; tensor: null for the only one */
    char name[32];             /* of the .npy file, beside the job file */
};

struct proof_inputs {
    const struct program *p;
    struct coded_input *list;
    size_t count;
    uint64_t bytes; /* of all inputs */
    struct proof_tensor *tensors;
    size_t tensor_count;
};

/**
 * Copies the files that a step reads or updates before another step creates them. Returns 0, or -1
 * with the fault; proof_inputs_finish() is legal after both.
 */
int proof_inputs_find(struct proof_inputs *inputs, const struct program *p, struct fault *fault);
void proof_inputs_finish(struct proof_inputs *inputs);

/** Makes a job read the replacement of its source, if its source is in an archive. Returns 0 or -1.
 */
int proof_inputs_replace(const struct proof_inputs *inputs, struct job_spec *job,
                         struct fault *fault);

/** Writes the data of pass `pass`. Returns 0, or -1 with the fault. */
int proof_inputs_fill(const struct proof_inputs *inputs, unsigned pass, struct fault *fault);

/** Begins *produced with the inputs as files that exist. Returns 0, or -1 with the fault. */
int proof_inputs_lend(const struct proof_inputs *inputs, struct produced *produced,
                      struct fault *fault);

#endif /* CLI_PROOF_INPUTS_H */
