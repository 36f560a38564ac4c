/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/recent.h"

#include <string.h>

enum {
    ENTRIES = 16,
    OPTIONS = 5,                   /* pad, slice, step, perm, at */
    DEPTH_MAX = 2,                 /* of tuples in an argument: pad is a tuple of pairs */
    BY_OTHERS = 2,                 /* references to an object that not only this call has */
    NEW_ARRAY = NEST_RANK_MAX + 1, /* in place of the rank of `out` */
    WORDS_OF_VIEW = 1 + 2 * NEST_RANK_MAX,
};

/* The arguments of a move, and its arrays without their addresses: moves with equal keys have equal
   layouts. */
struct key {
    PyObject *option[OPTIONS]; /* strong references in an entry; null: not given */
    int64_t word[1 + 2 * WORDS_OF_VIEW];
    size_t words;  /* 0: an empty entry */
    uint64_t hash; /* of the arguments and of the shape of the source */
};

struct entry {
    struct key key;
    struct layout layout; /* with distances from the first bytes for addresses */
};

static struct entry entries[ENTRIES];
static uint64_t hashes[ENTRIES]; /* apart, because all are compared */
static unsigned oldest;

static void add_numbers(struct key *key, const int64_t *numbers, uint32_t count)
{
    memcpy(&key->word[key->words], numbers, count * sizeof(numbers[0]));
    key->words += count;
}

static void add_view(struct key *key, const struct view *view)
{
    key->word[key->words++] = view->rank;
    add_numbers(key, view->shape, view->rank);
    add_numbers(key, view->step, view->rank);
}

static uint64_t hash_of(const struct key *key, uint32_t rank)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < OPTIONS; i++)
        hash = hash * 31 + (uintptr_t)key->option[i];
    for (size_t i = 0; i < 2 + (size_t)rank; i++) /* size, rank, shape */
        hash = hash * 31 + (uint64_t)key->word[i];
    return hash;
}

/* `dst` may be null: a new array. */
static void make_key(struct key *key, const struct arguments *arguments, const struct view *src,
                     const struct view *dst)
{
    key->option[0] = arguments->pad;
    key->option[1] = arguments->slice;
    key->option[2] = arguments->step;
    key->option[3] = arguments->perm;
    key->option[4] = arguments->at;
    key->word[0] = src->size;
    key->words = 1;
    add_view(key, src);
    if (dst)
        add_view(key, dst);
    else
        key->word[key->words++] = NEW_ARRAY;
    key->hash = hash_of(key, src->rank);
}

static bool same_key(const struct key *a, const struct key *b)
{
    return a->words == b->words && memcmp(a->option, b->option, sizeof(a->option)) == 0 &&
           memcmp(a->word, b->word, a->words * sizeof(a->word[0])) == 0;
}

const struct layout *recent_find(const struct arguments *arguments, const struct view *src,
                                 const struct view *dst)
{
    struct key key;

    make_key(&key, arguments, src, dst);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (hashes[i] == key.hash && same_key(&entries[i].key, &key))
            return &entries[i].layout;
    }
    return NULL;
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

void recent_keep(const struct layout *layout, const struct arguments *arguments,
                 const struct view *src, const struct view *dst)
{
    struct entry *entry = &entries[oldest];
    PyObject *before[OPTIONS];
    struct key key;

    make_key(&key, arguments, src, arguments->out ? dst : NULL);
    if (!layout->single || layout->bytes == 0 || !may_come_again(key.option))
        return;
    memcpy(before, entry->key.option, sizeof(before));
    for (size_t i = 0; i < OPTIONS; i++)
        Py_XINCREF(key.option[i]);
    hashes[oldest] = key.hash;
    oldest = (oldest + 1) % ENTRIES;
    entry->key = key;
    entry->layout = *layout;
    layout_shift(&entry->layout, -(uintptr_t)src->data, -(uintptr_t)dst->data);
    for (size_t i = 0; i < OPTIONS; i++)
        Py_XDECREF(before[i]);
}
