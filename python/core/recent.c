/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/recent.h"

#include <string.h>

enum {
    ENTRIES = 16,
    OPTIONS = 5,   /* pad, slice, step, perm, at */
    DEPTH_MAX = 2, /* of tuples in an argument: pad is a tuple of pairs */
    BY_OTHERS = 2, /* references to an object that not only this call has */
};

struct array_shape {
    uint32_t rank;
    int64_t shape[NEST_RANK_MAX], step[NEST_RANK_MAX];
};

struct entry {
    bool used, has_out;
    PyObject *option[OPTIONS]; /* strong references; null: not given */
    int64_t size;              /* of an element */
    struct array_shape src, dst;
    struct layout layout; /* with distances from the first bytes for addresses */
};

static struct entry entries[ENTRIES];
static uint64_t hashes[ENTRIES]; /* of the moves; apart, because all are compared */
static unsigned oldest;

static void list_options(PyObject *option[OPTIONS], const struct arguments *arguments)
{
    option[0] = arguments->pad;
    option[1] = arguments->slice;
    option[2] = arguments->step;
    option[3] = arguments->perm;
    option[4] = arguments->at;
}

static uint64_t hash_of(PyObject *const option[OPTIONS], const struct view *src)
{
    uint64_t hash = (uint64_t)src->size;

    for (size_t i = 0; i < OPTIONS; i++)
        hash = hash * 31 + (uintptr_t)option[i];
    for (uint32_t i = 0; i < src->rank; i++)
        hash = hash * 31 + (uint64_t)src->shape[i];
    return hash;
}

static bool same_shape(const struct array_shape *a, const struct view *b)
{
    const size_t bytes = b->rank * sizeof(b->shape[0]);

    return a->rank == b->rank && memcmp(a->shape, b->shape, bytes) == 0 &&
           memcmp(a->step, b->step, bytes) == 0;
}

/* `dst` may be null: a new array. */
static bool matches(const struct entry *entry, PyObject *const option[OPTIONS],
                    const struct view *src, const struct view *dst)
{
    return entry->used && entry->has_out == (dst != NULL) && entry->size == src->size &&
           memcmp(entry->option, option, sizeof(entry->option)) == 0 &&
           same_shape(&entry->src, src) && (!dst || same_shape(&entry->dst, dst));
}

bool recent_find(struct layout *layout, const struct arguments *arguments, const struct view *src,
                 const struct view *dst)
{
    PyObject *option[OPTIONS];
    uint64_t hash;

    list_options(option, arguments);
    hash = hash_of(option, src);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (hashes[i] == hash && matches(&entries[i], option, src, dst)) {
            *layout = entries[i].layout;
            return true;
        }
    }
    return false;
}

static bool is_constant(PyObject *object, unsigned depth);

static bool is_constant_slice(PyObject *slice)
{
    static const char *const members[] = {"start", "stop", "step"};
    bool constant = true;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && constant; i++) {
        PyObject *member = PyObject_GetAttrString(slice, members[i]);

        constant = member && is_constant(member, 0);
        Py_XDECREF(member);
    }
    PyErr_Clear();
    return constant;
}

/* Returns whether an object can never have another value. */
static bool is_constant(PyObject *object, unsigned depth)
{
    if (PyLong_CheckExact(object) || object == Py_None || object == Py_Ellipsis ||
        PyUnicode_CheckExact(object))
        return true;
    if (depth == 0)
        return false;
    if (PySlice_Check(object))
        return is_constant_slice(object);
    if (!PyTuple_CheckExact(object))
        return false;
    for (Py_ssize_t i = 0, count = PyTuple_Size(object); i < count; i++) {
        if (!is_constant(PyTuple_GetItem(object, i), depth - 1))
            return false;
    }
    return true;
}

/* An object that only this call has, as a tuple that was made for it, will not come again. */
static bool may_come_again(PyObject *const option[OPTIONS])
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (option[i] && (Py_REFCNT(option[i]) < BY_OTHERS || !is_constant(option[i], DEPTH_MAX)))
            return false;
    }
    return true;
}

static void copy_shape(struct array_shape *out, const struct view *view)
{
    out->rank = view->rank;
    memcpy(out->shape, view->shape, sizeof(out->shape));
    memcpy(out->step, view->step, sizeof(out->step));
}

void recent_keep(const struct layout *layout, const struct arguments *arguments,
                 const struct view *src, const struct view *dst)
{
    PyObject *option[OPTIONS], *before[OPTIONS];
    struct entry *entry;

    list_options(option, arguments);
    if (!layout->single || layout->bytes == 0 || !may_come_again(option))
        return;
    hashes[oldest] = hash_of(option, src);
    entry = &entries[oldest];
    oldest = (oldest + 1) % ENTRIES;
    memcpy(before, entry->option, sizeof(before));
    for (size_t i = 0; i < OPTIONS; i++)
        entry->option[i] = Py_XNewRef(option[i]);
    entry->used = true;
    entry->has_out = arguments->out;
    entry->size = src->size;
    copy_shape(&entry->src, src);
    copy_shape(&entry->dst, dst);
    entry->layout = *layout;
    layout_shift(&entry->layout, -(uintptr_t)src->data, -(uintptr_t)dst->data);
    for (size_t i = 0; i < OPTIONS; i++)
        Py_XDECREF(before[i]);
}
