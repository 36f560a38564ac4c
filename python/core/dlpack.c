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
        Py_DECREF(capsule);
        return -1;
    }
    Py_DECREF(capsule);
    *managed = found;
    return 0;
}

void dlpack_release(struct dlpack_managed *managed)
{
    if (managed->deleter)
        managed->deleter(managed);
}
