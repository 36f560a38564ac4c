/* SPDX-License-Identifier: BSD-3-Clause */
/* The "expect" of a job in a job file. */
#ifndef PROTO_EXPECTATION_H
#define PROTO_EXPECTATION_H

#include "proto/file/sha256_text.h"
#include "proto/file/tensor_spec.h"
#include "proto/json/fault.h"

enum expectation_kind { EXPECT_NOTHING = 0, EXPECT_FILE, EXPECT_DIGEST, EXPECT_ERROR };

/* What has to come of a job, in a file; whoever runs the job holds it against what came. */
struct expectation {
    enum expectation_kind kind;
    struct tensor_spec golden;   /* EXPECT_FILE */
    uint8_t digest[SHA256_SIZE]; /* EXPECT_DIGEST: of the whole output file */
    const char *error;           /* EXPECT_ERROR: name of a status or of a fault; static storage */
    char *pointer;               /* EXPECT_ERROR: what has to be at fault; null: anything */
};

/** Reads a job's "expect", which may be absent. Returns 0 or -1. */
int expectation_read(struct expectation *expect, const struct json *object);
/** Checks each member by itself, for one that stands in defaults. */
int expectation_check_members(const struct json *object);
/** Writes it as member `key`; nothing where nothing is expected. */
void expectation_write(struct jsonw *w, const char *key, const struct expectation *expect);
/** Frees what it holds; `struct expectation e = {0}` is an empty one. */
void expectation_finish(struct expectation *expect);

/** Whether a fault has the name of the error that is expected, wherever it is. */
bool expectation_names(const struct expectation *expect, const struct fault *fault);
/** Whether it also lies where the error is expected; fault pointers are relative to the job. */
bool expectation_points_at(const struct expectation *expect, const struct fault *fault);

/** What `error` calls a fault: the status where libmli refused, else the protocol's name. */
const char *expectation_error_name(const struct fault *fault);

#endif /* PROTO_EXPECTATION_H */
