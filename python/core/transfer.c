/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mli.Transfer.
 *
 *   Plan ----start()----> Transfer ----> flight ----> libmli
 *     ^                                    |
 *     +------ keeps alive until reaped ----+
 *
 * A flight has its own memory and keeps its plan, so that a program may drop the Transfer and the
 * Plan while the flight runs. When the flight is done, the next call into the module reaps it.
 */
#include "python/core/module.h"

#include <stdbool.h>
#include <stdlib.h>
#include <structmember.h>

#include "python/core/errors.h"
#include "python/core/flight.h"
#include "python/core/integers.h"

/* Shared by the flight and the Transfer; both must have dropped it before it is freed. */
struct transfer_state {
    struct flight flight;
    PyObject *owner; /* until reaped */
    bool *running;   /* member of the owner, set to false when the transfer is reaped */
    bool has_object, reaped;
};

struct transfer {
    PyObject_HEAD;
    struct transfer_state *state; /* null: there was nothing to move */
    PyObject *result;
    PyObject *store; /* function to call once when the move is complete; null: none */
    PyObject *weak;
};

static PyTypeObject *transfer_type;

/* States of transfers */

static void drop_unused(struct transfer_state *state)
{
    if (state->reaped && !state->has_object)
        free(state);
}

void transfer_reap(void)
{
    struct flight *flight;

    while ((flight = flight_take_done())) {
        struct transfer_state *state = flight->user;
        PyObject *owner = state->owner;

        *state->running = false;
        state->owner = NULL;
        state->reaped = true;
        drop_unused(state);
        Py_DECREF(owner);
    }
}

/* Transfers */

/* Returns a transfer of no bytes, which is done. */
static struct transfer *transfer_new(PyObject *result, PyObject *store)
{
    struct transfer *transfer = PyObject_GC_New(struct transfer, transfer_type);

    if (transfer) {
        transfer->state = NULL;
        transfer->result = Py_NewRef(result);
        transfer->store = Py_XNewRef(store);
        transfer->weak = NULL;
        PyObject_GC_Track(transfer);
    }
    return transfer;
}

static int transfer_traverse(struct transfer *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->result);
    Py_VISIT(self->store);
    return 0;
}

static int transfer_clear(struct transfer *self)
{
    Py_CLEAR(self->result);
    Py_CLEAR(self->store);
    return 0;
}

int transfer_store(PyObject *store)
{
    PyObject *stored = store ? PyObject_CallObject(store, NULL) : NULL;

    Py_XDECREF(stored);
    return store && !stored ? -1 : 0;
}

static void transfer_dealloc(struct transfer *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    if (self->state) {
        flight_notify(&self->state->flight, -1);
        self->state->has_object = false;
        drop_unused(self->state);
    }
    transfer_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

static bool is_done(const struct transfer *self)
{
    mli_status status;

    return !self->state || flight_state(&self->state->flight, &status) == FLIGHT_DONE;
}

PyDoc_STRVAR(transfer_done_doc, "done($self, /)\n--\n\n"
                                "Return whether the transfer has ended: complete, cancelled or "
                                "failed.");

static PyObject *transfer_done(struct transfer *self, PyObject *Py_UNUSED(unused))
{
    transfer_reap();
    return PyBool_FromLong(is_done(self));
}

/* Waits without the GIL, and lets signals through. Returns 0, 1 after `seconds`, or -1. */
static int wait_for(struct flight *flight, double seconds)
{
    const double slice = 0.05;

    for (;;) {
        const double now = seconds < slice ? seconds : slice;
        PyThreadState *thread = PyEval_SaveThread();
        const bool done = flight_wait(flight, now);

        PyEval_RestoreThread(thread);
        if (done)
            return 0;
        if (PyErr_CheckSignals() < 0)
            return -1;
        seconds -= now;
        if (seconds <= 0)
            return 1;
    }
}

/* Returns the result of a transfer that is done. */
static PyObject *result_of(struct transfer *self)
{
    mli_status status = MLI_STATUS_OK;

    if (self->state)
        flight_state(&self->state->flight, &status);
    if (status == MLI_STATUS_OK) {
        if (transfer_store(self->store))
            return NULL;
        Py_CLEAR(self->store);
        return Py_NewRef(self->result ? self->result : Py_None);
    }
    raise_refused(status, "transfer", NULL,
                  self->state->flight.of_parent
                      ? "the parent process started it before the fork and completes it; start the "
                        "plan again in this process"
                  : status == MLI_STATUS_CANCELLED
                      ? "it was cancelled; the result may be partly written"
                      : "a DMA channel failed; the result may be partly written");
    return NULL;
}

/* Requests the end of a transfer, without waiting for it. */
static void cancel(const struct transfer *self)
{
    PyThreadState *thread;

    if (!self->state || is_done(self))
        return;
    thread = PyEval_SaveThread();
    flight_cancel(&self->state->flight);
    PyEval_RestoreThread(thread);
}

PyDoc_STRVAR(
    transfer_result_doc,
    "result($self, /, timeout=None)\n--\n\n"
    "Wait until the transfer has ended, at most `timeout` seconds, and return the array\n"
    "that holds the result. An exception of a signal handler, like KeyboardInterrupt, cancels\n"
    "the transfer.\n\n"
    "Raises TimeoutError; mli.Error with the status CANCELLED or DMA_ERROR.");

static PyObject *transfer_result(struct transfer *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {KEYWORD("timeout"), NULL};
    PyObject *timeout = Py_None;
    double seconds = Py_HUGE_VAL;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:result", names, &timeout))
        return NULL;
    if (timeout != Py_None) {
        seconds = PyFloat_AsDouble(timeout);
        if (seconds == -1 && PyErr_Occurred())
            return NULL;
    }
    if (self->state) {
        const int waited = wait_for(&self->state->flight, seconds > 0 ? seconds : 0);

        if (waited > 0)
            PyErr_SetString(PyExc_TimeoutError, "the transfer runs still");
        else if (waited < 0)
            cancel(self);
        if (waited)
            return NULL;
    }
    transfer_reap();
    return result_of(self);
}

PyDoc_STRVAR(transfer_cancel_doc,
             "cancel($self, /)\n--\n\n"
             "Request that the transfer end early. It ends a little later, with the status\n"
             "CANCELLED, or with its own status if the transfer is faster.");

static PyObject *transfer_cancel(struct transfer *self, PyObject *Py_UNUSED(unused))
{
    cancel(self);
    transfer_reap();
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(transfer_notify_doc, "_notify($self, eventfd, /)\n--\n\n"
                                  "Write 1 to an eventfd when the transfer has ended; -1: never.");

static PyObject *transfer_notify(struct transfer *self, PyObject *eventfd)
{
    const long fd = PyLong_AsLong(eventfd);

    if (fd == -1 && PyErr_Occurred())
        return NULL;
    if (self->state)
        flight_notify(&self->state->flight, (int)fd);
    return Py_NewRef(Py_None);
}

PyDoc_STRVAR(generic_doc, "For annotations, like Plan[NDArray[int8]]: the type of the result.");

/* The asyncio part is in Python. */
static PyObject *transfer_await(PyObject *self)
{
    return call_imported("mli._awaiting", "await_transfer", self);
}

static PyMethodDef transfer_methods[] = {
    {"done", (PyCFunction)transfer_done, METH_NOARGS, transfer_done_doc},
    {"result", (PyCFunction)(void (*)(void))transfer_result, METH_VARARGS | METH_KEYWORDS,
     transfer_result_doc},
    {"cancel", (PyCFunction)transfer_cancel, METH_NOARGS, transfer_cancel_doc},
    {"_notify", (PyCFunction)transfer_notify, METH_O, transfer_notify_doc},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, generic_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(transfer_doc, "A started move. `await transfer` in asyncio, or transfer.result().");

static PyMemberDef transfer_weak[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct transfer, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot transfer_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)transfer_doc},
    {Py_tp_traverse, transfer_traverse},
    {Py_tp_clear, transfer_clear},
    {Py_tp_members, transfer_weak},
    {Py_tp_dealloc, transfer_dealloc},
    {Py_tp_methods, transfer_methods},
    {Py_am_await, transfer_await},
    {0, NULL},
};

static PyType_Spec transfer_spec = {
    .name = "mli.Transfer",
    .basicsize = sizeof(struct transfer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = transfer_slots,
};

/* Starting and waiting */

static struct transfer_state *state_new(PyObject *owner, const struct nest *nest, uint32_t channels,
                                        bool *running)
{
    struct transfer_state *state = calloc(1, sizeof(*state));

    if (!state) {
        PyErr_NoMemory();
        return NULL;
    }
    state->has_object = true;
    state->owner = Py_NewRef(owner);
    state->running = running;
    state->flight.nest = nest;
    state->flight.channels = channels;
    state->flight.user = state;
    return state;
}

/* Starts the move of a transfer; frees its state after an error. */
static int start_flight(struct transfer_state *state)
{
    PyThreadState *thread = PyEval_SaveThread(); /* the engine "inline" moves inside the call */
    const char *why;
    const mli_status status = flight_start(&state->flight, &why);

    PyEval_RestoreThread(thread);
    if (status == MLI_STATUS_OK)
        return 0;
    raise_reason(status, why);
    Py_DECREF(state->owner);
    free(state);
    return -1;
}

PyObject *transfer_start(PyObject *owner, const struct nest *nest, uint32_t channels,
                         PyObject *result, PyObject *store, bool *running)
{
    struct transfer *transfer = transfer_new(result, store);

    if (!transfer || !nest)
        return (PyObject *)transfer;
    transfer->state = state_new(owner, nest, channels, running);
    if (transfer->state) {
        *running = true;
        if (start_flight(transfer->state) == 0) {
            transfer_reap();
            return (PyObject *)transfer;
        }
        *running = false;
        transfer->state = NULL;
    }
    Py_DECREF((PyObject *)transfer);
    return NULL;
}

PyObject *transfer_wait(PyObject *object)
{
    struct transfer *transfer = (struct transfer *)object;

    if (!transfer->state || wait_for(&transfer->state->flight, Py_HUGE_VAL) == 0) {
        transfer_reap();
        return result_of(transfer);
    }
    PyThreadState *thread = PyEval_SaveThread();

    flight_cancel(&transfer->state->flight);
    flight_wait(&transfer->state->flight, Py_HUGE_VAL);
    PyEval_RestoreThread(thread);
    return NULL;
}

int transfer_init(PyObject *module)
{
    transfer_type = (PyTypeObject *)PyType_FromSpec(&transfer_spec);
    return transfer_type ? PyModule_AddType(module, transfer_type) : -1;
}
