/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any map between coordinates, if values are rare: finds an element of the wrong tensor and its
 * neighbours in the reference; their places determine the map.
 */
#include "cli/diagnose/hypothesis.h"
#include "cli/diagnose/lookup.h"

enum { BASES = 12, COST = 8 };
#define BITS_MIN 4.0

/* An element of the wrong tensor and one neighbour in each dimension. */
struct base {
    uint32_t at[MLI_MAX_RANK];
    uint32_t found;                   /* index of its value in the lookup */
    uint32_t neighbour[MLI_MAX_RANK]; /* of the neighbours' values */
    int side[MLI_MAX_RANK]; /* 1 or -1: the neighbour is after or before; 0: there is none */
};

static void look_around(struct base *base, const struct elements *wrong, uint64_t index,
                        struct lookup *lookup)
{
    elements_place(wrong, index, base->at);
    base->found = lookup_add(lookup, elements_word(wrong, base->at));
    for (uint32_t d = 0; d < wrong->rank; d++) {
        uint32_t next[MLI_MAX_RANK] = {base->at[0], base->at[1], base->at[2], base->at[3]};

        base->side[d] = wrong->shape[d] == 1 ? 0 : base->at[d] + 1 < wrong->shape[d] ? 1 : -1;
        if (base->side[d] == 0)
            continue;
        next[d] += (uint32_t)base->side[d];
        base->neighbour[d] = lookup_add(lookup, elements_word(wrong, next));
    }
}

/*
 * Lets the map follow dimension `a` of the wrong tensor, as the neighbour there does. Returns false
 * unless the neighbour's place differs in exactly one dimension.
 */
static bool follow(struct map *map, const struct base *base, const struct lookup *lookup,
                   uint32_t a)
{
    const uint32_t *here = lookup->value[base->found].at;
    const uint32_t *there = lookup->value[base->neighbour[a]].at;
    uint32_t moved = 0;

    for (uint32_t d = 0; d < map->rank; d++) {
        if (here[d] == there[d])
            continue;
        if (map->step[d] != 0)
            return false;
        map->axis[d] = (uint8_t)a;
        map->step[d] = ((int64_t)there[d] - here[d]) * base->side[a];
        moved++;
    }
    return moved == 1;
}

/* Computes the map from the places of a base and its neighbours. Returns false if there is none. */
static bool fit(struct map *map, const struct base *base, const struct lookup *lookup)
{
    if (!lookup_unique(lookup, base->found))
        return false;
    for (uint32_t a = 0; a < map->rank; a++) {
        map->axis[a] = (uint8_t)a;
        map->step[a] = 0;
    }
    for (uint32_t a = 0; a < map->rank; a++) {
        if (base->side[a] != 0 &&
            (!lookup_unique(lookup, base->neighbour[a]) || !follow(map, base, lookup, a)))
            return false;
    }
    for (uint32_t d = 0; d < map->rank; d++)
        map->first[d] =
            lookup->value[base->found].at[d] - map->step[d] * (int64_t)base->at[map->axis[d]];
    return true;
}

static void propose_map(const struct hypothesis *self, struct proposals *proposals, bool source,
                        const struct map *map)
{
    static const enum map_outside of_wanted[] = {MAP_ZERO, MAP_WRAP, MAP_EDGE, MAP_UNKNOWN};

    for (size_t i = 0; i < (source ? 1 : sizeof(of_wanted) / sizeof(of_wanted[0])); i++) {
        struct candidate *candidate = proposals_add(proposals, self, source);

        candidate->map = *map;
        candidate->map.outside = source ? MAP_ZERO : of_wanted[i];
        candidate->cost = COST;
    }
}

static void propose_for(const struct hypothesis *self, struct proposals *proposals, bool source)
{
    const struct subject *subject = proposals->subject;
    const struct differing *differing = subject->differing;
    const struct elements *wrong =
        source && subject->moved_as_planned ? subject->wanted : subject->got;
    struct lookup lookup = {0};
    struct base bases[BASES];
    uint32_t count = differing->sample_count < BASES ? differing->sample_count : BASES;

    for (uint32_t i = 0; i < count; i++)
        look_around(&bases[i], wrong, differing->sample[i * (differing->sample_count / count)],
                    &lookup);
    lookup_run(&lookup, source ? subject->source : subject->wanted);
    for (uint32_t i = 0; i < count; i++) {
        struct map map = map_identity(wrong->rank);

        if (fit(&map, &bases[i], &lookup))
            propose_map(self, proposals, source, &map);
    }
}

_Static_assert(BASES *(1 + MLI_MAX_RANK) <= (int)LOOKUP_MAX, "all values can be looked up");

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    if (proposals->subject->bits < BITS_MIN)
        return;
    for (int source = proposals_last_reference(proposals); source >= 0; source--)
        propose_for(self, proposals, source);
}

const struct hypothesis hypothesis_fitted = {
    .name = "fitted", .propose = propose, .predict = mapped_predict, .describe = mapped_describe};
