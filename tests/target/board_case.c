/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/target/board_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/controller/controller.h"
#include "tests/property/oracle_overlap.h"

enum {
    LIMIT_PERCENT = 45, /* moves with sizes around the limits of the controller */
    ZEROS_PERCENT = 90, /* moves on boards with a block of zeros; else the core writes zeros */
    CORE_PERCENT = 15,  /* moves with tensors in any memory that the core reaches */
    MOVE_BYTES = 96 * 1024,
    LIST_BYTES = 16 << 20,
    LOWEST = 64, /* no tensor begins at address 0, because that would be a null pointer */
    SPREAD = 1 << 16,
    ACCESSED_TIMES = 256,   /* bytes that a list may access for each byte of the plan */
    ACCESSED_MAX = 1 << 16, /* bytes that a list may access in addition to this */
    ATTEMPTS = 100
};

/* Memory */

static bool is_free(const struct board_case *c, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < c->taken_count; i++)
        if (begin < c->taken[i].end && c->taken[i].begin < end)
            return false;
    return true;
}

static bool usable(const struct profile_memory *memory, uint32_t who, uint64_t bytes)
{
    return (memory->reached_by & who) == who && memory->size >= bytes + 2 * LOWEST;
}

/*
 * Returns an address with a random misalignment, often at the beginning or the end of the memory,
 * where an access outside of the tensor is a fault of the board.
 */
static uint64_t draw_address(struct draw *draw, const struct profile_memory *memory, uint64_t bytes,
                             uint32_t alignment)
{
    const uint64_t room = memory->size - LOWEST - bytes;
    const uint32_t where = draw_below(draw, 4);
    uint64_t offset = room;

    if (where == 0)
        offset = draw_below(draw, room < SPREAD ? room + 1 : SPREAD);
    else if (where == 1)
        offset = room - draw_below(draw, room < SPREAD ? room + 1 : SPREAD);
    else if (where == 2)
        offset = draw_next(draw) % (room + 1);
    return (memory->base + LOWEST + offset) / alignment * alignment;
}

/* Finds a free place for `bytes` bytes in a memory that `who` reaches. Returns 0 if there is none.
 */
static uint64_t place(struct board_case *c, const struct target_profile *profile, uint32_t who,
                      uint64_t bytes, uint32_t alignment)
{
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        const struct profile_memory *memory =
            &profile->memories[draw_below(&c->draw, profile->memory_count)];

        if (!usable(memory, who, bytes))
            continue;
        const uint64_t address = draw_address(&c->draw, memory, bytes, alignment);

        if (!is_free(c, address, address + bytes))
            continue;
        c->taken[c->taken_count++] = (struct board_span){address, address + bytes};
        return address;
    }
    return 0;
}

static uint64_t largest_memory(const struct target_profile *profile)
{
    uint64_t largest = 0;

    for (uint32_t i = 0; i < profile->memory_count; i++)
        if (usable(&profile->memories[i], PROFILE_DMA, 0) && profile->memories[i].size > largest)
            largest = profile->memories[i].size;
    return largest;
}

static bool place_list(struct board_case *c, const struct target_profile *profile,
                       uint32_t alignment)
{
    const uint64_t largest = largest_memory(profile);
    const uint64_t bytes = largest / 4 < LIST_BYTES ? largest / 4 : LIST_BYTES;

    c->list.begin = place(c, profile, PROFILE_DMA, bytes, alignment);
    c->list.end = c->list.begin + bytes;
    c->zeros = 0;
    if (draw_percent(&c->draw, ZEROS_PERCENT))
        c->zeros = place(c, profile, PROFILE_DMA, CONTROLLER_ZEROS_SIZE, 64);
    return c->list.begin != 0;
}

/* Picks a random alignment, often one that lets the controller move most bytes. */
static uint32_t draw_alignment(struct board_case *c)
{
    const uint32_t class = draw_below(&c->draw, 10);

    return class < 6 ? 64 : class < 8 ? c->move.element_size : 1;
}

static bool place_tensors(struct board_case *c, const struct target_profile *profile)
{
    const uint32_t who =
        draw_percent(&c->draw, CORE_PERCENT) ? PROFILE_CORE : PROFILE_CORE | PROFILE_DMA;

    c->src = place(c, profile, who, random_move_src_bytes(&c->move), draw_alignment(c));
    if (c->src)
        c->dst = place(c, profile, who, random_move_dst_bytes(&c->move), draw_alignment(c));
    return c->src != 0 && c->dst != 0;
}

/* The move */

static uint32_t capacity(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void set_pointers(struct board_case *c)
{
    mli_tensor *src = &c->move.src, *dst = &c->move.dst;

    src->data.mem.pi8 = (int8_t *)(uintptr_t)c->src;
    src->data.capacity = capacity(random_move_src_bytes(&c->move));
    dst->data.mem.pi8 = (int8_t *)(uintptr_t)c->dst;
    dst->data.capacity = capacity(random_move_dst_bytes(&c->move));
    if (src->el_type == MLI_EL_SA_8 || src->el_type == MLI_EL_SA_32) {
        src->el_params.sa.type = MLI_EL_PARAM_SC16_ZP16;
        src->el_params.sa.dim = -1;
    }
}

static void draw_move(struct board_case *c, const struct target_profile *profile,
                      const struct controller *controller)
{
    const struct move_rules rules = {
        .max_bytes = MOVE_BYTES, .combined_percent = 60, .large_percent = 3, .short_percent = 60};
    struct mli_channel_caps caps =
        controller_caps(profile, controller, controller && draw_once_in(&c->draw, 3));

    if (controller && controller->linear_run_max > caps.run_max && draw_once_in(&c->draw, 2))
        caps.run_max = controller->linear_run_max;
    memset(&c->move, 0, sizeof c->move);
    if (draw_percent(&c->draw, LIMIT_PERCENT)) {
        const enum limit_class class = (enum limit_class)draw_below(&c->draw, LIMIT_CLASS_COUNT);

        limit_move_draw(&c->move, &c->draw, class, &caps, profile->dma.burst_bytes);
        c->kind = limit_class_name(class);
    } else {
        random_move_draw(&c->move, &c->draw, &rules);
        c->kind = random_move_kind_name(c->move.kind);
    }
}

/* Makes random moves until one fits in the memories of the board. */
static bool draw_placed(struct board_case *c, const struct target_profile *profile,
                        const struct controller *controller)
{
    for (uint32_t i = 0; i < ATTEMPTS; i++) {
        c->taken_count = 0;
        c->src = c->dst = 0;
        if (!place_list(c, profile, controller ? controller->descriptor_alignment : 64))
            continue;
        draw_move(c, profile, controller);
        if (place_tensors(c, profile))
            return true;
    }
    return false;
}

bool board_case_draw(struct board_case *c, const struct target_profile *profile, uint64_t seed,
                     uint64_t index, const char **why)
{
    *c = (struct board_case){.draw = draw_init(seed ^ draw_mix(profile->dma.controller), index)};
    if (!draw_placed(c, profile, controller_of(profile))) {
        *why = "no random move fits in the memories of the profile";
        return false;
    }
    set_pointers(c);
    oracle_judge(&c->oracle, &c->move.src, &c->move.cfg, &c->move.dst);
    if (c->oracle.status != MLI_STATUS_OK) {
        *why = "the oracle refuses the move";
        return false;
    }
    if (mli_mov_explain(&c->move.src, &c->move.cfg, &c->move.dst, &c->explained) != MLI_STATUS_OK) {
        *why = "libmli refuses the move";
        return false;
    }
    return true;
}

/* The memory before the move and after it. */

struct expectation {
    struct board *board;
    uint64_t src, dst;
    uint32_t element_size;
};

static void expect_element(void *context, int64_t from, uint64_t to)
{
    const struct expectation *e = context;
    uint8_t element[4] = {0};

    if (from >= 0)
        board_peek(e->board, e->src + (uint64_t)from * e->element_size, element, e->element_size);
    board_want(e->board, e->dst + to * e->element_size, element, e->element_size);
}

void board_case_begin(const struct board_case *c, struct board *board)
{
    static const uint8_t zeros[CONTROLLER_ZEROS_SIZE];
    struct expectation e = {board, c->src, c->dst, c->oracle.esize};

    board_reset(board, c->draw.state, ACCESSED_MAX + ACCESSED_TIMES * c->explained.plan.bytes);
    if (c->zeros)
        board_put(board, c->zeros, zeros, sizeof zeros);
    oracle_each(&c->oracle, &c->move.src, &c->move.cfg, expect_element, &e);
}

/* Pieces */

static bool move_run(struct board *board, uint32_t who, uint64_t src, bool fill, uint64_t dst,
                     uint64_t run)
{
    uint8_t buffer[512] = {0};

    for (uint64_t at = 0, part; at < run; at += part) {
        part = run - at < sizeof buffer ? run - at : sizeof buffer;
        if (!fill && !board_read(board, who, src + at, buffer, (size_t)part))
            return false;
        if (!board_write(board, who, dst + at, buffer, (size_t)part))
            return false;
    }
    return true;
}

bool board_move_piece(struct board *board, uint32_t who, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;
    size_t at[MLI_MAX_RANK] = {0};
    size_t i;

    do {
        uint64_t src = (uintptr_t)box->src, dst = (uintptr_t)box->dst;

        for (i = 0; i < box->loops; i++) {
            src += (uint64_t)at[i] * box->loop[i].src_step;
            dst += (uint64_t)at[i] * box->loop[i].dst_step;
        }
        if (!move_run(board, who, src, controller_fills(piece), dst, box->run))
            return false;
        for (i = box->loops; i-- > 0;) {
            if (++at[i] < box->loop[i].count)
                break;
            at[i] = 0;
        }
    } while (i != SIZE_MAX);
    return true;
}

/* Reports */

static void print_box(const char *name, const struct mli_copy_box *box)
{
    printf("    %s: src 0x%" PRIxPTR " dst 0x%" PRIxPTR " run %zu", name, (uintptr_t)box->src,
           (uintptr_t)box->dst, box->run);
    for (size_t i = 0; i < box->loops; i++)
        printf(", %zu of (+%zu, +%zu)", box->loop[i].count, box->loop[i].src_step,
               box->loop[i].dst_step);
    printf("\n");
}

void board_case_print(const struct board_case *c)
{
    const struct mli_plan *plan = &c->explained.plan;

    printf("    %s, %" PRIu32 "-byte elements, rank %" PRIu32 "; list at 0x%" PRIx64
           ", zeros at 0x%" PRIx64 "\n",
           c->kind, c->move.element_size, c->move.src.rank, c->list.begin, c->zeros);
    print_box("copy", &plan->box);
    for (size_t i = 0; i < plan->slabs; i++) {
        struct mli_copy_box box = {
            .dst = plan->slab[i].dst, .run = plan->slab[i].run, .loops = plan->slab[i].loops};

        for (size_t k = 0; k < box.loops; k++)
            box.loop[k] = (struct mli_copy_loop){.count = plan->slab[i].loop[k].count,
                                                 .dst_step = plan->slab[i].loop[k].step};
        print_box("fill", &box);
    }
}
