/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/explained_board.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
    return (address + alignment - 1) / alignment * alignment;
}

/* Returns the largest memory that the DMA controller reaches, or null. */
static const struct profile_memory *largest_memory(const struct target_profile *profile)
{
    const struct profile_memory *largest = NULL;

    for (uint32_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memories[i];

        if (memory->reached_by & PROFILE_DMA && (!largest || memory->size > largest->size))
            largest = memory;
    }
    return largest;
}

static int complain(struct fault *fault, const char *side, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int complain(struct fault *fault, const char *side, const char *format, ...)
{
    char pointer[FAULT_POINTER_MAX], text[FAULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(pointer, sizeof pointer, "/%s/memory", side);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer, "%s.memory: %s", side, text);
}

static int find_memory(struct board_place *place, const struct target_profile *profile,
                       const char *name, const char *side, struct fault *fault)
{
    place->memory = *name ? profile_memory_named(profile, name) : largest_memory(profile);
    if (*name && !place->memory)
        return complain(fault, side, "profile %s has no memory \"%s\"", profile->name, name);
    if (!place->memory || !(place->memory->reached_by & PROFILE_DMA))
        return complain(fault, side, "the DMA controller does not reach %s (rule reach)",
                        place->memory ? place->memory->name : "any memory");
    return 0;
}

/* Places `bytes` at the first aligned address from `from` on. */
static int put(struct board_place *place, uint64_t from, uint64_t bytes, const char *side,
               struct fault *fault)
{
    const struct profile_memory *memory = place->memory;
    const uint64_t end = memory->base + memory->size;

    place->address = align_up(from, memory->alignment);
    place->bytes = bytes;
    if (place->address <= end && bytes <= end - place->address)
        return 0;
    return complain(fault, side,
                    "%" PRIu64 " B are needed, but %s has %" PRIu64 " B of %" PRIu64 " B free "
                    "(rule capacity)",
                    bytes, memory->name, place->address < end ? end - place->address : 0,
                    memory->size);
}

static int place_tensors(struct explained_board *board, const struct resolved *resolved,
                         const mli_explanation *move, struct fault *fault)
{
    const struct target_profile *profile = board->profile;
    struct board_place *src = &board->src, *dst = &board->dst;

    if (find_memory(src, profile, resolved->job->src.memory, "src", fault) < 0 ||
        find_memory(dst, profile, resolved->job->dst.memory, "dst", fault) < 0 ||
        put(src, src->memory->base, move->read.end, "src", fault) < 0)
        return -1;
    return put(dst, dst->memory == src->memory ? src->address + src->bytes : dst->memory->base,
               move->written.end, "dst", fault);
}

/* Replaces the addresses of a plan by those on the board. */
static void rebase(struct mli_plan *plan, const struct explained_board *board,
                   const struct board_move *move)
{
    const uint64_t src = board->src.address - (uintptr_t)move->src_base;
    const uint64_t dst = board->dst.address - (uintptr_t)move->dst_base;

    plan->box.src = (const uint8_t *)(uintptr_t)((uintptr_t)plan->box.src + src);
    plan->box.dst = (uint8_t *)(uintptr_t)((uintptr_t)plan->box.dst + dst);
    for (size_t i = 0; i < plan->slabs; i++)
        plan->slab[i].dst = (uint8_t *)(uintptr_t)((uintptr_t)plan->slab[i].dst + dst);
}

static void split(struct explained_board *board, const struct board_move *move)
{
    const uint32_t have = board->profile->dma.channels;

    board->channels = (uint32_t)mli_plan_split(
        &move->move->plan, move->channels < have ? move->channels : have, 0, board->part);
    for (uint32_t i = 0; i < board->channels; i++)
        rebase(&board->part[i], board, move);
}

static void compute_cost(struct explained_board *board)
{
    struct cost_channel channels[MLI_MOV_MAX_CHANNELS];
    const struct cost_memories memories = {board->src.memory, board->dst.memory};

    for (uint32_t i = 0; i < board->channels; i++) {
        const struct list_count count = list_count(board->profile, &board->part[i]);

        channels[i] =
            (struct cost_channel){&board->part[i], count.descriptors, count.core, count.core_bytes};
        board->count.descriptors += count.descriptors;
        board->count.least += count.least;
        board->count.core += count.core;
        board->count.core_bytes += count.core_bytes;
    }
    cost_of_move(&board->cost, board->profile, &memories, channels, board->channels);
}

/* Returns whether a row of the box begins at an odd address. */
static bool has_odd_rows(uint64_t address, const struct mli_plan *plan, bool read)
{
    bool odd = address % 2 != 0;

    for (size_t i = 0; i < plan->box.loops; i++)
        odd |= (read ? plan->box.loop[i].src_step : plan->box.loop[i].dst_step) % 2 != 0;
    return odd;
}

static void remark(struct explained_board *board, enum board_remark which, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void remark(struct explained_board *board, enum board_remark which, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(board->remark[which], sizeof board->remark[which], format, args);
    va_end(args);
}

static void remark_on_side(struct explained_board *board, const struct mli_plan *plan,
                           uint32_t elem, bool read)
{
    const struct board_place *place = read ? &board->src : &board->dst;
    const struct traffic *traffic = read ? &board->cost.read : &board->cost.written;
    const uint64_t first = (uintptr_t)(read ? plan->box.src : plan->box.dst);
    const char *side = read ? "src" : "dst";

    if (elem == 1 && place->memory->vector && plan->box.run > 0 && has_odd_rows(first, plan, read))
        remark(board, BOARD_REMARK_EVEN_ADDRESS,
               "%s: rows begin at odd addresses of %s, which is slower for 1-byte elements; use "
               "even shapes or strides",
               side, place->memory->name);
    if (traffic->conflicts > 0)
        remark(board, BOARD_REMARK_BANK_CONFLICT,
               "%s: %" PRIu64 " of %" PRIu64
               " rows begin in the bank of the row before; a stride that is not a multiple of "
               "%" PRIu64 " B avoids that",
               side, traffic->conflicts, traffic->rows,
               (uint64_t)place->memory->banks * place->memory->bank_bytes);
}

static void make_remarks(struct explained_board *board, const mli_explanation *move)
{
    remark_on_side(board, &board->part[0], move->elem, true);
    remark_on_side(board, &board->part[0], move->elem, false);
    if (board->count.core > 0)
        remark(board, BOARD_REMARK_CORE,
               "the core moves %" PRIu64 " B in %" PRIu64
               " piece%s, which the controller cannot move",
               board->count.core_bytes, board->count.core, board->count.core == 1 ? "" : "s");
}

int explained_board_init(struct explained_board *board, const struct target_profile *profile,
                         const struct resolved *resolved, const struct board_move *move,
                         uint64_t shown, struct fault *fault)
{
    *board = (struct explained_board){.profile = profile, .shown = shown};
    if (place_tensors(board, resolved, move->move, fault) < 0)
        return -1;
    board->list_address =
        align_up(board->dst.memory == board->src.memory ? board->dst.address + board->dst.bytes
                                                        : board->src.address + board->src.bytes,
                 CONTROLLER_ZEROS_SIZE);
    board->zeros = board->list_address;
    board->list_address += CONTROLLER_ZEROS_SIZE;
    split(board, move);
    compute_cost(board);
    make_remarks(board, move->move);
    return 0;
}
