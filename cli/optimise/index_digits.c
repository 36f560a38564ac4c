/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/index_digits.h"

#include <string.h>

/* Returns sum + a * b, or UINT64_MAX if that exceeds 64 bits. */
static uint64_t add_product(uint64_t sum, uint64_t a, uint64_t b)
{
    uint64_t product, result;

    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &result))
        return UINT64_MAX;
    return result;
}

/* Returns the bytes from the first to the last element in the digits from `k` on. */
static uint64_t span_from(const struct index_digits *c, size_t k, uint32_t elem)
{
    uint64_t span = elem;

    for (; k < c->digits; k++)
        span = add_product(span, c->digit[k].count - 1, c->digit[k].weight);
    return span;
}

static void insert(struct index_digits *c, size_t at, struct digit digit)
{
    memmove(&c->digit[at + 1], &c->digit[at], (c->digits - at) * sizeof(c->digit[0]));
    c->digit[at] = digit;
    c->digits++;
}

static size_t place_of_weight(const struct index_digits *c, uint64_t weight)
{
    size_t at = 0;

    while (at < c->digits && c->digit[at].weight > weight)
        at++;
    return at;
}

/* Makes the digits of the writer. Returns false if its elements are interleaved in such a way that
 * an address has no unique digits. */
static bool take_writer(struct index_digits *c, const struct index_map *writer)
{
    for (uint32_t d = 0; d < writer->rank; d++) {
        const struct index_axis *axis = &writer->axis[d];

        if (axis->count > 1)
            insert(c, place_of_weight(c, axis->dst_step),
                   (struct digit){.weight = axis->dst_step,
                                  .count = axis->count,
                                  .lo = axis->lo,
                                  .hi = axis->hi,
                                  .src_step = axis->src_step});
    }
    for (size_t k = 0; k < c->digits; k++) {
        if (span_from(c, k + 1, writer->elem) > c->digit[k].weight)
            return false;
    }
    return true;
}

/*
 * Joins digits that follow one another without a gap in the source and in the destination, as in a
 * copy: a reader with another shape then needs no carry.
 */
static void join_digits(struct index_digits *c)
{
    for (size_t k = c->digits; k-- > 1;) {
        struct digit *outer = &c->digit[k - 1], *inner = &c->digit[k];

        if (outer->weight % inner->count != 0 || outer->weight / inner->count != inner->weight ||
            inner->lo != 0 || inner->hi != inner->count ||
            (outer->hi - outer->lo > 1 && (outer->src_step % inner->count != 0 ||
                                           outer->src_step / inner->count != inner->src_step)))
            continue;
        outer->weight = inner->weight;
        outer->src_step = inner->src_step;
        outer->lo *= inner->count;
        outer->hi *= inner->count;
        outer->count *= inner->count;
        memmove(inner, inner + 1, (c->digits - k - 1) * sizeof(*inner));
        c->digits--;
    }
}

/* Adds a digit of the only value 0, for a step with which the reader leaves the writer's
 * destination, unless the step is inside the span of smaller digits. */
static void add_weight(struct index_digits *c, uint64_t weight, uint32_t elem)
{
    const size_t at = place_of_weight(c, weight);

    if (weight == 0 || c->digits == DIGITS_MAX ||
        (at < c->digits && c->digit[at].weight == weight) || span_from(c, at, elem) > weight)
        return;
    insert(c, at, (struct digit){.weight = weight, .count = 1, .hi = 1});
}

/* Writes `step` in the digits. Returns false if a remainder is left. */
static bool to_digits(const struct index_digits *c, uint64_t step, uint64_t out[DIGITS_MAX])
{
    for (size_t k = 0; k < c->digits; k++) {
        out[k] = step / c->digit[k].weight;
        step %= c->digit[k].weight;
    }
    return step == 0;
}

/* Returns the only digit of a step; or the number of digits. */
static size_t only_digit(const struct index_digits *c, const uint64_t steps[DIGITS_MAX])
{
    size_t found = c->digits;

    for (size_t k = 0; k < c->digits; k++) {
        if (steps[k] == 0)
            continue;
        if (found < c->digits)
            return c->digits;
        found = k;
    }
    return found;
}

/*
 * Returns the number of iterations after which a loop with these steps carries into the next digit,
 * if it then begins at the same value again; or 0.
 */
static uint64_t carry_of(const struct index_digits *c, const uint64_t steps[DIGITS_MAX],
                         uint64_t count)
{
    const size_t k = only_digit(c, steps);

    if (k == c->digits || k == 0 || steps[k] >= c->digit[k].count ||
        c->digit[k].count % steps[k] != 0 ||
        c->digit[k - 1].weight / c->digit[k].count != c->digit[k].weight ||
        c->digit[k - 1].weight % c->digit[k].count != 0)
        return 0;
    const uint64_t turn = c->digit[k].count / steps[k];
    return turn > 1 && count > turn && count % turn == 0 ? turn : 0;
}

/* Splits an axis of the reader wherever it carries. Returns false if a step has no digits. */
static bool take_axis(struct index_digits *c, uint64_t count, uint64_t step)
{
    while (count > 1) {
        struct part *part = &c->part[c->parts];
        uint64_t turn;

        if (c->parts == PARTS_MAX || !to_digits(c, step, part->steps))
            return false;
        turn = carry_of(c, part->steps, count);
        part->count = turn ? turn : count;
        count /= part->count;
        step *= part->count;
        c->parts++;
    }
    return true;
}

static bool take_reader(struct index_digits *c, const struct index_map *reader)
{
    for (uint32_t d = 0; d < reader->rank; d++) {
        const struct index_axis *axis = &reader->axis[d];

        c->first_part[d] = c->parts;
        if (!take_axis(c, axis->hi - axis->lo, axis->src_step))
            return false;
    }
    c->first_part[reader->rank] = c->parts;
    return true;
}

/* Finds the largest value of each digit. Returns false if it exceeds 62 bits. */
static bool find_widths(struct index_digits *c)
{
    for (size_t k = 0; k < c->digits; k++) {
        uint64_t width = 0;

        for (size_t i = 0; i < c->parts; i++)
            width = add_product(width, c->part[i].steps[k], c->part[i].count - 1);
        if (width > INT64_MAX / 2)
            return false;
        c->digit[k].width = (int64_t)width;
    }
    return true;
}

/*
 * Returns whether no value of the digits that the reader reaches means the same address as another
 * value inside the writer's destination. Two values of one address differ first in some digit l, by
 * at least its weight, which the digits behind l cannot make up for.
 */
static bool is_unique(const struct index_digits *c)
{
    uint64_t behind = 0;

    for (size_t k = c->digits; k-- > 0;) {
        const struct digit *digit = &c->digit[k];
        const int64_t above = digit->first + digit->width;
        const int64_t below = (int64_t)digit->count - 1 - digit->first;
        const int64_t far = above > below ? above : below;

        if (behind >= digit->weight)
            return false;
        behind = add_product(behind, far > 0 ? (uint64_t)far : 0, digit->weight);
    }
    return true;
}

/* Finds digits of `offset` from `k` on that are unique; a digit may be negative. */
static bool find_first(struct index_digits *c, size_t k, int64_t offset)
{
    if (k == c->digits)
        return offset == 0 && is_unique(c);
    const int64_t weight = (int64_t)c->digit[k].weight;
    int64_t value = offset / weight, rest = offset % weight;

    if (rest < 0) {
        rest += weight;
        value--;
    }
    c->digit[k].first = value;
    if (find_first(c, k + 1, rest))
        return true;
    if (rest == 0)
        return false;
    c->digit[k].first = value + 1;
    return find_first(c, k + 1, rest - weight);
}

/* Returns whether an element that the reader reads is an element of the writer, or apart from all
 * of them: never a part of two. */
static bool is_aligned(const struct index_digits *c, int64_t offset, uint32_t elem)
{
    for (size_t k = 0; k < c->digits; k++) {
        if (c->digit[k].weight % elem != 0)
            return false;
    }
    return offset % (int64_t)elem == 0;
}

bool index_digits_find(struct index_digits *c, const struct index_map *reader,
                       const struct index_map *writer, bool joined)
{
    const int64_t offset = (int64_t)(reader->src - writer->dst);

    *c = (struct index_digits){0};
    if (!take_writer(c, writer))
        return false;
    if (joined)
        join_digits(c);
    for (uint32_t d = 0; d < writer->rank; d++)
        add_weight(c, writer->axis[d].dst_step, writer->elem);
    for (uint32_t d = 0; d < reader->rank; d++) {
        if (reader->axis[d].hi - reader->axis[d].lo > 1)
            add_weight(c, reader->axis[d].src_step, writer->elem);
    }
    return take_reader(c, reader) && is_aligned(c, offset, reader->elem) && find_widths(c) &&
           find_first(c, 0, offset);
}
