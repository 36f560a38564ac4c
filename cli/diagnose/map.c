/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/diagnose/map.h"

#include <inttypes.h>

struct map map_identity(uint32_t rank)
{
    struct map map = {.rank = rank};

    for (uint32_t d = 0; d < rank; d++) {
        map.axis[d] = (uint8_t)d;
        map.step[d] = 1;
    }
    return map;
}

/* Brings a coordinate into the range from 0 to `extent` - 1. Returns false if that is impossible.
 */
static bool bring_inside(enum map_outside outside, int64_t *coordinate, uint32_t extent)
{
    if (*coordinate >= 0 && *coordinate < (int64_t)extent)
        return true;
    if (outside == MAP_EDGE)
        *coordinate = *coordinate < 0 ? 0 : (int64_t)extent - 1;
    if (outside == MAP_WRAP)
        *coordinate = (*coordinate % extent + extent) % extent;
    return outside == MAP_EDGE || outside == MAP_WRAP;
}

bool map_place(const struct map *map, const struct elements *reference, const uint32_t *at,
               uint32_t place[MLI_MAX_RANK])
{
    for (uint32_t d = 0; d < map->rank; d++) {
        int64_t coordinate;

        if (__builtin_mul_overflow(map->step[d], (int64_t)at[map->axis[d]], &coordinate) ||
            __builtin_add_overflow(coordinate, map->first[d], &coordinate) ||
            !bring_inside(map->outside, &coordinate, reference->shape[d]))
            return false;
        place[d] = (uint32_t)coordinate;
    }
    return true;
}

bool map_word(const struct map *map, const struct elements *reference, const uint32_t *at,
              uint32_t *word)
{
    uint32_t place[MLI_MAX_RANK];

    if (map_place(map, reference, at, place)) {
        *word = elements_word(reference, place);
        return true;
    }
    *word = 0;
    return map->outside == MAP_ZERO;
}

bool map_same(const struct map *a, const struct map *b, const uint32_t *shape)
{
    for (uint32_t d = 0; d < a->rank; d++) {
        if (a->first[d] != b->first[d])
            return false;
        if (a->axis[d] == b->axis[d] && a->step[d] == b->step[d])
            continue;
        /* The maps differ here, unless the coordinate is always 0. */
        if (shape[a->axis[d]] > 1 || shape[b->axis[d]] > 1)
            return false;
    }
    return true;
}

static void add_coordinate(struct phrase *phrase, const struct map *map, uint32_t d,
                           const uint32_t *shape)
{
    const char letter = "ijkl"[map->axis[d]];
    const int64_t first = map->first[d], step = map->step[d];

    if (shape[map->axis[d]] == 1 || step == 0) {
        phrase_add(phrase, "%" PRId64, first);
        return;
    }
    if (step < 0)
        phrase_add(phrase, "%" PRId64 " - ", first);
    if (step != 1 && step != -1)
        phrase_add(phrase, "%" PRId64 "*", step < 0 ? -step : step);
    phrase_add(phrase, "%c", letter);
    if (step > 0 && first != 0)
        phrase_add(phrase, " %c %" PRId64, first < 0 ? '-' : '+', first < 0 ? -first : first);
}

void map_add(struct phrase *phrase, const struct map *map, const char *reference,
             const uint32_t *shape)
{
    phrase_add(phrase, "%s[", reference);
    for (uint32_t d = 0; d < map->rank; d++) {
        phrase_add(phrase, "%s", d ? ", " : "");
        add_coordinate(phrase, map, d, shape);
    }
    phrase_add(phrase, "]");
}
