/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cases of a model: job files with jobs for each node that moves data. Nodes that pass tensors
 * to one another share a case, so that their jobs can wait for one another.
 */
#pragma once

#include "cli/file/regular.h"
#include "cli/import/element_store.h"
#include "cli/import/import_output.h"
#include "cli/import/move.h"
#include "cli/import/movement.h"
#include "cli/import/names.h"
#include "cli/model/model.h"
#include "cli/options.h"
#include "cli/term/print.h"
#include "proto/file/job_file.h"
#include "proto/json/jsonw.h"

/* The options of `mlictl import`, and its model. */
struct import_request {
    const struct options *options;
    const char *path;      /* the model */
    const char *directory; /* --output; null: only list the nodes */
    const char *data;      /* --data, or null */
    enum file_format format;
    bool dry_run, list, force, fuse;
    struct file_map map;
    bool mapped;
    struct model model;
    bool read;
};

/**
 * Reads the options and the model. Returns EXIT_CODE_DONE, or another code after printing why.
 * Call import_request_finish() in both cases.
 */
enum exit_code import_request_init(struct import_request *request, const struct options *options);
void import_request_finish(struct import_request *request);

enum import_fate {
    IMPORT_OTHER,    /* no data movement, or jobs cannot do it: see list.reason */
    IMPORT_CONSTANT, /* an operator Constant of ONNX */
    IMPORT_CASE
};

struct import_node {
    enum import_fate fate;
    struct movement_list list;
    size_t root;                   /* first node of its case */
    size_t next;                   /* next node of its case; MODEL_ABSENT: none */
    size_t jobs;                   /* number of jobs that do the movements */
    size_t chain_jobs, fused_jobs; /* root only: jobs of the case before and after --fuse; or 0 */
    bool quant_left_out;           /* the jobs lack quantisation parameters that no job can have */
    char name[IMPORT_NAME_MAX];    /* unique name of the jobs and files; root: of the case, too */
};

struct import {
    const struct import_request *request;
    struct model *model;
    struct element_store store;
    struct import_node *nodes;
    size_t *producer; /* by tensor: 1 + the node that makes the tensor; 0: none */
    bool *used;       /* by tensor: a node with a case reads the tensor */
    bool *needed;  /* by tensor: it is an output of the graph, or a node without a case reads it */
    bool *written; /* by tensor: its file in data/ exists */
    size_t given_inputs, given_outputs;
    size_t cases, moved, constants, others, jobs, fused;
    size_t unknown; /* number of those `others` that have an operand of unknown type or shape */
};

/** Reads all nodes and groups them into cases. Returns 0, or -1 with the fault. */
int import_init(struct import *import, struct import_request *request, struct fault *fault);
void import_finish(struct import *import);

enum { IMPORT_RESULT_MAX = IMPORT_NAME_MAX + 24 };
/** Writes a result's name: NODE, or NODE.N if the node has several results. Returns `out`. */
const char *import_result(const struct import_node *node, const struct movement *movement,
                          char out[IMPORT_RESULT_MAX]);
/** Writes the name of the result that is `tensor`; null: no movement makes the tensor. */
const char *import_maker(const struct import *import, size_t tensor, char out[IMPORT_RESULT_MAX]);

enum { CASE_PATH_MAX = 4096 };

/* The file that has the elements of a tensor. */
struct case_source {
    char file[CASE_PATH_MAX]; /* relative to the job file */
    char *tensor;             /* name of the tensor in the model, borrowed; or null */
    enum file_format format;  /* FILE_FORMAT_AUTO: the file's name determines it */
    uint64_t offset;          /* offset of the elements in the file */
    struct npy_header header; /* type and shape of the stored elements */
    bool readable;            /* mlictl reads the type and the shape from the file */
};

/** Writes a case: sources, expected results and the job file. Returns 0, or -1 with the fault. */
int case_file_write(struct import *import, size_t root, struct import_output *output,
                    struct fault *fault);

/** Writes the list of all nodes, as in import.json and --json. */
void import_report_json(const struct import *import, struct jsonw *w);

/** Writes cases.txt: the manifest of the cases. */
void import_report_manifest(const struct import *import, struct textw *text);

/** Prints a line for each node. */
void import_report_nodes(const struct import *import, const struct print_style *style);

void import_report_summary(const struct import *import, const struct print_style *style);
