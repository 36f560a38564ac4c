/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of the service: defaults, then a file (conf/mlid.json), then command line
 * options.
 *
 * To add a key, start here: add it to struct config and to a table in config.c, then to
 * conf/mlid.json, conf/mlid.schema.json and man/mlid.json.5.scd. If it cannot change while the
 * service runs, add it to `fixed` in config.c too. Tests check that all of these agree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/log.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"

struct config;

/* "access": limits which of the users who can open the socket are served. */

enum { ACCESS_UIDS_MAX = 256 };

struct access {
    bool restricted; /* true: "uids" is given */
    uint32_t count;
    uint32_t uids[ACCESS_UIDS_MAX];
};
/** Returns whether a user is served; true for root and for the user that the service runs as. */
bool access_allows(const struct access *access, uint32_t uid);

/* "quotas": limits for all connections of one user together. */

struct quota {
    uint32_t clients;        /* limit on connections; QUOTA_SHARE: a share of limits.clients */
    uint32_t jobs;           /* limit on jobs; QUOTA_SHARE: a share of limits.jobs */
    uint64_t buffer_bytes;   /* limit on bytes of buffers; UINT64_MAX: no limit */
    uint32_t memory_percent; /* maximum share of each memory of the board, in percent */
    uint64_t reply_bytes; /* limit on bytes of replies that the clients have not read or still wait
                             for */
    uint32_t weight;      /* number of quanta of bytes in each turn of the user */
    int32_t max_priority; /* maximum priority among the jobs of all users; or QUOTA_BY_USER */
};

#define QUOTA_SHARE UINT32_MAX
/* max_priority: 1 for root and the user that the service runs as, 0 for others. */
#define QUOTA_BY_USER INT32_MIN

/* The maximum number of members of a JSON object. */
enum { QUOTA_USERS_MAX = JSON_KEYS_MAX };

struct quotas {
    struct quota standard;
    uint32_t count;
    uint32_t uids[QUOTA_USERS_MAX];
    struct quota users[QUOTA_USERS_MAX];
};
/** The members of the JSON object of one user. */
extern const struct member quota_members[];

/**
 * Returns whether a user with this quota, who has `own` of the `total` objects in use, may take one
 * more of `limit` objects. The quota QUOTA_SHARE allows what uid_share_allows() allows.
 */
bool quota_allows(uint32_t quota, uint32_t own, uint32_t total, uint32_t limit);

/* Reloading the configuration while the service runs. */

/**
 * Copies the keys that cannot change while the service runs from *live to *fresh. Logs a warning
 * for each of these keys that differs. Returns the number of differing keys.
 */
unsigned reload_keep(const struct config *live, struct config *fresh);

/* Parameters of the scheduler. */
struct scheduling {
    uint32_t ageing_ms; /* time after which a waiting job gets the next higher priority; 0: never */
    uint64_t quantum_bytes; /* bytes of jobs that a connection may start in its turn */
};

/* A transfer counts as stuck after limit_ms, plus 1 s for each `bytes_per_second` bytes. */
struct watchdog_limits {
    uint32_t limit_ms; /* 0: no watchdog */
    uint64_t bytes_per_second;
    uint32_t quarantine_ms; /* time for which a stuck channel is out of service */
};

struct config {
    char socket[108];        /* "socket": path; empty: $XDG_RUNTIME_DIR/mlid.sock, else
                                /run/mlid.sock */
    uint32_t socket_mode;    /* "socket_mode": "0600", octal text; set before bind */
    char socket_group[64];   /* "socket_group": name or number; empty: the group of the process */
    char user[64];           /* "user": the user (name or number) that the process becomes after
                                binding; empty: no change */
    uint32_t channel_offset; /* "channel_offset": first channel of the pool */
    uint32_t channels;       /* "channels": 1 .. 16 - channel_offset */
    bool channels_given;     /* false: `channels` is the default, which is the number of the board's
                                channels if there is a profile */
    char engine[128];        /* "engine": name for mli_mov_set_engine(); empty: the default */
    char profile[256];       /* "profile": target profile, name or path; empty: none */
    char tuning[1024];    /* "tuning": file with the tuning of the kernels; empty: the defaults for
                             the caches of this machine */
    struct access access; /* "access": the users who are served */
    uint32_t clients;     /* "limits.clients": connections at a time */
    uint32_t clients_reserved;   /* "limits.clients_reserved": connections only for root and the
                                    user that the service runs as */
    uint32_t jobs_per_client;    /* "limits.jobs_per_client": jobs of one connection */
    uint32_t jobs;               /* "limits.jobs": queued and running jobs of all connections */
    uint64_t job_bytes;          /* "limits.job_bytes": bytes mapped by one job */
    uint32_t buffers_per_client; /* "limits.buffers_per_client": buffers of a connection */
    uint64_t buffer_bytes_per_client; /* "limits.buffer_bytes_per_client": bytes of a connection's
                                         buffers */
    uint32_t prepared_per_client; /* "limits.prepared_per_client": prepared jobs of a connection */
    uint32_t mappings;            /* "limits.mappings": mapped files of all clients */
    bool refuse_sparse;           /* "refuse_sparse": files in memory must be allocated whole */
    bool memory_only;             /* "memory_only": files on disks and servers are refused */
    uint32_t history;             /* "limits.history": records of ended jobs of a user */
    uint32_t line_timeout_ms;  /* "limits.line_timeout_ms": time to finish a line, and to read the
                                  last replies; 0: no limit */
    uint32_t reply_timeout_ms; /* "limits.reply_timeout_ms": time in which a client whose requests
                                  wait must read some bytes of its replies; 0: no limit */
    struct quotas quotas;      /* "quotas": limits for single users */
    struct scheduling scheduling;    /* "scheduling": order of the jobs */
    struct watchdog_limits watchdog; /* "watchdog": limits for stuck channels */
    uint32_t drain_ms; /* "drain_ms": time for running jobs to end after SIGTERM; 0: no limit */
    int log_level;     /* "log_level": "error", "warning", "info" or "debug" (syslog 3 4 6 7) */
    enum log_format log_format; /* "log_format": "text" or "json" */
    char metrics[128];          /* "metrics.listen": an address (address.h); empty: none */
    char trace[1024];           /* "trace": path; empty: none */
    bool embedded;              /* not a key: true if all clients are threads of this process */
};

/** The members of the whole JSON object of the configuration. */
extern const struct member config_members[];

void config_defaults(struct config *config);

/**
 * Reads JSON text; its keys replace the members of *config. Refuses unknown and duplicate keys.
 * Returns 0, or -1 with *fault filled and *config unchanged.
 */
int config_read(struct config *config, const char *text, size_t length, struct fault *fault);

/** Does for a file what config_read() does for a text. The message of *fault names the file. */
int config_load(struct config *config, const char *path, struct fault *fault);

/** Sets the log level by its name. Returns 0, or -1 if no level has this name. */
int config_set_log_level(struct config *config, const char *name);
/** Sets the log format by its name. Returns 0, or -1 if no format has this name. */
int config_set_log_format(struct config *config, const char *name);

/**
 * Checks keys against each other after options have changed keys. Returns 0, or -1 with *fault
 * filled. service_check() checks the engine.
 */
int config_check(const struct config *config, struct fault *fault);

/** Sets an empty config->socket to the default. */
void config_default_socket(struct config *config);

/** Returns the quota of a user, which points into *config. */
const struct quota *config_quota(const struct config *config, uint32_t uid);
