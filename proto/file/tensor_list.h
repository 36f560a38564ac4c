/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tensors of an archive (.npz or .safetensors file), including tensors that no job can move.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/file/npy.h"
#include "proto/json/fault.h"

enum { TENSOR_DTYPE_MAX = 32 };

struct tensor_entry {
    char *name;
    char dtype[TENSOR_DTYPE_MAX]; /* name in NumPy, such as "int16"; without such a name: the
                                     dtype as in the file */
    uint64_t *shape;
    size_t rank;
    uint64_t bytes;           /* size of all elements */
    char *refusal;            /* the reason why no job can move the tensor; or null */
    struct npy_header header; /* header of the tensor; if `refusal` is set, only data_offset (in the
                                 file) is valid */
    uint64_t place;           /* .npz: index of the member; other archives: offset in the file */
};

struct tensor_list {
    struct tensor_entry *entries; /* entries in the order of the file */
    size_t count, capacity;
    struct tensor_entry **by_name; /* entries sorted by name, after tensor_list_sort() */
};

/** Frees all entries; `struct tensor_list list = {0}` is an empty list. */
void tensor_list_finish(struct tensor_list *list);

/** Adds an entry with the given name. Returns null if out of memory. */
struct tensor_entry *tensor_list_add(struct tensor_list *list, const char *name);

/** Copies a shape to an entry. Returns 0 or -1 (no memory). */
int tensor_entry_set_shape(struct tensor_entry *entry, const uint64_t *shape, size_t rank);

/** Marks the tensor as refused, with a copy of the fault's text. Returns 0 or -1 (no memory). */
int tensor_entry_refuse(struct tensor_entry *entry, const struct fault *why);

/**
 * Fills entry->header from the entry's shape, size and place and from its dtype, one of
 * DTYPE_TABLE. If no job can move this shape, sets the refusal instead. Returns 0 or -1 (no
 * memory).
 */
int tensor_entry_judge(struct tensor_entry *entry, char kind, uint32_t size);

/**
 * Describes any .npy file of NumPy; the arguments are those of npy_parse(). The entry gets its
 * dtype, shape, bytes, and either `header` or, for a tensor that no job can move, a refusal.
 * Returns 0, or -1 with a fault like that of npy_parse(), or FAULT_INTERNAL.
 */
int tensor_entry_outline(const void *bytes, size_t length, uint64_t file_size,
                         struct tensor_entry *entry, struct fault *fault);

/** Returns the number of bytes of a name that a message should quote. */
int tensor_name_shown(const char *name);

/** Sorts the complete list by name; refuses duplicate names. Returns 0 or -1. */
int tensor_list_sort(struct tensor_list *list, struct fault *fault);

/** Returns the entry with that name, or null. */
struct tensor_entry *tensor_list_find(const struct tensor_list *list, const char *name);

/**
 * Returns the entry with that name or, if `name` is null, the only entry. Otherwise returns null
 * with the fault filled: pointer "/tensor", and a message with a similar name or with the first
 * names.
 */
struct tensor_entry *tensor_list_choose(const struct tensor_list *list, const char *name,
                                        struct fault *fault);
