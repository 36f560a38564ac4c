/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/arguments.h"

#include <stddef.h>
#include <string.h>

enum { NAMES = 7 };

static const struct {
    const char *name;
    size_t at;
} keywords[NAMES] = {
    {"pad", offsetof(struct arguments, pad)},
    {"slice", offsetof(struct arguments, slice)},
    {"step", offsetof(struct arguments, step)},
    {"perm", offsetof(struct arguments, perm)},
    {"out", offsetof(struct arguments, out)},
    {"at", offsetof(struct arguments, at)},
    {"channels", offsetof(struct arguments, channels)},
};

/* Returns the member for a keyword, or null. */
static PyObject **member_named(struct arguments *arguments, PyObject *name)
{
    static PyObject *interned[NAMES];

    for (size_t i = 0; i < NAMES; i++) {
        if (!interned[i])
            interned[i] = PyUnicode_InternFromString(keywords[i].name);
        if (name == interned[i])
            return (PyObject **)(void *)((char *)arguments + keywords[i].at);
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (PyUnicode_CompareWithASCIIString(name, keywords[i].name) == 0)
            return (PyObject **)(void *)((char *)arguments + keywords[i].at);
    }
    return NULL;
}

int arguments_read(struct arguments *arguments, const char *function, PyObject *const *values,
                   Py_ssize_t count, PyObject *names)
{
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;

    memset(arguments, 0, sizeof(*arguments));
    if (count > 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument, src; %zd were given",
                     function, count);
        return -1;
    }
    arguments->src = count == 1 ? values[0] : NULL;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject **member = member_named(arguments, name);

        if (!member && PyUnicode_CompareWithASCIIString(name, "src") == 0 && !arguments->src)
            member = &arguments->src;
        if (!member) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function,
                         name);
            return -1;
        }
        *member = values[count + i] == Py_None ? NULL : values[count + i];
    }
    if (arguments->src)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() needs the argument src", function);
    return -1;
}
