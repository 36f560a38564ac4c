/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mli.Plan and mli.Transfer.
 *
 *   Plan ----start()----> Transfer ----> flight ----> libmli
 *     ^                                    |
 *     +------ keeps alive until reaped ----+
 *
 * A flight has its own memory and keeps its plan, so that a program may drop the Transfer and the
 * Plan while it runs. When it is done, the next call into the module reaps it.
 */
#include "python/core/plan.h"

#include <stdlib.h>
#include <structmember.h>

#include "python/core/errors.h"
#include "python/core/flight.h"
#include "python/core/keyword.h"

struct plan {
    PyObject_HEAD struct operation operation;
    uint32_t channels;
    struct transfer_state *running; /* null: none */
};

/* Shared by the flight and the Transfer; both must have dropped it before it is freed. */
struct transfer_state {
    struct flight flight;
    PyObject *plan; /* until reaped */
    bool has_object, reaped;
};

struct transfer {
    PyObject_HEAD struct transfer_state *state; /* null: the plan had nothing to move */
    PyObject *result;
};

static PyTypeObject *transfer_type, *plan_type;

/* States of transfers */

static void drop_unused(struct transfer_state *state)
{
    if (state->reaped && !state->has_object)
        free(state);
}

void plan_reap(void)
{
    struct flight *flight;

    while ((flight = flight_take_done())) {
        struct transfer_state *state = flight->user;
        PyObject *plan = state->plan;

        ((struct plan *)plan)->running = NULL;
        state->plan = NULL;
        state->reaped = true;
        drop_unused(state);
        Py_DECREF(plan);
    }
}

/* Transfers */

static struct transfer *transfer_new(struct plan *plan)
{
    struct transfer *transfer = PyObject_New(struct transfer, transfer_type);

    if (!transfer)
        return NULL;
    transfer->state = NULL;
    transfer->result = Py_NewRef(plan->operation.result);
    if (plan->operation.bytes == 0)
        return transfer;
    transfer->state = calloc(1, sizeof(*transfer->state));
    if (!transfer->state) {
        Py_DECREF((PyObject *)transfer);
        PyErr_NoMemory();
        return NULL;
    }
    transfer->state->has_object = true;
    transfer->state->plan = Py_NewRef((PyObject *)plan);
    transfer->state->flight.nest = &plan->operation.nest;
    transfer->state->flight.channels = plan->channels;
    transfer->state->flight.user = transfer->state;
    return transfer;
}

static void transfer_dealloc(struct transfer *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    if (self->state) {
        flight_notify(&self->state->flight, -1);
        self->state->has_object = false;
        drop_unused(self->state);
    }
    Py_XDECREF(self->result);
    PyObject_Free(self);
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

static PyObject *transfer_done(struct transfer *self, PyObject *unused)
{
    (void)unused;
    plan_reap();
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
static PyObject *result_of(const struct transfer *self)
{
    mli_status status = MLI_STATUS_OK;

    if (self->state)
        flight_state(&self->state->flight, &status);
    if (status == MLI_STATUS_OK)
        return Py_NewRef(self->result);
    if (status == MLI_STATUS_CANCELLED)
        raise_refused(status, "transfer", NULL,
                      "it was cancelled; the result may be partly written");
    else
        raise_refused(status, "transfer", NULL,
                      "a DMA channel failed; the result may be partly written");
    return NULL;
}

PyDoc_STRVAR(transfer_result_doc,
             "result($self, /, timeout=None)\n--\n\n"
             "Wait until the transfer has ended, at most `timeout` seconds, and return the array\n"
             "that holds the result.\n\n"
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
        if (waited)
            return NULL;
    }
    plan_reap();
    return result_of(self);
}

PyDoc_STRVAR(transfer_cancel_doc,
             "cancel($self, /)\n--\n\n"
             "Request that the transfer end early. It ends a little later, with the status\n"
             "CANCELLED, or with its own if it is faster.");

static PyObject *transfer_cancel(struct transfer *self, PyObject *unused)
{
    (void)unused;
    if (self->state && !is_done(self)) {
        PyThreadState *thread = PyEval_SaveThread();

        flight_cancel(&self->state->flight);
        PyEval_RestoreThread(thread);
    }
    plan_reap();
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

PyDoc_STRVAR(generic_doc, "For annotations, as Plan[NDArray[int8]]: the type of the result.");

/* The asyncio part is in Python. */
static PyObject *transfer_await(PyObject *self)
{
    PyObject *module = PyImport_ImportModule("mli._awaiting"), *iterator;

    if (!module)
        return NULL;
    iterator = PyObject_CallMethod(module, "await_transfer", "O", self);
    Py_DECREF(module);
    return iterator;
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

static PyType_Slot transfer_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)transfer_doc},
    {Py_tp_dealloc, transfer_dealloc},
    {Py_tp_methods, transfer_methods},
    {Py_am_await, transfer_await},
    {0, NULL},
};

static PyType_Spec transfer_spec = {
    .name = "mli.Transfer",
    .basicsize = sizeof(struct transfer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = transfer_slots,
};

/* Plans */

int plan_read_channels(PyObject *object, uint32_t *channels)
{
    int64_t number = 1;

    if (object && read_integer(object, "channels", -1, &number))
        return -1;
    if (number < 1 || number > MLI_MOV_MAX_CHANNELS) {
        raise_number(MLI_STATUS_ARGUMENT_ERROR, "channels", number, "1 to %d are allowed",
                     MLI_MOV_MAX_CHANNELS);
        return -1;
    }
    *channels = (uint32_t)number;
    return 0;
}

/* tp_new: the constructor has arguments in a tuple and a dictionary. */
static int read_call(struct arguments *arguments, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {KEYWORD("src"),  KEYWORD("pad"),      KEYWORD("slice"),
                            KEYWORD("step"), KEYWORD("perm"),     KEYWORD("out"),
                            KEYWORD("at"),   KEYWORD("channels"), NULL};
    PyObject **member[] = {&arguments->pad,     &arguments->slice, &arguments->step,
                           &arguments->perm,    &arguments->out,   &arguments->at,
                           &arguments->channels};

    *arguments = (struct arguments){0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOOOO:Plan", names, &arguments->src,
                                     &arguments->pad, &arguments->slice, &arguments->step,
                                     &arguments->perm, &arguments->out, &arguments->at,
                                     &arguments->channels))
        return -1;
    for (size_t i = 0; i < sizeof(member) / sizeof(member[0]); i++) {
        if (*member[i] == Py_None)
            *member[i] = NULL;
    }
    return 0;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct arguments arguments;
    struct operation operation;
    uint32_t channels;
    struct plan *self;

    plan_reap();
    if (read_call(&arguments, args, kwargs) || plan_read_channels(arguments.channels, &channels) ||
        operation_open(&operation, &arguments))
        return NULL;
    self = operation_check(&operation) ? NULL : PyObject_New(struct plan, type);
    if (!self) {
        operation_close(&operation);
        return NULL;
    }
    self->operation = operation;
    self->channels = channels;
    self->running = NULL;
    return (PyObject *)self;
}

static void plan_dealloc(struct plan *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    operation_close(&self->operation);
    PyObject_Free(self);
    Py_DECREF((PyObject *)type);
}

/* Refuses a second start while a transfer of the plan runs, which would write the same bytes. */
static int check_idle(struct plan *self)
{
    plan_reap();
    if (!self->running)
        return 0;
    raise_refused(MLI_STATUS_ARGUMENT_ERROR, "plan", NULL, "a transfer of this plan runs already");
    return -1;
}

PyDoc_STRVAR(
    plan_start_doc,
    "start($self, /)\n--\n\n"
    "Start the move and return an mli.Transfer at once.\n\n"
    "If no DMA channel is free, the transfer waits until others have ended. Do not change\n"
    "`src`, nor use `out`, before the transfer has ended. A plan has one transfer at a "
    "time.");

static PyObject *plan_start(struct plan *self, PyObject *unused)
{
    struct transfer *transfer;
    PyThreadState *thread;
    mli_status status;

    (void)unused;
    if (check_idle(self))
        return NULL;
    transfer = transfer_new(self);
    if (!transfer || !transfer->state)
        return (PyObject *)transfer;
    self->running = transfer->state;
    thread = PyEval_SaveThread(); /* the engine "inline" moves all data inside flight_start() */
    status = flight_start(&transfer->state->flight);
    PyEval_RestoreThread(thread);
    if (status == MLI_STATUS_OK) {
        plan_reap();
        return (PyObject *)transfer;
    }
    raise_last_error(status);
    self->running = NULL;
    Py_CLEAR(transfer->state->plan);
    free(transfer->state);
    transfer->state = NULL;
    Py_DECREF((PyObject *)transfer);
    return NULL;
}

/* Starts a plan and waits. A signal's exception cancels the transfer, and waits for its end. */
static PyObject *start_and_wait(struct plan *self)
{
    struct transfer *transfer = (struct transfer *)plan_start(self, NULL);
    PyObject *result = NULL;

    if (!transfer)
        return NULL;
    if (!transfer->state || wait_for(&transfer->state->flight, Py_HUGE_VAL) == 0) {
        plan_reap();
        result = result_of(transfer);
    } else {
        PyThreadState *thread = PyEval_SaveThread();

        flight_cancel(&transfer->state->flight);
        flight_wait(&transfer->state->flight, Py_HUGE_VAL);
        PyEval_RestoreThread(thread);
    }
    Py_DECREF((PyObject *)transfer);
    return result;
}

PyDoc_STRVAR(plan_run_doc, "run($self, /)\n--\n\n"
                           "Move, and return the array that holds the result.");

static PyObject *plan_run(struct plan *self, PyObject *unused)
{
    (void)unused;
    if (check_idle(self))
        return NULL;
    if (self->channels > 1)
        return start_and_wait(self);
    return operation_run(&self->operation) ? NULL : Py_NewRef(self->operation.result);
}

PyDoc_STRVAR(plan_time_doc, "_time($self, count, /)\n--\n\n"
                            "Move `count` times on this thread and return the nanoseconds: what "
                            "the calls of\nlibmli take without Python, for benchmarks.");

static PyObject *plan_time(struct plan *self, PyObject *count)
{
    const unsigned long times = PyLong_AsUnsignedLong(count);
    int64_t taken;

    if ((PyErr_Occurred() && times == (unsigned long)-1) || check_idle(self))
        return NULL;
    taken = operation_time(&self->operation, times < UINT32_MAX ? (uint32_t)times : UINT32_MAX);
    return taken < 0 ? NULL : PyLong_FromLongLong(taken);
}

PyObject *plan_run_on_channels(struct operation *operation, uint32_t channels)
{
    struct plan *plan = operation_check(operation) ? NULL : PyObject_New(struct plan, plan_type);
    PyObject *result;

    if (!plan) {
        operation_close(operation);
        return NULL;
    }
    plan->operation = *operation;
    plan->channels = channels;
    plan->running = NULL;
    result = start_and_wait(plan);
    Py_DECREF((PyObject *)plan);
    return result;
}

static PyObject *plan_get_out(struct plan *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->operation.result);
}

static PyObject *plan_get_shape(struct plan *self, void *unused)
{
    (void)unused;
    return tuple_of_integers(self->operation.window.shape, self->operation.window.result_rank);
}

static PyObject *plan_get_bytes(struct plan *self, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(self->operation.bytes);
}

static PyObject *plan_get_moves(struct plan *self, void *unused)
{
    struct move_iterator iterator;
    struct move move;
    size_t count = 0;

    (void)unused;
    if (self->operation.bytes > 0) {
        move_iterator_init(&iterator, &self->operation.nest);
        while (move_iterator_next(&iterator, &move))
            count++;
    }
    return PyLong_FromSize_t(count);
}

static PyMethodDef plan_methods[] = {
    {"run", (PyCFunction)plan_run, METH_NOARGS, plan_run_doc},
    {"start", (PyCFunction)plan_start, METH_NOARGS, plan_start_doc},
    {"_time", (PyCFunction)plan_time, METH_O, plan_time_doc},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, generic_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef plan_members[] = {
    {"out", (getter)plan_get_out, NULL, "The array that receives the result.", NULL},
    {"shape", (getter)plan_get_shape, NULL, "Shape of the result.", NULL},
    {"bytes", (getter)plan_get_bytes, NULL, "Bytes that each run writes.", NULL},
    {"moves", (getter)plan_get_moves, NULL,
     "Moves of libmli that each run takes; 1, if the arrays fold into four dimensions.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    plan_doc,
    "Plan(src, *, pad=None, slice=None, step=None, perm=None, out=None, at=None, "
    "channels=1)\n--\n\n"
    "A move that is checked once, to run it often. The arguments are those of mli.move().\n"
    "The plan keeps `src` and `out`; each run moves what `src` holds then.");

static PyType_Slot plan_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)plan_doc},
    {Py_tp_new, plan_new},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_methods, plan_methods},
    {Py_tp_getset, plan_members},
    {0, NULL},
};

static PyType_Spec plan_spec = {
    .name = "mli.Plan",
    .basicsize = sizeof(struct plan),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = plan_slots,
};

int plan_init(PyObject *module)
{
    transfer_type = (PyTypeObject *)PyType_FromSpec(&transfer_spec);
    plan_type = (PyTypeObject *)PyType_FromSpec(&plan_spec);
    if (!transfer_type || !plan_type || PyModule_AddType(module, transfer_type) < 0)
        return -1;
    return PyModule_AddType(module, plan_type);
}
