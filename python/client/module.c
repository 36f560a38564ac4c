/* SPDX-License-Identifier: BSD-3-Clause */
/* The extension module mli._client: see connection.h. Package mli is its public face. */
#include <Python.h>

#include "python/client/limits.h"
#include "python/client/memory.h"
#include "python/client/order.h"
#include "python/client/prepared.h"
#include "python/client/requests.h"
#include "python/client/service_error.h"
#include "python/client/ticket.h"
#include "python/client/tied_process.h"
#include "python/core/errors.h"

PyDoc_STRVAR(connect_doc,
             "connect($module, path, /)\n--\n\n"
             "Connect to the service at a path; None: the default. Waits at most 5 s.");
PyDoc_STRVAR(adopt_doc, "adopt($module, socket, inline=False, /)\n--\n\n"
                        "Use a connected socket, which the connection owns.");
PyDoc_STRVAR(spawn_doc, "spawn($module, arguments, /)\n--\n\n"
                        "Start a command, a list of bytes, and use its standard streams.");
PyDoc_STRVAR(start_tied_doc, "start_tied($module, arguments, environment, output, /)\n--\n\n"
                             "Start a program, a list of bytes with its path first, that gets\n"
                             "SIGTERM when the calling thread ends. `output` is the descriptor of\n"
                             "its standard output and error. Return its process id.");

static PyMethodDef methods[] = {
    {"connect", requests_connect, METH_O, connect_doc},
    {"adopt", requests_adopt, METH_VARARGS, adopt_doc},
    {"spawn", requests_spawn, METH_O, spawn_doc},
    {"start_tied", tied_process_start, METH_VARARGS, start_tied_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mli._client",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__client(void);

PyMODINIT_FUNC PyInit__client(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && (errors_init() || operation_init() || service_error_init() || order_init() ||
                   limits_init() || requests_init(module) || memory_init(module) ||
                   ticket_init(module) || prepared_init(module)))
        Py_CLEAR(module);
    return module;
}
