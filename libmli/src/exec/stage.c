/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/stage.h"

#include "libmli/src/exec/stage_ways.h"
#include "libmli/src/exec/tuning.h"

/* The ways to stream a walk. The first way that can stream the walk is used. */
static const struct way {
    bool (*can)(const struct walk *walk);
    void (*move)(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                 const uint8_t *src);
} ways[] = {
    {stage_is_matrix, stage_matrix}, {stage_is_panel, stage_panel}, {stage_is_pixels, stage_pixels},
    {stage_is_bursts, stage_bursts}, {stage_is_nest, stage_nest},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Returns the way to stream a walk, or null. */
static const struct way *way_of(const struct walk *walk)
{
    for (size_t i = 0; i < WAYS; i++) {
        if (ways[i].can(walk))
            return &ways[i];
    }
    return NULL;
}

/* Calls a transpose of the level that needs no stage: to move, or to ask whether it can. */
static bool call_transpose(leaf_transpose_stream *call, const struct walk *walk, uint8_t *dst,
                           const uint8_t *src)
{
    return call && call(dst, walk->row[1].dst_step, src, walk->col[1].src_step, walk->row[1].count,
                        walk->col[1].count);
}

/*
 * Some transposes are faster when they stream from smaller sizes (measured: docs/performance.md).
 * Rows that share cache sets do not stay in the caches anyway. Panels and tiles of 1-byte elements
 * write to many rows in turn, so that each line is fetched from the third-level cache more than
 * once.
 */
static size_t least_of_transpose(const struct walk *walk)
{
    if (stage_is_matrix(walk)) {
        if (walk->row[1].dst_step % TUNE_SETS == 0)
            return tuning_now.stream_sets_min;
        if (walk->kernel == 0)
            return tuning_now.stream_bytes_min;
    }
    if (stage_is_pixels(walk) && walk->row[1].dst_step <= TUNE_STREAM_PIXEL)
        return tuning_now.stream_pixels_min;
    return walk->row[1].count < TUNE_MATRIX_ROWS ? tuning_now.stream_planes_min
                                                 : tuning_now.stream_transpose_min;
}

/* Returns whether a walk moves long rows without zeros beside them, which need no stage. */
static bool is_long_rows(const struct walk *walk)
{
    return walk->kind == WALK_ROWS && walk->border.before + walk->border.after == 0 &&
           walk->border.run >= TUNE_STREAM_LONG;
}

size_t stage_least(const struct walk *walk)
{
    switch (walk->kind) {
    case WALK_TRANSPOSE:
        return least_of_transpose(walk);
    case WALK_TRANSPOSE_AT:
        return stage_is_panel(walk) ? tuning_now.stream_panel_min : tuning_now.stream_transpose_min;
    default:
        return is_long_rows(walk) ? tuning_now.stream_rows_min : tuning_now.stream_short_min;
    }
}

bool stage_streams(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                   const uint8_t *src)
{
    return (walk->kind == WALK_TRANSPOSE &&
            call_transpose(leaf->transpose_streams[walk->kernel], walk, dst, src)) ||
           way_of(walk);
}

void stage_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src)
{
    const struct way *way;

    if (walk->kind == WALK_TRANSPOSE &&
        call_transpose(leaf->transpose_stream[walk->kernel], walk, dst, src))
        return;
    way = way_of(walk);
    (way ? way->move : walk_move)(leaf, walk, dst, src);
}
