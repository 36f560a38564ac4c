/* SPDX-License-Identifier: BSD-3-Clause */
/* The extension module mli._core: moves of arrays over libmli. The package mli is its public
 * interface. */

#include "python/core/module.h"
#include "mli_helpers_api.h"
#include "python/core/array.h"
#include "python/core/errors.h"
#include "python/core/flight.h"
#include "python/core/integers.h"

/* The docstring of mli.move(). */
/* clang-format off */
#define MOVE_DOC \
    "move($module, src, *, pad=None, slice=None, step=None, perm=None, out=None, at=None, channels=1)\n" \
    "--\n\n" \
    "Copy, pad, slice, subsample, permute and place an array, in one pass over its data.\n" \
    "\n" \
    "The steps happen in the order of the arguments: pad `src` with zeros, cut the window\n" \
    "`slice` out of the padded array, keep every `step`-th sample, permute the dimensions, and\n" \
    "write the result at the offsets `at` of `out`.\n" \
    "\n" \
    "Parameters\n" \
    "----------\n" \
    "src : array\n" \
    "    Any object with the buffer protocol, `__array_interface__` or `__dlpack__` (memory of\n" \
    "    the processor): 0 to 8 dimensions, elements of any plain type, strides of 0 or more.\n" \
    "pad : int, (before, after), or [(before, after), ...]\n" \
    "    Zero samples around `src`: the same for all dimensions, or a pair for each dimension.\n" \
    "slice : int, slice, ..., a tuple of these, or str\n" \
    "    Index of the padded array in NumPy's notation, like ``np.s_[1:9, ::2]``, or the same as\n" \
    "    text, ``\"1:9, ::2\"``. Indices count from 0; negative ones count from the end. An\n" \
    "    integer removes its dimension. Steps are 1 or more.\n" \
    "step : int, or a sequence with one for each dimension of `src`\n" \
    "    Keep every step-th sample of the window, beginning with the first.\n" \
    "perm : sequence of int\n" \
    "    Dimension i of the result is dimension perm[i] of the window, as in\n" \
    "    `numpy.transpose()`.\n" \
    "out : array\n" \
    "    Receives the result: writable, with the element type of `src`, and without bytes that\n" \
    "    the move reads. Without `at` it has the shape of the result. Default: a new NumPy array\n" \
    "    in C order. Memory of `out` outside the result does not change.\n" \
    "at : int, or a sequence with one for each dimension of the result\n" \
    "    Offsets of the result in `out`, from 0 on; an integer is the offset in all dimensions.\n" \
    "    Default: 0.\n" \
    "channels : int\n" \
    "    DMA channels that share the move, 1 to 16, but at most all channels that the engine has:\n" \
    "    see `mli.configure()`. With 1, the calling thread moves the data.\n" \
    "\n" \
    "Returns\n" \
    "-------\n" \
    "array\n" \
    "    `out`, or the new array. It belongs to the caller, and shares no memory with `src`.\n" \
    "\n" \
    "Raises\n" \
    "------\n" \
    "mli.Error\n" \
    "    An argument is refused, and nothing was written: see its attributes `status`, `field`,\n" \
    "    `given` and `allowed`. With the status DMA_ERROR the engine failed, and the result may\n" \
    "    be partly written.\n" \
    "TypeError\n" \
    "    An argument has the wrong type, as a list for `src`.\n" \
    "MemoryError\n" \
    "    There is no memory for the result.\n" \
    "\n" \
    "Notes\n" \
    "-----\n" \
    "Other threads run during moves of more than 32 KiB: do not change `src`, nor use `out`,\n" \
    "meanwhile. Ctrl-C takes effect when the move is complete; with `channels` above 1, or while\n" \
    "the result of a Transfer is awaited, at once.\n" \
    "\n" \
    "Examples\n" \
    "--------\n" \
    ">>> import numpy as np\n" \
    ">>> image = np.arange(12, dtype=np.int8).reshape(3, 4)\n" \
    ">>> mli.move(image, pad=((1, 0), (0, 1)), slice=np.s_[:2])\n" \
    "array([[0, 0, 0, 0, 0],\n" \
    "       [0, 1, 2, 3, 0]], dtype=int8)\n" \
    ">>> mli.move(image, slice=\"1, ::2\")\n" \
    "array([4, 6], dtype=int8)\n" \
    ">>> mosaic = np.zeros((4, 6), np.int8)\n" \
    ">>> mli.move(image, perm=(1, 0), out=mosaic, at=(0, 3))\n" \
    "array([[ 0,  0,  0,  0,  4,  8],\n" \
    "       [ 0,  0,  0,  1,  5,  9],\n" \
    "       [ 0,  0,  0,  2,  6, 10],\n" \
    "       [ 0,  0,  0,  3,  7, 11]], dtype=int8)\n" \
    ">>> mli.move(image, perm=(0, 0))\n" \
    "Traceback (most recent call last):\n" \
    "mli.Error: perm[1]: 0 given; each dimension is allowed once (BAD_FUNC_CFG)\n"
/* clang-format on */

PyDoc_STRVAR(move_doc, MOVE_DOC);

PyDoc_STRVAR(
    register_doc,
    "register($module, type, move, plan, /)\n--\n\n"
    "Let move(src, pad, slice, step, perm, out, at, channels) move objects of a type, and\n"
    "plan(src, pad, slice, step, perm, out, at) return (array, array for the result or None,\n"
    "wrap, store or None): see python/core/extension.c. Arguments that are not given are None.");

static PyObject *module_move(PyObject *Py_UNUSED(module), PyObject *const *values, Py_ssize_t count,
                             PyObject *names)
{
    struct arguments arguments;
    struct operation operation;
    uint32_t channels = 1;
    PyObject *result = NULL;

    if (arguments_read(&arguments, "move", values, count, names))
        return NULL;
    if (extension_has(arguments.src))
        return extension_move(&arguments);
    if (arguments.channels && plan_read_channels(arguments.channels, &channels))
        return NULL;
    if (channels > 1)
        return operation_open(&operation, &arguments, false)
                   ? NULL
                   : plan_run_on_channels(&operation, channels);
    if (operation_open(&operation, &arguments, true))
        return NULL;
    if (operation_run(&operation) == 0) {
        result = operation.result;
        operation.result = NULL;
    }
    operation_close(&operation);
    return result;
}

PyDoc_STRVAR(as_array_doc,
             "as_array($module, array, name, /)\n--\n\n"
             "Return a NumPy array with the memory of any array. `name` is the name of\n"
             "the argument, for errors.");

static PyObject *module_as_array(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *object;
    const char *name;

    return PyArg_ParseTuple(args, "Os:as_array", &object, &name) ? array_of(object, name) : NULL;
}

/* Describing */

PyDoc_STRVAR(window_doc,
             "window($module, src, *, pad=None, slice=None, step=None, perm=None)\n--\n\n"
             "Return (shape, strides, itemsize, dimensions, order, shape of the result): the\n"
             "window of a move by source dimension, strides in bytes.");

static PyObject *module_window(PyObject *Py_UNUSED(module), PyObject *const *values,
                               Py_ssize_t count, PyObject *names)
{
    struct arguments arguments;
    struct window window;
    struct view src;
    PyObject *description = NULL;

    if (arguments_read(&arguments, "window", values, count, names) ||
        view_open(&src, arguments.src, "src"))
        return NULL;
    if (window_read(&window, &src, arguments.pad, arguments.slice, arguments.step,
                    arguments.perm) == 0)
        description = describe_window(&window, &src);
    view_release(&src);
    return description;
}

/* Engine and channels */

PyDoc_STRVAR(configure_doc, "configure($module, /, engine=None, channels=0)\n--\n\n"
                            "See mli.configure.");

static PyObject *module_configure(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {KEYWORD("engine"), KEYWORD("channels"), NULL};
    const char *engine = NULL, *why;
    mli_status status;
    int channels = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zi:configure", names, &engine, &channels))
        return NULL;
    transfer_reap();
    if (channels < 0 || channels > MLI_MOV_MAX_CHANNELS) {
        raise_number(MLI_STATUS_ARGUMENT_ERROR, "channels", channels, "0 to %d are allowed",
                     MLI_MOV_MAX_CHANNELS);
        return NULL;
    }
    status = flight_configure(engine, (uint32_t)channels, &why);
    if (status == MLI_STATUS_OK)
        return Py_NewRef(Py_None);
    raise_reason(status, why);
    return NULL;
}

PyDoc_STRVAR(engine_doc, "engine($module, /)\n--\n\n"
                         "Return (name of the engine, number of channels).");

static PyObject *module_engine(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    return Py_BuildValue("sI", mli_mov_engine_name(), flight_channels());
}

PyDoc_STRVAR(shutdown_doc, "shutdown($module, /)\n--\n\n"
                           "Cancel all transfers and wait for their ends.");

static PyObject *module_shutdown(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyThreadState *thread = PyEval_SaveThread();

    flight_shutdown();
    PyEval_RestoreThread(thread);
    transfer_reap();
    return Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"move", (PyCFunction)(void (*)(void))module_move, METH_FASTCALL | METH_KEYWORDS, move_doc},
    {"as_array", module_as_array, METH_VARARGS, as_array_doc},
    {"window", (PyCFunction)(void (*)(void))module_window, METH_FASTCALL | METH_KEYWORDS,
     window_doc},
    {"register", extension_register, METH_VARARGS, register_doc},
    {"configure", (PyCFunction)(void (*)(void))module_configure, METH_VARARGS | METH_KEYWORDS,
     configure_doc},
    {"engine", module_engine, METH_NOARGS, engine_doc},
    {"shutdown", module_shutdown, METH_NOARGS, shutdown_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mli._core",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module &&
        (errors_init() || operation_init() || transfer_init(module) || plan_init(module) ||
         PyModule_AddStringConstant(module, "version", mli_version()) < 0))
        Py_CLEAR(module);
    return module;
}
