/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the protocol and of the files around it. PROTOCOL.md and docs state these numbers. */
#ifndef PROTO_BOUNDS_H
#define PROTO_BOUNDS_H

enum {
    PROTO_LINE_MAX = 64 * 1024,    /* bytes of a request line, newline included */
    PROTO_REPLY_MAX = 1024 * 1024, /* bytes of a reply line, newline included */
    PROTO_DEPTH_MAX = 32,          /* nested arrays and objects */
    PROTO_VALUES_MAX = 16 * 1024,  /* values in one line */
    PROTO_KEYS_MAX = 64,           /* members of one object */
    PROTO_FDS_MAX = 16,            /* descriptors with one message */
    PROTO_NAME_MAX = 128,          /* bytes of a job's name or a request's string id */
    JOB_FILE_BYTES_MAX = 64 * 1024 * 1024,
    JOB_FILE_VALUES_MAX = 8 * 1024 * 1024,
    JOB_FILE_JOBS_MAX = 256 * 1024, /* jobs in one file */
    JOB_PATH_MAX = 4095,            /* bytes of a file's name */
    JOB_TENSOR_MAX = 1023,          /* bytes of a tensor's name in an archive */
    JOB_TIMEOUT_MAX_MS = 24 * 60 * 60 * 1000,
    JOB_AFTER_MAX = 64,             /* jobs in one job's "after" */
    JOB_WAIT_MAX = 1024,            /* jobs in one job.wait */
    PROTO_WAITS_MAX = 64,           /* job.wait and daemon.drain under way of one connection */
    QUANT_ENTRIES_MAX = 1024 * 1024 /* entries of one per-axis parameter array */
};

#endif /* PROTO_BOUNDS_H */
