/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "cli/optimise/index_map.h"

/*
 * The addresses that a reader reads, written as numbers in a mixed radix: each axis of the writer
 * is a digit, whose weight is dst_step and whose value is the sample. The steps of the reader are
 * numbers in the same radix. If no sum of digits carries, each digit of an address that the reader
 * reads is an affine function of the reader's samples.
 */

/* The digits are the axes of the writer, and the steps of the reader that are not the step of an
 * axis of the writer. Each axis of the reader is split into at most one part for each digit. */
enum { DIGITS_MAX = 2 * MLI_MAX_RANK, PARTS_MAX = MLI_MAX_RANK * DIGITS_MAX };

/* A loop of the reader: an axis, or a factor of an axis. */
struct part {
    uint64_t count; /* at least 2 */
    uint64_t steps[DIGITS_MAX];
};

struct digit {
    uint64_t weight;   /* in bytes */
    uint64_t count;    /* the writer writes the values [0, count) */
    uint64_t lo, hi;   /* the writer copies the values [lo, hi) */
    uint64_t src_step; /* in bytes */
    int64_t first;     /* value at the reader's first address */
    int64_t width;     /* largest value that the reader reaches, minus `first` */
};

struct index_digits {
    struct digit digit[DIGITS_MAX]; /* sorted by weight, the largest first */
    size_t digits;
    struct part part[PARTS_MAX]; /* axis by axis; of an axis, the inner parts first */
    size_t parts, first_part[MLI_MAX_RANK + 1];
};

struct index_map index_map_of(const mli_explanation *move, uint64_t src, uint64_t dst)
{
    struct index_map map = {.rank = move->rank, .elem = move->elem, .src = src, .dst = dst};

    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *from = &move->axis[d];
        struct index_axis *to = &map.axis[from->dst_dim];

        *to = (struct index_axis){.count = from->count,
                                  .lo = from->lo,
                                  .hi = from->hi,
                                  .src_step = from->step * from->src_stride * move->elem,
                                  .dst_step = from->dst_stride * move->elem};
        map.zeros |= from->lo >= from->hi;
        map.src += from->first * from->src_stride * move->elem;
        map.dst += (uint64_t)from->dst_offset * from->dst_stride * move->elem;
    }
    return map;
}

struct byte_set index_map_read(const struct index_map *map)
{
    struct byte_set_loop loops[MLI_MAX_RANK];

    if (map->zeros)
        return (struct byte_set){.begin = map->src};
    for (uint32_t d = 0; d < map->rank; d++)
        loops[d] = (struct byte_set_loop){map->axis[d].hi - map->axis[d].lo, map->axis[d].src_step};
    return byte_set_of(map->src, map->elem, loops, map->rank);
}

struct byte_set index_map_written(const struct index_map *map)
{
    struct byte_set_loop loops[MLI_MAX_RANK];

    for (uint32_t d = 0; d < map->rank; d++)
        loops[d] = (struct byte_set_loop){map->axis[d].count, map->axis[d].dst_step};
    return byte_set_of(map->dst, map->elem, loops, map->rank);
}

uint64_t index_map_samples_read(const struct index_map *map)
{
    uint64_t samples = !map->zeros;

    for (uint32_t d = 0; d < map->rank && samples > 0; d++)
        samples *= map->axis[d].hi - map->axis[d].lo;
    return samples;
}

uint64_t index_box_samples(const struct index_box *box, uint32_t rank)
{
    uint64_t samples = 1;

    for (uint32_t d = 0; d < rank; d++)
        samples *= box->hi[d] - box->lo[d];
    return samples;
}

/* Returns sum + a * b, or UINT64_MAX if the result exceeds 64 bits. */
static uint64_t add_product(uint64_t sum, uint64_t a, uint64_t b)
{
    uint64_t product, result;

    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &result))
        return UINT64_MAX;
    return result;
}

/* Returns the number of bytes from the first to the last element that the digits from `k` on
 * reach. */
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

/* Makes the digits of the writer. Returns false if the writer's elements are interleaved, so that
 * the digits of an address are not unique. */
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

/* Joins neighbouring digits without a gap between them in source and destination, as in a copy. A
 * reader with another shape then needs no carry. */
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

/* Adds a digit whose only written value is 0, for a step with which the reader leaves the writer's
 * destination. Adds none if the step is inside the span of the smaller digits. */
static void add_weight(struct index_digits *c, uint64_t weight, uint32_t elem)
{
    const size_t at = place_of_weight(c, weight);

    if (weight == 0 || c->digits == DIGITS_MAX ||
        (at < c->digits && c->digit[at].weight == weight) || span_from(c, at, elem) > weight)
        return;
    insert(c, at, (struct digit){.weight = weight, .count = 1, .hi = 1});
}

/* Splits `step` into digits. Returns false if a remainder is left. */
static bool to_digits(const struct index_digits *c, uint64_t step, uint64_t out[DIGITS_MAX])
{
    for (size_t k = 0; k < c->digits; k++) {
        out[k] = step / c->digit[k].weight;
        step %= c->digit[k].weight;
    }
    return step == 0;
}

/* Returns the index of the only digit of a step that is not 0, or c->digits if there is not
 * exactly one. */
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

/* Returns the number of iterations after which a loop with these steps carries into the next digit
 * and its own digit has the first value again; 0 if there is no such number. */
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

/* Finds the width of each digit. Returns false if a width exceeds 62 bits. */
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
 * Returns whether no digits that the reader reaches have the same address as other digits inside
 * the writer's destination. If two such sets of digits differ first in digit l, their addresses
 * differ by at least the weight of l, which the smaller digits cannot compensate.
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

/* Finds unique digits of `offset`, from digit `k` on. A digit may be negative. */
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

/* Returns whether each element of the reader is one element of the writer, or overlaps none of
 * them. */
static bool is_aligned(const struct index_digits *c, int64_t offset, uint32_t elem)
{
    for (size_t k = 0; k < c->digits; k++) {
        if (c->digit[k].weight % elem != 0)
            return false;
    }
    return offset % (int64_t)elem == 0;
}

/*
 * Finds the digits of the addresses that `reader` reads in the destination of `writer`. `joined`:
 * calls join_digits(). Returns false if the digits are not unique, or the elements are not read in
 * order.
 */
static bool index_digits_find(struct index_digits *c, const struct index_map *reader,
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

/*
 * The composition of two maps limits the digits of the read addresses to the values that the
 * writer writes, and then to the values that the writer copies; the other written values are
 * zeros.
 */

/* Iterations [lo, hi) of each part. */
struct ranges {
    uint64_t lo[PARTS_MAX], hi[PARTS_MAX];
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

/* Narrows the ranges to the iterations for which a digit is in [lo, hi). Returns COMPOSED_APART if
 * no iteration is left, and COMPOSED_IRREGULAR if the iterations are no box. */
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

/* Narrows all digits to the values that the writer copies (`values`), or to all values that it
 * writes. */
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
 * step, unless `step` is null. Returns false if they are no range, or have no common step.
 */
static bool join(const struct index_digits *c, uint32_t d, const struct ranges *ranges,
                 uint64_t *lo, uint64_t *hi, uint64_t *step)
{
    uint64_t turn = 1;

    *lo = 0;
    *hi = 1;
    if (step)
        *step = 0;
    for (size_t i = c->first_part[d]; i < c->first_part[d + 1]; i++) {
        const uint64_t count = ranges->hi[i] - ranges->lo[i];
        uint64_t src_step = 0;

        for (size_t k = 0; k < c->digits; k++)
            src_step += c->part[i].steps[k] * c->digit[k].src_step;
        if (count > 1) {
            if (*hi - *lo != turn ||
                (step && turn > 1 && (src_step / turn != *step || src_step % turn != 0)))
                return false;
            if (step && turn == 1)
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
        if (!join(c, d, ranges, &given->lo[d], &given->hi[d], NULL))
            return false;
        given->lo[d] += reader->axis[d].lo;
        given->hi[d] += reader->axis[d].lo;
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

/* Composes two maps; `joined`: as for index_digits_find(). */
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
