/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and checks the memory of a job's tensors: buffers, or descriptors sent with the job. */
#include <inttypes.h>

#include "daemon/job/jobs.h"
#include "mli_helpers_api.h"
#include "proto/wire/methods.h"
#include "target/profile/profile_rules.h"

/* The names of a tensor in error messages. */
struct side {
    bool write;
    const char *name, *pointer, *fd, *buffer, *offset, *memory, *memory_name;
};

static const struct side src_side = {false,         "src",         "/src",        "/src/fd",
                                     "/src/buffer", "/src/offset", "/src/memory", "src.memory"};
static const struct side dst_side = {true,          "dst",         "/dst",        "/dst/fd",
                                     "/dst/buffer", "/dst/offset", "/dst/memory", "dst.memory"};

/*
 * Tensors in the memories of the board: checks the rules of the target profile, and places each
 * tensor that came with a descriptor and names a memory. A tensor in a buffer has a place already.
 */

/* One tensor of a job. */
struct operand {
    const struct side *side;
    const struct place *place;
    const struct tensor_ref *ref;
    uint32_t element; /* bytes of one element */
    uint64_t bytes;
    const struct profile_memory *memory; /* memory of the tensor, or null */
};

/* Returns whether the tensor came with a descriptor, names a memory and has no range in it yet. */
static bool is_to_place(const struct operand *operand)
{
    return operand->ref->memory[0] != '\0' && !operand->place->region->piece.memory;
}

/* Sets operand->memory: the memory of the tensor's range if it has a range, else the memory that
 * the job names. */
static int find_memory(struct operand *operand, const struct target_profile *profile,
                       struct fault *fault)
{
    const struct board_memory *memory = operand->place->region->piece.memory;
    const struct side *side = operand->side;

    if (memory)
        operand->memory = memory->described;
    if (!is_to_place(operand))
        return 0;
    operand->memory =
        profile_find_memory(profile, operand->ref->memory, side->memory_name, side->memory, fault);
    return operand->memory ? 0 : -1;
}

static struct profile_operand describe(const struct operand *operand, const struct job *job)
{
    const struct place *place = operand->place;
    const bool in_buffer = place->buffer != NULL;

    return (struct profile_operand){
        .side = operand->side->name,
        .memory = operand->memory,
        .in_buffer = in_buffer,
        .kernel = job->common.op == JOB_OP_PERMUTE,
        .element = operand->element,
        .base = in_buffer && operand->memory ? place->region->piece.address : 0,
        .offset = in_buffer ? place->offset : place->region->file_offset,
        .bytes = operand->bytes,
    };
}

/* Finds the memories of both located tensors, and checks the tensors. */
static int check_memories(struct operand *src, struct operand *dst, const struct places *places,
                          const struct work *work, const struct board *board, struct fault *fault)
{
    const struct operands *operands = &work->operands;
    struct profile_operand read, written;

    *src = (struct operand){&src_side,          &places->src,
                            &work->job.src,     mli_hlp_tensor_element_size(&operands->src),
                            operands->read.end, NULL};
    *dst = (struct operand){&dst_side,
                            &places->dst,
                            &work->job.dst,
                            mli_hlp_tensor_element_size(&operands->dst),
                            operands->written.end,
                            NULL};
    if (find_memory(src, &board->profile, fault) < 0 ||
        find_memory(dst, &board->profile, fault) < 0)
        return -1;
    read = describe(src, &work->job);
    written = describe(dst, &work->job);
    return profile_check_operands(&board->profile, &read, &written, fault);
}

static struct board_want want_of(const struct operand *operand, const struct board_use *use)
{
    return (struct board_want){.use = use,
                               .bytes = operand->bytes,
                               .name = operand->side->memory_name,
                               .pointer = operand->side->memory};
}

static int place_operand(const struct operand *operand, const struct board_use *use,
                         struct fault *fault)
{
    const struct board_want want = want_of(operand, use);

    return board_place(board_memory_of(use->board, operand->memory), &operand->place->region->piece,
                       &want, fault);
}

/* Places the destination after the source. If the destination is refused, gives back the range of
 * the source before it writes the message, so that the message does not count this range. */
static int place_dst(const struct operand *src, const struct operand *dst,
                     const struct board_use *use, bool placed, struct fault *fault)
{
    struct board_want want = want_of(dst, use);

    if (place_operand(dst, use, fault) == 0)
        return 0;
    if (!placed || src->memory != dst->memory)
        return -1;
    board_remove(&src->place->region->piece);
    want.besides = src->bytes;
    return board_refuse(board_memory_of(use->board, dst->memory), &want, fault);
}

/*
 * Checks both tensors of a job, and places them. The region of a tensor gives its piece back when
 * its last holder leaves. Returns 0, or -1 with *fault filled: REFUSED (a rule), NO_ROOM, LIMIT (a
 * quota) or INVALID_PARAMS (no such memory).
 */
static int place_both(const struct places *places, const struct work *work,
                      const struct board_use *use, struct fault *fault)
{
    struct operand src, dst;
    bool places_src, places_dst;

    if (check_memories(&src, &dst, places, work, use->board, fault) < 0)
        return -1;
    places_src = is_to_place(&src);
    places_dst = is_to_place(&dst);
    if (places_src && place_operand(&src, use, fault) < 0)
        return -1;
    return places_dst ? place_dst(&src, &dst, use, places_src, fault) : 0;
}

struct board_use *session_use_board(const struct session *session, enum board_kind kind,
                                    uint64_t number, struct board_use *use)
{
    const struct flow *flow = session->flow;
    const uid_t uid = flow->user->uid;

    if (!session->jobs->board)
        return NULL;
    *use = (struct board_use){
        .board = session->jobs->board,
        .holder = {.uid = uid, .client = flow->number, .kind = kind, .number = number},
        .percent = config_quota(session->jobs->config, uid)->memory_percent,
    };
    return use;
}

/* Locating. */

static struct buffer *find_buffer(const struct session *session, uint32_t number,
                                  const struct side *side, struct fault *fault)
{
    struct buffer *buffer = buffers_find(&session->buffers, number);

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
    const struct tensor_ref *src = &job->work->job.src, *dst = &job->work->job.dst;
    const bool src_fd = src->where == TENSOR_IN_FD, dst_fd = dst->where == TENSOR_IN_FD;
    const size_t used = src_fd && dst_fd && src->fd == dst->fd ? 1 : (size_t)src_fd + dst_fd;

    if (job->fd_count == used)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "fds: %zu descriptors came with the job, which uses %zu", job->fd_count, used);
}

static int check_bytes(const struct located_job *job, struct fault *fault)
{
    const struct work *work = job->work;
    const uint64_t src = work->job.src.where == TENSOR_IN_FD ? work->operands.read.end : 0;
    const uint64_t dst = work->job.dst.where == TENSOR_IN_FD ? work->operands.written.end : 0;
    const uint64_t max = job->session->jobs->config->job_bytes;
    uint64_t sum;

    if (!__builtin_add_overflow(src, dst, &sum) && sum <= max)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.job_bytes: src and dst take %" PRIu64
                     " B, but one job may map at most %" PRIu64 " B",
                     sum, max);
}

static int locate_tensor(struct places *places, struct place *place, const struct located_job *job,
                         const struct tensor_ref *ref, uint64_t end, const struct side *side,
                         struct fault *fault)
{
    const struct region_want want = {
        .use = {.write = side->write,
                .name = side->name,
                .pointer = side->fd,
                .uid = job->session->flow->user->uid},
        .offset = ref->offset,
        .bytes = end,
        .exclusive = job->user == PLACES_OF_JOB,
    };
    struct buffer *buffer;

    if (ref->memory[0] != '\0' && !job->session->jobs->board)
        return fault_set(fault, FAULT_INVALID_PARAMS, side->memory,
                         "%s: \"%s\" given, but the service has no target profile "
                         "(option --profile)",
                         side->memory_name, ref->memory);
    if (ref->where == TENSOR_IN_FD) {
        place->region = region_create(job->fds[ref->fd], &want, fault);
        return place->region ? 0 : -1;
    }
    buffer = find_buffer(job->session, ref->buffer, side, fault);
    if (!buffer)
        return -1;
    places_put(places, place, buffer, ref->offset, job->user);
    return check_buffer(place, end, side, fault);
}

int locate_job(struct places *places, const struct located_job *job, struct fault *fault)
{
    const struct session *session = job->session;
    const struct work *work = job->work;
    const struct operands *operands = &work->operands;
    struct board_use use;

    if (check_fds(job, fault) < 0 || check_bytes(job, fault) < 0 ||
        locate_tensor(places, &places->src, job, &work->job.src, operands->read.end, &src_side,
                      fault) < 0 ||
        locate_tensor(places, &places->dst, job, &work->job.dst, operands->written.end, &dst_side,
                      fault) < 0 ||
        check_apart(places, operands, fault) < 0)
        return -1;
    if (!session->jobs->board)
        return 0;
    /* This task or prepared job gets the next number: no other request is handled before that. */
    if (job->user == PLACES_OF_JOB)
        session_use_board(session, BOARD_JOB, session->jobs->last_job + 1, &use);
    else
        session_use_board(session, BOARD_PREPARED, (uint64_t)session->prepared.table.last + 1,
                          &use);
    return place_both(places, work, &use, fault);
}

/* Sets *place to the buffer and offset in the request. If the request has none, *place becomes the
 * place `own` of the prepared job. */
static int relocate(struct places *places, struct place *place, const struct place *own,
                    const struct start_memory *memory, const struct session *session,
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
        buffer = find_buffer(session, memory->buffer, side, fault);
    if (!buffer)
        return -1;
    places_put(places, place, buffer, memory->has_offset ? memory->offset : own->offset,
               PLACES_OF_JOB);
    return 0;
}

int locate_start(struct places *places, const struct session *session,
                 const struct prepared *prepared, const struct job_start *start,
                 struct fault *fault)
{
    const struct places *own = &prepared->places;
    const struct work *work = prepared->work;
    const struct operands *operands = &work->operands;
    const struct board *board = session->jobs->board;
    struct operand src, dst;

    if (relocate(places, &places->src, &own->src, &start->src, session, &src_side, fault) < 0 ||
        relocate(places, &places->dst, &own->dst, &start->dst, session, &dst_side, fault) < 0)
        return -1;
    if ((places->src.buffer &&
         check_buffer(&places->src, operands->read.end, &src_side, fault) < 0) ||
        (places->dst.buffer &&
         check_buffer(&places->dst, operands->written.end, &dst_side, fault) < 0) ||
        check_apart(places, operands, fault) < 0)
        return -1;
    return board ? check_memories(&src, &dst, places, work, board, fault) : 0;
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
