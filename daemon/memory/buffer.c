/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "daemon/job/flow.h"

/* Nobody can shrink it; nor grow it, as no more than its size is counted. */
enum { ALLOCATED_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* Its connection has given it up, and counts it no more. */
static void give_up(struct buffer *buffer)
{
    buffer->flow->user->users->buffers--;
    buffer_drop(buffer);
}

bool buffer_release_last(struct buffers *buffers)
{
    struct numbered *table = &buffers->table;

    if (table->count == 0) {
        numbered_finish(table);
        return false;
    }
    buffer_release(buffers, table->entries[table->count - 1].number);
    return true;
}

struct buffer *buffers_find(const struct buffers *buffers, uint32_t number)
{
    return numbered_find(&buffers->table, number);
}

void buffer_hold(struct buffer *buffer)
{
    buffer->holders++;
}

void buffer_drop(struct buffer *buffer)
{
    if (--buffer->holders > 0)
        return;
    buffer->flow->buffer_bytes -= buffer->region->size;
    buffer->flow->user->buffer_bytes -= buffer->region->size;
    buffer->flow->user->users->buffer_bytes -= buffer->region->size;
    flow_drop(buffer->flow);
    region_drop(buffer->region);
    free(buffer);
}

static int check_count(const struct buffers *buffers, const struct buffer_limits *limits,
                       struct fault *fault)
{
    if (buffers->table.count < limits->count)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.buffers_per_client: this connection has %" PRIu32
                     " buffers, as many as it may",
                     buffers->table.count);
}

static bool fits(uint64_t used, uint64_t size, uint64_t limit)
{
    return used <= limit && size <= limit - used;
}

static int check_bytes(const struct flow *flow, uint64_t size, const struct buffer_limits *limits,
                       struct fault *fault)
{
    if (!fits(flow->buffer_bytes, size, limits->bytes))
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "limits.buffer_bytes_per_client: %" PRIu64
                         " B more, this connection has %" PRIu64 " B of buffers and may have "
                         "%" PRIu64,
                         size, flow->buffer_bytes, limits->bytes);
    if (!fits(flow->user->buffer_bytes, size, limits->bytes_of_user))
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "quotas.buffer_bytes: %" PRIu64 " B more, this user has %" PRIu64
                         " B of buffers and may have %" PRIu64,
                         size, flow->user->buffer_bytes, limits->bytes_of_user);
    return 0;
}

/* Takes the region over, also on failure. */
static struct buffer *add(struct buffers *buffers, struct flow *flow, struct region *region,
                          struct fault *fault)
{
    struct buffer *buffer = seam.calloc(1, sizeof *buffer);

    if (buffer)
        buffer->number = numbered_add(&buffers->table, buffer);
    if (!buffer || buffer->number == 0) {
        fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a buffer");
        region_drop(region);
        free(buffer);
        return NULL;
    }
    buffer->holders = 1;
    buffer->region = region;
    buffer->flow = flow;
    flow_hold(flow);
    flow->buffer_bytes += region->size;
    flow->user->buffer_bytes += region->size;
    flow->user->users->buffer_bytes += region->size;
    flow->user->users->buffers++;
    return buffer;
}

/* Where nothing is said: writing, where the descriptor allows it. */
static bool wants_write(int fd, enum buffer_access access)
{
    int flags, seals;

    if (access != BUFFER_ACCESS_DEFAULT)
        return access == BUFFER_ACCESS_WRITE;
    flags = seam.open_flags(fd);
    seals = fcntl(fd, F_GET_SEALS); /* negative where it is no memfd */
    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR &&
           (seals < 0 || !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)));
}

struct buffer *buffer_register(struct buffers *buffers, struct flow *flow, int fd,
                               const struct buffer_register *call,
                               const struct buffer_limits *limits, struct fault *fault)
{
    const struct region_want want = {
        .use = {.write = wants_write(fd, call->access),
                .name = "fd",
                .pointer = "/fd",
                .uid = flow->user->uid},
        .bytes = call->has_size ? call->size : 0,
        .seal = true,
    };
    struct region *region;

    if (check_count(buffers, limits, fault) < 0)
        return NULL;
    region = region_create(fd, &want, fault);
    if (!region)
        return NULL;
    if (check_bytes(flow, region->size, limits, fault) < 0) {
        region_drop(region);
        return NULL;
    }
    return add(buffers, flow, region, fault);
}

/* Returns a descriptor or -1. */
static int make_memfd(uint64_t size, struct fault *fault)
{
    int fd = seam.memfd("mlid-buffer");
    int error;

    if (fd >= 0 && size <= INT64_MAX && ftruncate(fd, (off_t)size) == 0 &&
        fcntl(fd, F_ADD_SEALS, ALLOCATED_SEALS) == 0)
        return fd;
    error = size <= INT64_MAX ? errno : EFBIG;
    if (fd >= 0)
        close(fd);
    return fault_set(fault, FAULT_INTERNAL, "/size", "size: no memfd of %" PRIu64 " B: %s", size,
                     strerror(error));
}

struct buffer *buffer_alloc(struct buffers *buffers, struct flow *flow, uint64_t size,
                            const struct buffer_limits *limits, int *fd, struct fault *fault)
{
    const struct region_want want = {
        .use = {.write = true,
                .name = "size",
                .pointer = "/size",
                .own = true,
                .uid = flow->user->uid},
        .bytes = size,
    };
    struct region *region;
    struct buffer *buffer = NULL;

    if (check_count(buffers, limits, fault) < 0 || check_bytes(flow, size, limits, fault) < 0)
        return NULL;
    *fd = make_memfd(size, fault);
    if (*fd < 0)
        return NULL;
    region = region_create(*fd, &want, fault);
    if (region)
        buffer = add(buffers, flow, region, fault);
    else if (fault->code != FAULT_LIMIT)
        fault->code = FAULT_INTERNAL; /* the descriptor is none of the client's */
    if (!buffer) {
        seam.close(*fd);
        return NULL;
    }
    buffer->allocated = true;
    return buffer;
}

int buffer_release(struct buffers *buffers, uint32_t number)
{
    struct buffer *buffer = numbered_remove(&buffers->table, number);

    if (!buffer)
        return -1;
    give_up(buffer);
    return 0;
}

void buffer_info_fill(struct buffer_info *info, const struct buffer *buffer)
{
    *info = (struct buffer_info){
        .buffer = buffer->number,
        .size = buffer->region->size,
        .access = buffer->region->write ? BUFFER_ACCESS_WRITE : BUFFER_ACCESS_READ,
        .sealed = buffer->region->sealed,
        .allocated = buffer->allocated,
        .jobs = buffer->jobs,
        .prepared = buffer->prepared,
    };
}
