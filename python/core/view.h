/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of an array, whatever object has it: by the buffer protocol, by __array_interface__,
 * or by DLPack (processor memory).
 *
 * All functions need the GIL. A function that returns int returns 0, or -1 with a Python exception.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "python/core/nest.h"

struct dlpack_managed;

enum { VIEW_FORMAT_MAX = 32 };

struct view {
    uint8_t *data;
    int64_t size; /* bytes of an element */
    uint32_t rank;
    bool readonly;
    PyObject
        *dtype; /* dtype of an array that ndarray_read() has read; borrowed; null: see format */
    /* References that keep the memory alive, as buffer.obj does: */
    PyObject *owner;
    struct dlpack_managed *managed;
    char format[VIEW_FORMAT_MAX]; /* format of the buffer protocol, without byte order; "" if
                                     unknown */
    /* arrays with `rank` entries: */
    int64_t shape[NEST_RANK_MAX];
    int64_t step[NEST_RANK_MAX]; /* bytes from one index to the next, not negative */
    Py_buffer buffer;            /* valid if buffer.obj is not null */
};

/** Opens the memory of an object. `name` is the name of the argument, for errors. */
int view_open(struct view *view, PyObject *object, const char *name);

/** Visits the references of a view, for tp_traverse. */
int view_traverse(const struct view *view, visitproc visit, void *arg);

/** Releases the memory. Does nothing for a view that is all zeros or released. */
void view_release(struct view *view);

/*
 * NumPy arrays of booleans or numbers: their memory, shape and strides, read from the C structure
 * of the array. The buffer protocol of NumPy takes ten times as long.
 *
 * Everything needs the GIL.
 */

/** Imports the types. Returns 0, or -1 with an exception. */
int ndarray_init(void);

/**
 * Returns the dtype of a numpy.ndarray, also if a subclass redefines the attribute `dtype`.
 * Returns a new reference, or null with an exception.
 */
PyObject *ndarray_dtype(PyObject *array);

/** Returns whether an object is a boolean of NumPy. */
bool ndarray_is_boolean(PyObject *object);

/*
 * Arrays of other libraries by DLPack: the structures that a capsule "dltensor" points to.
 * Layout: DLPack 0.x, https://dmlc.github.io/dlpack/latest/c_api.html
 */

struct dlpack_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    uint8_t code; /* DLPack's code of the element type: 0 integer, 1 unsigned, 2 float, 4 bfloat, 5
                     complex */
    uint8_t bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* strides in elements; null: packed */
    uint64_t byte_offset;
};

struct dlpack_managed {
    struct dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct dlpack_managed *self);
};
