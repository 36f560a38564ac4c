/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources of jobs: files of data/, constants in the model, and results of earlier jobs. */
#ifndef CLI_IMPORT_CASE_SOURCE_H
#define CLI_IMPORT_CASE_SOURCE_H

#include "cli/import/import.h"
#include "cli/import/import_output.h"
#include "cli/import/move.h"
#include "proto/file/job_file.h"

enum { CASE_PATH_MAX = 4096 };

/* The file of a tensor. */
struct case_source {
    char file[CASE_PATH_MAX]; /* relative to the job file */
    char *tensor;             /* name in the model; borrowed; or null */
    enum file_format format;  /* FILE_FORMAT_AUTO: by the file's name */
    uint64_t offset;          /* of the elements */
    struct npy_header header; /* type and shape of the stored elements */
    bool readable;            /* mlictl knows the shape by itself */
};

/** Finds the file of a tensor, and writes it if it does not exist. Returns 0 or -1. */
int case_source_of(struct import *import, size_t tensor, struct import_output *output,
                   struct case_source *source, struct fault *fault);

/** Fills job->src and all members of cfg except dst_offset. Strings in job->src are borrowed. */
void case_source_job(struct case_source *source, const struct move *move, uint32_t unit,
                     struct job_spec *job);

/** Returns the element type that a job needs for elements of a header. */
mli_element_type case_type(const struct npy_header *header, bool quantised);

/** Copies the quantisation of a tensor to a job. Returns 0, 1 if a job cannot have these
 * parameters, or -1 (no memory). */
int case_quantise(struct tensor_desc *desc, const struct model_tensor *tensor,
                  const struct npy_header *header, bool whole);

#endif /* CLI_IMPORT_CASE_SOURCE_H */
