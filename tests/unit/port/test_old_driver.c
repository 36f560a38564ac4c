/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests a driver and a program that were compiled with version 0.2: the structs and the names for
 * the linker below are those of its headers. They must work with this library.
 */
#include "tests/support/unit.h"

#include <string.h>

#include "mli_engine.h"
#include "tests/unit/port/moves.h"

enum { GUARD = 0xEE, GUARDS = 64 };

struct old_caps {
    uint32_t flags, loops;
    size_t count_max, run_max, step_max, bytes_max, tiny;
};

struct old_descriptor {
    struct mli_copy_box box;
    size_t bytes;
    uint32_t index;
    uint64_t row;
};

struct old_legaliser {
    const struct mli_plan *plan;
    struct old_caps caps;
    struct mli_copy_box box;
    uint32_t index;
    bool cutting, blocks;
    size_t at[MLI_MAX_RANK + 1], take[MLI_MAX_RANK + 1];
};

struct old_stats {
    uint64_t submitted, completed, failed, cancelled, bytes, rows, busy_ns, queue_high_water;
};

struct old_engine {
    size_t size;
    const char *name;
    uint32_t (*probe)(void);
    void (*caps)(uint32_t channel, struct old_caps *caps);
    void (*submit)(uint32_t channel, struct mli_work *work);
    bool (*open)(uint32_t channel);
    void (*close)(uint32_t channel);
    uint32_t (*poll)(uint32_t channel, uint32_t budget);
    void (*cancel)(uint32_t channel);
    void (*synchronise)(uint32_t channel);
    void (*stats)(uint32_t channel, struct old_stats *stats);
    bool (*option)(const char *key, size_t length, uint64_t value);
};

void old_init(struct old_legaliser *l, const struct mli_plan *plan, const struct old_caps *caps)
    MLI_LINK_NAME(mli_legalise_init);
bool old_next(struct old_legaliser *l, struct old_descriptor *piece)
    MLI_LINK_NAME(mli_legalise_next);
uint64_t old_count(const struct mli_plan *plan, const struct old_caps *caps)
    MLI_LINK_NAME(mli_legalise_count);
void old_engine_caps(struct old_caps *caps) MLI_LINK_NAME(mli_mov_engine_caps);
mli_status old_get_stats(int channel, struct old_stats *stats)
    MLI_LINK_NAME(mli_mov_get_channel_stats);

/* Structs of the driver, each followed by bytes that the library must not change. */
static struct {
    struct old_legaliser rest;
    uint8_t guard[GUARDS];
} lane;

static struct {
    struct old_descriptor piece;
    uint8_t guard[GUARDS];
} next;

static uint64_t pieces, counted;

static uint32_t probe(void)
{
    return 1;
}

static void caps(uint32_t channel, struct old_caps *caps)
{
    (void)channel;
    caps->loops = 1;
    caps->count_max = 3;
    caps->run_max = 2;
}

static void move_box(const struct mli_copy_box *box)
{
    const size_t rows = box->loops > 0 ? box->loop[0].count : 1;

    for (size_t i = 0; i < rows; i++) {
        uint8_t *dst = box->dst + (box->loops > 0 ? i * box->loop[0].dst_step : 0);

        if (box->src)
            memcpy(dst, box->src + (box->loops > 0 ? i * box->loop[0].src_step : 0), box->run);
        else
            memset(dst, 0, box->run);
    }
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct old_caps limits = {0};

    caps(channel, &limits);
    counted = old_count(work->plan, &limits);
    old_init(&lane.rest, work->plan, &limits);
    for (pieces = 0; old_next(&lane.rest, &next.piece); pieces++)
        move_box(&next.piece.box);
    work->done(work, &(struct mli_work_end){.status = MLI_STATUS_OK});
}

static const struct old_engine old_engine = {
    .size = sizeof(struct old_engine),
    .name = "old",
    .probe = probe,
    .caps = caps,
    .submit = submit,
};

static void assert_guard(const uint8_t *guard)
{
    for (int i = 0; i < GUARDS; i++)
        assert_int_equal(guard[i], GUARD);
}

static void test_old_driver(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_memory memory = {.address = &m, .size = sizeof m, .fd = -1};

    (void)state;
    memset(&lane, GUARD, sizeof(lane));
    memset(&next, GUARD, sizeof(next));
    assert_ok(mli_mov_add_engine((const struct mli_engine *)(const void *)&old_engine));
    moves_engine("old", 1);
    move_init_padded(&m, 7, 9);
    move_prepare(&m, 1, &h);
    assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&h));
    assert_true(move_is_right(&m));
    assert_true(pieces > 10);
    assert_int_equal(pieces, counted);
    assert_guard(lane.guard);
    assert_guard(next.guard);
    assert_ok(mli_mov_attach_memory(&memory)); /* the engine has no such function */
    mli_mov_detach_memory(&memory);
    assert_ok(mli_mov_release_handle(&h));
    move_finish(&m);
}

static void test_old_program(void **state)
{
    struct {
        struct old_stats stats;
        uint8_t guard[GUARDS];
    } counters;
    struct {
        struct old_caps caps;
        uint8_t guard[GUARDS];
    } limits;

    (void)state;
    memset(&counters, GUARD, sizeof(counters));
    memset(&limits, GUARD, sizeof(limits));
    assert_ok(old_get_stats(0, &counters.stats));
    assert_int_equal(counters.stats.completed, 1);
    assert_guard(counters.guard);
    old_engine_caps(&limits.caps);
    assert_int_equal(limits.caps.count_max, 3);
    assert_guard(limits.guard);
    assert_status(old_get_stats(0, NULL), MLI_STATUS_ARGUMENT_ERROR);
    moves_engine_away();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_driver),
        cmocka_unit_test(test_old_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
