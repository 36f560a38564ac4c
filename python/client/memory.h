/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mli._client.Memory: memory that this process and the service have mapped. It has the buffer
 * protocol, so that NumPy arrays can be made of it; they keep it alive.
 *
 *   buffer    number of the memory at the service; 0: it is not registered
 *   pool      memory for copies of sources and for results: kept and reused by its connection
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "python/client/connection.h"

struct memory {
    PyObject_HEAD uint8_t *address;
    size_t size;
    int fd; /* descriptor, owned; -1: no descriptor */
    uint32_t buffer;
    bool writable, pooled;
    bool registering; /* true: a registration of this memory is pending, and holds a reference to it
                       */
    struct connection *connection; /* the connection; borrowed; null: the connection is closed */
    struct memory *next, **link;   /* links in connection->memories */
};

/** Adds the type to the module. Returns 0, or -1 with an exception. */
int memory_init(PyObject *module);

/**
 * Checks that the process can receive a descriptor, like that in the reply to buffer.alloc: if no
 * descriptor number is free, the kernel drops the descriptor, and the connection is lost. Returns
 * 0, or -1 with an exception.
 */
int memory_check_descriptor(void);

/**
 * Maps a descriptor, which the memory owns from then on, also on failure. Returns a new reference,
 * or null with an exception.
 */
struct memory *memory_map(struct connection *connection, int fd, size_t size, uint32_t buffer,
                          bool writable);

/** Takes memory of at least `size` bytes from the pool. Its contents are undefined. */
struct memory *memory_take(struct connection *connection, size_t size);

/** Closes the descriptor of a memory that no request needs any more. */
void memory_settle(struct memory *memory);

/** Returns the memory of a connection that contains an address, borrowed; null: none. */
struct memory *memory_at(const struct connection *connection, const void *address);

/** Detaches all memories from a connection that is about to be closed. Their mappings stay. */
void memory_orphan_all(struct connection *connection);
