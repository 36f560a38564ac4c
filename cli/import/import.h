/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of a model: each node that moves data, as jobs. Nodes that pass tensors to one another
 * share a case, so that their jobs can wait for one another.
 */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include "cli/import/element_store.h"
#include "cli/import/import_request.h"
#include "cli/import/movement.h"
#include "cli/import/names.h"

enum import_fate {
    IMPORT_OTHER,    /* not data movement, or not possible: list.reason */
    IMPORT_CONSTANT, /* a constant of the model */
    IMPORT_CASE
};

struct import_node {
    enum import_fate fate;
    struct movement_list list;
    size_t root;                   /* first node of its case */
    size_t next;                   /* next node of its case; MODEL_ABSENT: none */
    size_t jobs;                   /* jobs that do the movements */
    size_t chain_jobs, fused_jobs; /* of the first node: jobs before and after --fuse; or 0 */
    bool quant_left_out;           /* per-axis parameters that no job can have */
    char name[IMPORT_NAME_MAX]; /* unique: of its jobs and files, and of its case if it is first */
};

struct import {
    const struct import_request *request;
    struct model *model;
    struct element_store store;
    struct import_node *nodes;
    size_t *producer; /* by tensor: 1 + the node that makes the tensor; 0: none */
    bool *used;       /* by tensor: a node before reads it */
    bool *needed;     /* by tensor: an output of the graph, or read by a node without a case */
    bool *written;    /* by tensor: its file in data/ exists */
    size_t given_inputs, given_outputs;
    size_t cases, moved, constants, others, jobs, fused;
    size_t unknown; /* of the others: nodes with operands whose type or shape is not known */
};

/** Reads all nodes and groups them. Returns 0, or -1 with the fault. */
int import_init(struct import *import, struct import_request *request, struct fault *fault);
void import_finish(struct import *import);

enum { IMPORT_RESULT_MAX = IMPORT_NAME_MAX + 24 };
/** Writes the name of a movement's result: that of the node, with a number if it has several. */
const char *import_result(const struct import_node *node, const struct movement *movement,
                          char out[IMPORT_RESULT_MAX]);
/** Writes the name of the result that is a tensor; returns null if no movement makes it. */
const char *import_maker(const struct import *import, size_t tensor, char out[IMPORT_RESULT_MAX]);

#endif /* CLI_IMPORT_H */
