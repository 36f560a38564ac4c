/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "cli/selftest/selftest_case.h"
#include "cli/term/print.h"
#include "proto/wire/tensor_desc.h"

enum {
    STARTS_MAX = 3,
    GUARD_MAX = 64,
    PAGE = 4096,
    COMBINED_PERCENT = 25,
    LARGE_PERCENT = 4,
    SHORT_PERCENT = 26
};

const char *const case_mode_words[] = {
#define MODE_WORD(name) #name,
    CASE_MODES(MODE_WORD)
#undef MODE_WORD
        NULL};

static const char *case_mode_name(enum case_mode mode)
{
    return case_mode_words[mode];
}

static bool has_kernel(mli_element_type type)
{
    return type != MLI_EL_FP_16 && type != MLI_EL_FP_32;
}

/* Picks a random execution of the case. The number of random numbers does not depend on *limits. */
static void draw_execution(struct move_case *c, struct draw *draw, const struct case_limits *limits)
{
    const enum case_mode mode = (enum case_mode)draw_below(draw, CASE_MODE_mixed);
    const uint64_t width = draw_next(draw);
    const bool again = draw_once_in(draw, 8), kernel = draw_once_in(draw, 2);
    const uint32_t starts = 2 + draw_below(draw, STARTS_MAX - 1);

    c->mode = limits->mode == CASE_MODE_mixed ? mode : limits->mode;
    c->width = 1 + (uint32_t)(width % limits->channels);
    c->starts = again ? starts : 1;
    c->chained = c->mode == CASE_MODE_callback && draw_once_in(draw, 2);
    c->kernel = kernel && c->mode == CASE_MODE_sync && c->move.kind == MOVE_permute &&
                has_kernel(c->move.src.el_type);
}

/* Gives a quantised type one set of parameters for the whole tensor. */
static void set_params(mli_tensor *src)
{
    if (src->el_type != MLI_EL_SA_8 && src->el_type != MLI_EL_SA_32)
        return;
    src->el_params.sa.dim = -1;
    src->el_params.sa.scale.mem.i16 = 1;
}

/*
 * Picks guards of random lengths on both sides. An address need not be a multiple of the element
 * size.
 */
static struct frame draw_frame(struct draw *draw, size_t tensor, uint32_t element_size)
{
    struct frame frame = {.tensor = tensor};

    frame.before = (size_t)draw_below(draw, draw_once_in(draw, 8) ? PAGE : GUARD_MAX);
    frame.before *= element_size;
    if (frame.before >= PAGE)
        frame.before %= PAGE;
    if (draw_once_in(draw, 4))
        frame.before += draw_below(draw, element_size);
    frame.bytes = frame.before + tensor + draw_below(draw, GUARD_MAX);
    return frame;
}

void case_draw(struct move_case *c, uint64_t seed, uint64_t index, const struct case_limits *limits)
{
    const struct move_rules rules = {.max_bytes = limits->max_bytes,
                                     .combined_percent = COMBINED_PERCENT,
                                     .large_percent = LARGE_PERCENT,
                                     .short_percent = SHORT_PERCENT};
    struct draw draw = draw_init(seed, index);
    struct random_move *move = &c->move;

    *c = (struct move_case){.seed = seed, .index = index};
    c->salt = (uint8_t)draw_next(&draw);
    mli_mov_cfg_for_copy(&move->cfg);
    random_move_draw(move, &draw, &rules);
    c->written = move->element_size;
    for (uint32_t i = 0; i < move->src.rank; i++)
        c->written *= move->count[i];
    c->src_frame = draw_frame(&draw, random_move_src_bytes(move), move->element_size);
    c->dst_frame = draw_frame(&draw, random_move_dst_bytes(move), move->element_size);
    draw_execution(c, &draw, limits);
    set_params(&move->src);
    if (c->kernel)
        random_move_for_kernel(move);
}

const char *case_text(const struct move_case *c, char out[CASE_TEXT_MAX])
{
    char src[PRINT_TEXT_MAX], dst[PRINT_TEXT_MAX], channels[PRINT_TEXT_MAX] = "";

    if (c->mode != CASE_MODE_sync)
        snprintf(channels, sizeof(channels), ", %u channel%s", c->width, c->width == 1 ? "" : "s");
    snprintf(out, CASE_TEXT_MAX, "%s%s of %s %s -> %s, %s%s", random_move_kind_name(c->move.kind),
             c->kernel ? " kernel" : "", element_type_name(c->move.src.el_type),
             print_shape(src, c->move.src.rank, c->move.src.shape),
             print_shape(dst, c->move.src.rank, c->move.dst_shape), case_mode_name(c->mode),
             channels);
    return out;
}
