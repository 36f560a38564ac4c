/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/index_map.h"

#include <stddef.h>

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
