/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/client/connection.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "python/core/errors.h"

static PyObject *error_type, *no_reply;

int service_error_init(void)
{
    error_type = import_attribute("mli._service_error", "ServiceError");
    no_reply = import_attribute("mli._service_error", "no_reply");
    return error_type && no_reply ? 0 : -1;
}

int raise_no_reply(double seconds)
{
    return raise_exception(PyObject_CallFunction(no_reply, "d", seconds));
}

int raise_service_error(const mli_client_error *error)
{
    const char *status = error->status == MLI_STATUS_OK ? NULL : mli_status_name(error->status);
    PyObject *text = PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message),
                                          "backslashreplace");
    PyObject *pointer =
        error->has_pointer
            ? PyUnicode_DecodeUTF8(error->pointer, (Py_ssize_t)strlen(error->pointer),
                                   "backslashreplace")
            : Py_NewRef(Py_None);
    PyObject *job = error->job ? PyLong_FromUnsignedLongLong(error->job) : Py_NewRef(Py_None);
    PyObject *exception = NULL;

    if (text && pointer && job)
        exception = PyObject_CallFunction(error_type, "isOOOz", error->code, error->name, text,
                                          pointer, job, status);
    raise_exception(exception);
    Py_XDECREF(job);
    Py_XDECREF(pointer);
    Py_XDECREF(text);
    return -1;
}

int raise_client_error(int code, const char *name, const char *format, ...)
{
    mli_client_error error = {.code = code};
    va_list arguments;

    snprintf(error.name, sizeof(error.name), "%s", name);
    va_start(arguments, format);
    vsnprintf(error.message, sizeof(error.message), format, arguments);
    va_end(arguments);
    return raise_service_error(&error);
}
