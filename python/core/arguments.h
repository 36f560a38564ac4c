/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of mli.move() and the like. Everything needs the GIL. */
#ifndef CORE_ARGUMENTS_H
#define CORE_ARGUMENTS_H

#include <Python.h>

/** Borrowed from the caller; null: not given. */
struct arguments {
    PyObject *src, *pad, *slice, *step, *perm, *out, *at, *channels;
};

/** Reads arguments of METH_FASTCALL | METH_KEYWORDS. Returns 0, or -1 with an exception. */
int arguments_read(struct arguments *arguments, const char *function, PyObject *const *values,
                   Py_ssize_t count, PyObject *names);

#endif /* CORE_ARGUMENTS_H */
