/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/module.h"

#include "python/core/integers.h"
#include "python/core/operation.h"

static PyObject *describe_dimensions(const struct window *window)
{
    PyObject *dims = PyList_New(0);

    for (uint32_t i = 0; dims && i < window->rank; i++) {
        const struct window_dim *dim = &window->dim[i];
        PyObject *entry = Py_BuildValue("{sLsLsLsLsLsO}", "pre", (long long)dim->pre, "post",
                                        (long long)dim->post, "offset", (long long)dim->offset,
                                        "size", (long long)dim->size, "step", (long long)dim->step,
                                        "dropped", dim->dropped ? Py_True : Py_False);

        if (!entry || PyList_Append(dims, entry) < 0)
            Py_CLEAR(dims);
        Py_XDECREF(entry);
    }
    return dims;
}

PyObject *describe_window(const struct window *window, const struct view *src)
{
    int64_t order[NEST_RANK_MAX];

    for (uint32_t i = 0; i < window->result_rank; i++)
        order[i] = window->order[i];
    return Py_BuildValue("NNLNNN", tuple_of_integers(src->shape, src->rank),
                         tuple_of_integers(src->step, src->rank), (long long)src->size,
                         describe_dimensions(window), tuple_of_integers(order, window->result_rank),
                         tuple_of_integers(window->shape, window->result_rank));
}
