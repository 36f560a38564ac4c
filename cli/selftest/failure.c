/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure_set(struct failure *failure, enum failure_kind kind, const char *format, ...)
{
    va_list args;
    if (failure->kind != FAILURE_none)
        return -1;
    failure->kind = kind;
    va_start(args, format);
    vsnprintf(failure->text, sizeof(failure->text), format, args);
    va_end(args);
    return -1;
}

const char *failure_kind_name(enum failure_kind kind)
{
    static const char *const names[] = {
#define FAILURE_NAME(name) #name,
        FAILURE_KINDS(FAILURE_NAME)
#undef FAILURE_NAME
    };
    return names[kind];
}
