/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/integers.h"

#include <stdio.h>

#include "python/core/errors.h"

struct place place_of(const char *field, Py_ssize_t index)
{
    struct place place;

    if (index < 0)
        snprintf(place.text, sizeof(place.text), "%s", field);
    else
        snprintf(place.text, sizeof(place.text), "%s[%zd]", field, index);
    return place;
}

bool is_integer(PyObject *object)
{
    if (PyLong_CheckExact(object))
        return true;
    if (!PyIndex_Check(object) || !PySequence_Check(object))
        return PyIndex_Check(object);
    if (PySequence_Size(object) >= 0) /* NumPy arrays have both protocols */
        return false;
    PyErr_Clear();
    return true;
}

int read_integer(PyObject *object, const char *field, Py_ssize_t index, int64_t *out)
{
    PyObject *number = PyLong_CheckExact(object) ? Py_NewRef(object) : PyNumber_Index(object);
    int overflow = 0;

    if (!number) {
        if (PyIndex_Check(object) || !PyErr_ExceptionMatches(PyExc_TypeError))
            return -1; /* of __index__ */
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: an integer is required, not %R",
                     place_of(field, index).text, object);
        return -1;
    }
    *out = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow || *out > ELEMENTS_MAX || *out < -ELEMENTS_MAX)
        return raise_refused(MLI_STATUS_BAD_FUNC_CFG, place_of(field, index).text, object,
                             "numbers below 2^59 are allowed");
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

int read_at_least(PyObject *object, const char *field, Py_ssize_t index, int64_t least,
                  int64_t *out)
{
    if (read_integer(object, field, index, out))
        return -1;
    if (*out >= least)
        return 0;
    return raise_number(MLI_STATUS_BAD_FUNC_CFG, place_of(field, index).text, *out,
                        "numbers from %lld on are allowed", (long long)least);
}

PyObject *tuple_of(PyObject *object, const char *field, Py_ssize_t index, const char *what)
{
    PyObject *tuple;

    if (PyTuple_CheckExact(object))
        return Py_NewRef(object);
    tuple = PySequence_Check(object) && !PyUnicode_Check(object) ? PySequence_Tuple(object) : NULL;
    if (!tuple && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: %s is required, not %R", place_of(field, index).text,
                     what, object);
    }
    return tuple;
}

PyObject *tuple_of_integers(const int64_t *number, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);

    for (uint32_t i = 0; tuple && i < count; i++) {
        PyObject *item = PyLong_FromLongLong(number[i]);

        if (!item || PyTuple_SetItem(tuple, i, item) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}
