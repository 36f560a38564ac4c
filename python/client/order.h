/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of a move become a job for the service.
 *
 * Arrays in memory of the connection stay where they are: the job names the buffer and the offset.
 * The samples of any other source are copied into memory of the pool; a result for any other `out`
 * is written into memory of the pool, and lands in `out` when it has arrived.
 */
#ifndef PYTHON_CLIENT_ORDER_H
#define PYTHON_CLIENT_ORDER_H

#include "python/client/errand.h"
#include "python/core/operation.h"

struct order {
    struct operation operation;
    mli_client_job job;       /* without name, after and limits */
    struct memory *src, *dst; /* new references; null: nothing to do */
    PyObject *value;          /* the array for the result */
    bool packs;               /* `pack` copies the samples into `src` before each start */
    struct nest pack;
    int64_t pack_bytes;
    struct landing *landing; /* null: the job writes into the program's array */
};

/** Places the arrays of a move and describes the job. Returns 0, or -1 with an exception. */
int order_open(struct order *order, struct connection *connection,
               const struct arguments *arguments);

/** Copies the samples of a source outside shared memory. Returns 0 or -1. */
int order_pack(const struct order *order);

/** Gives memory, value and landing of an order to an errand. */
void order_hand_over(struct order *order, struct errand *errand);

void order_close(struct order *order);

/** Creates a NumPy array in memory, with the element type of `like`, a NumPy array. */
PyObject *array_in(struct memory *memory, size_t offset, PyObject *like, const int64_t *shape,
                   uint32_t rank);

/** Imports what arrays need. Returns 0, or -1 with an exception. */
int order_init(void);

#endif /* PYTHON_CLIENT_ORDER_H */
