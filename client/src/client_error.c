/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mli_client_error no_memory = {
    .code = MLI_CLIENT_NO_MEMORY, .name = "NO_MEMORY", .message = "out of memory"};

static const char *name_of(int code)
{
    switch (code) {
#define NAME_CASE(name, value, text)                                                               \
    case value:                                                                                    \
        return #name;
        MLI_CLIENT_CODE_TABLE(NAME_CASE)
#undef NAME_CASE
    default:
        return fault_name(code);
    }
}

int error_set(mli_client_error *error, int code, const char *format, ...)
{
    if (!error)
        return code;
    *error = (mli_client_error){.code = code};
    snprintf(error->name, sizeof(error->name), "%s", name_of(code));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    return code;
}

int error_from_fault(mli_client_error *error, const struct fault *fault, uint64_t job)
{
    /* Replaces unknown codes: callers would take them for success or for codes of the library. */
    int code = (int)fault->code <= (int)FAULT_REFUSED ? (int)fault->code : (int)FAULT_INTERNAL;
    if (!error)
        return code;
    *error = (mli_client_error){
        .code = code, .status = fault->status, .job = job, .has_pointer = fault->has_pointer};
    snprintf(error->name, sizeof(error->name), "%s", fault_name(code));
    _Static_assert(sizeof(error->pointer) >= sizeof(fault->pointer), "pointers fit");
    _Static_assert(sizeof(error->message) >= sizeof(fault->text), "sentences fit");
    memcpy(error->pointer, fault->pointer, sizeof(fault->pointer));
    memcpy(error->message, fault->text, sizeof(fault->text));
    return code;
}

mli_client_error *error_copy(const mli_client_error *error)
{
    mli_client_error *copy = malloc(sizeof(*copy));

    if (!copy)
        return &no_memory;
    *copy = *error;
    return copy;
}

void error_free(mli_client_error *error)
{
    if (error != &no_memory)
        free(error);
}

int error_give(mli_client_error *to, const mli_client_error *from)
{
    if (to)
        *to = *from;
    return from->code;
}
