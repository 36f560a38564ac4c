/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "python/core/array.h"
#include "python/core/errors.h"
#include "python/core/integers.h"
#include "python/core/operation.h"

enum {
    /* Bytes moved in about 1 us, the time that releasing the GIL would take. */
    BYTES_WITH_GIL = 32 * 1024,
};

/* Imported once; references that the module keeps. */
static PyObject *empty;

int operation_init(void)
{
    empty = import_attribute("numpy", "empty");
    return empty ? array_init() : -1;
}

/* The result */

/* Returns a new, packed array for the result of a move. */
static PyObject *create_result(struct operation *operation, PyObject *src)
{
    const struct window *window = &operation->layout.window;
    PyObject *shape = tuple_of_integers(window->shape, window->result_rank);
    PyObject *dtype = NULL, *array = NULL;

    if (!shape)
        return NULL;
    dtype = array_dtype(src, &operation->src);
    if (dtype)
        array = PyObject_CallFunctionObjArgs(empty, shape, dtype, NULL);
    Py_XDECREF(dtype);
    if (!array && PyErr_ExceptionMatches(PyExc_ValueError)) { /* NumPy refuses 2^63 bytes or more */
        PyErr_Clear();
        raise_refused(MLI_STATUS_NOT_SUPPORTED, "", shape,
                      "the shape of the result must be below 2^63 bytes");
    }
    Py_DECREF(shape);
    return array;
}

static int refuse_types(struct operation *operation, PyObject *src, PyObject *out)
{
    PyObject *given = array_dtype(out, &operation->dst);
    PyObject *required = given ? array_dtype(src, &operation->src) : NULL;

    if (required)
        raise_refused(MLI_STATUS_TYPE_MISMATCH, "out", given, "%R is required, as in src",
                      required);
    Py_XDECREF(given);
    Py_XDECREF(required);
    return -1;
}

/* Checks all properties of `out` but its shape. */
static int check_out(struct operation *operation, PyObject *src, PyObject *out)
{
    if (operation->dst.readonly)
        return raise_refused(MLI_STATUS_BAD_TENSOR, "out", NULL, "a writable array is required");
    if (operation->dst.size != operation->src.size ||
        !array_types_match(src, &operation->src, out, &operation->dst))
        return refuse_types(operation, src, out);
    return 0;
}

/* Operations */

int operation_check(const struct operation *operation)
{
    mli_status status = MLI_STATUS_OK;

    if (operation->layout.bytes > 0 && operation->layout.single) {
        mli_tensor dst = operation->layout.move.dst;

        status = mli_mov_check(&operation->layout.move.src, &operation->layout.move.cfg, &dst);
    }
    return status == MLI_STATUS_OK ? 0 : raise_last_error(status);
}

/* Takes ownership of the array with the result, or of null after an exception. */
static int open_result(struct operation *operation, PyObject *result)
{
    operation->result = result;
    return result ? view_open(&operation->dst, result, "out") : -1;
}

/*
 * The layouts of recent moves. Programs repeat a move on many arrays of one shape, and pass the
 * same objects as arguments each time: constants of the code, or variables. mli keeps the layout of
 * such a move, so that it does not read the arguments and fold the axes again.
 *
 * Everything needs the GIL.
 */

enum {
    ENTRIES = 16,
    OPTIONS = 5,   /* pad, slice, step, perm, at */
    DEPTH_MAX = 2, /* limit on nested tuples in an argument: pad is a tuple of pairs */
    BY_OTHERS = 2, /* an object with fewer references is used by this call alone */
    NEW_ARRAY = NEST_RANK_MAX + 1, /* value that replaces the rank of a missing `out` */
    WORDS_OF_VIEW = 1 + 2 * NEST_RANK_MAX,
};

/* The arguments of a move, and its arrays without their addresses: moves with equal keys have equal
   layouts. */
struct key {
    PyObject *option[OPTIONS]; /* strong references in an entry; null: not given */
    int64_t word[1 + 2 * WORDS_OF_VIEW];
    size_t words;  /* 0: an empty entry */
    uint64_t hash; /* hash of the arguments and of the shape of the source */
};

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
    for (size_t i = 0; i < 2 + (size_t)rank;
         i++) /* the used words of key->word: size, rank, then the shape */
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

static uint64_t hashes[ENTRIES]; /* kept apart from the entries, because all hashes are compared */

static bool same_key(const struct key *a, const struct key *b)
{
    return a->words == b->words && memcmp(a->option, b->option, sizeof(a->option)) == 0 &&
           memcmp(a->word, b->word, a->words * sizeof(a->word[0])) == 0;
}

struct entry {
    struct key key;
    /* The layout with offsets from the beginning of the arrays instead of addresses. */
    struct layout layout;
};

static struct entry entries[ENTRIES];

/*
 * Returns the layout of an earlier move with the arguments `arguments` on arrays with the shapes
 * and strides of `src` and `dst`, or null if no such layout is kept. A null `dst` means a new
 * packed array. The layout is a single move, and its addresses are distances from the first byte of
 * an array: the caller copies it before Python code runs, and adds these bytes with layout_shift().
 */
static const struct layout *recent_find(const struct arguments *arguments, const struct view *src,
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

/*
 * Copies the members that creating the result and moving need, from a layout that is a single move:
 * the move, the shape of the result and the first addresses. The other members, which are much
 * longer, stay as they are.
 */
static void layout_copy_move(struct layout *layout, const struct layout *from)
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

/* Adds `src` and `dst` to the addresses of source and destination in a layout. */
static void layout_shift(struct layout *layout, uintptr_t src, uintptr_t dst)
{
    struct move *move = &layout->move;

    layout->nest.src = (const uint8_t *)((uintptr_t)layout->nest.src + src);
    layout->nest.dst = (uint8_t *)((uintptr_t)layout->nest.dst + dst);
    move->src.data.mem.pi8 = (int8_t *)((uintptr_t)move->src.data.mem.pi8 + src);
    move->dst.data.mem.pi8 = (int8_t *)((uintptr_t)move->dst.data.mem.pi8 + dst);
}

/* Reads `at`, the offsets of the result in `out`. */
static int read_offsets(PyObject *object, uint32_t rank, int64_t *at)
{
    PyObject *tuple = is_integer(object)
                          ? NULL
                          : tuple_of(object, "at", -1, "an integer, or one for each dimension");
    int status = !tuple && PyErr_Occurred() ? -1 : 0;

    if (tuple && PyTuple_Size(tuple) != (Py_ssize_t)rank)
        status = raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", object,
                               "an integer, or a sequence of length %d, is required", (int)rank);
    for (uint32_t i = 0; i < rank && status == 0; i++) {
        status = read_integer(tuple ? PyTuple_GetItem(tuple, i) : object, "at",
                              tuple ? (Py_ssize_t)i : -1, &at[i]);
        if (status == 0 && at[i] < 0)
            status = raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", object,
                                   "offsets from 0 on are allowed");
    }
    Py_XDECREF(tuple);
    return status;
}

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
    return raise_refused(MLI_STATUS_INCOMPATEBLE_TENSORS, "out", NULL,
                         "src and out, or elements of out, overlap or interleave");
}

/*
 * Completes a layout whose window the caller has set: places the window at `at` in the
 * destination. If `at` is null, the destination has the shape of the result.
 */
static int layout_place(struct layout *layout, const struct view *src, const struct view *dst,
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
        layout->bytes *= window->shape[i]; /* the destination has at least this size */
    }
    nest_fold(&layout->nest, src->data + src_offset, dst->data + dst_offset, (size_t)src->size,
              axis, axes);
    return build_moves(layout);
}

static unsigned oldest;

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

/* Returns whether the next call may pass the same objects. An object that only this call refers
 * to, like a tuple that was made for the call, dies with the call. */
static bool may_come_again(PyObject *const option[OPTIONS])
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (option[i] && (Py_REFCNT(option[i]) < BY_OTHERS || !is_constant(option[i], DEPTH_MAX)))
            return false;
    }
    return true;
}

/*
 * Caches a layout and references to its arguments, if the layout is a single move and the next
 * call may pass the same arguments. `dst` is never null, unlike in recent_find().
 */
static void recent_keep(const struct layout *layout, const struct arguments *arguments,
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

/* Opens the arrays and computes the layout of the move; with `once`, only the members that run the
 * move once. Calls the array protocol of each object only once. */
static int open_arrays(struct operation *operation, const struct arguments *arguments, bool once)
{
    struct layout *layout = &operation->layout;
    const struct view *src = &operation->src, *dst = &operation->dst;
    const struct layout *known;

    if (view_open(&operation->src, arguments->src, "src"))
        return -1;
    if (arguments->out && (open_result(operation, Py_NewRef(arguments->out)) ||
                           check_out(operation, arguments->src, arguments->out)))
        return -1;
    known = recent_find(arguments, src, arguments->out ? dst : NULL);
    if (known && once)
        layout_copy_move(layout, known);
    else if (known)
        *layout = *known;
    else if (window_read(&layout->window, src, arguments->pad, arguments->slice, arguments->step,
                         arguments->perm))
        return -1;
    if (!arguments->out && open_result(operation, create_result(operation, arguments->src)))
        return -1;
    if (known) {
        layout_shift(layout, (uintptr_t)src->data, (uintptr_t)dst->data);
        return 0;
    }
    if (layout_place(layout, src, dst, arguments->at))
        return -1;
    recent_keep(layout, arguments, src, dst);
    return 0;
}

int operation_open(struct operation *operation, const struct arguments *arguments, bool once)
{
    operation->result = NULL;
    operation->dst.buffer.obj = NULL;
    operation->dst.owner = NULL;
    operation->dst.managed = NULL;
    if (arguments->at && !arguments->out)
        return raise_refused(MLI_STATUS_BAD_FUNC_CFG, "at", arguments->at,
                             "is allowed only with `out`");
    /* view_open() initialises the view of the source, also after an error. */
    if (open_arrays(operation, arguments, once) == 0)
        return 0;
    operation_close(operation);
    return -1;
}

int operation_traverse(const struct operation *operation, visitproc visit, void *arg)
{
    const int status = view_traverse(&operation->src, visit, arg);

    Py_VISIT(operation->result);
    return status ? status : view_traverse(&operation->dst, visit, arg);
}

void operation_clear(struct operation *operation)
{
    operation_close(operation);
    operation->layout.bytes = 0;
    operation->result = Py_NewRef(Py_None);
}

void operation_close(struct operation *operation)
{
    view_release(&operation->src);
    view_release(&operation->dst);
    Py_CLEAR(operation->result);
}

int result_wrap(PyObject *wrap, PyObject *store, PyObject **value, PyObject **stored)
{
    PyObject *result = PyObject_CallFunctionObjArgs(wrap, *value, NULL);

    if (!result)
        return -1;
    Py_DECREF(*value);
    *value = result;
    *stored = store == Py_None ? NULL : Py_NewRef(store);
    return 0;
}

static mli_status run(const struct operation *operation)
{
    if (operation->layout.single) {
        mli_tensor dst = operation->layout.move.dst;

        return mli_mov_tensor_sync(&operation->layout.move.src, &operation->layout.move.cfg, &dst);
    }
    return nest_run(&operation->layout.nest);
}

int operation_run(const struct operation *operation)
{
    PyThreadState *thread = NULL;
    mli_status status;

    if (operation->layout.bytes == 0)
        return 0;
    if (operation->layout.bytes > BYTES_WITH_GIL)
        thread = PyEval_SaveThread();
    status = run(operation);
    if (thread)
        PyEval_RestoreThread(thread);
    return status == MLI_STATUS_OK ? 0 : raise_last_error(status);
}

int64_t operation_time(const struct operation *operation, uint32_t count)
{
    PyThreadState *thread = PyEval_SaveThread();
    mli_status status = MLI_STATUS_OK;
    struct timespec start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t i = 0; i < count && status == MLI_STATUS_OK && operation->layout.bytes > 0; i++)
        status = run(operation);
    clock_gettime(CLOCK_MONOTONIC, &end);
    PyEval_RestoreThread(thread);
    if (status == MLI_STATUS_OK)
        return (end.tv_sec - start.tv_sec) * INT64_C(1000000000) + end.tv_nsec - start.tv_nsec;
    return raise_last_error(status);
}

enum { NAMES = 7 };

static const struct {
    const char *name;
    size_t at;
} keywords[NAMES] = {
    {"pad", offsetof(struct arguments, pad)},
    {"slice", offsetof(struct arguments, slice)},
    {"step", offsetof(struct arguments, step)},
    {"perm", offsetof(struct arguments, perm)},
    {"out", offsetof(struct arguments, out)},
    {"at", offsetof(struct arguments, at)},
    {"channels", offsetof(struct arguments, channels)},
};

/* Returns the member for a keyword, or null. */
static PyObject **member_named(struct arguments *arguments, PyObject *name)
{
    static PyObject *interned[NAMES];

    for (size_t i = 0; i < NAMES; i++) {
        if (!interned[i])
            interned[i] = PyUnicode_InternFromString(keywords[i].name);
        if (name == interned[i])
            return (PyObject **)(void *)((char *)arguments + keywords[i].at);
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (PyUnicode_CompareWithASCIIString(name, keywords[i].name) == 0)
            return (PyObject **)(void *)((char *)arguments + keywords[i].at);
    }
    return NULL;
}

int arguments_read(struct arguments *arguments, const char *function, PyObject *const *values,
                   Py_ssize_t count, PyObject *names)
{
    const Py_ssize_t named = names ? PyTuple_Size(names) : 0;

    memset(arguments, 0, sizeof(*arguments));
    if (count > 1) {
        PyErr_Format(PyExc_TypeError, "%s() takes 1 positional argument, src; %zd were given",
                     function, count);
        return -1;
    }
    arguments->src = count == 1 ? values[0] : NULL;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject **member = member_named(arguments, name);

        if (!member && PyUnicode_CompareWithASCIIString(name, "src") == 0 && !arguments->src)
            member = &arguments->src;
        if (!member) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function,
                         name);
            return -1;
        }
        *member = values[count + i] == Py_None ? NULL : values[count + i];
    }
    if (arguments->src)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s() needs the argument src", function);
    return -1;
}
