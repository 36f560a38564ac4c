/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong elements at regular places along a dimension: the boundaries of tiles. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/hypothesis.h"

enum { PERIOD_MIN = 4, PERIOD_MAX = 64, STRIPES_MIN = 3, SHOWN = 3 };
#define BITS_MIN 20

/* Wrong elements of dimension d have coordinates of which the remainder by `period` is from `first`
 * to `first` + `width` - 1. */
struct stripes {
    uint32_t d, period, first, width;
};

/* Finds the shortest circular run of remainders that has all samples. Returns its width. */
static uint32_t narrow(const bool *used, uint32_t period, uint32_t *first)
{
    uint32_t gap = 0, gap_end = 0, run = 0;

    for (uint32_t i = 0; i < 2 * period; i++) {
        run = used[i % period] ? 0 : run + 1;
        if (run > gap && run < period) {
            gap = run;
            gap_end = i;
        }
    }
    *first = (gap_end + 1) % period;
    return period - gap;
}

static bool find_period(const struct subject *subject, uint32_t d, uint32_t period,
                        struct stripes *stripes)
{
    const struct differing *differing = subject->differing;
    bool used[PERIOD_MAX] = {false};

    for (uint32_t i = 0; i < differing->sample_count; i++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(subject->got, differing->sample[i], at);
        used[at[d] % period] = true;
    }
    stripes->d = d;
    stripes->period = period;
    stripes->width = narrow(used, period, &stripes->first);
    return stripes->width * 4 <= period;
}

/* Returns whether the remainder of a coordinate is inside the stripes. */
static bool is_inside(const struct stripes *stripes, uint32_t coordinate)
{
    return (coordinate % stripes->period + stripes->period - stripes->first) % stripes->period <
           stripes->width;
}

static bool holds(const struct subject *subject, const struct stripes *stripes)
{
    uint32_t at[MLI_MAX_RANK] = {0};

    do {
        if (!is_inside(stripes, at[stripes->d]) &&
            elements_word(subject->got, at) != elements_word(subject->wanted, at))
            return false;
    } while (elements_next(subject->got, at));
    return true;
}

/* Returns whether the sample cannot be inside the stripes by accident. */
static bool is_evident(const struct subject *subject, const struct stripes *stripes)
{
    const struct differing *differing = subject->differing;
    uint32_t bits = 0;

    for (uint32_t ratio = stripes->period / stripes->width; ratio > 1; ratio /= 2)
        bits++;
    return (uint64_t)bits * differing->sample_count >= BITS_MIN + PERIOD_MAX / 8;
}

static bool find(const struct subject *subject, struct stripes *stripes)
{
    const struct differing *differing = subject->differing;

    for (uint32_t d = 0; d < subject->got->rank; d++) {
        const uint32_t most = (differing->high[d] - differing->low[d]) / (STRIPES_MIN - 1);

        /* Try the longest period first: half of a period holds for the same elements. */
        for (uint32_t period = most < PERIOD_MAX ? most : PERIOD_MAX; period >= PERIOD_MIN;
             period--) {
            if (find_period(subject, d, period, stripes) && is_evident(subject, stripes) &&
                holds(subject, stripes))
                return true;
        }
    }
    return false;
}

void striped_add(const struct subject *subject, struct phrase *phrase)
{
    struct stripes stripes;

    if (!find(subject, &stripes))
        return;
    const uint32_t low = subject->differing->low[stripes.d];
    phrase_add(phrase, "they are at index ");
    for (uint32_t i = 0; i < SHOWN; i++)
        phrase_add(phrase, "%s%" PRIu32, i ? ", " : "", low + i * stripes.period);
    phrase_add(phrase, ", ... of dimension %" PRIu32 ", every %" PRIu32 " indices", stripes.d,
               stripes.period);
    if (stripes.width > 1)
        phrase_add(phrase, " (%" PRIu32 " wide)", stripes.width);
    phrase_add(phrase, ": the edges of tiles?");
}
