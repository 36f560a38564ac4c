/* SPDX-License-Identifier: BSD-3-Clause */
/* cmocka with what its header needs before it, and assertions that speak of faults. */
#ifndef PROTO_UNIT_H
#define PROTO_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/json/fault.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* One bad input and what must be said of it. */
struct bad {
    const char *input;
    const char *pointer; /* null: none */
    const char *text;    /* the whole sentence */
};

/* Code, pointer and sentence of a fault, all printed where one differs; `what` is the input. */
#define assert_fault(fault, code, pointer, text, what)                                             \
    proto_assert_fault((fault), (code), (pointer), (text), (what), __FILE__, __LINE__)
void proto_assert_fault(const struct fault *fault, enum fault_code code, const char *pointer,
                        const char *text, const char *what, const char *file, int line);

/* Fails with the fault's sentence where `call` does not return 0. */
#define assert_no_fault(call, fault)                                                               \
    proto_assert_no_fault((call), (fault), #call, __FILE__, __LINE__)
void proto_assert_no_fault(int status, const struct fault *fault, const char *call,
                           const char *file, int line);

/* Descriptors this process has open. */
size_t proto_count_fds(void);

#endif /* PROTO_UNIT_H */
