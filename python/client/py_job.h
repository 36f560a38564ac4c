/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of a move become a job for the service.
 *
 * Arrays in memory of the connection stay where they are: the job names the buffer and the offset.
 * The samples of any other source are copied into memory of the pool; a result for any other `out`
 * is written into memory of the pool, and is copied into `out` when the job has ended.
 */
#pragma once

#include "python/client/connection.h"
#include "python/client/py_request.h"
#include "python/core/operation.h"

/* The arguments of jobs in addition to the arguments of a move: priority, timeout, after, channels,
 * name. */

/** Jobs in `after`. The names belong to the objects in `owner`. */
struct references {
    mli_client_ref ref[MLI_CLIENT_AFTER_MAX];
    size_t count;
    PyObject *owner;
};

/* Each function reads an object that may be null or None (the default). Returns 0, or -1 with an
 * exception.
 */
int read_priority(PyObject *object, int32_t *priority);
int read_limit_ms(PyObject *object, uint32_t *ms);
int read_channels(PyObject *object, uint32_t *channels);
/** Sets `name` to the name of the object, or to a new name: "py:", the token, a number. `size`
 * bytes. */
int read_name(PyObject *object, const struct connection *connection, char *name, size_t size);
/** Reads references to other jobs. May wait until the daemon has numbered these jobs. */
int read_references(struct references *references, struct connection *connection, PyObject *object);

void references_release(struct references *references);

struct py_job {
    struct operation operation;
    mli_client_job args;      /* the job without name, after and limits */
    struct memory *src, *dst; /* new references; null: nothing to do */
    PyObject *value;          /* the array for the result */
    bool packs;               /* `pack` copies the samples into `src` before each start */
    struct nest pack;
    int64_t pack_bytes;
    struct landing *landing; /* null: the job writes into the program's array */
};

/** Places the arrays of a move and describes the job. Returns 0, or -1 with an exception. */
int py_job_open(struct py_job *job, struct connection *connection,
                const struct arguments *arguments);

/** Copies the samples of a source outside shared memory. Returns 0 or -1. */
int py_job_pack(const struct py_job *job);

/** Makes a request the owner of the memory, the value and the landing of a job. */
void py_job_hand_over(struct py_job *job, struct py_request *request);

void py_job_close(struct py_job *job);

/** Imports the modules and types for arrays. Returns 0, or -1 with an exception. */
int py_job_init(void);
