/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a file of several tensors says of each: .npz and .safetensors files. Shapes and dtypes are
 * told as they are, be they of a tensor that can be moved or not.
 */
#ifndef PROTO_TENSOR_LIST_H
#define PROTO_TENSOR_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "proto/file/npy.h"
#include "proto/json/fault.h"

enum { TENSOR_DTYPE_MAX = 32 };

struct tensor_entry {
    char *name;
    char dtype[TENSOR_DTYPE_MAX]; /* as numpy calls it, where it has a name for it: "int16" */
    uint64_t *shape;
    size_t rank;
    uint64_t bytes;           /* of all elements */
    char *refusal;            /* why no job can take it; null: one can, and `header` is filled */
    struct npy_header header; /* else nothing of it but data_offset, counted in the file */
    uint64_t place;           /* whatever finds it again in its file */
};

struct tensor_list {
    struct tensor_entry *entries; /* in the order of the file */
    size_t count, capacity;
    struct tensor_entry **by_name; /* after tensor_list_sort() */
};

/** Frees what it holds; `struct tensor_list list = {0}` is an empty one. */
void tensor_list_finish(struct tensor_list *list);

/** Adds an entry of that name, all else empty. Null: no memory. */
struct tensor_entry *tensor_list_add(struct tensor_list *list, const char *name);

/** Gives an entry its shape. Returns 0 or -1 (no memory). */
int tensor_entry_set_shape(struct tensor_entry *entry, const uint64_t *shape, size_t rank);

/** Notes why the tensor cannot be moved: the fault's text. Returns 0 or -1 (no memory). */
int tensor_entry_refuse(struct tensor_entry *entry, const struct fault *why);

/** How many bytes of a name a sentence repeats. */
int tensor_name_shown(const char *name);

/** Sorts the names, once all are there; refuses one that is there twice. Returns 0 or -1. */
int tensor_list_sort(struct tensor_list *list, struct fault *fault);

/** The entry of that name; null: there is none. */
struct tensor_entry *tensor_list_find(const struct tensor_list *list, const char *name);

/**
 * The entry of that name or, without one (null), the only one there is. Null with the fault filled,
 * pointer "/tensor": the sentence names the nearest, or some of those that are there.
 */
struct tensor_entry *tensor_list_choose(const struct tensor_list *list, const char *name,
                                        struct fault *fault);

#endif /* PROTO_TENSOR_LIST_H */
