/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A checked move of arrays: the arguments of mli.move() and similar functions become a layout.
 *
 * Everything needs the GIL.
 */
#pragma once

#include <Python.h>

#include "python/core/window.h"

/**
 * A layout is plain data. Its addresses are in the memory of the views. The members that
 * layout_copy_move() copies are in neighbouring cache lines.
 */
struct layout {
    int64_t bytes; /* bytes that the move writes; 0: nothing to do, and no nest */
    bool single;   /* true: the nest is the single move `move` */
    struct move move;
    struct nest nest;
    struct window window;
    int64_t at[NEST_RANK_MAX]; /* first coordinate of the result in the destination */
};

struct operation {
    struct view src, dst;
    struct layout layout;
    PyObject *result; /* the array that holds the result: `out` or a new one */
};

/** Imports the Python functions that create arrays. Returns 0, or -1 with an exception. */
int operation_init(void);

/** Borrowed from the caller; null: not given. */
struct arguments {
    PyObject *src, *pad, *slice, *step, *perm, *out, *at, *channels;
};

/**
 * Checks a move, and creates the result if `out` is not given. Returns 0, or -1 with an exception.
 * The caller closes *operation, but not after an error. With `once`, the caller may only run and
 * close the operation. This is faster, because only a part of a cached layout is copied.
 */
int operation_open(struct operation *operation, const struct arguments *arguments, bool once);

/**
 * Checks that arrays do not overlap. operation_open() does not check this; operation_run() does, in
 * libmli. Returns 0, or -1 with an exception.
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

/**
 * Adapts a result to the registered type of its source: replaces *value by wrap(*value), and sets
 * *stored to `store` unless `store` is None. Returns 0, or -1 with an exception.
 */
int result_wrap(PyObject *wrap, PyObject *store, PyObject **value, PyObject **stored);

/** Moves `count` times without the GIL. Returns the nanoseconds, or -1 with an exception. */
int64_t operation_time(const struct operation *operation, uint32_t count);

/* The arguments of mli.move() and similar functions. Everything needs the GIL. */

/** Reads arguments of METH_FASTCALL | METH_KEYWORDS. Returns 0, or -1 with an exception. */
int arguments_read(struct arguments *arguments, const char *function, PyObject *const *values,
                   Py_ssize_t count, PyObject *names);

/*
 * The layout of a move: the window of the source, the place of the result in the destination, and
 * the nest of axes that moves the window to this place.
 *
 * Everything needs the GIL. A function that returns int returns 0, or -1 with a Python exception.
 */
