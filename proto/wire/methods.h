/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Params and results of the methods, except those of job.submit and job.prepare (job.h) and of
 * events.subscribe (events.h). A read function returns 0, or -1 with the fault of `params` filled
 * and no memory to free; it reads absent params as {}. A write function writes the members of the
 * params into the object that is open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/build_id.h"
#include "proto/wire/job.h"

/* The methods daemon.*: mlid fills the structures, mlictl prints them, prometheus.h exports struct
 * daemon_stats. */

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
    char profile[MEMORY_NAME_MAX];      /* name of the target profile; empty: none */
    char profile_digest[BUILD_ID_SIZE]; /* digest of the profile's members; empty: no profile, or an
                                           older mlid */
    uint32_t pid;
    uint64_t uptime_ms;
    uint32_t channels, channels_busy, channels_quarantined, channel_offset;
    uint32_t clients, clients_max;
    uint32_t jobs_queued, jobs_running, jobs_per_client_max;
    uint64_t jobs_done, jobs_failed; /* numbers of jobs since the start of the service */
    uint64_t bytes_moved;
};
int daemon_info_read(const struct json *result, struct daemon_info *info);
/** Writes the result as member `key`. */
void daemon_info_write(struct jsonw *w, const char *key, const struct daemon_info *info);

/** Reads the params of daemon.drain. *wait becomes true if the reply must wait for the last job. */
int daemon_drain_read(const struct json *params, bool *wait);

/* Bucket i counts the values below 1024 << i ns that are in no earlier bucket; the last bucket also
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
    uint64_t cpu_pieces, cpu_bytes; /* number and bytes of the pieces that the processor moved
                                       instead of the device; a member that is 0 is left out */
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
    uint64_t used;    /* bytes of all ranges in use */
    uint64_t largest; /* bytes of the largest free range */
    uint32_t ranges;  /* number of buffers and of tensors of jobs in the memory */
};

enum { STATS_LIST_MAX = 100, STATS_MEMORIES_MAX = 16 };

struct daemon_stats {
    enum service_phase phase;
    uint64_t uptime_ms;
    struct {
        uint64_t submitted, done, failed, cancelled, refused;
        uint32_t waiting, queued[3], running; /* jobs now; queued[]: low, normal, high priority */
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

/* The methods buffer.*. */

enum buffer_access { BUFFER_ACCESS_DEFAULT, BUFFER_ACCESS_READ, BUFFER_ACCESS_WRITE };

/* The params of buffer.register; the request has one descriptor. */
struct buffer_register {
    bool has_size;
    uint64_t size;
    enum buffer_access access;
};
/**
 * Reads the params of buffer.register. `fds` is the number of the request's descriptors: the member
 * "fd" must be below this number.
 */
int buffer_register_read(const struct json *params, uint32_t fds, struct buffer_register *call);
void buffer_register_write(struct jsonw *w, const struct buffer_register *call);

/* The params of buffer.alloc. */
struct buffer_alloc {
    uint64_t size;                /* at least 1 */
    char memory[MEMORY_NAME_MAX]; /* name of a memory of the service's target profile; or empty */
    bool has_address; /* true: `address` is given, which requires `memory`; false: the service
                         chooses the address */
    uint64_t address; /* wanted address of the first byte on the board */
};
int buffer_alloc_read(const struct json *params, struct buffer_alloc *call);
void buffer_alloc_write(struct jsonw *w, const struct buffer_alloc *call);

struct buffer_info {
    uint32_t buffer; /* from 1 */
    uint64_t size;
    enum buffer_access access; /* BUFFER_ACCESS_READ or BUFFER_ACCESS_WRITE */
    bool sealed;
    char memory[MEMORY_NAME_MAX]; /* memory of the board that the buffer is in; or empty */
    uint64_t address;             /* with a memory: address of the first byte on the board */
    /* Only the items of buffer.list have these members: */
    bool allocated; /* true: "kind" is "allocated"; false: "registered" */
    uint32_t jobs, prepared;
};
/** Writes the members of the result of buffer.register and buffer.alloc. */
void buffer_info_write_members(struct jsonw *w, const struct buffer_info *info);
/** Writes an item of the result of buffer.list. */
void buffer_info_write_item(struct jsonw *w, const struct buffer_info *info);
/** Reads a result of buffer.register or buffer.alloc, or an item of buffer.list. Returns 0 or -1
 * (fault); skips unknown members. */
int buffer_info_read(const struct json *value, struct buffer_info *info);

/* The methods job.start, job.wait, job.list, job.status, job.cancel and job.release. */

/* The memory of a tensor for one start of a prepared job. */
struct start_memory {
    bool has_buffer, has_offset;
    uint32_t buffer;
    uint64_t offset; /* bytes */
};

/* The params of job.start. */
struct job_start {
    uint32_t prepared;
    struct start_memory src, dst;
    bool has_priority;
    int32_t priority;    /* with has_priority: -1, 0 or 1 */
    uint32_t timeout_ms; /* 0: no timeout */
    bool detach;
    struct job_refs after;
};
int job_start_read(const struct json *params, struct job_start *start);
void job_start_finish(struct job_start *start);
void job_start_write(struct jsonw *w, const struct job_start *start);

/* The params of job.wait. */
struct job_wait {
    enum { JOB_WAIT_ONE, JOB_WAIT_SEVERAL, JOB_WAIT_ALL } what;
    struct job_refs jobs; /* jobs to wait for; empty for JOB_WAIT_ALL */
    uint32_t timeout_ms;  /* 0: no timeout */
};
int job_wait_read(const struct json *params, struct job_wait *wait);
void job_wait_finish(struct job_wait *wait);
void job_wait_write(struct jsonw *w, const struct job_wait *wait);

/* The params of job.list. */
enum { JOB_LIST_LIMIT = 100, JOB_LIST_LIMIT_MAX = 1000 };
struct job_list_query {
    uint32_t states; /* states as bits 1 << enum job_state; 0: all states */
    uint64_t client; /* 0: all clients */
    char *name;      /* name of the jobs; owned; null: all names */
    uint64_t before; /* list only jobs with lower numbers; 0: all jobs */
    uint32_t limit;  /* maximum number of jobs */
};
int job_list_query_read(const struct json *params, struct job_list_query *query);
void job_list_query_finish(struct job_list_query *query);
void job_list_query_write(struct jsonw *w, const struct job_list_query *query);

/** Reads the params of job.status and job.cancel: the only member is "job". */
int job_ref_params_read(const struct json *params, struct job_ref *ref);

/** Reads params with a single member, a number from 1: "prepared" of job.release, "buffer" of
 *  buffer.release. */
int number_param_read(const struct json *params, const char *key, uint32_t *number);
