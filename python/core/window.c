/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/window.h"

#include "python/core/errors.h"
#include "python/core/integers.h"

static bool is_given(PyObject *object)
{
    return object && object != Py_None;
}

/* Pad: like pad_width of numpy.pad */

static const char PAD_FORMS[] =
    "an integer, a pair (before, after), or such a pair for each dimension";

static int read_pair(PyObject *pair, Py_ssize_t index, int64_t *pre, int64_t *post)
{
    PyObject *tuple = tuple_of(pair, "pad", index, "a pair (before, after)");
    int status;

    if (!tuple)
        return -1;
    if (PyTuple_Size(tuple) == 2)
        status = read_at_least(PyTuple_GetItem(tuple, 0), "pad", index, 0, pre) ||
                 read_at_least(PyTuple_GetItem(tuple, 1), "pad", index, 0, post);
    else
        status = raise_refused(MLI_STATUS_BAD_FUNC_CFG, place_of("pad", index).text, pair,
                               "a pair (before, after) is required");
    Py_DECREF(tuple);
    return status ? -1 : 0;
}

static int read_pads(struct window *window, PyObject *tuple, PyObject *pad)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    struct window_dim *dim = window->dim;

    if (count == 2 && is_integer(PyTuple_GetItem(tuple, 0)) &&
        is_integer(PyTuple_GetItem(tuple, 1))) {
        int64_t pre, post;

        if (read_pair(tuple, -1, &pre, &post))
            return -1;
        for (uint32_t i = 0; i < window->rank; i++) {
            dim[i].pre = pre;
            dim[i].post = post;
        }
        return 0;
    }
    if (count != 1 && count != window->rank)
        return raise_refused(MLI_STATUS_BAD_FUNC_CFG, "pad", pad,
                             "%s is required; the rank of the source is %d", PAD_FORMS,
                             (int)window->rank);
    for (uint32_t i = 0; i < window->rank; i++) {
        const Py_ssize_t index = count == 1 ? 0 : (Py_ssize_t)i;

        if (read_pair(PyTuple_GetItem(tuple, index), index, &dim[i].pre, &dim[i].post))
            return -1;
    }
    return 0;
}

static int read_pad(struct window *window, PyObject *pad)
{
    if (is_integer(pad)) {
        int64_t all;

        if (read_at_least(pad, "pad", -1, 0, &all))
            return -1;
        for (uint32_t i = 0; i < window->rank; i++)
            window->dim[i].pre = window->dim[i].post = all;
        return 0;
    }
    PyObject *tuple = tuple_of(pad, "pad", -1, PAD_FORMS);
    const int status = tuple ? read_pads(window, tuple, pad) : -1;
    Py_XDECREF(tuple);
    return status;
}

/* Slice: like the index of a NumPy array */

/* A sample outside the window is an error, as in NumPy; a slice beyond the end is cut. */
static int choose_sample(struct window_dim *dim, PyObject *index, Py_ssize_t at)
{
    int64_t sample;

    if (read_integer(index, "slice", at, &sample))
        return -1;
    if (sample < -dim->size || sample >= dim->size)
        return raise_number(MLI_STATUS_BAD_FUNC_CFG, place_of("slice", at).text, sample,
                            dim->size > 0 ? "%lld to %lld are allowed" : "the dimension is empty",
                            (long long)-dim->size, (long long)dim->size - 1);
    dim->offset = sample < 0 ? sample + dim->size : sample;
    dim->size = 1;
    dim->dropped = true;
    return 0;
}

/* Returns whether the step of a slice is the number 0, which Python refuses with a ValueError. */
static bool has_step_zero(PyObject *range)
{
    PyObject *type, *error, *trace, *step;
    bool zero;

    PyErr_Fetch(&type, &error, &trace);
    step = PyObject_GetAttrString(range, "step");
    zero = step && PyLong_Check(step) && PyObject_IsTrue(step) == 0;
    Py_XDECREF(step);
    PyErr_Restore(type, error, trace);
    return zero;
}

static int choose_range(struct window_dim *dim, PyObject *range, Py_ssize_t at)
{
    Py_ssize_t start, stop, step;

    if (PySlice_Unpack(range, &start, &stop, &step) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError) || !has_step_zero(range))
            return -1;
        PyErr_Clear();
        step = 0;
    }
    if (step < 1)
        return raise_number(MLI_STATUS_BAD_FUNC_CFG, place_of("slice", at).text, step,
                            "steps from 1 on are allowed");
    PySlice_AdjustIndices(dim->size, &start, &stop, step);
    dim->offset = start;
    dim->size = stop > start ? stop - start : 0;
    dim->step = step < ELEMENTS_MAX ? step : ELEMENTS_MAX;
    return 0;
}

/* Checks the types of indices. Returns the number of indices without ellipses, or -1. */
static Py_ssize_t count_indices(const struct window *window, PyObject *tuple)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    Py_ssize_t indices = 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *index = PyTuple_GetItem(tuple, i);

        if (index == Py_Ellipsis)
            continue;
        if (!PySlice_Check(index) &&
            (!is_integer(index) || PyBool_Check(index) || ndarray_is_boolean(index))) {
            PyErr_Format(PyExc_TypeError,
                         "%s: an integer, a slice or an ellipsis is required, not %R%s",
                         place_of("slice", i).text, index,
                         index == Py_None ? " (numpy.newaxis): reshape the result" : "");
            return -1;
        }
        indices++;
    }
    if (indices > window->rank)
        return raise_number(MLI_STATUS_BAD_FUNC_CFG, "slice", (long long)indices,
                            "at most %d indices are allowed, one for each dimension",
                            (int)window->rank);
    if (count - indices > 1)
        return raise_number(MLI_STATUS_BAD_FUNC_CFG, "slice", (long long)(count - indices),
                            "at most one ellipsis is allowed");
    return indices;
}

static int read_indices(struct window *window, PyObject *tuple)
{
    const Py_ssize_t count = PyTuple_Size(tuple), indices = count_indices(window, tuple);
    uint32_t d = 0;
    int status = indices < 0 ? -1 : 0;

    for (Py_ssize_t i = 0; i < count && status == 0; i++) {
        PyObject *index = PyTuple_GetItem(tuple, i);

        if (index == Py_Ellipsis)
            d += window->rank - (uint32_t)indices;
        else if (PySlice_Check(index))
            status = choose_range(&window->dim[d++], index, i);
        else
            status = choose_sample(&window->dim[d++], index, i);
    }
    return status;
}

static int read_slice(struct window *window, PyObject *slice)
{
    PyObject *tuple;
    int status;

    if (PyUnicode_Check(slice))
        tuple = call_imported("mli._slices", "parse", slice);
    else if (PyTuple_Check(slice))
        tuple = Py_NewRef(slice);
    else
        tuple = PyTuple_Pack(1, slice);
    status = tuple ? read_indices(window, tuple) : -1;
    Py_XDECREF(tuple);
    return status;
}

/* Step: every step-th sample of the window */

static int read_step(struct window *window, PyObject *step)
{
    PyObject *tuple = is_integer(step)
                          ? NULL
                          : tuple_of(step, "step", -1, "an integer, or one for each dimension");
    int status = 0;

    if (!tuple && PyErr_Occurred())
        return -1;
    if (tuple && PyTuple_Size(tuple) != window->rank)
        status =
            raise_refused(MLI_STATUS_BAD_FUNC_CFG, "step", step,
                          "an integer, or a sequence of length %d, is required", (int)window->rank);
    for (uint32_t i = 0; i < window->rank && status == 0; i++) {
        struct window_dim *dim = &window->dim[i];
        int64_t factor;

        status = read_at_least(tuple ? PyTuple_GetItem(tuple, (Py_ssize_t)i) : step, "step",
                               tuple ? (Py_ssize_t)i : -1, 1, &factor);
        if (status == 0 && __builtin_mul_overflow(dim->step, factor, &dim->step))
            dim->step = ELEMENTS_MAX;
    }
    Py_XDECREF(tuple);
    return status;
}

/* Perm: like the axes of numpy.transpose */

static int read_order(struct window *window, PyObject *tuple, PyObject *perm)
{
    const uint32_t rank = window->result_rank;
    uint32_t before[NEST_RANK_MAX], seen = 0;

    if (PyTuple_Size(tuple) != (Py_ssize_t)rank)
        return raise_refused(MLI_STATUS_BAD_FUNC_CFG, "perm", perm,
                             "a sequence of length %d is required", (int)rank);
    for (uint32_t i = 0; i < rank; i++)
        before[i] = window->order[i];
    for (uint32_t i = 0; i < rank; i++) {
        int64_t d;

        if (read_integer(PyTuple_GetItem(tuple, (Py_ssize_t)i), "perm", (Py_ssize_t)i, &d))
            return -1;
        if (d < -(int64_t)rank || d >= rank)
            return raise_number(MLI_STATUS_BAD_FUNC_CFG, place_of("perm", i).text, d,
                                "%d to %d are allowed", -(int)rank, (int)rank - 1);
        const int64_t from = d < 0 ? d + rank : d;
        if (seen & 1u << from)
            return raise_number(MLI_STATUS_BAD_FUNC_CFG, place_of("perm", i).text, d,
                                "each dimension is allowed once");
        seen |= 1u << from;
        window->order[i] = before[from];
    }
    return 0;
}

static int read_perm(struct window *window, PyObject *perm)
{
    PyObject *tuple = tuple_of(perm, "perm", -1, "a sequence of dimensions");
    const int status = tuple ? read_order(window, tuple, perm) : -1;

    Py_XDECREF(tuple);
    return status;
}

/* The window */

static int64_t samples_of(const struct window_dim *dim)
{
    return dim->size > 0 ? (dim->size - 1) / dim->step + 1 : 0;
}

static void start(struct window *window, const struct view *src)
{
    window->rank = src->rank;
    window->result_rank = 0;
    window->empty = false;
    for (uint32_t i = 0; i < src->rank; i++)
        window->dim[i] = (struct window_dim){.step = 1};
}

int window_read(struct window *window, const struct view *src, PyObject *pad, PyObject *slice,
                PyObject *step, PyObject *perm)
{
    start(window, src);
    if (is_given(pad) && read_pad(window, pad))
        return -1;
    for (uint32_t i = 0; i < src->rank; i++)
        window->dim[i].size = window->dim[i].pre + src->shape[i] + window->dim[i].post;
    if (is_given(slice) && read_slice(window, slice))
        return -1;
    if (is_given(step) && read_step(window, step))
        return -1;
    for (uint32_t i = 0; i < src->rank; i++) {
        window->empty = window->empty || window->dim[i].size == 0;
        if (!window->dim[i].dropped)
            window->order[window->result_rank++] = i;
    }
    if (is_given(perm) && read_perm(window, perm))
        return -1;
    for (uint32_t i = 0; i < window->result_rank; i++)
        window->shape[i] = samples_of(&window->dim[window->order[i]]);
    return 0;
}

/* Returns the number of window samples that come before the sample `limit` of the padded source. */
static int64_t count_below(const struct window_dim *dim, int64_t limit)
{
    const int64_t samples = samples_of(dim);

    if (limit <= dim->offset)
        return 0;
    if ((limit - dim->offset - 1) / dim->step >= samples)
        return samples;
    return (limit - dim->offset - 1) / dim->step + 1;
}

static struct axis axis_of(const struct window_dim *dim, int64_t extent, int64_t src_step,
                           int64_t *offset)
{
    const int64_t lo = count_below(dim, dim->pre), hi = count_below(dim, dim->pre + extent);

    if (hi > lo)
        *offset += (dim->offset + lo * dim->step - dim->pre) * src_step;
    return (struct axis){lo, hi - lo, samples_of(dim) - hi, hi - lo > 1 ? src_step * dim->step : 0,
                         0};
}

uint32_t window_axes(const struct window *window, const struct view *src,
                     struct axis axis[NEST_RANK_MAX], int64_t *offset)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < window->result_rank; i++) {
        const uint32_t d = window->order[i];

        axis[count++] = axis_of(&window->dim[d], src->shape[d], src->step[d], offset);
    }
    for (uint32_t d = 0; d < window->rank; d++) {
        if (!window->dim[d].dropped)
            continue;
        axis[count] = axis_of(&window->dim[d], src->shape[d], src->step[d], offset);
        count += axis[count].samples == 0;
    }
    return count;
}
