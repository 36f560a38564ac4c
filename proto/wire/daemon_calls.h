/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of daemon.info and daemon.stats, params of daemon.drain; conventions as in job_calls.h.
 * mlid fills the structures, mlictl prints them, prometheus.h exports struct daemon_stats.
 */
#ifndef PROTO_DAEMON_CALLS_H
#define PROTO_DAEMON_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/build_id.h"
#include "proto/wire/job_common.h"

enum service_phase { PHASE_SERVING, PHASE_DRAINING, PHASE_DRAINED };
/** Returns "serving", "draining" or "drained". Static storage. */
const char *service_phase_name(enum service_phase phase);
int service_phase_read(const struct json *value, enum service_phase *phase);

/* The result of daemon.info. */
struct daemon_info {
    char version[32];
    char build[BUILD_ID_SIZE]; /* build_id() of mlid; empty if an older mlid does not send it */
    uint32_t protocol;
    enum service_phase phase; /* "state" */
    char engine[24];
    char profile[MEMORY_NAME_MAX]; /* name of the target profile; empty: none */
    char
        profile_digest[BUILD_ID_SIZE]; /* of the profile's members; empty: none, or an older mlid */
    uint32_t pid;
    uint64_t uptime_ms;
    uint32_t channels, channels_busy, channels_quarantined, channel_offset;
    uint32_t clients, clients_max;
    uint32_t jobs_queued, jobs_running, jobs_per_client_max;
    uint64_t jobs_done, jobs_failed; /* numbers of jobs since the start of the service */
    uint64_t bytes_moved;
};
int daemon_info_read(const struct json *result, struct daemon_info *info);
/** Writes the object as member `key`. */
void daemon_info_write(struct jsonw *w, const char *key, const struct daemon_info *info);

/** Reads the params of daemon.drain. *wait becomes true if the reply must wait for the last job. */
int daemon_drain_read(const struct json *params, bool *wait);

/* Bucket i counts the values below 1024 << i ns that are not in bucket i - 1; the last bucket
 * counts all larger values. */
enum { HISTOGRAM_BUCKETS = 24 };
struct histogram {
    uint64_t count, sum_ns, buckets[HISTOGRAM_BUCKETS];
};
void histogram_add(struct histogram *histogram, uint64_t ns);

struct channel_stats {
    uint32_t channel;
    enum { CHANNEL_IDLE, CHANNEL_BUSY, CHANNEL_QUARANTINED } state;
    uint64_t submitted, completed, failed, cancelled, bytes, rows, busy_ns;
    uint64_t cpu_pieces, cpu_bytes; /* pieces that the processor moved instead of the device; the
                                       members are left out if there are none */
    uint64_t job;                   /* 0: none */
};

struct user_stats {
    uint32_t uid, clients, jobs;
    uint64_t buffer_bytes, jobs_done, bytes_moved;
};

struct connection_stats {
    uint64_t client;
    uint32_t pid, uid, jobs;
    uint64_t jobs_done, bytes_moved, buffer_bytes;
};

/* A memory of the board that the service emulates. */
struct memory_stats {
    char name[MEMORY_NAME_MAX];
    uint64_t base, size;
    uint64_t used;    /* bytes of all ranges */
    uint64_t largest; /* bytes of the largest free range */
    uint32_t ranges;  /* buffers and tensors of jobs in the memory */
};

enum { STATS_LIST_MAX = 100, STATS_MEMORIES_MAX = 16 };

struct daemon_stats {
    enum service_phase phase;
    uint64_t uptime_ms;
    struct {
        uint64_t submitted, done, failed, cancelled, refused;
        uint32_t waiting, queued[3], running; /* jobs; queued: low, normal, high priority */
    } jobs;
    uint64_t bytes_moved;
    struct {
        uint32_t now;
        uint64_t accepted, turned_away;
    } clients;
    struct {
        uint32_t now;
        uint64_t bytes;
    } buffers;
    uint32_t prepared;
    uint64_t events_dropped;
    struct histogram queued, moving;
    uint32_t channel_count, user_count, connection_count;
    uint32_t memory_count; /* 0: the service has no target profile */
    struct channel_stats channels[MLI_MOV_MAX_CHANNELS];
    struct user_stats users[STATS_LIST_MAX];
    struct connection_stats connections[STATS_LIST_MAX];
    struct memory_stats memories[STATS_MEMORIES_MAX];
};

/** Writes the members of the result of daemon.stats. */
void daemon_stats_write_members(struct jsonw *w, const struct daemon_stats *stats);
/** Reads the result of daemon.stats. Returns 0 or -1 (fault); skips unknown members. */
int daemon_stats_read(const struct json *result, struct daemon_stats *stats);

#endif /* PROTO_DAEMON_CALLS_H */
