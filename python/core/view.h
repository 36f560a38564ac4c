/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of an array, whatever object has it: by the buffer protocol, by __array_interface__,
 * or by DLPack (processor memory).
 *
 * All functions need the GIL. A function that returns int returns 0, or -1 with a Python exception.
 */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "python/core/nest.h"

enum { VIEW_FORMAT_MAX = 32 };

struct dlpack_managed;

struct view {
    uint8_t *data;
    int64_t size; /* bytes of an element */
    uint32_t rank;
    bool readonly;
    PyObject *dtype; /* of an array that ndarray_read() has read; borrowed; null: see format */
    /* References that keep the memory alive, as buffer.obj does: */
    PyObject *owner;
    struct dlpack_managed *managed;
    char format[VIEW_FORMAT_MAX]; /* of the buffer protocol, without byte order; "" if unknown */
    /* `rank` entries: */
    int64_t shape[NEST_RANK_MAX];
    int64_t step[NEST_RANK_MAX]; /* bytes from one index to the next, not negative */
    Py_buffer buffer;            /* valid if buffer.obj is not null */
};

/** Opens the memory of an object. `name` is the argument's, for errors. */
int view_open(struct view *view, PyObject *object, const char *name);

/** Visits the references of a view, for tp_traverse. */
int view_traverse(const struct view *view, visitproc visit, void *arg);

/** Lets the memory go. Does nothing for a view that is all zeros or released. */
void view_release(struct view *view);

#endif /* CORE_VIEW_H */
