/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/target/tile_cases.h"

#include <string.h>

#include "mli_api.h"

static bool make_window(struct tile_layer *layer, struct rng *rng, uint32_t most)
{
    struct tile_window window = {
        .shape = {rng_between(rng, 1, most), rng_between(rng, 1, most), rng_between(rng, 1, most)},
        .channels = rng_between(rng, 1, most),
        .depthwise = rng_chance(rng, 30),
        .weights = true,
        .element = rng_chance(rng, 70) ? 1 : 2};
    struct fault fault;

    for (uint32_t d = 0; d < 2; d++) {
        window.kernel[d] = rng_between(rng, 1, 5);
        window.stride[d] = rng_between(rng, 1, 3);
        window.dilation[d] = rng_chance(rng, 80) ? 1 : 2;
    }
    if (rng_chance(rng, 60)) {
        tile_window_pad_same(&window);
    } else {
        for (uint32_t d = 0; d < 2; d++) {
            window.pad_pre[d] = rng_below(rng, window.kernel[d]);
            window.pad_post[d] = rng_below(rng, window.kernel[d]);
        }
    }
    if (window.depthwise)
        window.weights = rng_chance(rng, 60);
    else if (rng_chance(rng, 40))
        window.partial = 4;
    return tile_layer_window(layer, &window, &fault) == 0;
}

static bool make_move(struct tile_layer *layer, struct rng *rng, uint32_t most)
{
    mli_tensor src = {.rank = rng_between(rng, 1, 4), .el_type = MLI_EL_FX_8}, dst = {0};
    mli_mov_cfg_t cfg;
    mli_explanation move;
    struct fault fault;

    mli_mov_cfg_for_copy(&cfg);
    for (uint32_t d = 0; d < src.rank; d++) {
        const uint32_t other = rng_below(rng, d + 1);

        src.shape[d] = rng_between(rng, 1, most);
        cfg.padding_pre[d] = (uint8_t)rng_below(rng, 3);
        cfg.padding_post[d] = (uint8_t)rng_below(rng, 3);
        cfg.offset[d] = rng_below(rng, src.shape[d]);
        cfg.sub_sample_step[d] = rng_between(rng, 1, 2);
        cfg.perm_dim[d] = cfg.perm_dim[other];
        cfg.perm_dim[other] = (uint8_t)d;
    }
    src.data.mem.pi8 = (int8_t *)(uintptr_t)0x10000000;
    dst.data.mem.pi8 = (int8_t *)(uintptr_t)0x20000000;
    src.data.capacity = dst.data.capacity = 0x1000000;
    return mli_mov_explain(&src, &cfg, &dst, &move) == MLI_STATUS_OK &&
           tile_layer_move(layer, &move, &fault) == 0;
}

bool tile_case_layer(struct tile_layer *layer, struct rng *rng, uint32_t most)
{
    const uint32_t kind = rng_below(rng, 10);
    uint32_t shape[TILE_AXES];
    struct fault fault;

    if (kind < 6)
        return make_window(layer, rng, most);
    if (kind < 8)
        return make_move(layer, rng, most);
    for (uint32_t d = 0; d < TILE_AXES; d++)
        shape[d] = rng_between(rng, 1, most);
    return tile_layer_elementwise(layer, rng_between(rng, 1, TILE_AXES), shape, 1,
                                  rng_between(rng, 1, 2), &fault) == 0;
}

/* Returns the number of elements of a range, counted one by one. */
static uint64_t count_elements(const struct tile_span *span, uint64_t begin, uint64_t end)
{
    const int64_t first = (int64_t)(begin * span->step) - (int64_t)span->pad;
    const int64_t last = (int64_t)((end - 1) * span->step + span->reach) - (int64_t)span->pad;
    uint64_t elements = 0;

    if (!span->used)
        return 1;
    for (int64_t at = first; at < last; at++)
        elements += at >= 0 && at < (int64_t)span->extent;
    return elements;
}

static uint64_t tile_bytes(const struct tile_division *division, const struct tile_operand *operand,
                           const uint64_t index[TILE_AXES])
{
    uint64_t bytes = operand->unit * operand->repeats;

    for (uint32_t a = 0; a < division->layer->axes; a++)
        bytes *= count_elements(&operand->span[a], division->begin[a][index[a]],
                                division->begin[a][index[a] + 1]);
    return bytes;
}

static bool is_other_tile(const struct tile_operand *operand, const uint64_t now[TILE_AXES],
                          const uint64_t before[TILE_AXES])
{
    for (uint32_t a = 0; a < TILE_AXES; a++) {
        if (operand->span[a].used && now[a] != before[a])
            return true;
    }
    return false;
}

uint64_t tile_case_walk(const struct tile_division *division, uint64_t bytes[TILE_OPERANDS])
{
    const struct tile_layer *layer = division->layer;
    uint64_t now[TILE_AXES] = {0}, before[TILE_AXES], total = 0;

    memset(before, 0xff, sizeof before);
    memset(bytes, 0, TILE_OPERANDS * sizeof *bytes);
    for (;;) {
        uint32_t at = layer->axes;

        for (uint32_t i = 0; i < layer->operands; i++) {
            if (is_other_tile(&layer->operand[i], now, before))
                bytes[i] += tile_bytes(division, &layer->operand[i], now);
        }
        memcpy(before, now, sizeof before);
        for (; at > 0; at--) {
            const uint8_t axis = division->order[at - 1];

            if (++now[axis] < division->count[axis])
                break;
            now[axis] = 0;
        }
        if (at == 0)
            break;
    }
    for (uint32_t i = 0; i < layer->operands; i++)
        total += bytes[i];
    return total;
}

struct tile_division tile_case_division(const struct tile_plan *plan)
{
    struct tile_division division = {.layer = plan->layer};

    for (uint32_t a = 0; a < plan->layer->axes; a++) {
        division.count[a] = plan->cut[a].count;
        division.order[a] = plan->order[a];
        for (uint64_t i = 0; i <= plan->cut[a].count; i++) {
            uint64_t begin = plan->layer->extent[a], size;

            if (i < plan->cut[a].count)
                tile_cut_range(&plan->cut[a], i, &begin, &size);
            division.begin[a][i] = begin;
        }
    }
    return division;
}

/*
 * Returns whether the buffers of a division fit; an operand that stays in memory has only one
 * buffer.
 */
static bool fits(const struct tile_division *division, const struct tile_memory *memory)
{
    const struct tile_layer *layer = division->layer;
    uint64_t used = 0;

    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_operand *operand = &layer->operand[i];
        uint64_t bytes = operand->unit, changes = 1;
        bool held = false;

        if (layer->reduces && division->count[TILE_REDUCED] > 1 && operand->partial > 0)
            bytes = operand->partial;
        bytes *= operand->repeats;
        for (uint32_t n = 0; n < layer->axes; n++) {
            const uint32_t a = division->order[n];
            const struct tile_span *span = &operand->span[a];

            if (division->count[a] > 1) {
                held = !span->used;
                changes *= span->used ? division->count[a] : 1;
            }
            if (span->used)
                bytes *= (division->begin[a][1] - 1) * span->step + span->reach;
        }
        if (operand->in_place)
            continue;
        for (uint32_t b = 0; b < ((held && memory->hold) || changes == 1 ? 1 : memory->buffers);
             b++)
            used = (used + memory->alignment - 1) / memory->alignment * memory->alignment + bytes;
    }
    return used <= memory->bytes;
}

/* All orders of four axes. */
static const uint8_t orders[24][TILE_AXES] = {
    {0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1},
    {1, 0, 2, 3}, {1, 0, 3, 2}, {1, 2, 0, 3}, {1, 2, 3, 0}, {1, 3, 0, 2}, {1, 3, 2, 0},
    {2, 0, 1, 3}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 1, 3, 0}, {2, 3, 0, 1}, {2, 3, 1, 0},
    {3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 1, 2, 0}, {3, 2, 0, 1}, {3, 2, 1, 0}};

/* If the reduced axis is divided into tiles, its loop must be the innermost one. */
static bool is_legal(const struct tile_division *division)
{
    const struct tile_layer *layer = division->layer;
    uint32_t last = TILE_AXES;

    if (!layer->reduces || division->count[TILE_REDUCED] == 1)
        return true;
    for (uint32_t n = 0; n < layer->axes; n++) {
        if (division->count[division->order[n]] > 1)
            last = division->order[n];
    }
    return last == TILE_REDUCED && layer->operand[layer->operands - 1].partial > 0;
}

uint64_t tile_case_exhaustive(const struct tile_layer *layer, const struct tile_memory *memory)
{
    uint64_t size[TILE_AXES] = {1, 1, 1, 1}, best = UINT64_MAX, bytes[TILE_OPERANDS];
    uint32_t a = 0;

    while (a < layer->axes) {
        struct tile_division division = {.layer = layer};

        for (a = 0; a < layer->axes; a++) {
            division.count[a] = (layer->extent[a] + size[a] - 1) / size[a];
            for (uint64_t i = 0; i < division.count[a]; i++)
                division.begin[a][i] = i * size[a];
            division.begin[a][division.count[a]] = layer->extent[a];
        }
        for (size_t n = 0; n < 24; n++) {
            bool legal = true;

            memcpy(division.order, orders[n], sizeof division.order);
            for (uint32_t i = 0; i < layer->axes; i++)
                legal &= division.order[i] < layer->axes;
            if (legal && is_legal(&division) && fits(&division, memory)) {
                const uint64_t total = tile_case_walk(&division, bytes);

                best = total < best ? total : best;
            }
        }
        for (a = 0; a < layer->axes && ++size[a] > layer->extent[a]; a++)
            size[a] = 1;
    }
    return best;
}
