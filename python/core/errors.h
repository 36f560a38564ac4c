/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exceptions of the module: mli.Error, with status, field, given and allowed.
 */
#pragma once

#include <Python.h>

#include "mli_types.h"

/**
 * Returns the attribute of a module, which it imports. Returns null with an exception, and at once
 * if an earlier import has failed.
 */
PyObject *import_attribute(const char *module, const char *name);

/** Calls a function of a module, which it imports, with one argument. */
PyObject *call_imported(const char *module, const char *name, PyObject *argument);

/** Imports mli._errors. Returns 0, or -1 with an exception. */
int errors_init(void);

/** Raises an exception that a call has created, and takes ownership of it; null: the call has
 * raised another one. Returns -1, as all functions below. */
int raise_exception(PyObject *exception);

/**
 * Raises mli.Error. `field` names the argument ("pad[1]"); `given` is what it was, and may be null;
 * `allowed` says what is allowed, as a format of PyUnicode_FromFormat().
 */
int raise_refused(mli_status status, const char *field, PyObject *given, const char *allowed, ...);

/** Like raise_refused(), for a number. */
int raise_number(mli_status status, const char *field, long long given, const char *allowed, ...);

/** Raises mli.Error with a reason. If the reason is null, does what raise_last_error() does. */
int raise_reason(mli_status status, const char *why);

/** Raises mli.Error for the last call of libmli on this thread, which returned `status`. */
int raise_last_error(mli_status status);
