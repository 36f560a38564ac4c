/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of mli._client that connect. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "python/client/requests.h"
#include "python/client/service_error.h"
#include "python/client/tied_process.h"

enum { TRIES = 50, PAUSE_NS = 100 * 1000 * 1000 };

/* Pauses without the GIL. Returns 0, or -1 with an exception of a signal. */
static int pause_a_little(void)
{
    PyThreadState *thread = PyEval_SaveThread();

    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    PyEval_RestoreThread(thread);
    return PyErr_CheckSignals();
}

/*
 * Connects. `interrupt` is always readable: the library gives up after its first attempt, and this
 * function repeats it, so that signals are handled in between.
 */
static mli_client *connect_to(const char *path, int interrupt)
{
    mli_client *client = NULL;
    mli_client_error error;

    for (int i = 0; i < TRIES; i++) {
        int status;

        Py_BEGIN_ALLOW_THREADS status =
            mli_client_connect_interruptible(path, interrupt, &client, &error);
        Py_END_ALLOW_THREADS if (status == 0)
        {
            mli_client_set_interrupt(client, -1);
            return client;
        }
        if (status != MLI_CLIENT_INTERRUPTED) {
            raise_service_error(&error);
            return NULL;
        }
        if (pause_a_little() < 0)
            return NULL;
    }
    raise_client_error(MLI_CLIENT_BUSY, "BUSY",
                       "the service accepts no connection: it is stopped or overloaded");
    return NULL;
}

PyObject *requests_connect(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;
    mli_client *client = NULL;
    int interrupt;

    (void)module;
    if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
        return NULL;
    interrupt = eventfd(1, EFD_CLOEXEC);
    if (interrupt < 0)
        raise_client_error(MLI_CLIENT_SYSTEM, "SYSTEM", "eventfd: %s", strerror(errno));
    else
        client = connect_to(bytes ? PyBytes_AsString(bytes) : NULL, interrupt);
    if (interrupt >= 0)
        close(interrupt);
    Py_XDECREF(bytes);
    return client ? connection_new(connection_type, client, false) : NULL;
}

PyObject *requests_adopt(PyObject *module, PyObject *args)
{
    int socket, inlined = 0;
    mli_client *client;
    mli_client_error error;

    (void)module;
    if (!PyArg_ParseTuple(args, "i|p:adopt", &socket, &inlined))
        return NULL;
    if (mli_client_adopt(socket, inlined ? MLI_CLIENT_INLINE : 0, &client, &error)) {
        raise_service_error(&error);
        return NULL;
    }
    return connection_new(connection_type, client, inlined);
}

PyObject *requests_spawn(PyObject *module, PyObject *arguments)
{
    mli_client *client = NULL;
    mli_client_error error;
    char **argv;
    int status;

    (void)module;
    if (!PyList_Check(arguments) || PyList_Size(arguments) < 1) {
        PyErr_SetString(PyExc_TypeError, "a list of at least one bytes object is required");
        return NULL;
    }
    argv = texts_of(arguments);
    if (!argv)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = mli_client_spawn(argv, &client, &error);
    Py_END_ALLOW_THREADS free(argv);
    if (status) {
        raise_service_error(&error);
        return NULL;
    }
    return connection_new(connection_type, client, true);
}
