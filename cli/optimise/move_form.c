/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/move_form.h"

#include <string.h>

enum { PADDING_MAX = UINT8_MAX };

/* A coordinate of the source tensor for each of its dimensions. */
struct corner {
    uint64_t at[MLI_MAX_RANK];
};

/* Finds the coordinates of the element at `address`. Returns false if there is no such element. */
static bool find_corner(const struct move_source *source, uint64_t address, struct corner *corner)
{
    bool done[MLI_MAX_RANK] = {false};

    if (address < source->address)
        return false;
    address -= source->address;
    for (uint32_t n = 0; n < source->rank; n++) {
        uint32_t k = source->rank;

        for (uint32_t d = 0; d < source->rank; d++) {
            if (!done[d] && (k == source->rank || source->stride[d] > source->stride[k]))
                k = d;
        }
        done[k] = true;
        corner->at[k] = 0;
        if (source->shape[k] < 2)
            continue;
        corner->at[k] = address / source->stride[k];
        if (corner->at[k] >= source->shape[k])
            return false;
        address -= corner->at[k] * source->stride[k];
    }
    return address == 0;
}

/* The cfg of one source dimension, from which the move takes the samples of one axis. */
struct window {
    uint64_t offset, size, step, pre, post;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Finds the window along source dimension `k` for an axis with sample `lo` at coordinate `at`. */
static enum move_form find_window(const struct index_axis *axis, const struct move_source *source,
                                  uint32_t k, uint64_t at, struct window *window)
{
    const uint64_t samples = axis->hi - axis->lo, extent = source->shape[k];
    const bool before = axis->lo > 0, after = axis->hi < axis->count;
    uint64_t step = 1;

    if (samples > 1) {
        if (source->stride[k] == 0 || axis->src_step % source->stride[k] != 0 ||
            axis->src_step == 0)
            return MOVE_FORM_STEPS;
        step = axis->src_step / source->stride[k];
        if (step >= extent || (samples - 1) > (extent - 1 - at) / step)
            return MOVE_FORM_STEPS;
    } else {
        step = larger(before ? at + 1 : 1, after ? extent - at : 1);
    }
    if ((before && at >= step) || (after && at + samples * step < extent))
        return MOVE_FORM_BORDER;
    if (step > UINT32_MAX || axis->count > UINT32_MAX)
        return MOVE_FORM_RANGE;
    /* Sample 0 is at coordinate at - lo * step. If that is negative, the padding makes it 0. */
    window->step = step;
    window->pre = axis->lo * step > at ? axis->lo * step - at : 0;
    window->offset = at + window->pre - axis->lo * step;
    window->size = (axis->count - 1) * step + 1;
    const uint64_t end = window->offset + window->size, padded = window->pre + extent;
    window->post = end > padded ? end - padded : 0;
    if (window->pre > PADDING_MAX || window->post > PADDING_MAX)
        return MOVE_FORM_PADDING;
    return window->offset > UINT32_MAX || window->size > UINT32_MAX ? MOVE_FORM_RANGE
                                                                    : MOVE_FORM_FOUND;
}

/* The windows of a move by source dimension, and the axis of each. */
struct windows {
    struct window of[MLI_MAX_RANK];
    uint8_t perm[MLI_MAX_RANK]; /* source dimension of each axis */
};

/* A search for the source dimension of each axis. */
struct assignment {
    const struct index_map *map;
    const struct move_source *source;
    struct corner corner;
    struct windows windows;
    uint32_t furthest;     /* number of axes that had a dimension in the best attempt */
    enum move_form reason; /* why that attempt failed */
};

/* Assigns a source dimension to each axis from `d` on. `used`: bits of the dimensions in use. */
static bool assign(struct assignment *search, uint32_t d, unsigned used)
{
    const struct index_map *map = search->map;

    if (d >= map->rank || d >= MLI_MAX_RANK)
        return true;
    for (uint32_t i = 0; i < map->rank; i++) {
        const uint32_t k = i == 0 ? d : (i <= d ? i - 1 : i); /* tries dimension d first */
        enum move_form form;

        if (used >> k & 1)
            continue;
        form = find_window(&map->axis[d], search->source, k, search->corner.at[k],
                           &search->windows.of[k]);
        search->windows.perm[d] = (uint8_t)k;
        if (form == MOVE_FORM_FOUND && assign(search, d + 1, used | 1u << k))
            return true;
        if (form != MOVE_FORM_FOUND && form != MOVE_FORM_STEPS && d >= search->furthest) {
            search->reason = form;
            search->furthest = d;
        }
    }
    return false;
}

/* Sets the cfg and its lengths. Omits arrays of neutral values, and the sizes if no window ends
 * before the last sample of its padded dimension. */
static void fill(struct job_common *common, uint32_t rank, const struct windows *windows,
                 const struct move_source *source)
{
    mli_mov_cfg_t *cfg = &common->cfg;
    struct cfg_lengths *lengths = &common->lengths;
    const uint8_t length = (uint8_t)rank;
    bool crops = false;

    lengths->offset = lengths->size = lengths->sub_sample_step = lengths->perm_dim = 0;
    lengths->padding_pre = lengths->padding_post = 0;
    for (uint32_t d = 0; d < MLI_MAX_RANK; d++) {
        const struct window *w = &windows->of[d];
        const bool valid = d < rank;

        cfg->perm_dim[d] = (uint8_t)(valid ? windows->perm[d] : d);
        cfg->offset[d] = valid ? (uint32_t)w->offset : 0;
        cfg->size[d] = valid ? (uint32_t)w->size : 0;
        cfg->sub_sample_step[d] = valid ? (uint32_t)w->step : 1;
        cfg->padding_pre[d] = valid ? (uint8_t)w->pre : 0;
        cfg->padding_post[d] = valid ? (uint8_t)w->post : 0;
        if (!valid)
            continue;
        if (cfg->perm_dim[d] != d)
            lengths->perm_dim = length;
        if (w->offset > 0)
            lengths->offset = length;
        if (w->step > 1)
            lengths->sub_sample_step = length;
        if (w->pre > 0)
            lengths->padding_pre = length;
        if (w->post > 0)
            lengths->padding_post = length;
        crops |= (w->pre + source->shape[d] + w->post - w->offset - 1) / w->step !=
                 (w->size - 1) / w->step;
    }
    if (crops)
        lengths->size = length;
    else
        memset(cfg->size, 0, sizeof(cfg->size));
}

enum move_form move_form_of(const struct index_map *map, const struct move_source *source,
                            struct job_common *common)
{
    struct assignment search = {.map = map, .source = source, .reason = MOVE_FORM_STEPS};

    if (source->rank != map->rank)
        return MOVE_FORM_RANK;
    if (map->zeros || !find_corner(source, map->src, &search.corner))
        return MOVE_FORM_STEPS;
    if (!assign(&search, 0, 0))
        return search.reason;
    fill(common, map->rank, &search.windows, source);
    return MOVE_FORM_FOUND;
}

enum move_form move_form_free(const struct index_map *map, struct move_source *source,
                              struct job_common *common)
{
    bool done[MLI_MAX_RANK] = {false};

    if (map->zeros)
        return MOVE_FORM_STEPS;
    *source = (struct move_source){.address = map->src, .rank = map->rank};
    /* Sort the source dimensions by falling step; axes of one sample keep their place. */
    for (uint32_t k = 0; k < map->rank; k++) {
        const struct index_axis *own = &map->axis[k];
        uint32_t d = k;

        if (own->hi - own->lo > 1) {
            d = map->rank;
            for (uint32_t i = 0; i < map->rank; i++) {
                const struct index_axis *axis = &map->axis[i];

                if (!done[i] && axis->hi - axis->lo > 1 &&
                    (d == map->rank || axis->src_step > map->axis[d].src_step))
                    d = i;
            }
        }
        done[d] = true;
        if (map->axis[d].hi - map->axis[d].lo > UINT32_MAX ||
            map->axis[d].src_step / map->elem > INT32_MAX)
            return MOVE_FORM_RANGE;
        source->shape[k] = (uint32_t)(map->axis[d].hi - map->axis[d].lo);
        source->stride[k] = source->shape[k] > 1 ? map->axis[d].src_step : 0;
    }
    return move_form_of(map, source, common);
}
