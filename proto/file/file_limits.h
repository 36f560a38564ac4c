/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of job files and of the names in them. mlictl-job(5) states them. */
#ifndef PROTO_FILE_LIMITS_H
#define PROTO_FILE_LIMITS_H

enum {
    JOB_FILE_BYTES_MAX = 64 * 1024 * 1024,
    JOB_FILE_VALUES_MAX = 4 * 1024 * 1024, /* number of JSON values */
    JOB_FILE_QUANT_MAX = 8 * 1024 * 1024,  /* number of quantisation parameters of all jobs */
    JOB_FILE_JOBS_MAX = 256 * 1024,
    JOB_FILE_BUFFERS_MAX = 4096,
    JOB_PATH_MAX = 4095,  /* bytes of a file's name */
    JOB_TENSOR_MAX = 1023 /* bytes of a tensor's name in an archive */
};

#endif /* PROTO_FILE_LIMITS_H */
