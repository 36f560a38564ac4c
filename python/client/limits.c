/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "python/core/errors.h"
#include "python/core/integers.h"
#include "python/core/window.h"

enum { LIMIT_MS_MAX = 86400000, PRIORITY_MAX = 1 };

static const char NAME_CHARACTERS[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";

static PyObject *references_of;

int limits_init(void)
{
    PyObject *jobs = PyImport_ImportModule("mli._jobs");

    if (jobs)
        references_of = PyObject_GetAttrString(jobs, "references");
    Py_XDECREF(jobs);
    return references_of ? 0 : -1;
}

static bool is_given(PyObject *object)
{
    return object && object != Py_None;
}

/* Reads a whole number in a range. */
static int read_between(PyObject *object, const char *field, int64_t least, int64_t most,
                        int64_t *number)
{
    if (!is_given(object))
        return 0;
    if (read_integer(object, field, -1, number))
        return -1;
    if (*number >= least && *number <= most)
        return 0;
    raise_number(MLI_STATUS_ARGUMENT_ERROR, field, *number, "%lld to %lld are allowed",
                 (long long)least, (long long)most);
    return -1;
}

int read_priority(PyObject *object, int32_t *priority)
{
    int64_t number = 0;

    if (read_between(object, "priority", -PRIORITY_MAX, PRIORITY_MAX, &number))
        return -1;
    *priority = (int32_t)number;
    return 0;
}

int read_channels(PyObject *object, uint32_t *channels)
{
    int64_t number = 1;

    if (read_between(object, "channels", 1, MLI_MOV_MAX_CHANNELS, &number))
        return -1;
    *channels = (uint32_t)number;
    return 0;
}

int read_limit_ms(PyObject *object, uint32_t *ms)
{
    double seconds;

    *ms = 0;
    if (!is_given(object))
        return 0;
    seconds = PyFloat_AsDouble(object);
    if (seconds == -1 && PyErr_Occurred())
        return -1;
    if (!(seconds > 0) || seconds > LIMIT_MS_MAX / 1000) {
        raise_refused(MLI_STATUS_ARGUMENT_ERROR, "timeout", object,
                      "seconds above 0, up to %d, are allowed", LIMIT_MS_MAX / 1000);
        return -1;
    }
    *ms = (uint32_t)ceil(seconds * 1000);
    return 0;
}

int read_name(PyObject *object, const struct connection *connection, char *name, size_t size)
{
    Py_ssize_t length;
    const char *text;

    if (!is_given(object)) {
        snprintf(name, size, "py:%x:%llu", (unsigned)connection->token,
                 (unsigned long long)connection->serial + 1);
        return 0;
    }
    text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "name: a string is required, not %R", object);
        return -1;
    }
    if (length == 0 || (size_t)length >= size || strlen(text) != (size_t)length ||
        strncmp(text, "py:", 3) == 0) {
        raise_refused(MLI_STATUS_ARGUMENT_ERROR, "name", object,
                      "1 to %d characters are allowed; names from 'py:' on are reserved",
                      (int)size - 1);
        return -1;
    }
    if (text[strspn(text, NAME_CHARACTERS)] != '\0') {
        raise_refused(MLI_STATUS_ARGUMENT_ERROR, "name", object,
                      "the characters A-Z a-z 0-9 _ . : - are allowed");
        return -1;
    }
    memcpy(name, text, (size_t)length + 1);
    return 0;
}

/* Reads one reference: the number or the name of a job. */
static int read_reference(PyObject *item, mli_client_ref *ref)
{
    if (PyUnicode_Check(item)) {
        ref->name = PyUnicode_AsUTF8AndSize(item, NULL);
        return ref->name ? 0 : -1;
    }
    ref->number = PyLong_AsUnsignedLongLong(item);
    return PyErr_Occurred() ? -1 : 0;
}

int read_references(struct references *references, struct connection *connection, PyObject *object)
{
    references->count = 0;
    references->owner = NULL;
    if (!is_given(object))
        return 0;
    references->owner = PyObject_CallFunction(references_of, "OO", connection, object);
    if (!references->owner)
        return -1;
    const Py_ssize_t count = PyTuple_Size(references->owner);
    if (count > MLI_CLIENT_AFTER_MAX) {
        raise_number(MLI_STATUS_ARGUMENT_ERROR, "after", (long long)count,
                     "at most %d jobs are allowed", MLI_CLIENT_AFTER_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        references->ref[i] = (mli_client_ref){0};
        if (read_reference(PyTuple_GetItem(references->owner, i), &references->ref[i]))
            return -1;
    }
    references->count = (size_t)(count > 0 ? count : 0);
    return 0;
}

void references_release(struct references *references)
{
    Py_CLEAR(references->owner);
}
