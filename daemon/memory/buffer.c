/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "target/profile/profile_rules.h"

/* Seals keep every process from changing the size of the memfd: the user is charged for this size
 * only. */
enum { ALLOCATED_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* Adds to the counts of a connection, its user and all users. */
static void charge(struct buffer_account *account, int64_t bytes, int32_t count)
{
    for (; account; account = account->parent) {
        account->bytes += (uint64_t)bytes;
        account->count += (uint32_t)count;
    }
}

static void hold(struct buffer *buffer)
{
    buffer->holders++;
}

static void drop(struct buffer *buffer)
{
    if (--buffer->holders > 0)
        return;
    charge(buffer->account, -(int64_t)buffer->region->size, 0);
    region_drop(buffer->region);
    free(buffer);
}

void buffers_init(struct buffers *buffers, struct buffer_account *account, uid_t uid)
{
    *buffers = (struct buffers){.account = account, .uid = uid};
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

static int check_count(const struct buffers *buffers, const struct buffer_limits *limits,
                       struct fault *fault)
{
    if (buffers->table.count < limits->count)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.buffers_per_client: this connection has %" PRIu32
                     " buffers, the most allowed; release one first",
                     buffers->table.count);
}

static bool fits(uint64_t used, uint64_t size, uint64_t limit)
{
    return used <= limit && size <= limit - used;
}

static int check_bytes(const struct buffers *buffers, uint64_t size,
                       const struct buffer_limits *limits, struct fault *fault)
{
    const struct buffer_account *own = buffers->account, *user = own->parent;

    if (!fits(own->bytes, size, limits->bytes))
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "limits.buffer_bytes_per_client: %" PRIu64
                         " B more requested, this connection has %" PRIu64
                         " B of buffers, at most %" PRIu64 " B are allowed",
                         size, own->bytes, limits->bytes);
    if (!fits(user->bytes, size, limits->bytes_of_user))
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "quotas.buffer_bytes: %" PRIu64 " B more requested, this user has %" PRIu64
                         " B of buffers, at most %" PRIu64 " B are allowed",
                         size, user->bytes, limits->bytes_of_user);
    return 0;
}

/* Takes ownership of the region, even on failure. */
static struct buffer *add(struct buffers *buffers, struct region *region, struct fault *fault)
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
    buffer->account = buffers->account;
    charge(buffer->account, (int64_t)region->size, 1);
    return buffer;
}

/* Uses write access by default, if the descriptor allows it. */
static bool wants_write(int fd, enum buffer_access access)
{
    int flags, seals;

    if (access != BUFFER_ACCESS_DEFAULT)
        return access == BUFFER_ACCESS_WRITE;
    flags = seam.open_flags(fd);
    seals = fcntl(fd, F_GET_SEALS); /* a negative number means that the file is not a memfd */
    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR &&
           (seals < 0 || !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)));
}

struct buffer *buffer_register(struct buffers *buffers, int fd, const struct buffer_register *call,
                               const struct buffer_limits *limits, struct fault *fault)
{
    const struct region_want want = {
        .use = {.write = wants_write(fd, call->access),
                .name = "fd",
                .pointer = "/fd",
                .uid = buffers->uid},
        .bytes = call->has_size ? call->size : 0,
        .seal = true,
    };
    struct region *region;

    if (check_count(buffers, limits, fault) < 0)
        return NULL;
    region = region_create(fd, &want, fault);
    if (!region)
        return NULL;
    if (check_bytes(buffers, region->size, limits, fault) < 0) {
        region_drop(region);
        return NULL;
    }
    return add(buffers, region, fault);
}

/* Creates a memfd of fixed size. Returns its descriptor, or -1 with *fault filled. */
static int make_memfd(uint64_t size, struct fault *fault)
{
    int fd = seam.memfd("mlid-buffer");
    int error, sized;

    do
        sized = fd < 0 || size > INT64_MAX ? -1 : ftruncate(fd, (off_t)size);
    while (sized < 0 && fd >= 0 && errno == EINTR);
    if (sized == 0 && fcntl(fd, F_ADD_SEALS, ALLOCATED_SEALS) == 0)
        return fd;
    error = size <= INT64_MAX ? errno : EFBIG;
    if (fd >= 0)
        close(fd);
    return fault_set(fault, FAULT_INTERNAL, "/size",
                     "size: cannot create a memfd of %" PRIu64 " B: %s", size, strerror(error));
}

/* Places the region of a buffer in the memory that the call names. */
static int place_region(struct region *region, const struct buffer_alloc *call,
                        const struct board_use *use, struct fault *fault)
{
    const struct board_want want = {.use = use,
                                    .bytes = region->size,
                                    .exact = call->has_address,
                                    .address = call->address,
                                    .name = "memory",
                                    .pointer = "/memory"};
    const struct profile_memory *memory;

    if (!use)
        return fault_set(
            fault, FAULT_INVALID_PARAMS, "/memory",
            "memory: \"%s\" given, but the service has no target profile (option --profile)",
            call->memory);
    memory = profile_find_memory(&use->board->profile, call->memory, "memory", "/memory", fault);
    return memory ? board_place(board_memory_of(use->board, memory), &region->piece, &want, fault)
                  : -1;
}

static struct region *make_region(const struct buffers *buffers, const struct buffer_alloc *call,
                                  const struct board_use *use, int fd, struct fault *fault)
{
    const struct region_want want = {
        .use =
            {.write = true, .name = "size", .pointer = "/size", .own = true, .uid = buffers->uid},
        .bytes = call->size,
    };
    struct region *region = region_create(fd, &want, fault);

    if (!region) {
        if (fault->code != FAULT_LIMIT)
            fault->code = FAULT_INTERNAL; /* not BAD_DESCRIPTOR: the client sent none */
        return NULL;
    }
    if (call->memory[0] == '\0' || place_region(region, call, use, fault) == 0)
        return region;
    region_drop(region);
    return NULL;
}

struct buffer *buffer_alloc(struct buffers *buffers, const struct buffer_alloc *call,
                            struct board_use *use, const struct buffer_limits *limits, int *fd,
                            struct fault *fault)
{
    struct region *region;
    struct buffer *buffer = NULL;

    if (check_count(buffers, limits, fault) < 0 ||
        check_bytes(buffers, call->size, limits, fault) < 0)
        return NULL;
    *fd = make_memfd(call->size, fault);
    if (*fd < 0)
        return NULL;
    if (use)
        use->holder.number = (uint64_t)buffers->table.last + 1; /* add() will give this number */
    region = make_region(buffers, call, use, *fd, fault);
    if (region)
        buffer = add(buffers, region, fault);
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
    charge(buffer->account, 0, -1);
    drop(buffer);
    return 0;
}

void buffer_info_fill(struct buffer_info *info, const struct buffer *buffer)
{
    const struct board_piece *piece = &buffer->region->piece;

    *info = (struct buffer_info){
        .buffer = buffer->number,
        .size = buffer->region->size,
        .access = buffer->region->write ? BUFFER_ACCESS_WRITE : BUFFER_ACCESS_READ,
        .sealed = buffer->region->sealed,
        .allocated = buffer->allocated,
        .jobs = buffer->jobs,
        .prepared = buffer->prepared,
    };
    if (!piece->memory)
        return;
    snprintf(info->memory, sizeof info->memory, "%s", piece->memory->described->name);
    info->address = piece->address;
}

/* Places */

static uint32_t *count_of(struct buffer *buffer, enum places_user user)
{
    return user == PLACES_OF_JOB ? &buffer->jobs : &buffer->prepared;
}

void places_put(struct places *places, struct place *place, struct buffer *buffer, uint64_t offset,
                enum places_user user)
{
    /* Count a job with both tensors in one buffer only once. */
    if (places->src.buffer != buffer && places->dst.buffer != buffer)
        ++*count_of(buffer, user);
    hold(buffer);
    *place = (struct place){.region = buffer->region, .buffer = buffer, .offset = offset};
}

void places_share(struct places *places, struct place *place, const struct place *from,
                  enum places_user user)
{
    if (from->buffer)
        places_put(places, place, from->buffer, from->offset, user);
    else
        *place = (struct place){.region = region_hold(from->region), .offset = from->offset};
}

/* Releases the memory of `place`. `other` is the place of the job's other tensor: if it is in the
 * same buffer, the buffer stays in use. */
static void leave(struct place *place, const struct place *other, enum places_user user)
{
    if (!place->buffer) {
        region_drop(place->region);
    } else {
        if (other->buffer != place->buffer)
            --*count_of(place->buffer, user);
        drop(place->buffer);
    }
    *place = (struct place){0};
}

void places_finish(struct places *places, enum places_user user)
{
    leave(&places->src, &places->dst, user);
    leave(&places->dst, &places->src, user);
}
