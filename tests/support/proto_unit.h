/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes cmocka and the headers it requires; has assertions about faults. */
#ifndef PROTO_UNIT_H
#define PROTO_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/json/fault.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A bad input and the fault that it must cause. */
struct bad {
    const char *input;
    const char *pointer; /* pointer of the fault; null: the fault has no pointer */
    const char *text;    /* the whole message of the fault */
};

/*
 * Compares code, pointer and message of a fault; prints all of them if one differs. `what` is the
 * input.
 */
#define assert_fault(fault, code, pointer, text, what)                                             \
    proto_assert_fault((fault), (code), (pointer), (text), (what), __FILE__, __LINE__)
void proto_assert_fault(const struct fault *fault, enum fault_code code, const char *pointer,
                        const char *text, const char *what, const char *file, int line);

/* Fails with the fault's message if `call` does not return 0. */
#define assert_no_fault(call, fault)                                                               \
    proto_assert_no_fault((call), (fault), #call, __FILE__, __LINE__)
void proto_assert_no_fault(int status, const struct fault *fault, const char *call,
                           const char *file, int line);

/* Returns the number of open descriptors of this process. */
size_t proto_count_fds(void);

#endif /* PROTO_UNIT_H */
