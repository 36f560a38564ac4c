/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/module.h"

static PyTypeObject *registered_type;
static PyObject *registered_move, *registered_plan;

PyObject *extension_register(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *type, *move, *plan;

    if (!PyArg_ParseTuple(args, "O!OO:register", &PyType_Type, &type, &move, &plan))
        return NULL;
    Py_XDECREF(registered_plan);
    Py_XDECREF(registered_move);
    Py_XDECREF((PyObject *)registered_type);
    registered_plan = Py_NewRef(plan);
    registered_move = Py_NewRef(move);
    registered_type = (PyTypeObject *)Py_NewRef(type);
    return Py_NewRef(Py_None);
}

bool extension_has(PyObject *object)
{
    return registered_type && PyObject_TypeCheck(object, registered_type);
}

/* Calls a function with the arguments of a move, and with `last` unless it is null. */
static PyObject *call(PyObject *function, const struct arguments *arguments, PyObject *last)
{
    PyObject *given[] = {arguments->pad,  arguments->slice, arguments->step,
                         arguments->perm, arguments->out,   arguments->at};

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        given[i] = given[i] ? given[i] : Py_None;
    return PyObject_CallFunctionObjArgs(function, arguments->src, given[0], given[1], given[2],
                                        given[3], given[4], given[5], last, NULL);
}

PyObject *extension_move(const struct arguments *arguments)
{
    return call(registered_move, arguments, arguments->channels ? arguments->channels : Py_None);
}

int extension_open(struct extended *extended, struct arguments *arguments)
{
    PyObject *out;

    *extended = (struct extended){0};
    if (!extension_has(arguments->src))
        return 0;
    extended->parts = call(registered_plan, arguments, NULL);
    if (!extended->parts || !PyArg_ParseTuple(extended->parts, "OOOO", &arguments->src, &out,
                                              &extended->wrap, &extended->store)) {
        Py_CLEAR(extended->parts);
        return -1;
    }
    arguments->out = out == Py_None ? NULL : out;
    return 0;
}
