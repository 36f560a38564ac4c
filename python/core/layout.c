/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/layout.h"

#include <string.h>

#include "python/core/errors.h"
#include "python/core/integers.h"

static int refuse_shape(const struct window *window, const struct view *dst, const int64_t *at)
{
    PyObject *shape = tuple_of_integers(dst->shape, dst->rank);
    PyObject *result = tuple_of_integers(window->shape, window->result_rank);
    PyObject *offsets = at ? tuple_of_integers(at, window->result_rank) : NULL;

    if (shape && result && offsets)
        raise_refused(MLI_STATUS_SHAPE_MISMATCH, "out", shape,
                      "the shape must have room for %R at the offsets `at`, %R", result, offsets);
    else if (shape && result && !at)
        raise_refused(MLI_STATUS_SHAPE_MISMATCH, "out", shape,
                      "the shape %R is required (or give `at`, to write a part)", result);
    Py_XDECREF(offsets);
    Py_XDECREF(shape);
    Py_XDECREF(result);
    return -1;
}

/* Reads `at`, the offsets of the result in `out`. */
static int read_offsets(PyObject *object, uint32_t rank, int64_t *at)
{
    PyObject *tuple = is_integer(object)
                          ? NULL
                          : tuple_of(object, "at", -1, "an integer, or one for each dimension");
    int status = !tuple && PyErr_Occurred() ? -1 : 0;

    if (tuple && PyTuple_Size(tuple) != (Py_ssize_t)rank) {
        raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", object,
                      "an integer, or a sequence of length %d, is required", (int)rank);
        status = -1;
    }
    for (uint32_t i = 0; i < rank && status == 0; i++) {
        status = read_integer(tuple ? PyTuple_GetItem(tuple, i) : object, "at",
                              tuple ? (Py_ssize_t)i : -1, &at[i]);
        if (status == 0 && at[i] < 0) {
            raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", object, "offsets from 0 on are allowed");
            status = -1;
        }
    }
    Py_XDECREF(tuple);
    return status;
}

/* Checks the shape of the destination, and adds the bytes before the result to *offset. */
static int find_first(struct layout *layout, const struct view *dst, PyObject *at_object,
                      int64_t *offset)
{
    const struct window *window = &layout->window;
    int64_t *at = layout->at;

    memset(layout->at, 0, sizeof(layout->at));
    if (at_object && read_offsets(at_object, window->result_rank, at))
        return -1;
    if (dst->rank != window->result_rank)
        return refuse_shape(window, dst, at_object ? at : NULL);
    for (uint32_t i = 0; i < dst->rank; i++) {
        const int64_t room = dst->shape[i] - at[i];

        if (at_object ? window->shape[i] > room : window->shape[i] != room)
            return refuse_shape(window, dst, at_object ? at : NULL);
        *offset += at[i] * dst->step[i];
    }
    return 0;
}

/* Builds the only move, or checks that several moves do not interfere. */
static int build_moves(struct layout *layout)
{
    struct move_iterator iterator;

    layout->single = nest_is_single(&layout->nest);
    if (layout->single) {
        move_iterator_init(&iterator, &layout->nest);
        move_iterator_next(&iterator, &layout->move);
        return 0;
    }
    if (nest_is_disjoint(&layout->nest))
        return 0;
    raise_refused(MLI_STATUS_INCOMPATEBLE_TENSORS, "out", NULL,
                  "src and out, or elements of out, overlap or interleave");
    return -1;
}

int layout_place(struct layout *layout, const struct view *src, const struct view *dst,
                 PyObject *at)
{
    const struct window *window = &layout->window;
    struct axis axis[NEST_RANK_MAX];
    int64_t src_offset = 0, dst_offset = 0;
    uint32_t axes;

    layout->bytes = 0;
    layout->single = false;
    if (find_first(layout, dst, at, &dst_offset))
        return -1;
    if (window->empty)
        return 0;
    axes = window_axes(window, src, axis, &src_offset);
    layout->bytes = src->size;
    for (uint32_t i = 0; i < window->result_rank; i++) {
        axis[i].dst_step = dst->step[i];
        layout->bytes *= window->shape[i]; /* the destination has as many bytes, or more */
    }
    nest_fold(&layout->nest, src->data + src_offset, dst->data + dst_offset, (size_t)src->size,
              axis, axes);
    return build_moves(layout);
}

void layout_copy_move(struct layout *layout, const struct layout *from)
{
    const uint32_t rank = from->window.result_rank;

    layout->window.result_rank = rank;
    memcpy(layout->window.shape, from->window.shape, rank * sizeof(from->window.shape[0]));
    layout->nest.src = from->nest.src;
    layout->nest.dst = from->nest.dst;
    layout->bytes = from->bytes;
    layout->single = true;
    layout->move = from->move;
}

void layout_shift(struct layout *layout, uintptr_t src, uintptr_t dst)
{
    struct move *move = &layout->move;

    layout->nest.src = (const uint8_t *)((uintptr_t)layout->nest.src + src);
    layout->nest.dst = (uint8_t *)((uintptr_t)layout->nest.dst + dst);
    move->src.data.mem.pi8 = (int8_t *)((uintptr_t)move->src.data.mem.pi8 + src);
    move->dst.data.mem.pi8 = (int8_t *)((uintptr_t)move->dst.data.mem.pi8 + dst);
}
