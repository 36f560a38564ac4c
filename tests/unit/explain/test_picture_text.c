/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests text pictures: a golden text for each data movement function of the spec, and the width of
 * random pictures. `test_picture_text SEED` reproduces a run; `test_picture_text SEED show` prints
 * the texts.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/explain/explain.h"
#include "tests/unit/explain/hand.h"

enum { CASES = 400 };

static uint64_t seed;
static bool show;
static struct explained explained;

static void check(const struct hand *hand, bool utf8, const char *want)
{
    const struct picture_text_style style = {.columns = 80, .utf8 = utf8};
    struct textw w;
    textw_init(&w);
    hand_explain(hand, &explained);
    picture_text(&w, &explained, &style);
    if (show)
        printf("%s", w.data);
    else
        assert_string_equal(w.data, want);
    textw_finish(&w);
}

static void test_copy(void **state)
{
    (void)state;
    const struct hand hand = {.rank = 1, .elem = 1, .shape = {7}};
    check(&hand, true,
          "source (7)            destination (7)\n"
          "columns d0  7         columns d0  7\n"
          "\n"
          "│a b c d e f g│  ──▶  │a b c d e f g│\n"
          " 0 1 2 3 4 5 6         0 1 2 3 4 5 6\n"
          "a moved (one letter per element)\n");
}

static void test_slice(void **state)
{
    (void)state;
    const struct hand hand = {
        .rank = 2, .elem = 1, .shape = {5, 7}, .offset = {1, 2}, .size = {3, 4}};
    check(&hand, true,
          "source (5, 7)          destination (3, 4)\n"
          "rows    d0  5          rows    d0  3\n"
          "columns d1  7          columns d1  4\n"
          "\n"
          "0 · · · · · · ·        0│a b c d│\n"
          "1 · ·│a b c d│·        1│e f g h│\n"
          "2 · ·│e f g h│·   ──▶  2│i j k l│\n"
          "3 · ·│i j k l│·          0 1 2 3\n"
          "4 · · · · · · ·\n"
          "  0 1 2 3 4 5 6\n"
          "a moved (one letter per element)   · outside the window\n");
}

static void test_concat(void **state)
{
    (void)state;
    const struct hand hand = {.rank = 2, .elem = 1, .shape = {2, 4}, .at = {3, 0}, .whole = {5, 4}};
    check(&hand, true,
          "source (2, 4)       destination (5, 4)\n"
          "rows    d0  2       rows    d0  2 at 3\n"
          "columns d1  4       columns d1  4\n"
          "\n"
          "0│a b c d│     ──▶  0 ▪ ▪ ▪ ▪\n"
          "1│e f g h│          1 ▪ ▪ ▪ ▪\n"
          "  0 1 2 3           2 ▪ ▪ ▪ ▪\n"
          "                    3│a b c d│\n"
          "                    4│e f g h│\n"
          "                      0 1 2 3\n"
          "a moved (one letter per element)   ▪ already there, stays\n");
}

static void test_subsample(void **state)
{
    (void)state;
    const struct hand hand = {.rank = 2, .elem = 1, .shape = {5, 7}, .step = {2, 3}};
    check(&hand, true,
          "source (5, 7)          destination (3, 3)\n"
          "rows    d0  5          rows    d0  3\n"
          "columns d1  7          columns d1  3\n"
          "\n"
          "0│a ◦ ◦ b ◦ ◦ c│       0│a b c│\n"
          "1│◦ ◦ ◦ ◦ ◦ ◦ ◦│       1│d e f│\n"
          "2│d ◦ ◦ e ◦ ◦ f│  ──▶  2│g h i│\n"
          "3│◦ ◦ ◦ ◦ ◦ ◦ ◦│         0 1 2\n"
          "4│g ◦ ◦ h ◦ ◦ i│\n"
          "  0 1 2 3 4 5 6\n"
          "a moved (one letter per element)   ◦ stepped over\n");
}

static void test_permute(void **state)
{
    (void)state;
    const struct hand hand = {
        .rank = 3, .elem = 1, .shape = {2, 3, 4}, .perm = {2, 0, 1}, .axis = 3};
    check(&hand, true,
          "source (2, 3, 4)                     destination (4, 2, 3)\n"
          "planes  d2  4, own scale each        planes  d2  4, own scale each\n"
          "rows    d0  2                        rows    d0  2\n"
          "columns d1  3                        columns d1  3\n"
          "\n"
          " [:, :, 0] [:, :, 1] [:, :, 2]        [0, :, :] [1, :, :] [2, :, :]\n"
          "0│a e i│   │b f j│   │c g k│    ──▶  0│a e i│   │b f j│   │c g k│\n"
          "1│m q u│   │n r v│   │o s w│         1│m q u│   │n r v│   │o s w│\n"
          " [:, :, 3]                            [3, :, :]\n"
          "0│d h l│                             0│d h l│\n"
          "1│p t x│                             1│p t x│\n"
          "  0 1 2                                0 1 2\n"
          "a moved (one letter per element)\n");
}

static void test_pad(void **state)
{
    (void)state;
    const struct hand hand = {.rank = 2, .elem = 1, .shape = {3, 4}, .pre = {1, 2}, .post = {1, 0}};
    check(&hand, true,
          "source (3, 4)           destination (5, 6)\n"
          "rows    d0  1+3+1       rows    d0  5\n"
          "columns d1  2+4+0       columns d1  6\n"
          "\n"
          " │0 0 0 0 0 0│          0│0 0 0 0 0 0│\n"
          "0│0 0 a b c d│          1│0 0 a b c d│\n"
          "1│0 0 e f g h│     ──▶  2│0 0 e f g h│\n"
          "2│0 0 i j k l│          3│0 0 i j k l│\n"
          " │0 0 0 0 0 0│          4│0 0 0 0 0 0│\n"
          "      0 1 2 3             0 1 2 3 4 5\n"
          "a moved (one letter per element)   0 zeros\n");
}

static void test_elided(void **state)
{
    (void)state;
    const struct hand hand = {
        .rank = 3, .elem = 1, .shape = {100, 90, 80}, .pre = {1, 0, 0}, .size = {20, 30, 40}};
    check(&hand, true,
          "source (100, 90, 80)\n"
          "planes  d0  1+100+0\n"
          "rows    d1  90\n"
          "columns d2  80\n"
          "\n"
          "  padding         [0, :, :]       [1, :, :]            [18, :, :]\n"
          " 0│0 0 ⋯ 0│░ ⋯ ░  │a b ⋯ c│· ⋯ ·  │a b ⋯ c│· ⋯ ·  ...  │a b ⋯ c│· ⋯ ·  ...\n"
          " 1│0 0 ⋯ 0│░ ⋯ ░  │a b ⋯ c│· ⋯ ·  │a b ⋯ c│· ⋯ ·  16   │a b ⋯ c│· ⋯ ·  81\n"
          "  │⋯ ⋯ ⋯ ⋯│⋯ ⋯ ⋯  │⋯ ⋯ ⋯ ⋯│⋯ ⋯ ⋯  │⋯ ⋯ ⋯ ⋯│⋯ ⋯ ⋯       │⋯ ⋯ ⋯ ⋯│⋯ ⋯ ⋯\n"
          "29│0 0 ⋯ 0│░ ⋯ ░  │a b ⋯ c│· ⋯ ·  │a b ⋯ c│· ⋯ ·       │a b ⋯ c│· ⋯ ·\n"
          "30 ░ ░ ⋯ ░ ░ ⋯ ░   · · ⋯ · · ⋯ ·   · · ⋯ · · ⋯ ·        · · ⋯ · · ⋯ ·\n"
          "   ⋯ ⋯ ⋯ ⋯ ⋯ ⋯ ⋯   ⋯ ⋯ ⋯ ⋯ ⋯ ⋯ ⋯   ⋯ ⋯ ⋯ ⋯ ⋯ ⋯ ⋯        ⋯ ⋯ ⋯ ⋯ ⋯ ⋯ ⋯\n"
          "89 ░ ░ ⋯ ░ ░ ⋯ ░   · · ⋯ · · ⋯ ·   · · ⋯ · · ⋯ ·        · · ⋯ · · ⋯ ·\n"
          "   0 1   39    79\n"
          "  ▼\n"
          "destination (20, 30, 40)\n"
          "planes  d0  20\n"
          "rows    d1  30\n"
          "columns d2  40\n"
          "\n"
          "  [0, :, :] [1, :, :] [2, :, :]      [19, :, :]\n"
          " 0│0 0 ⋯ 0│ │a b ⋯ c│ │a b ⋯ c│ ...  │a b ⋯ c│\n"
          " 1│0 0 ⋯ 0│ │a b ⋯ c│ │a b ⋯ c│ 16   │a b ⋯ c│\n"
          "  │⋯ ⋯ ⋯ ⋯│ │⋯ ⋯ ⋯ ⋯│ │⋯ ⋯ ⋯ ⋯│      │⋯ ⋯ ⋯ ⋯│\n"
          "29│0 0 ⋯ 0│ │a b ⋯ c│ │a b ⋯ c│      │a b ⋯ c│\n"
          "   0 1   39\n"
          "a moved (a to c: coordinate 0 to 39 of d2)   0 zeros   · outside the window\n"
          "░ padding, not moved   ⋯ left out here\n");
}

static void test_ascii(void **state)
{
    (void)state;
    const struct hand hand = {.rank = 2,
                              .elem = 1,
                              .shape = {4, 50},
                              .pre = {0, 1},
                              .offset = {1, 0},
                              .size = {2, 9},
                              .step = {1, 2},
                              .at = {1, 0},
                              .stride = {9, 1}};
    check(&hand, false,
          "source (4, 50)                                           destination (3, 5)\n"
          "rows    d0  4                                            rows    d0  2 at 1\n"
          "columns d1  1+50+0                                       columns d1  5\n"
          "\n"
          "0 : . . . . . . . . . . . . . . . ~ . . . . . . .        0 _ _ _ _ _ ' ~ '\n"
          "1|0 - a - b - c - d|. . . . . . . ~ . . . . . . .   ==>  1|0 a b c d|' ~ '\n"
          "2|0 - e - f - g - h|. . . . . . . ~ . . . . . . .        2|0 e f g h|' ~ '\n"
          "3 : . . . . . . . . . . . . . . . ~ . . . . . . .          0 1 2 3 4\n"
          "    0 1 2 3 4 5 6 7 8 9 10  12  14  43  45  47  49\n"
          "a moved (one letter per element)   0 zeros   - stepped over\n"
          ". outside the window   : padding, not moved   _ outside of the result: zero\n"
          "' gap of the strides   ~ left out here\n");
}

/* An image in HWC layout shows rows H and columns W, with a plane for each channel. */
static void test_channels(void **state)
{
    (void)state;
    const struct hand hand = {
        .rank = 3, .elem = 1, .shape = {3, 4, 2}, .perm = {2, 0, 1}, .at = {0, 1, 0}};
    check(&hand, false,
          "source (3, 4, 2)           destination (2, 4, 4)\n"
          "planes  d2  2              planes  d2  2\n"
          "rows    d0  3              rows    d0  3 at 1\n"
          "columns d1  4              columns d1  4\n"
          "\n"
          " [:, :, 0] [:, :, 1]        [0, :, :] [1, :, :]\n"
          "0|a c e g| |b d f h|       0 _ _ _ _   _ _ _ _\n"
          "1|i k m o| |j l n p|  ==>  1|a c e g| |b d f h|\n"
          "2|q s u w| |r t v x|       2|i k m o| |j l n p|\n"
          "  0 1 2 3                  3|q s u w| |r t v x|\n"
          "                             0 1 2 3\n"
          "a moved (one letter per element)   _ outside of the result: zero\n");
}

/* With 256 colours, a letter has one colour in source and destination. */
static void test_palette(void **state)
{
    (void)state;
    const struct hand hand = {.rank = 1, .elem = 1, .shape = {3}, .pre = {1}};
    const struct picture_text_style style = {.columns = 80, .palette = true};
    struct textw w;
    textw_init(&w);
    hand_explain(&hand, &explained);
    picture_text(&w, &explained, &style);
    for (const char *letter = "abc"; *letter; letter++) {
        char end[] = {'m', *letter, '\0'};
        const char *first = strstr(w.data, end), *second = first ? strstr(first + 1, end) : NULL;
        assert_non_null(second);
        for (int i = 0; first[-i] != '\033'; i++)
            assert_int_equal(first[-i], second[-i]);
    }
    assert_non_null(strstr(w.data, "\033[38;5;"));
    textw_finish(&w);
}

/* Returns the number of characters of a text in UTF-8. */
static int characters(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* No line is wider than the terminal, in UTF-8 and in ASCII; without UTF-8, all characters are
 * ASCII. */
static void test_width(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        struct hand hand;
        const struct picture_text_style style = {.columns = (int)rng_between(&rng, 20, 200),
                                                 .utf8 = rng_chance(&rng, 50)};
        hand_random(&rng, rng_chance(&rng, 50) ? 6 : 100000, &hand);
        hand_explain(&hand, &explained);
        struct textw w;
        textw_init(&w);
        picture_text(&w, &explained, &style);
        assert_false(w.failed);
        for (char *line = strtok(w.data, "\n"); line; line = strtok(NULL, "\n")) {
            assert_true(characters(line) <= style.columns);
            for (const char *c = line; !style.utf8 && *c; c++)
                assert_true(*c >= ' ' && *c < 0x7f);
        }
        textw_finish(&w);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),     cmocka_unit_test(test_slice),
        cmocka_unit_test(test_concat),   cmocka_unit_test(test_subsample),
        cmocka_unit_test(test_permute),  cmocka_unit_test(test_pad),
        cmocka_unit_test(test_elided),   cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_channels), cmocka_unit_test(test_palette),
        cmocka_unit_test(test_width),
    };
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    show = argc > 2 && strcmp(argv[2], "show") == 0;
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
