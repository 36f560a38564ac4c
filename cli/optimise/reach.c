/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/program.h"

/* Maximum number of steps of one comparison of two byte sets. */
enum { MEET_BUDGET = 10000 };

size_t reach_first_write(const struct store *store, size_t step)
{
    size_t low = 0, high = store->write_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (store->writes[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool spans_meet(const struct byte_set *a, const struct byte_set *b)
{
    return a->run > 0 && b->run > 0 && a->begin < byte_set_end(b) && b->begin < byte_set_end(a);
}

static bool sets_meet(const struct byte_set *a, const struct byte_set *b)
{
    uint64_t budget = MEET_BUDGET;

    return spans_meet(a, b) && byte_sets_meet(a, b, &budget);
}

static bool boxes_meet(const struct index_box *a, const struct index_box *b, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++) {
        if (a->hi[d] <= b->lo[d] || b->hi[d] <= a->lo[d])
            return false;
    }
    return true;
}

static bool is_inside(const struct index_box *a, const struct index_box *b, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++) {
        if (a->lo[d] < b->lo[d] || a->hi[d] > b->hi[d])
            return false;
    }
    return true;
}

/* Adds a piece after the newer ones. If newer steps have overwritten a part of the piece, sets
 * reach->why: the rest of the piece may not be a box. Returns the number of added samples. */
static uint64_t add_piece(struct reach *reach, const struct piece *piece, uint32_t rank)
{
    for (size_t i = 0; i < reach->count; i++) {
        if (is_inside(&piece->given, &reach->pieces[i].given, rank))
            return 0;
        if (boxes_meet(&piece->given, &reach->pieces[i].given, rank))
            reach->why = KEPT_PIECES;
    }
    if (reach->count == PIECES_MAX)
        reach->why = KEPT_PIECES;
    if (reach->why != NOT_KEPT)
        return 0;
    reach->pieces[reach->count++] = *piece;
    return index_box_samples(&piece->given, rank);
}

/* Adds the samples that one step wrote. Returns their number. */
static uint64_t add_step(struct program *p, struct reach *reach, const struct index_map *map,
                         const struct byte_set *read, const struct write *write)
{
    struct piece piece = {.step = write->step};
    struct index_map composed;

    if (!spans_meet(read, &write->bytes))
        return 0;
    switch (index_map_compose(map, &p->steps[write->step].map, &composed, &piece.given)) {
    case COMPOSED:
    case COMPOSED_GIVEN:
        return add_piece(reach, &piece, map->rank);
    case COMPOSED_APART:
        return 0;
    case COMPOSED_SIZES:
        if (sets_meet(read, &write->bytes))
            reach->why = KEPT_SIZES;
        return 0;
    default:
        if (sets_meet(read, &write->bytes))
            reach->why = KEPT_ORDER;
        return 0;
    }
}

void reach_find(struct program *p, const struct index_map *map, size_t store, size_t before,
                struct reach *reach)
{
    const struct store *from = &p->stores[store];
    const struct byte_set read = index_map_read(map);
    const uint64_t samples = index_map_samples_read(map);
    uint64_t found = 0;

    reach->why = NOT_KEPT;
    reach->count = 0;
    for (size_t i = reach_first_write(from, before); i-- > 0 && found < samples;) {
        const struct program_step *step = &p->steps[from->writes[i].step];

        if (p->budget == 0)
            reach->why = KEPT_TOO_MANY;
        else
            p->budget--;
        if (reach->why == NOT_KEPT)
            found += add_step(p, reach, map, &read, &from->writes[i]);
        if (reach->why == NOT_KEPT && step->creates && found < samples &&
            read.begin < step->dst_data)
            reach->why = KEPT_HEADER;
        if (reach->why != NOT_KEPT || step->creates)
            break;
    }
    reach->all = found == samples;
}

bool reach_is_unchanged(struct program *p, const struct index_map *map, size_t store, size_t from,
                        size_t to)
{
    const struct store *of = &p->stores[store];
    const struct byte_set read = index_map_read(map);

    for (size_t i = reach_first_write(of, from); i < of->write_count; i++) {
        const struct write *write = &of->writes[i];

        if (write->step >= to)
            break;
        if (p->budget == 0 || p->steps[write->step].creates || sets_meet(&read, &write->bytes))
            return false;
        p->budget--;
    }
    return true;
}
