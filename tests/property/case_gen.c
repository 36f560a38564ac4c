/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates legal cases: a random move, and its place in memory. */
#include <string.h>

#include "tests/property/random_case.h"
#include "tests/support/draw_fill.h"

#define DATA_BYTES  ((size_t)1 << 20)
#define PARAM_BYTES ((size_t)1 << 16)

enum { SLACK_MAX = 16 };

int lab_init(struct lab *lab)
{
    int bad = watched_init(&lab->src, DATA_BYTES) | watched_init(&lab->dst, DATA_BYTES);

    for (int k = 0; k < 3; k++) {
        bad |= watched_init(&lab->src_q[k], PARAM_BYTES);
        bad |= watched_init(&lab->dst_q[k], PARAM_BYTES);
    }
    return bad;
}

void lab_finish(struct lab *lab)
{
    watched_finish(&lab->src);
    watched_finish(&lab->dst);
    for (int k = 0; k < 3; k++) {
        watched_finish(&lab->src_q[k]);
        watched_finish(&lab->dst_q[k]);
    }
}

static uint32_t slack(struct draw *draw)
{
    return draw_percent(draw, 60) ? 0 : draw_between(draw, 1, 9);
}

/*
 * Gives the buffers the bytes that they need, or a few more; each buffer is next to an inaccessible
 * page.
 */
static void place_data(struct test_case *c)
{
    struct draw *draw = &c->draw;

    c->src.data.capacity = (uint32_t)c->expected.src_bytes + slack(draw);
    c->dst.data.capacity = (uint32_t)c->expected.dst_bytes + slack(draw);
    watched_place(&c->lab->src, draw, c->src.data.capacity,
                  draw_percent(draw, 80) ? 0 : draw_below(draw, 8));
    watched_place(&c->lab->dst, draw, c->dst.data.capacity,
                  draw_percent(draw, 80) ? 0 : draw_below(draw, 8));
    c->src.data.mem.pi8 = (int8_t *)c->lab->src.data;
    c->dst.data.mem.pi8 = (int8_t *)c->lab->dst.data;
}

/*
 * Returns whether the memory of the test (the lab) has room for the case. If so, c->expected has
 * the numbers of bytes that the case needs.
 */
static bool fits(struct test_case *c)
{
    c->src.data.mem.pi8 = (int8_t *)c->lab->src.mem.base;
    c->dst.data.mem.pi8 = (int8_t *)c->lab->dst.mem.base;
    c->src.data.capacity = (uint32_t)watched_room(&c->lab->src) - SLACK_MAX;
    c->dst.data.capacity = (uint32_t)watched_room(&c->lab->dst) - SLACK_MAX;
    case_judge(c);
    return c->expected.status != MLI_STATUS_NOT_ENGH_MEM;
}

/* Makes a random move. Fields that a move must not read hold random bytes. */
static void draw_case(struct test_case *c)
{
    const struct move_rules rules = {.max_bytes = watched_room(&c->lab->src) - SLACK_MAX,
                                     .combined_percent = 80,
                                     .large_percent = c->large_percent,
                                     .short_percent = (100 - c->large_percent) * 7 / 8,
                                     .kernel = c->via == VIA_PERMUTE,
                                     .any_destination = true};
    struct random_move move;

    draw_fill(&c->draw, &move, sizeof(move));
    random_move_draw(&move, &c->draw, &rules);
    c->src = move.src;
    c->dst = move.dst;
    c->cfg = move.cfg;
    if (c->via == VIA_PERMUTE) {
        c->kernel = c->src.el_type;
        memcpy(c->permute_cfg.perm_dim, c->cfg.perm_dim, sizeof(c->cfg.perm_dim));
        c->cfg = oracle_permute_cfg(c->cfg.perm_dim);
    }
    case_gen_quant(c);
}

static void generate(struct test_case *c)
{
    do {
        draw_case(c);
    } while (!fits(c));
    place_data(c);
    case_judge(c);
}

void case_generate(struct test_case *c)
{
    c->via = (enum case_via)draw_below(&c->draw, VIA_PERMUTE);
    c->channels = (int)draw_between(&c->draw, 1, CASE_CHANNELS_MAX);
    generate(c);
}

void case_generate_permute(struct test_case *c)
{
    c->via = VIA_PERMUTE;
    generate(c);
}

void case_judge(struct test_case *c)
{
    const mli_tensor *src = c->null_src ? NULL : &c->src, *dst = c->null_dst ? NULL : &c->dst;

    if (c->via == VIA_PERMUTE)
        oracle_judge_permute(&c->expected, src, c->null_cfg ? NULL : &c->permute_cfg, dst,
                             c->kernel);
    else
        oracle_judge(&c->expected, src, c->null_cfg ? NULL : &c->cfg, dst);
}
