/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/memories.h"

#include "mli_helpers_api.h"
#include "target/profile/profile_rules.h"

/* One tensor of a job. */
struct side {
    const char *name, *member, *pointer; /* "src", "src.memory", "/src/memory" */
    const struct place *place;
    const char *memory; /* name of the memory in the job; or empty */
    const mli_tensor *tensor;
    uint64_t bytes;
};

static struct side src_side(const struct places *places, const struct job *job,
                            const struct operands *operands)
{
    return (struct side){"src",           "src.memory",   "/src/memory",     &places->src,
                         job->src.memory, &operands->src, operands->read.end};
}

static struct side dst_side(const struct places *places, const struct job *job,
                            const struct operands *operands)
{
    return (struct side){"dst",           "dst.memory",   "/dst/memory",        &places->dst,
                         job->dst.memory, &operands->dst, operands->written.end};
}

static int check(const struct side *side, const struct job *job,
                 const struct target_profile *profile, const struct profile_memory *memory,
                 struct fault *fault)
{
    const struct board_piece *piece = &side->place->region->piece;
    const bool in_buffer = side->place->buffer != NULL;
    const struct profile_operand operand = {
        .side = side->name,
        .memory = memory,
        .in_buffer = in_buffer,
        .kernel = job->common.op == JOB_OP_PERMUTE,
        .element = mli_hlp_tensor_element_size(side->tensor),
        .base = in_buffer && piece->memory ? piece->address : 0,
        .offset = in_buffer ? side->place->offset : side->place->region->file_offset,
        .bytes = side->bytes,
    };

    return profile_check_operand(profile, &operand, fault);
}

static int place(const struct side *side, const struct job *job, const struct board_use *use,
                 struct fault *fault)
{
    const struct target_profile *profile = &use->board->profile;
    struct board_piece *piece = &side->place->region->piece;
    const struct profile_memory *memory = piece->memory ? piece->memory->described : NULL;
    const struct board_want want = {.use = use,
                                    .bytes = side->bytes,
                                    .alignment = mli_hlp_tensor_element_size(side->tensor),
                                    .name = side->member,
                                    .pointer = side->pointer};

    if (side->memory[0] != '\0') {
        memory = profile_find_memory(profile, side->memory, side->member, side->pointer, fault);
        if (!memory)
            return -1;
    }
    if (check(side, job, profile, memory, fault) < 0)
        return -1;
    if (side->memory[0] == '\0')
        return 0;
    return board_place(board_memory_of(use->board, memory), piece, &want, fault);
}

int memories_place(const struct places *places, const struct job *job,
                   const struct operands *operands, const struct board_use *use,
                   struct fault *fault)
{
    const struct side src = src_side(places, job, operands), dst = dst_side(places, job, operands);

    return place(&src, job, use, fault) < 0 ? -1 : place(&dst, job, use, fault);
}

static int check_placed(const struct side *side, const struct job *job, const struct board *board,
                        struct fault *fault)
{
    const struct board_memory *memory = side->place->region->piece.memory;

    return check(side, job, &board->profile, memory ? memory->described : NULL, fault);
}

int memories_check(const struct places *places, const struct job *job,
                   const struct operands *operands, const struct board *board, struct fault *fault)
{
    const struct side src = src_side(places, job, operands), dst = dst_side(places, job, operands);

    return check_placed(&src, job, board, fault) < 0 ? -1 : check_placed(&dst, job, board, fault);
}
