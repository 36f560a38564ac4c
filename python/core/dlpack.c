/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/dlpack.h"

#include "python/core/errors.h"

enum { DEVICE_PROCESSOR = 1 }; /* kDLCPU */

/* Returns the capsule of an object, or null: without an exception if it has no __dlpack__. */
static PyObject *capsule_of(PyObject *object)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *capsule;

    if (!method) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        return NULL;
    }
    capsule = PyObject_CallObject(method, NULL);
    Py_DECREF(method);
    return capsule;
}

/* Code of other libraries, as deleters in Python, must not run with an exception set. */
struct pending {
    PyObject *type, *value, *trace;
};

static struct pending set_exception_aside(void)
{
    struct pending pending;

    PyErr_Fetch(&pending.type, &pending.value, &pending.trace);
    return pending;
}

static void put_exception_back(struct pending pending)
{
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(NULL);
    PyErr_Restore(pending.type, pending.value, pending.trace);
}

/* Drops a capsule that was refused: its destructor calls the deleter. */
static void drop_capsule(PyObject *capsule)
{
    const struct pending pending = set_exception_aside();

    Py_DECREF(capsule);
    put_exception_back(pending);
}

int dlpack_take(PyObject *object, const char *name, struct dlpack_managed **managed)
{
    PyObject *capsule = capsule_of(object);
    struct dlpack_managed *found;

    if (!capsule)
        return PyErr_Occurred() ? -1 : 1;
    found = PyCapsule_GetPointer(capsule, "dltensor");
    if (found && found->tensor.device_type != DEVICE_PROCESSOR) {
        raise_number(MLI_STATUS_BAD_TENSOR, name, found->tensor.device_type,
                     "the DLPack device must be the processor's memory (1)");
        found = NULL;
    }
    if (!found || PyCapsule_SetName(capsule, "used_dltensor") < 0) {
        drop_capsule(capsule);
        return -1;
    }
    Py_DECREF(capsule);
    *managed = found;
    return 0;
}

void dlpack_release(struct dlpack_managed *managed)
{
    const struct pending pending = set_exception_aside();

    if (managed->deleter)
        managed->deleter(managed);
    put_exception_back(pending);
}
