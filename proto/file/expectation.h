/* SPDX-License-Identifier: BSD-3-Clause */
/* The member "expect" of a job in a job file: the result that a test expects. */
#ifndef PROTO_EXPECTATION_H
#define PROTO_EXPECTATION_H

#include "proto/file/sha256_text.h"
#include "proto/file/tensor_spec.h"
#include "proto/json/fault.h"

enum expectation_kind { EXPECT_NOTHING = 0, EXPECT_FILE, EXPECT_DIGEST, EXPECT_ERROR };

/* The expectation of a job, with which mlictl compares the result. */
struct expectation {
    enum expectation_kind kind;
    struct tensor_spec golden;   /* for EXPECT_FILE */
    uint8_t digest[SHA256_SIZE]; /* for EXPECT_DIGEST: SHA-256 of the whole output file */
    const char *error; /* for EXPECT_ERROR: name of a status or of a fault; static storage */
    char *pointer;     /* for EXPECT_ERROR: expected pointer of the fault; null: any pointer */
};

/** Reads a job's "expect", which may be absent. Returns 0 or -1. */
int expectation_read(struct expectation *expect, const struct json *object);
/** Checks each member separately, for an "expect" in defaults. Returns 0 or -1. */
int expectation_check_members(const struct json *object);
/** Writes the member `key`, unless nothing is expected. */
void expectation_write(struct jsonw *w, const char *key, const struct expectation *expect);
/** Writes the members of "expect" into the object that is open. */
void expectation_write_members(struct jsonw *w, const struct expectation *expect);
/** Frees strings and descriptions; `struct expectation e = {0}` is an empty expectation. */
void expectation_finish(struct expectation *expect);

/** Returns whether a fault has the name of the expected error. */
bool expectation_names(const struct expectation *expect, const struct fault *fault);
/** Returns whether a fault has the expected pointer, which is relative to the job. */
bool expectation_points_at(const struct expectation *expect, const struct fault *fault);

/** Returns the name of a fault in "error": the name of the status if libmli refused the move, else
 * fault_name().
 */
const char *expectation_error_name(const struct fault *fault);

#endif /* PROTO_EXPECTATION_H */
