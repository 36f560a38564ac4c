/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes results of cases for tests. */
#ifndef TEST_RESULTS_H
#define TEST_RESULTS_H

#include <stdlib.h>
#include <string.h>

#include "cli/report/result.h"
#include "tests/support/proto_unit.h"

static inline char *results_copy(const char *text)
{
    char *copy = text ? strdup(text) : NULL;

    assert_true(!text || copy);
    return copy;
}

static inline struct case_result results_make(const char *name, enum case_status status)
{
    struct case_result result = {.name = results_copy(name),
                                 .file = results_copy("cases/a.json"),
                                 .status = status,
                                 .attempts = 1,
                                 .ns = 1234567,
                                 .bytes = 24,
                                 .fingerprint.job_file = 7};

    return result;
}

/* Makes a result that did not pass, with members as in mlictl-batch(1). */
static inline struct case_result results_make_failed(const char *name, enum case_status status,
                                                     enum case_reason reason, const char *message)
{
    struct case_result result = results_make(name, status);

    result.reason = reason;
    result.message = results_copy(message);
    result.pointer = results_copy("/expect");
    return result;
}

#endif /* TEST_RESULTS_H */
