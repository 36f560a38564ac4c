/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of the protocol, on requests, replies and their members. PROTOCOL.md states them. */
#pragma once

enum {
    PROTO_LINE_MAX = 64 * 1024,          /* bytes of a request line, newline included */
    PROTO_REPLY_MAX = 1024 * 1024,       /* bytes of a reply line, newline included */
    PROTO_VALUES_MAX = 16 * 1024,        /* maximum number of JSON values in a request line */
    PROTO_REPLY_VALUES_MAX = 192 * 1024, /* maximum number of JSON values in a reply line */
    PROTO_FDS_MAX = 16,                  /* maximum number of descriptors of one message */
    PROTO_NAME_MAX = 128,                /* bytes of a job's name or of a request's string id */
    PROTO_WAITS_MAX = 64,                /* pending job.wait and daemon.drain of one connection */
    JOB_TIMEOUT_MAX_MS = 24 * 60 * 60 * 1000,
    JOB_AFTER_MAX = 64,             /* maximum number of jobs in the "after" of one job */
    JOB_WAIT_MAX = 1024,            /* maximum number of jobs in one job.wait */
    QUANT_ENTRIES_MAX = 1024 * 1024 /* maximum number of entries of one per-axis parameter array */
};
