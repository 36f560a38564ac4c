/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process that ends with its parent. */
#pragma once

#include <Python.h>

/**
 * Returns a zero-terminated array of texts, borrowed from the bytes objects of a list; or null with
 * an exception. Free it with free().
 */
char **texts_of(PyObject *list);

PyObject *tied_process_start(PyObject *module, PyObject *args);
