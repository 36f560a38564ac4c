/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torture_preload: a library for LD_PRELOAD that makes calls of the C library fail. Two modes:
 *
 *   TORTURE_FAIL=KIND:N[:on]   Count the calls that can fail with KIND, and fail the N-th; with
 * ":on" all from the N-th. N = 0 only counts. $TORTURE_REPORT is the report. TORTURE_SHAKE=SEED
 * Return short counts and EINTR at random, as POSIX allows at any time.
 *
 * TORTURE_PROGRAMS=A:B limits both to processes with these program names (default: the first
 * process that loads the library). Other processes are not changed.
 *
 *   preload_kinds.h     kinds of failures
 *   preload_choice.c    decides for each call whether it fails
 *   preload_report.c    the report: counters, and the stack of the call that failed
 *   preload_memory.c, preload_files.c, preload_transfer.c, preload_process.c
 *                       wrappers of the calls. To add a call, add a line to one of them.
 *
 * A wrapper that fails a call does not make the call, except close() and fclose(), which release
 * the descriptor even if they fail.
 *
 * The library cannot see calls from one function of the C library to another, such as the
 * write() in printf() and the open() in fopen() (their allocations are seen, because glibc lets a
 * program replace malloc); programs that are linked statically; system calls without a wrapper,
 * except those through syscall(); calls before the constructor of this library.
 */
#ifndef TORTURE_PRELOAD_H
#define TORTURE_PRELOAD_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "tests/torture/preload_kinds.h"

enum kind {
#define KIND_ENUM(name, error) KIND_##name,
    KIND_TABLE(KIND_ENUM)
#undef KIND_ENUM
        KIND_COUNT
};

/* A bit for each kind of failure, for the tables of the wrappers. */
enum {
#define KIND_BIT(name, error) name##_ = 1 << KIND_##name,
    KIND_TABLE(KIND_BIT)
#undef KIND_BIT
        NEW_FD_ = EMFILE_ | ENOMEM_,
    NEW_NAME_ = ENOSPC_ | EIO_,
};

/* Returned by choose(): the call must return a short count. */
enum { SHORT = -1 };

/**
 * Counts the call `name`, which can fail with a set of `kinds`. Returns 0 if the call must be made,
 * SHORT, or the errno with which the call must fail.
 */
int choose(const char *name, unsigned kinds);

/** Returns the definition of a function that this library replaces. */
void *next_function(const char *name);

/** Writes the kind, the number, the name and the stack of the failed call to the report. */
void report_failure(enum kind kind, unsigned long number, const char *name, int error);

/** Maps the report. Returns false if no report exists, or if another process uses the report. */
bool report_open(const char *path);

/** Counts a call of this kind in the report. Returns the call's number, from 1. */
unsigned long report_count(enum kind kind);

/**
 * Writes a hash of the stack of call `number` to the report, so that the driver can distinguish
 * calls by place.
 */
void report_stack(enum kind kind, unsigned long number);

/** Returns whether this thread is inside report_failure() or report_stack(). */
bool report_busy(void);

#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
    *(void **)&next = next_function(#name)

/* Defines a wrapper. `bad` is the value that the call returns after an error, `error` is its errno.
 */
#define WRAP(type, name, params, args, bad, kinds)                                                 \
    type name params                                                                               \
    {                                                                                              \
        NEXT(name);                                                                                \
        const int error = choose(#name, kinds);                                                    \
        if (error == 0)                                                                            \
            return next args;                                                                      \
        errno = error;                                                                             \
        return bad;                                                                                \
    }

#endif /* TORTURE_PRELOAD_H */
