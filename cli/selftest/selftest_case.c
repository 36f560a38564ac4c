/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/selftest_case.h"

#include <stdio.h>
#include <string.h>

#include "cli/term/print.h"
#include "proto/wire/tensor_desc.h"

enum {
    SMALL_BYTES = 4 * 1024,
    MIDDLE_BYTES = 64 * 1024,
    ATTEMPTS = 24, /* each at half the size; the last one always fits */
    STARTS_MAX = 3
};

static const char *const kind_names[] = {
#define KIND_NAME(name, ...) #name,
    CASE_KINDS(KIND_NAME)
#undef KIND_NAME
};

const char *const case_mode_words[] = {
#define MODE_WORD(name) #name,
    CASE_MODES(MODE_WORD)
#undef MODE_WORD
        NULL};

const char *case_kind_name(enum case_kind kind)
{
    return kind_names[kind];
}

const char *case_mode_name(enum case_mode mode)
{
    return case_mode_words[mode];
}

/* Mostly small tensors, which find mistakes as well; a large one now and then. */
static uint64_t draw_size(struct draw *draw, uint64_t max_bytes)
{
    const uint32_t size = draw_below(draw, 64);
    uint64_t bound = size == 0 ? max_bytes : size < 10 ? MIDDLE_BYTES : SMALL_BYTES;
    return bound < max_bytes ? bound : max_bytes;
}

static void draw_shape(struct move_case *c, struct draw *draw, uint64_t elements)
{
    const uint32_t first = draw_below(draw, c->src.rank);
    uint64_t left = elements ? elements : 1;
    for (uint32_t i = 0; i < c->src.rank; i++) {
        const uint32_t d = (first + i) % c->src.rank;
        const bool last = i + 1 == c->src.rank;
        c->src.shape[d] =
            last && draw_once_in(draw, 2) ? (uint32_t)left : draw_magnitude(draw, left);
        left /= c->src.shape[d];
    }
}

static mli_element_type draw_type(struct draw *draw)
{
    static const mli_element_type types[] = {MLI_EL_FX_8,  MLI_EL_SA_8,  MLI_EL_FX_16,
                                             MLI_EL_FP_16, MLI_EL_SA_32, MLI_EL_FP_32};
    return types[draw_below(draw, sizeof(types) / sizeof(types[0]))];
}

static bool has_kernel(mli_element_type type)
{
    return type != MLI_EL_FP_16 && type != MLI_EL_FP_32;
}

/* How it is carried out; takes as many numbers whatever the limits are. */
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
    c->kernel = kernel && c->mode == CASE_MODE_sync && c->kind == CASE_permute &&
                has_kernel(c->src.el_type);
}

/* Elements of quantised types have parameters, here one set for the whole tensor. */
static void set_params(mli_tensor *src)
{
    if (src->el_type != MLI_EL_SA_8 && src->el_type != MLI_EL_SA_32)
        return;
    src->el_params.sa.dim = -1;
    src->el_params.sa.scale.mem.i16 = 1;
}

static void draw_tensors(struct move_case *c, struct draw *draw, const struct case_limits *limits)
{
    const mli_element_type type = draw_type(draw);
    const uint32_t rank = 1 + draw_below(draw, MLI_MAX_RANK);
    const uint64_t size = draw_size(draw, limits->max_bytes);
    c->element_size = ((uint32_t)type & 0xff) / 8;
    for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        const uint32_t pad_max = attempt == 0 && draw_once_in(draw, 16) ? 255 : 4;
        c->src = (mli_tensor){.rank = rank, .el_type = type};
        c->dst = (mli_tensor){.rank = 0};
        draw_shape(c, draw, (size >> attempt) / c->element_size);
        case_draw_cfg(c, draw, pad_max);
        if (case_draw_layout(c, draw, limits->max_bytes))
            return;
    }
    c->kind = CASE_copy;
    c->src = (mli_tensor){.rank = 1, .shape = {1}, .el_type = type};
    c->dst = (mli_tensor){.rank = 0};
    case_draw_cfg(c, draw, 0);
    case_draw_layout(c, draw, FRAME_GUARDS_MAX);
}

void case_draw(struct move_case *c, uint64_t seed, uint64_t index, const struct case_limits *limits)
{
    struct draw draw = draw_init(seed, index);
    *c = (struct move_case){.seed = seed, .index = index};
    c->kind = (enum case_kind)draw_below(&draw, CASE_KIND_COUNT);
    c->salt = (uint8_t)draw_next(&draw);
    draw_tensors(c, &draw, limits);
    draw_execution(c, &draw, limits);
    set_params(&c->src);
    if (c->kernel) {
        /* A kernel wants to be told the output, and has no strides in its configuration. */
        c->dst.rank = c->src.rank;
        c->dst.el_type = c->src.el_type;
        memcpy(c->dst.shape, c->dst_shape, sizeof(c->dst.shape));
        for (uint32_t i = 0; i < c->src.rank; i++)
            c->dst.mem_stride[i] |= c->cfg.dst_mem_stride[i]; /* one of the two is 0 */
        memset(c->cfg.dst_mem_stride, 0, sizeof(c->cfg.dst_mem_stride));
    }
}

const char *case_text(const struct move_case *c, char out[CASE_TEXT_MAX])
{
    char src[PRINT_TEXT_MAX], dst[PRINT_TEXT_MAX], channels[PRINT_TEXT_MAX] = "";
    if (c->mode != CASE_MODE_sync)
        snprintf(channels, sizeof(channels), ", %u channel%s", c->width, c->width == 1 ? "" : "s");
    snprintf(out, CASE_TEXT_MAX, "%s%s of %s %s -> %s, %s%s", case_kind_name(c->kind),
             c->kernel ? " kernel" : "", element_type_name(c->src.el_type),
             print_shape(src, c->src.rank, c->src.shape),
             print_shape(dst, c->src.rank, c->dst_shape), case_mode_name(c->mode), channels);
    return out;
}
