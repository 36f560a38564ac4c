/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timelines of random jobs: well-formed XML, a bounded number of boxes, and the peaks of memories.
 * `test_timeline_chart SEED` reproduces a run; if a second argument names a directory, the test
 * also writes some charts there for a reader.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/explain/timeline_chart.h"
#include "tests/unit/explain/markup.h"

enum { CASES = 40, SLOTS_MAX = 3000, LANES_MAX = 16, NAME = 32, LINES_MAX = 40 };

static uint64_t seed;
static const char *directory;
static struct textw w;

static struct timeline_slot slots[SLOTS_MAX];
static struct timeline_use uses[SLOTS_MAX];
static size_t after[SLOTS_MAX];
static char names[SLOTS_MAX][NAME];
static const struct timeline_memory memories[] = {
    {"vccm", 256 << 10}, {"dccm", 64 << 10}, {"ddr", UINT64_C(1) << 30}};

static int set_up(void **state)
{
    (void)state;
    textw_init(&w);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    textw_finish(&w);
    return 0;
}

/*
 * Places jobs at random: each job on the lane that is free first, and some jobs after an earlier
 * job.
 */
static struct timeline_panel make_panel(struct rng *rng, size_t count, uint32_t lanes)
{
    uint64_t free_at[LANES_MAX] = {0};

    for (size_t i = 0; i < count; i++) {
        uint32_t lane = 0;
        uint64_t start;

        for (uint32_t k = 1; k < lanes; k++)
            lane = free_at[k] < free_at[lane] ? k : lane;
        after[i] = i > 0 ? rng_below(rng, i) : 0;
        start = free_at[lane] + (rng_chance(rng, 30) ? rng_below(rng, 500) : 0);
        if (i > 0 && slots[after[i]].end_ns > start)
            start = slots[after[i]].end_ns;
        snprintf(names[i], NAME, "%s%zu", rng_chance(rng, 50) ? "load" : "<st&re>", i);
        slots[i] =
            (struct timeline_slot){.start_ns = start,
                                   .end_ns = start + 1 + rng_below(rng, 4000),
                                   .lane = lane,
                                   .lanes = 1,
                                   .kind = (enum timeline_kind)rng_below(rng, TIMELINE_KINDS),
                                   .name = rng_chance(rng, 90) ? names[i] : NULL,
                                   .after = &after[i],
                                   .after_count = i > 0};
        uses[i] = (struct timeline_use){(uint32_t)rng_below(rng, 3), slots[i].start_ns,
                                        slots[i].end_ns, rng_below(rng, 20 << 10)};
        free_at[lane] = slots[i].end_ns;
    }
    return (struct timeline_panel){.title = "model of <a board>",
                                   .lane_count = lanes,
                                   .slots = slots,
                                   .slot_count = count,
                                   .memories = memories,
                                   .memory_count = COUNT_OF(memories),
                                   .uses = uses,
                                   .use_count = count};
}

static const char *draw(const struct timeline_chart *chart)
{
    textw_reset(&w);
    timeline_chart(&w, chart);
    assert_false(w.failed);
    markup_check(w.data);
    assert_null(strstr(w.data, "nan"));
    return w.data;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)) != NULL; text++)
        count++;
    return count;
}

/*
 * The axis is in microseconds for timelines of a few milliseconds, and in milliseconds for longer
 * ones.
 */
static void test_units(void **state)
{
    static const struct {
        uint64_t end_ns;
        const char *zero, *tick;
    } cases[] = {{4000, ">0 \xc2\xb5s<", ">2.5<"},
                 {400 * 1000, ">0 \xc2\xb5s<", ">250<"},
                 {4 * 1000 * 1000, ">0 ms<", ">2.5<"},
                 {70 * 1000 * 1000, ">0 ms<", ">50<"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct timeline_slot slot = {
            .end_ns = cases[i].end_ns, .lanes = 1, .kind = TIMELINE_LOAD, .name = "load0"};
        const struct timeline_chart chart = {
            .title = "jobs",
            .panel = {{.title = "model", .lane_count = 1, .slots = &slot, .slot_count = 1}},
            .panels = 1};
        const char *svg = draw(&chart);

        assert_non_null(strstr(svg, cases[i].zero));
        assert_non_null(strstr(svg, cases[i].tick));
    }
}

/* Names are drawn after the arrows, so that no arrow hides a name. */
static void test_names_cover_arrows(void **state)
{
    static const size_t first = 0;
    const struct timeline_slot two[] = {
        {.end_ns = 5000, .lanes = 1, .kind = TIMELINE_LOAD, .name = "load0"},
        {.start_ns = 5000,
         .end_ns = 9000,
         .lane = 1,
         .lanes = 1,
         .kind = TIMELINE_PERMUTE,
         .name = "perm",
         .after = &first,
         .after_count = 1}};
    const struct timeline_chart chart = {
        .title = "jobs",
        .panel = {{.title = "model", .lane_count = 2, .slots = two, .slot_count = 2}},
        .panels = 1};
    const char *svg = draw(&chart), *arrow = strstr(svg, "marker-end");

    (void)state;
    assert_non_null(arrow);
    assert_non_null(strstr(arrow, ">load0</text>"));
    assert_non_null(strstr(arrow, ">perm</text>"));
}

static void test_random(void **state)
{
    static const size_t counts[] = {1, 2, 7, 30, 300, SLOTS_MAX};

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        const uint32_t lanes = 1 + (uint32_t)rng_below(&rng, 8);
        const struct timeline_chart chart = {
            .title = "jobs & jobs",
            .subtitle = i % 2 ? NULL : "a subtitle",
            .panel = {make_panel(&rng, counts[i % COUNT_OF(counts)], lanes)},
            .panels = 1};
        const char *svg = draw(&chart);

        /*
         * A lane has at most two bars for every four pixels. Frames and the key take up to 64
         * other boxes.
         */
        assert_in_range(count_of(svg, "<rect "), 1, 64 + 1480 / 4 * lanes * 2);
        assert_in_range(count_of(svg, "marker-end"), 0, 64);
        if (chart.panel[0].slot_count <= 2)
            assert_int_equal(count_of(svg, "<title>"), chart.panel[0].slot_count);
    }
}

/* Compares each peak with the largest sum of the uses that overlap the start of a use. */
static void test_peaks(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        const struct timeline_panel panel = make_panel(&rng, 1 + rng_below(&rng, 60), 4);

        for (uint32_t m = 0; m < panel.memory_count; m++) {
            uint64_t peak = 0;

            for (size_t k = 0; k < panel.use_count; k++) {
                uint64_t sum = 0;

                for (size_t n = 0; n < panel.use_count; n++)
                    if (uses[n].memory == m && uses[n].start_ns <= uses[k].start_ns &&
                        uses[k].start_ns < uses[n].end_ns)
                        sum += uses[n].bytes;
                peak = sum > peak ? sum : peak;
            }
            uint64_t found;
            assert_true(timeline_peak(&panel, m, &found));
            assert_int_equal(found, peak);
        }
    }
}

/*
 * Two slots wait for the first one: the chart has an arrow to the slot on another lane, and the
 * names of all three slots.
 */
static void test_names_and_arrows(void **state)
{
    static const size_t zero[] = {0};
    static const struct timeline_slot three[] = {
        {0, 1000, 0, 1, TIMELINE_LOAD, "first", NULL, 0},
        {1500, 3000, 0, 1, TIMELINE_STORE, "second", zero, 1},
        {1000, 2500, 1, 1, TIMELINE_PERMUTE, "a very long name that is cut, as its box is short",
         zero, 1}};
    const struct timeline_chart chart = {
        .title = "three",
        .panel = {{.title = "model", .lane_count = 2, .slots = three, .slot_count = 3}},
        .panels = 1};
    const char *svg = draw(&chart);

    (void)state;
    assert_int_equal(count_of(svg, "marker-end"), 1);
    assert_non_null(strstr(svg, ">first<"));
    assert_non_null(strstr(svg, ">second<"));
    assert_non_null(strstr(svg, ">a very long name that is cut, as its box is short"));
    assert_non_null(strstr(svg, ">channel 1<"));
    assert_non_null(strstr(svg, "0.000 to 1.000 us"));
    assert_non_null(strstr(svg, ">83 %<"));
}

/* A panel of measured times that is much shorter than the other panel has a scale of its own. */
static void test_scales(void **state)
{
    static const struct timeline_slot one[] = {{0, 100, 0, 1, TIMELINE_MOVE, "a", NULL, 0}};
    static const struct timeline_slot other[] = {{0, 5000, 0, 1, TIMELINE_MOVE, "a", NULL, 0}};
    const struct timeline_panel slow = {
        .title = "measured", .lane_count = 1, .slots = other, .slot_count = 1};
    const struct timeline_panel fast = {
        .title = "model", .lane_count = 1, .slots = one, .slot_count = 1};
    const struct timeline_chart chart = {.title = "t", .panel = {fast, slow}, .panels = 2};
    const struct timeline_chart same = {.title = "t", .panel = {slow, slow}, .panels = 2};

    (void)state;
    assert_int_equal(count_of(draw(&chart), "on a scale of its own"), 1);
    assert_int_equal(count_of(draw(&same), "on a scale of its own"), 0);
}

/* Impossible numbers do not make the chart draw outside of its area. */
static void test_hostile(void **state)
{
    static const size_t nowhere[] = {9, SIZE_MAX};
    static const struct timeline_slot odd[] = {
        {UINT64_MAX, 5, 0, 1, TIMELINE_MOVE, "\xff\x01", nowhere, 2},
        {0, UINT64_MAX, 7, 9, TIMELINE_MOVE, NULL, NULL, 0},
        {3, 3, 0, UINT32_MAX, TIMELINE_MOVE, "", NULL, 0}};
    static const struct timeline_use many[] = {
        {0, 0, UINT64_MAX, UINT64_MAX}, {0, 1, UINT64_MAX, UINT64_MAX}, {9, 1, 2, 3}};
    const struct timeline_chart chart = {.title = "",
                                         .panel = {{.title = "",
                                                    .lane_count = 2,
                                                    .slots = odd,
                                                    .slot_count = 3,
                                                    .memories = memories,
                                                    .memory_count = 1,
                                                    .uses = many,
                                                    .use_count = 3},
                                                   {.title = "empty", .lane_count = 1}},
                                         .panels = 2};
    const char *svg = draw(&chart);

    (void)state;
    assert_null(strstr(svg, "\"-"));
    assert_in_range(count_of(svg, "<line "), 1, LINES_MAX);
}

static void write_chart(const char *name, const struct timeline_chart *chart)
{
    char path[512];
    struct fault fault;

    snprintf(path, sizeof path, "%s/%s.svg", directory, name);
    assert_int_equal(timeline_chart_save(chart, path, &fault), 0);
}

static void test_samples(void **state)
{
    static const size_t counts[] = {1, 12, 100, 500, 2000};

    (void)state;
    for (size_t i = 0; directory && i < COUNT_OF(counts); i++) {
        struct rng rng = rng_for_case(seed, i);
        char name[32], title[64];
        struct timeline_chart chart = {.title = title, .subtitle = "random jobs", .panels = 1};

        chart.panel[0] = make_panel(&rng, counts[i], 1 + (uint32_t)i);
        snprintf(name, sizeof name, "jobs%zu", counts[i]);
        snprintf(title, sizeof title, "%zu jobs", counts[i]);
        write_chart(name, &chart);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_cover_arrows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_peaks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_and_arrows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_scales, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hostile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_samples, set_up, tear_down),
    };

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    directory = argc > 2 ? argv[2] : NULL;
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
