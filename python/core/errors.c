/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/errors.h"

#include <stdarg.h>

#include "mli_helpers_api.h"

enum { NAME_PREFIX = sizeof("MLI_STATUS_") - 1 };

static PyObject *error_type, *from_sentence;

PyObject *import_attribute(const char *module, const char *name)
{
    PyObject *imported = PyErr_Occurred() ? NULL : PyImport_ImportModule(module);
    PyObject *attribute = imported ? PyObject_GetAttrString(imported, name) : NULL;

    Py_XDECREF(imported);
    return attribute;
}

int errors_init(void)
{
    error_type = import_attribute("mli._errors", "Error");
    from_sentence = import_attribute("mli._errors", "from_sentence");
    return error_type && from_sentence ? 0 : -1;
}

/* Raises an exception that a call has created. Takes ownership of the reference. */
static void raise(PyObject *error)
{
    if (!error)
        return;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

static void raise_as(mli_status status, const char *field, PyObject *given, const char *allowed,
                     va_list arguments)
{
    PyObject *text = PyUnicode_FromFormatV(allowed, arguments);

    if (!text)
        return;
    raise(PyObject_CallFunction(error_type, "ssOO", mli_status_name(status) + NAME_PREFIX, field,
                                given, text));
    Py_DECREF(text);
}

void raise_refused(mli_status status, const char *field, PyObject *given, const char *allowed, ...)
{
    va_list arguments;

    va_start(arguments, allowed);
    raise_as(status, field, given ? given : Py_None, allowed, arguments);
    va_end(arguments);
}

void raise_number(mli_status status, const char *field, long long given, const char *allowed, ...)
{
    PyObject *number = PyLong_FromLongLong(given);
    va_list arguments;

    if (!number)
        return;
    va_start(arguments, allowed);
    raise_as(status, field, number, allowed, arguments);
    va_end(arguments);
    Py_DECREF(number);
}

void raise_reason(mli_status status, const char *why)
{
    if (why)
        raise_refused(status, "", NULL, "%s", why);
    else
        raise_last_error(status);
}

void raise_last_error(mli_status status)
{
    if (status == MLI_STATUS_DMA_ERROR || status == MLI_STATUS_CANCELLED) {
        /* This status is not a refusal: libmli's message would belong to an earlier call. */
        raise_refused(status, "", NULL, "%s", mli_status_text(status));
        return;
    }
    raise(PyObject_CallFunction(from_sentence, "ss", mli_status_name(status) + NAME_PREFIX,
                                mli_last_error()));
}
