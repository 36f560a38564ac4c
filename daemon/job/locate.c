/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/locate.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/job/memories.h"

/* The names of a tensor in error messages. */
struct side {
    bool write;
    const char *name, *pointer, *fd, *buffer, *offset;
};

static const struct side src_side = {false, "src", "/src", "/src/fd", "/src/buffer", "/src/offset"};
static const struct side dst_side = {true, "dst", "/dst", "/dst/fd", "/dst/buffer", "/dst/offset"};

static struct buffer *find_buffer(const struct buffers *buffers, uint32_t number,
                                  const struct side *side, struct fault *fault)
{
    struct buffer *buffer = buffers_find(buffers, number);

    if (!buffer)
        fault_set(fault, FAULT_NOT_FOUND, side->buffer,
                  "%s.buffer: this connection has no buffer %" PRIu32, side->name, number);
    return buffer;
}

/* Checks that the buffer has `end` bytes from the offset on, and may be written if needed. */
static int check_buffer(const struct place *place, uint64_t end, const struct side *side,
                        struct fault *fault)
{
    if (side->write && !place->region->write)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, side->buffer,
                         "%s.buffer: buffer %" PRIu32 " is registered for reading only", side->name,
                         place->buffer->number);
    return region_check_range(place->region, place->offset, end, side->name, side->offset, fault);
}

/*
 * Checks that source and destination do not overlap. libmli compares addresses, which differ in two
 * mappings of the same file. Both ranges must be inside their regions.
 */
static int check_apart(const struct places *places, const struct operands *operands,
                       struct fault *fault)
{
    const struct span *read = &operands->read, *written = &operands->written;
    const struct place *src = &places->src, *dst = &places->dst;
    const uint64_t src_offset = src->region->file_offset + src->offset;
    const uint64_t dst_offset = dst->region->file_offset + dst->offset;
    const char *memory = dst->buffer ? "buffer" : "file";

    if (!region_overlaps(src->region, src->offset + read->begin, read->end - read->begin,
                         dst->region, dst->offset + written->begin, written->end - written->begin))
        return 0;
    fault_set(fault, FAULT_REFUSED, "/dst",
              "dst: bytes %" PRIu64 " to %" PRIu64 " of the %s are written, but %" PRIu64
              " to %" PRIu64 " of the same %s are read as src",
              dst_offset + written->begin, dst_offset + written->end, memory,
              src_offset + read->begin, src_offset + read->end, memory);
    fault->status = MLI_STATUS_INCOMPATEBLE_TENSORS;
    return -1;
}

/* Refuses unused descriptors: they are probably a client's mistake. */
static int check_fds(const struct located_job *job, struct fault *fault)
{
    const struct tensor_ref *src = &job->job->src, *dst = &job->job->dst;
    const bool src_fd = src->where == TENSOR_IN_FD, dst_fd = dst->where == TENSOR_IN_FD;
    const size_t used = src_fd && dst_fd && src->fd == dst->fd ? 1 : (size_t)src_fd + dst_fd;

    if (job->fd_count == used)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "fds: %zu descriptors came with the job, which uses %zu", job->fd_count, used);
}

static int check_bytes(const struct located_job *job, struct fault *fault)
{
    const uint64_t src = job->job->src.where == TENSOR_IN_FD ? job->operands->read.end : 0;
    const uint64_t dst = job->job->dst.where == TENSOR_IN_FD ? job->operands->written.end : 0;
    uint64_t sum;

    if (!__builtin_add_overflow(src, dst, &sum) && sum <= job->bytes_max)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.job_bytes: src and dst take %" PRIu64
                     " B, but one job may map at most %" PRIu64 " B",
                     sum, job->bytes_max);
}

static int complain_memory(const struct tensor_ref *ref, const struct side *side,
                           struct fault *fault)
{
    char pointer[FAULT_POINTER_MAX];

    snprintf(pointer, sizeof pointer, "/%s/memory", side->name);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "%s.memory: \"%s\" given, but the service has no target profile "
                     "(option --profile)",
                     side->name, ref->memory);
}

static int locate_tensor(struct places *places, struct place *place, const struct located_job *job,
                         const struct tensor_ref *ref, uint64_t end, const struct side *side,
                         struct fault *fault)
{
    const struct region_want want = {
        .use = {.write = side->write, .name = side->name, .pointer = side->fd, .uid = job->uid},
        .offset = ref->offset,
        .bytes = end,
        .exclusive = job->user == PLACES_OF_JOB,
    };
    struct buffer *buffer;

    if (ref->memory[0] != '\0' && !job->board)
        return complain_memory(ref, side, fault);
    if (ref->where == TENSOR_IN_FD) {
        place->region = region_create(job->fds[ref->fd], &want, fault);
        return place->region ? 0 : -1;
    }
    buffer = find_buffer(job->buffers, ref->buffer, side, fault);
    if (!buffer)
        return -1;
    places_put(places, place, buffer, ref->offset, job->user);
    return check_buffer(place, end, side, fault);
}

int locate_job(struct places *places, const struct located_job *job, struct fault *fault)
{
    const struct operands *operands = job->operands;

    if (check_fds(job, fault) < 0 || check_bytes(job, fault) < 0 ||
        locate_tensor(places, &places->src, job, &job->job->src, operands->read.end, &src_side,
                      fault) < 0 ||
        locate_tensor(places, &places->dst, job, &job->job->dst, operands->written.end, &dst_side,
                      fault) < 0 ||
        check_apart(places, operands, fault) < 0)
        return -1;
    return job->board ? memories_place(places, job->job, operands, job->board, fault) : 0;
}

/* Sets the place to the one in the request, or else to the one of the prepared job. */
static int relocate(struct places *places, struct place *place, const struct place *own,
                    const struct start_memory *memory, const struct buffers *buffers,
                    const struct side *side, struct fault *fault)
{
    struct buffer *buffer = own->buffer;

    if (!memory->has_buffer && !memory->has_offset) {
        places_share(places, place, own, PLACES_OF_JOB);
        return 0;
    }
    if (!own->buffer)
        return fault_set(fault, FAULT_INVALID_PARAMS, side->pointer,
                         "%s: the job was prepared with a descriptor, which a start cannot replace",
                         side->name);
    if (memory->has_buffer)
        buffer = find_buffer(buffers, memory->buffer, side, fault);
    if (!buffer)
        return -1;
    places_put(places, place, buffer, memory->has_offset ? memory->offset : own->offset,
               PLACES_OF_JOB);
    return 0;
}

int locate_start(struct places *places, const struct located_start *start, struct fault *fault)
{
    const struct places *own = start->own;
    const struct operands *operands = &start->work->operands;

    if (relocate(places, &places->src, &own->src, &start->start->src, start->buffers, &src_side,
                 fault) < 0 ||
        relocate(places, &places->dst, &own->dst, &start->start->dst, start->buffers, &dst_side,
                 fault) < 0)
        return -1;
    if ((places->src.buffer &&
         check_buffer(&places->src, operands->read.end, &src_side, fault) < 0) ||
        (places->dst.buffer &&
         check_buffer(&places->dst, operands->written.end, &dst_side, fault) < 0))
        return -1;
    if (check_apart(places, operands, fault) < 0)
        return -1;
    return start->board ? memories_check(places, &start->work->job, operands, start->board, fault)
                        : 0;
}

static void put(mli_tensor *tensor, const struct place *place, uint64_t bytes)
{
    tensor->data.mem.pi8 = (int8_t *)place->region->mapping.data + place->offset;
    tensor->data.capacity = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

void locate_tensors(const struct places *places, const struct operands *operands, mli_tensor *src,
                    mli_tensor *dst)
{
    *src = operands->src;
    *dst = operands->dst;
    put(src, &places->src, operands->read.end);
    put(dst, &places->dst, operands->written.end);
}
