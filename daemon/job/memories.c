/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/memories.h"

#include "mli_helpers_api.h"
#include "target/profile/profile_rules.h"

/* One tensor of a job. */
struct side {
    const char *name, *member, *pointer; /* "src", "src.memory", "/src/memory" */
    const struct place *place;
    const char *asked; /* name of the memory in the job; or empty */
    uint32_t element;  /* bytes of one element */
    uint64_t bytes;
    const struct profile_memory *memory; /* memory of the tensor, or null */
};

static struct side src_side(const struct places *places, const struct job *job,
                            const struct operands *operands)
{
    return (struct side){.name = "src",
                         .member = "src.memory",
                         .pointer = "/src/memory",
                         .place = &places->src,
                         .asked = job->src.memory,
                         .element = mli_hlp_tensor_element_size(&operands->src),
                         .bytes = operands->read.end};
}

static struct side dst_side(const struct places *places, const struct job *job,
                            const struct operands *operands)
{
    return (struct side){.name = "dst",
                         .member = "dst.memory",
                         .pointer = "/dst/memory",
                         .place = &places->dst,
                         .asked = job->dst.memory,
                         .element = mli_hlp_tensor_element_size(&operands->dst),
                         .bytes = operands->written.end};
}

/* Returns whether the tensor is in a descriptor and has no range in its memory yet. */
static bool is_to_place(const struct side *side)
{
    return side->asked[0] != '\0' && !side->place->region->piece.memory;
}

/* Sets side->memory: the memory of the tensor's range if it has a range, else the memory that the
 * job names. */
static int find_memory(struct side *side, const struct target_profile *profile, struct fault *fault)
{
    const struct board_memory *memory = side->place->region->piece.memory;

    if (memory)
        side->memory = memory->described;
    if (!is_to_place(side))
        return 0;
    side->memory = profile_find_memory(profile, side->asked, side->member, side->pointer, fault);
    return side->memory ? 0 : -1;
}

static struct profile_operand operand_of(const struct side *side, const struct job *job)
{
    const struct place *place = side->place;
    const bool in_buffer = place->buffer != NULL;

    return (struct profile_operand){
        .side = side->name,
        .memory = side->memory,
        .in_buffer = in_buffer,
        .kernel = job->common.op == JOB_OP_PERMUTE,
        .element = side->element,
        .base = in_buffer && side->memory ? place->region->piece.address : 0,
        .offset = in_buffer ? place->offset : place->region->file_offset,
        .bytes = side->bytes,
    };
}

static int check(struct side *src, struct side *dst, const struct job *job,
                 const struct target_profile *profile, struct fault *fault)
{
    struct profile_operand read, written;

    if (find_memory(src, profile, fault) < 0 || find_memory(dst, profile, fault) < 0)
        return -1;
    read = operand_of(src, job);
    written = operand_of(dst, job);
    return profile_check_operands(profile, &read, &written, fault);
}

static struct board_want want_of(const struct side *side, const struct board_use *use)
{
    return (struct board_want){
        .use = use, .bytes = side->bytes, .name = side->member, .pointer = side->pointer};
}

static int place(const struct side *side, const struct board_use *use, struct fault *fault)
{
    const struct board_want want = want_of(side, use);

    return board_place(board_memory_of(use->board, side->memory), &side->place->region->piece,
                       &want, fault);
}

/* Places the destination after the source. A refused job gives back the range of its source first,
 * so that the message does not count it as used. */
static int place_dst(const struct side *src, const struct side *dst, const struct board_use *use,
                     bool placed, struct fault *fault)
{
    struct board_want want = want_of(dst, use);

    if (place(dst, use, fault) == 0)
        return 0;
    if (!placed || src->memory != dst->memory)
        return -1;
    board_remove(&src->place->region->piece);
    want.besides = src->bytes;
    return board_refuse(board_memory_of(use->board, dst->memory), &want, fault);
}

int memories_place(const struct places *places, const struct job *job,
                   const struct operands *operands, const struct board_use *use,
                   struct fault *fault)
{
    struct side src = src_side(places, job, operands), dst = dst_side(places, job, operands);
    bool places_src, places_dst;

    if (check(&src, &dst, job, &use->board->profile, fault) < 0)
        return -1;
    places_src = is_to_place(&src);
    places_dst = is_to_place(&dst);
    if (places_src && place(&src, use, fault) < 0)
        return -1;
    return places_dst ? place_dst(&src, &dst, use, places_src, fault) : 0;
}

int memories_check(const struct places *places, const struct job *job,
                   const struct operands *operands, const struct board *board, struct fault *fault)
{
    struct side src = src_side(places, job, operands), dst = dst_side(places, job, operands);

    return check(&src, &dst, job, &board->profile, fault);
}
