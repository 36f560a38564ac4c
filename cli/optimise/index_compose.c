/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The composition of two maps: the digits of the read addresses (index_digits.h) are limited to
 * those that the writer writes, and then to those that it reads; the rest are zeros.
 */
#include "cli/optimise/index_digits.h"

/* Iterations [lo, hi) of each part. */
struct ranges {
    uint64_t lo[PARTS_MAX], hi[PARTS_MAX];
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/*
 * Narrows the ranges to the iterations for which a digit is in [lo, hi). Returns COMPOSED_APART if
 * none is left, and COMPOSED_IRREGULAR if the iterations are no box.
 */
static enum composition narrow(const struct index_digits *c, size_t k, int64_t lo, int64_t hi,
                               struct ranges *ranges)
{
    const struct digit *digit = &c->digit[k];
    size_t user = c->parts, users = 0;

    if (digit->first >= lo && digit->first + digit->width < hi)
        return COMPOSED;
    if (digit->first >= hi || digit->first + digit->width < lo)
        return COMPOSED_APART;
    for (size_t i = 0; i < c->parts; i++) {
        if (c->part[i].steps[k] > 0) {
            user = i;
            users++;
        }
    }
    if (users != 1)
        return COMPOSED_IRREGULAR;
    const int64_t step = (int64_t)c->part[user].steps[k];
    const int64_t begin = divide_up(lo - digit->first, step);
    const int64_t end = divide_up(hi - digit->first, step);

    if (begin > (int64_t)ranges->lo[user])
        ranges->lo[user] = (uint64_t)begin;
    if (end < (int64_t)ranges->hi[user])
        ranges->hi[user] = end > 0 ? (uint64_t)end : 0;
    return ranges->lo[user] < ranges->hi[user] ? COMPOSED : COMPOSED_APART;
}

/* Narrows all digits: to the values that the writer writes, or to those that it reads. */
static enum composition narrow_all(const struct index_digits *c, bool values, struct ranges *ranges)
{
    enum composition worst = COMPOSED;

    for (size_t k = 0; k < c->digits; k++) {
        const struct digit *digit = &c->digit[k];
        const int64_t lo = values ? (int64_t)digit->lo : 0;
        const int64_t hi = (int64_t)(values ? digit->hi : digit->count);
        const enum composition result = narrow(c, k, lo, hi, ranges);

        if (result == COMPOSED_APART)
            return result;
        if (result != COMPOSED)
            worst = result;
    }
    return worst;
}

/*
 * Joins the parts of an axis to one range of samples, and their steps in the writer's source to one
 * step. Returns false if they are no range with one step.
 */
static bool join(const struct index_digits *c, uint32_t d, const struct ranges *ranges,
                 uint64_t *lo, uint64_t *hi, uint64_t *step)
{
    uint64_t turn = 1;

    *lo = *step = 0;
    *hi = 1;
    for (size_t i = c->first_part[d]; i < c->first_part[d + 1]; i++) {
        const uint64_t count = ranges->hi[i] - ranges->lo[i];
        uint64_t src_step = 0;

        for (size_t k = 0; k < c->digits; k++)
            src_step += c->part[i].steps[k] * c->digit[k].src_step;
        if (count > 1) {
            if (*hi - *lo != turn || (turn > 1 && src_step / turn != *step) ||
                (turn > 1 && src_step % turn != 0))
                return false;
            if (turn == 1)
                *step = src_step;
            *hi = ranges->hi[i] * turn;
            *lo = ranges->lo[i] * turn;
        } else {
            *lo += ranges->lo[i] * turn;
            *hi += ranges->lo[i] * turn;
        }
        turn *= c->part[i].count;
    }
    return true;
}

/* Returns the address in the writer's source of the first iterations of the ranges. */
static uint64_t source_of(const struct index_digits *c, const struct index_map *writer,
                          const struct ranges *ranges)
{
    uint64_t address = writer->src;

    for (size_t k = 0; k < c->digits; k++) {
        uint64_t value = (uint64_t)c->digit[k].first;

        for (size_t i = 0; i < c->parts; i++)
            value += c->part[i].steps[k] * ranges->lo[i];
        address += (value - c->digit[k].lo) * c->digit[k].src_step;
    }
    return address;
}

static bool fill_given(const struct index_digits *c, const struct index_map *reader,
                       const struct ranges *ranges, struct index_box *given)
{
    for (uint32_t d = 0; d < reader->rank; d++) {
        const uint64_t lo = reader->axis[d].lo;
        uint64_t turn = 1;

        given->lo[d] = lo;
        given->hi[d] = lo + 1;
        for (size_t i = c->first_part[d]; i < c->first_part[d + 1]; i++) {
            if (ranges->hi[i] - ranges->lo[i] > 1) {
                if (given->hi[d] - given->lo[d] != turn)
                    return false;
                given->lo[d] = lo + ranges->lo[i] * turn;
                given->hi[d] = lo + ranges->hi[i] * turn;
            } else {
                given->lo[d] += ranges->lo[i] * turn;
                given->hi[d] += ranges->lo[i] * turn;
            }
            turn *= c->part[i].count;
        }
    }
    return true;
}

static enum composition fill_composed(const struct index_digits *c, const struct index_map *reader,
                                      const struct index_map *writer, struct ranges *ranges,
                                      struct index_map *composed)
{
    enum composition result = writer->zeros ? COMPOSED_APART : narrow_all(c, true, ranges);

    *composed = *reader;
    composed->zeros = result == COMPOSED_APART;
    if (result != COMPOSED)
        return composed->zeros ? COMPOSED : COMPOSED_GIVEN;
    for (uint32_t d = 0; d < reader->rank; d++) {
        struct index_axis *axis = &composed->axis[d];
        uint64_t lo, hi;

        if (!join(c, d, ranges, &lo, &hi, &axis->src_step))
            return COMPOSED_GIVEN;
        axis->lo = reader->axis[d].lo + lo;
        axis->hi = reader->axis[d].lo + hi;
    }
    composed->src = source_of(c, writer, ranges);
    return COMPOSED;
}

/* Composes with the digits of the writer as they are, or `joined`. */
static enum composition compose(const struct index_map *reader, const struct index_map *writer,
                                bool joined, struct index_map *composed, struct index_box *given)
{
    struct index_digits c;
    struct ranges ranges;
    enum composition result;

    if (!index_digits_find(&c, reader, writer, joined))
        return COMPOSED_IRREGULAR;
    for (size_t i = 0; i < c.parts; i++) {
        ranges.lo[i] = 0;
        ranges.hi[i] = c.part[i].count;
    }
    result = narrow_all(&c, false, &ranges);
    if (result != COMPOSED)
        return result;
    if (!fill_given(&c, reader, &ranges, given))
        return COMPOSED_IRREGULAR;
    return fill_composed(&c, reader, writer, &ranges, composed);
}

enum composition index_map_compose(const struct index_map *reader, const struct index_map *writer,
                                   struct index_map *composed, struct index_box *given)
{
    struct index_box other;
    enum composition result;

    if (reader->zeros)
        return COMPOSED_APART;
    if (reader->elem != writer->elem)
        return COMPOSED_SIZES;
    result = compose(reader, writer, false, composed, given);
    if (result == COMPOSED || result == COMPOSED_APART)
        return result;
    const enum composition joined = compose(reader, writer, true, composed, &other);
    if (joined == COMPOSED_IRREGULAR)
        return result;
    *given = other;
    return joined;
}
