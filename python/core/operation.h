/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A checked move of arrays: the arguments of mli.move() and the like become a nest.
 *
 * Everything needs the GIL.
 */
#ifndef CORE_OPERATION_H
#define CORE_OPERATION_H

#include "python/core/window.h"

/** The arguments of a move, borrowed from the caller; null: not given. */
struct arguments {
    PyObject *src, *pad, *slice, *step, *perm, *out, *at, *channels;
};

struct operation {
    struct view src, dst;
    struct window window;
    int64_t at[NEST_RANK_MAX]; /* first coordinate of the result in the destination */
    struct nest nest;
    int64_t bytes; /* that the move writes; 0: nothing to do, and no nest */
    bool single;   /* the nest is one move: `move` */
    struct move move;
    PyObject *result; /* the array that holds the result: `out` or a new one */
};

/** Imports what new arrays need. Returns 0, or -1 with an exception. */
int operation_init(void);

/** Reads arguments of METH_FASTCALL | METH_KEYWORDS. Returns 0, or -1 with an exception. */
int arguments_read(struct arguments *arguments, const char *function, PyObject *const *values,
                   Py_ssize_t count, PyObject *names);

/**
 * Checks a move, and creates the result if `out` is not given. Returns 0, or -1 with an exception.
 * The caller closes *operation, not after an error.
 */
int operation_open(struct operation *operation, const struct arguments *arguments);

/**
 * Checks what operation_open() leaves to libmli, which operation_run() checks too: whether arrays
 * overlap. Returns 0, or -1 with an exception.
 */
int operation_check(const struct operation *operation);

/** Visits the references of an operation, for tp_traverse. */
int operation_traverse(const struct operation *operation, visitproc visit, void *arg);

/** Releases arrays, and makes later runs do nothing and return None: for tp_clear. */
void operation_clear(struct operation *operation);

/** Releases arrays. The result is the caller's if it set `operation->result` to null. */
void operation_close(struct operation *operation);

/** Moves, on this thread; releases the GIL for large moves. Returns 0, or -1 with an exception. */
int operation_run(const struct operation *operation);

/** Moves `count` times without the GIL. Returns the nanoseconds, or -1 with an exception. */
int64_t operation_time(const struct operation *operation, uint32_t count);

/** Returns a tuple of integers. */
PyObject *tuple_of_integers(const int64_t *number, uint32_t count);

#endif /* CORE_OPERATION_H */
