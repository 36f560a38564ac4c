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

PyObject *call_imported(const char *module, const char *name, PyObject *argument)
{
    PyObject *function = import_attribute(module, name);
    PyObject *result = function ? PyObject_CallFunctionObjArgs(function, argument, NULL) : NULL;

    Py_XDECREF(function);
    return result;
}

int errors_init(void)
{
    error_type = import_attribute("mli._errors", "Error");
    from_sentence = import_attribute("mli._errors", "from_sentence");
    return error_type && from_sentence ? 0 : -1;
}

int raise_exception(PyObject *error)
{
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return -1;
}

static void raise_as(mli_status status, const char *field, PyObject *given, const char *allowed,
                     va_list arguments)
{
    PyObject *text = PyUnicode_FromFormatV(allowed, arguments);

    if (!text)
        return;
    raise_exception(PyObject_CallFunction(error_type, "ssOO", mli_status_name(status) + NAME_PREFIX,
                                          field, given, text));
    Py_DECREF(text);
}

int raise_refused(mli_status status, const char *field, PyObject *given, const char *allowed, ...)
{
    va_list arguments;

    va_start(arguments, allowed);
    raise_as(status, field, given ? given : Py_None, allowed, arguments);
    va_end(arguments);
    return -1;
}

int raise_number(mli_status status, const char *field, long long given, const char *allowed, ...)
{
    PyObject *number = PyLong_FromLongLong(given);
    va_list arguments;

    if (!number)
        return -1;
    va_start(arguments, allowed);
    raise_as(status, field, number, allowed, arguments);
    va_end(arguments);
    Py_DECREF(number);
    return -1;
}

int raise_reason(mli_status status, const char *why)
{
    return why ? raise_refused(status, "", NULL, "%s", why) : raise_last_error(status);
}

int raise_last_error(mli_status status)
{
    /* libmli sets no message for these statuses: its last message belongs to an earlier call. */
    if (status == MLI_STATUS_DMA_ERROR || status == MLI_STATUS_CANCELLED)
        return raise_refused(status, "", NULL, "%s", mli_status_text(status));
    return raise_exception(PyObject_CallFunction(
        from_sentence, "ss", mli_status_name(status) + NAME_PREFIX, mli_last_error()));
}
