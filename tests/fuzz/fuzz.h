/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz target is a function that takes any bytes and aborts if an invariant is violated.
 * libFuzzer calls it if the compiler has libFuzzer; replay.c calls it everywhere.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_ASSERT(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Requires a fault with a message of one line and a valid pointer. */
static inline void fuzz_check_fault(const struct fault *fault)
{
    FUZZ_ASSERT(strcmp(fault_name(fault->code), "UNKNOWN") != 0);
    FUZZ_ASSERT(fault->code != FAULT_INTERNAL);
    FUZZ_ASSERT(fault->text[0] != '\0');
    FUZZ_ASSERT(strlen(fault->text) < sizeof fault->text);
    FUZZ_ASSERT(!strchr(fault->text, '\n'));
    FUZZ_ASSERT(strlen(fault->pointer) < sizeof fault->pointer);
    FUZZ_ASSERT(fault->pointer[0] == '\0' || fault->pointer[0] == '/');
    for (const char *tilde = strchr(fault->pointer, '~'); tilde; tilde = strchr(tilde + 1, '~'))
        FUZZ_ASSERT(tilde[1] == '0' || tilde[1] == '1');
}

/* Requires that two writers contain the same text. */
static inline void fuzz_check_same(struct jsonw *a, struct jsonw *b)
{
    FUZZ_ASSERT(jsonw_text(a) && jsonw_text(b));
    FUZZ_ASSERT(a->length == b->length && memcmp(a->data, b->data, a->length) == 0);
}

#endif /* TEST_FUZZ_H */
