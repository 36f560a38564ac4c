/* SPDX-License-Identifier: BSD-3-Clause */
/* mli.Plan. */
#include "python/core/module.h"

#include <structmember.h>

#include "python/core/errors.h"
#include "python/core/integers.h"

struct plan {
    PyObject_HEAD;
    struct operation operation;
    uint32_t channels;
    bool running;    /* a transfer has not been reaped */
    PyObject *store; /* called after each move; null: nothing to store */
    PyObject *weak;  /* weak references */
};

static PyTypeObject *plan_type;

/* Plans */

int plan_read_channels(PyObject *object, uint32_t *channels)
{
    int64_t number = 1;

    if (object && read_integer(object, "channels", -1, &number))
        return -1;
    if (number < 1 || number > MLI_MOV_MAX_CHANNELS)
        return raise_number(MLI_STATUS_ARGUMENT_ERROR, "channels", number, "1 to %d are allowed",
                            MLI_MOV_MAX_CHANNELS);
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

/* Takes ownership of the operation, also on failure. */
static struct plan *create(struct operation *operation, uint32_t channels)
{
    struct plan *self = operation_check(operation) ? NULL : PyObject_GC_New(struct plan, plan_type);

    if (!self) {
        operation_close(operation);
        return NULL;
    }
    self->operation = *operation;
    self->channels = channels;
    self->running = false;
    self->store = self->weak = NULL;
    PyObject_GC_Track(self);
    return self;
}

static PyObject *plan_new(PyTypeObject *Py_UNUSED(type), PyObject *args, PyObject *kwargs)
{
    struct arguments arguments;
    struct operation operation;
    struct extended extended;
    uint32_t channels = 0;
    struct plan *self;

    transfer_reap();
    if (read_call(&arguments, args, kwargs) || plan_read_channels(arguments.channels, &channels) ||
        extension_open(&extended, &arguments))
        return NULL;
    self = operation_open(&operation, &arguments, false) ? NULL : create(&operation, channels);
    if (self && extended.parts &&
        result_wrap(extended.wrap, extended.store, &self->operation.result, &self->store))
        Py_CLEAR(self);
    Py_XDECREF(extended.parts);
    return (PyObject *)self;
}

static int plan_traverse(struct plan *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->store);
    return operation_traverse(&self->operation, visit, arg);
}

/* Not called while a transfer runs, because the transfer holds a reference. */
static int plan_clear(struct plan *self)
{
    operation_clear(&self->operation);
    Py_CLEAR(self->store);
    return 0;
}

static void plan_dealloc(struct plan *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);

    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    operation_close(&self->operation);
    Py_XDECREF(self->store);
    PyObject_GC_Del(self);
    Py_DECREF((PyObject *)type);
}

/* Refuses a second start while a transfer of the plan runs, which would write the same bytes. */
static int check_idle(struct plan *self)
{
    transfer_reap();
    if (!self->running)
        return 0;
    return raise_refused(MLI_STATUS_ARGUMENT_ERROR, "plan", NULL,
                         "a transfer of this plan runs already");
}

PyDoc_STRVAR(
    plan_start_doc,
    "start($self, /)\n--\n\n"
    "Start the move and return an mli.Transfer at once.\n\n"
    "If no DMA channel is free, the transfer waits until others have ended. Do not change\n"
    "`src`, nor use `out`, before the transfer has ended. A plan has one transfer at a "
    "time.");

static PyObject *plan_start(struct plan *self, PyObject *Py_UNUSED(unused))
{
    const struct operation *operation = &self->operation;

    if (check_idle(self))
        return NULL;
    return transfer_start((PyObject *)self,
                          operation->layout.bytes > 0 ? &operation->layout.nest : NULL,
                          self->channels, operation->result, self->store, &self->running);
}

static PyObject *start_and_wait(struct plan *self)
{
    PyObject *transfer = plan_start(self, NULL);
    PyObject *result = transfer ? transfer_wait(transfer) : NULL;

    Py_XDECREF(transfer);
    return result;
}

PyDoc_STRVAR(plan_run_doc, "run($self, /)\n--\n\n"
                           "Move, and return the array that holds the result.");

static PyObject *plan_run(struct plan *self, PyObject *Py_UNUSED(unused))
{
    if (check_idle(self))
        return NULL;
    if (self->channels > 1)
        return start_and_wait(self);
    if (operation_run(&self->operation) || transfer_store(self->store))
        return NULL;
    return Py_NewRef(self->operation.result);
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
    struct plan *plan = create(operation, channels);
    PyObject *result = plan ? start_and_wait(plan) : NULL;

    Py_XDECREF((PyObject *)plan);
    return result;
}

static PyObject *plan_repr(PyObject *object)
{
    const struct plan *self = (const struct plan *)object;
    const struct window *window = &self->operation.layout.window;
    PyObject *shape = tuple_of_integers(window->shape, window->result_rank), *text = NULL;

    if (shape)
        text = PyUnicode_FromFormat("<mli.Plan of a result with the shape %R, %lld bytes>", shape,
                                    (long long)self->operation.layout.bytes);
    Py_XDECREF(shape);
    return text;
}

static PyObject *plan_get_out(struct plan *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(self->operation.result);
}

static PyObject *plan_get_shape(struct plan *self, void *Py_UNUSED(unused))
{
    return tuple_of_integers(self->operation.layout.window.shape,
                             self->operation.layout.window.result_rank);
}

static PyObject *plan_get_bytes(struct plan *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLongLong(self->operation.layout.bytes);
}

static PyObject *plan_get_moves(struct plan *self, void *Py_UNUSED(unused))
{
    struct move_iterator iterator;
    struct move move;
    size_t count = 0;

    if (self->operation.layout.bytes > 0) {
        move_iterator_init(&iterator, &self->operation.layout.nest);
        while (move_iterator_next(&iterator, &move))
            count++;
    }
    return PyLong_FromSize_t(count);
}

PyDoc_STRVAR(generic_doc, "For annotations, like Plan[NDArray[int8]]: the type of the result.");

static PyObject *plan_get_window(struct plan *self, void *Py_UNUSED(unused))
{
    const struct operation *operation = &self->operation;

    return Py_BuildValue(
        "NN", describe_window(&operation->layout.window, &operation->src),
        tuple_of_integers(operation->layout.at, operation->layout.window.result_rank));
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
    {"_window", (getter)plan_get_window, NULL,
     "(what _core.window() returns, first coordinate of the result in `out`).", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    plan_doc,
    "Plan(src, *, pad=None, slice=None, step=None, perm=None, out=None, at=None, "
    "channels=1)\n--\n\n"
    "A move that is checked once, to run it often. The arguments are those of mli.move().\n"
    "The plan keeps `src` and `out`; each run moves what `src` holds then. The parameters of a\n"
    "QTensor are those of its elements when the plan is made.");

static PyMemberDef plan_weak[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct plan, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot plan_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t)plan_doc},
    {Py_tp_traverse, plan_traverse},
    {Py_tp_clear, plan_clear},
    {Py_tp_members, plan_weak},
    {Py_tp_new, plan_new},
    {Py_tp_repr, plan_repr},
    {Py_tp_dealloc, plan_dealloc},
    {Py_tp_methods, plan_methods},
    {Py_tp_getset, plan_members},
    {0, NULL},
};

static PyType_Spec plan_spec = {
    .name = "mli.Plan",
    .basicsize = sizeof(struct plan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = plan_slots,
};

int plan_init(PyObject *module)
{
    plan_type = (PyTypeObject *)PyType_FromSpec(&plan_spec);
    return plan_type ? PyModule_AddType(module, plan_type) : -1;
}
