/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration of the service: defaults, then a file (conf/mlid.json), then command line options.
 * To add a key, add it here and in config.c, and to conf/mlid.json, conf/mlid.schema.json and
 * docs/configuration.md; where it cannot change while the service runs, to reload.c too.
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/log.h"
#include "daemon/config/access.h"
#include "daemon/config/quota.h"
#include "proto/json/fault.h"

/* How jobs of several clients share the channels. */
struct scheduling {
    uint32_t ageing_ms;     /* a job passed over for so long moves up one priority; 0: never */
    uint64_t quantum_bytes; /* what a connection may start when it is its turn */
};

/* When a transfer is taken for stuck: limit_ms, and 1 s for each bytes_per_second. */
struct watchdog_limits {
    uint32_t limit_ms; /* 0: there is no watchdog */
    uint64_t bytes_per_second;
    uint32_t quarantine_ms; /* for a channel to stay out of service */
};

struct config {
    char socket[108];            /* "socket": path; empty: $XDG_RUNTIME_DIR/mlid.sock, else
                                    /run/mlid.sock */
    uint32_t socket_mode;        /* "socket_mode": "0600", octal text; set before bind */
    char socket_group[64];       /* "socket_group": name or number; empty: that of the process */
    char user[64];               /* "user": name or number, to become once bound; empty: stays */
    uint32_t channel_offset;     /* "channel_offset": first channel of the pool */
    uint32_t channels;           /* "channels": 1 .. 16 - channel_offset */
    char engine[128];            /* "engine": as mli_mov_set_engine(); empty: the default */
    struct access access;        /* "access" */
    uint32_t clients;            /* "limits.clients": connections at a time */
    uint32_t clients_reserved;   /* "limits.clients_reserved": of them, for root and own user */
    uint32_t jobs_per_client;    /* "limits.jobs_per_client": queued and running */
    uint32_t jobs;               /* "limits.jobs": queued and running of all clients */
    uint64_t job_bytes;          /* "limits.job_bytes": mapped by one job */
    uint32_t buffers_per_client; /* "limits.buffers_per_client" */
    uint64_t buffer_bytes_per_client; /* "limits.buffer_bytes_per_client" */
    uint32_t prepared_per_client;     /* "limits.prepared_per_client": prepared jobs */
    uint32_t mappings;                /* "limits.mappings": of clients' files, of all clients */
    bool refuse_sparse;               /* "refuse_sparse": files in memory must be allocated whole */
    bool memory_only;                 /* "memory_only": no files on disks and servers */
    uint32_t history;                 /* "limits.history": ended jobs that are known */
    uint32_t line_timeout_ms;  /* "limits.line_timeout_ms": for a line begun to be finished, and for
                                  last replies to be read; 0: no limit */
    uint32_t reply_timeout_ms; /* "limits.reply_timeout_ms": for a client that is in the way to read
                                  some of its replies; 0: no limit */
    struct quotas quotas;      /* "quotas" */
    struct scheduling scheduling;    /* "scheduling" */
    struct watchdog_limits watchdog; /* "watchdog" */
    uint32_t drain_ms;               /* "drain_ms": what SIGTERM gives running jobs; 0: no limit */
    int log_level; /* "log_level": "error", "warning", "info" or "debug" (syslog 3 4 6 7) */
    enum log_format log_format; /* "log_format": "text" or "json" */
    char metrics[128];          /* "metrics.listen": an address (address.h); empty: none */
    char trace[1024];           /* "trace": path; empty: none */
    bool embedded;              /* no key: all clients are threads of this process */
};

struct number;

/** Keys of the top level; the last is followed by null. */
extern const char *const config_keys[];
/** The numbers of an object of the configuration ("": the top level), or null if it has none. */
const struct number *config_numbers(const char *group);

void config_defaults(struct config *config);

/**
 * Reads JSON text over *config. Unknown and duplicate keys are refused. Returns 0; or -1, and
 * *config is as it was.
 */
int config_read(struct config *config, const char *text, size_t length, struct fault *fault);

/** Reads a file; returns 0 or -1 (fault: the file's name is in the text). */
int config_load(struct config *config, const char *path, struct fault *fault);

/** Sets the level by its name. Returns 0, or -1 where it is none. */
int config_set_log_level(struct config *config, const char *name);
/** Sets the format by its name. Returns 0, or -1 where it is none. */
int config_set_log_format(struct config *config, const char *name);

/**
 * Checks what must hold between keys, when options have changed some. Returns 0 or -1. Whether the
 * engine is to be had is service_check()'s business.
 */
int config_check(const struct config *config, struct fault *fault);

/** Fills config->socket with the default where it is empty. */
void config_default_socket(struct config *config);

/** What a user may have. Points into *config. */
const struct quota *config_quota(const struct config *config, uint32_t uid);

#endif /* DAEMON_CONFIG_H */
