/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SVG drawings of random moves: well-formed XML for any names, as many cells as the legend claims,
 * and one colour per element on both sides. `test_svg SEED` reproduces a run.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/explain/picture.h"
#include "tests/unit/explain/hand.h"
#include "tests/unit/explain/markup.h"

enum { CASES = 120, CELLS_MAX = 4000, WIDTH_MAX = 2200, HEIGHT_MAX = 1800 };

static uint64_t seed;
static struct hand hand;
static struct explained explained;
static struct textw w;

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

static const char *draw(void)
{
    textw_reset(&w);
    svg_picture(&w, &explained);
    assert_false(w.failed);
    return w.data;
}

/* Counts the rectangles in groups of a class, between `at` and `end`. */
static size_t count_cells(const char *at, const char *end, const char *class)
{
    char group[64];
    size_t count = 0;
    snprintf(group, sizeof(group), "<g class=\"%s\" ", class);
    while ((at = strstr(at, group)) != NULL && at < end) {
        const char *last = strstr(at, "</g>");
        for (; (at = strstr(at, "<rect ")) != NULL && at < last; at++)
            count++;
        at = last;
    }
    return count;
}

/*
 * Returns the number of shown cells that follows these words in the legend; 0 if the words are
 * missing.
 */
static size_t claimed(const char *svg, const char *words)
{
    const char *at = strstr(svg, words);
    char *end;
    if (!at)
        return 0;
    at += strlen(words);
    size_t number = strtoull(at, &end, 10);
    assert_ptr_not_equal(at, end);
    if (strncmp(end, ", ", 2) != 0)
        return number;
    number = strtoull(end + 2, &end, 10);
    assert_memory_equal(end, " of them here", 13);
    return number;
}

/* Returns the value of an attribute of the <svg> element. */
static long extent(const char *svg, const char *attribute)
{
    const char *at = strstr(svg, attribute);
    assert_non_null(at);
    return strtol(at + strlen(attribute), NULL, 10);
}

/* Copies the text between the first `key` in an element and the next character `last`. */
static void get(const char *element, const char *key, char last, char out[128])
{
    const char *at = strstr(element, key);
    assert_non_null(at);
    at += strlen(key);
    size_t length = (size_t)(strchr(at, last) - at);
    assert_true(length < 128);
    memcpy(out, at, length);
    out[length] = '\0';
}

/*
 * Checks that each written element has the colour of its source element, if the drawing shows both.
 * Returns how many elements were compared.
 */
static size_t check_colours(const char *svg, const char *dst)
{
    size_t found = 0;
    for (const char *at = dst; (at = strstr(at, "<title>")) != NULL; at++) {
        char title[128], to[128], fill[128], there[128];
        const char *rect = at;
        while (strncmp(rect, "<rect", 5) != 0)
            rect--;
        get(rect, "fill=\"", '"', fill);
        get(at, "<title>", '<', title);
        snprintf(to, sizeof(to), ">%.120s<", title);
        const char *source = strstr(svg, to);
        if (!source || source > dst)
            continue;
        while (strncmp(source, "<rect", 5) != 0)
            source--;
        get(source, "fill=\"", '"', there);
        assert_string_equal(fill, there);
        found++;
    }
    return found;
}

static void check_drawing(size_t *cells, size_t *same)
{
    const char *svg = draw(), *end = svg + w.length;
    const char *src = strstr(svg, "<g class=\"src\""), *dst = strstr(svg, "<g class=\"dst\"");
    markup_check(svg);
    assert_null(strstr(svg, "1844674407370955")); /* a negative number, printed as unsigned */
    assert_true(src && dst && src < dst);
    assert_in_range(extent(svg, " width=\""), 1, WIDTH_MAX);
    assert_in_range(extent(svg, " height=\""), 1, HEIGHT_MAX);
    size_t written = count_cells(dst, end, "written"), zeros = count_cells(dst, end, "zero");
    assert_int_equal(written, claimed(svg, "moved, the same colour on both sides:"));
    assert_int_equal(zeros, claimed(svg, ">zeros:"));
    assert_int_equal(count_cells(src, dst, "written"), 0);
    assert_int_equal(count_cells(dst, end, "taken"), 0);
    assert_true(written > 0 || explained.move.samples_read == 0);
    assert_true(zeros > 0 || explained.move.samples == explained.move.samples_read);
    assert_true(count_cells(src, dst, "taken") > 0 || explained.move.samples_read == 0);
    *cells += written + zeros;
    *same += check_colours(src, dst);
}

static void test_random(void **state)
{
    size_t cells = 0, same = 0;
    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        hand_random(&rng, rng_chance(&rng, 50) ? 6 : 300, &hand);
        hand_explain(&hand, &explained);
        check_drawing(&cells, &same);
    }
    assert_true(cells > scaled(CASES) && same > scaled(CASES));
}

static size_t all_cells(const char *svg)
{
    size_t count = 0;
    for (const char *at = svg; (at = strstr(at, "<rect ")) != NULL; at++)
        count++;
    return count;
}

/* Drawings of the largest tensors are small. */
static void test_large(void **state)
{
    static const struct hand moves[] = {
        {.rank = 1, .elem = 1, .shape = {UINT32_MAX}, .step = {1000}},
        {.rank = 2, .elem = 1, .shape = {UINT32_MAX, UINT32_MAX}, .perm = {1, 0}},
        {.rank = 3, .elem = 1, .shape = {UINT32_MAX, 4, UINT32_MAX}, .pre = {255, 255, 255}},
        {.rank = 4,
         .elem = 4,
         .shape = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         .offset = {1, 1 << 20, 1 << 30, 0},
         .size = {1 << 30, 1, 2, 0},
         .step = {1, 1, 1, 7}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(moves); i++) {
        hand_explain(&moves[i], &explained);
        markup_check(draw());
        assert_true(all_cells(w.data) < CELLS_MAX);
    }
}

static void test_deterministic(void **state)
{
    (void)state;
    hand = (struct hand){.rank = 3, .elem = 1, .shape = {40, 30, 3}, .perm = {2, 0, 1}};
    hand_explain(&hand, &explained);
    char *first = strdup(draw());
    assert_string_equal(first, draw());
    free(first);
}

static void test_names(void **state)
{
    (void)state;
    hand = (struct hand){.rank = 1, .elem = 1, .shape = {3}, .name = "<b>&\"'"};
    hand_explain(&hand, &explained);
    explained.src.file = "\x01]]>\xff\xef\xbf\xbf\xc3\xa4.npy";
    explained.dst.file = "0123456789012345678901234567890123456789\xc3\xa4\xc3\xa4\xc3\xa4.npy";
    markup_check(draw());
    assert_non_null(strstr(w.data, "&lt;b&gt;&amp;&quot;'"));
    assert_non_null(strstr(w.data, "\xef\xbf\xbd]]&gt;\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4.npy"));
    assert_null(strstr(w.data, "<b>"));
}

/* The axes of the destination have the names of their source dimensions. */
static void test_axes(void **state)
{
    (void)state;
    hand = (struct hand){
        .rank = 3, .elem = 1, .shape = {4, 6, 3}, .perm = {2, 0, 1}, .axis = 3, .type = "sa8"};
    hand_explain(&hand, &explained);
    const char *dst = strstr(draw(), "<g class=\"dst\"");
    const char *planes = strstr(dst, ">d2<"), *rows = strstr(dst, ">d0<");
    const char *columns = strstr(dst, ">d1<");
    assert_true(planes && rows && columns && planes < rows && rows < columns);
    assert_non_null(strstr(dst, "class=\"axis\""));
    assert_true(strstr(dst, "class=\"axis\"") < rows);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deterministic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_axes, set_up, tear_down),
    };
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
