/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/tuning.h"

#include "mli_tuning.h"

enum {
    SOONER = DEFAULT_stream_min / TUNE_STREAM_SOONER,
    SOONER_IN_SETS = DEFAULT_stream_min / TUNE_STREAM_SOONER_IN_SETS,
};

/* X(name) for each variable that is not a threshold. */
#define TUNING_BLOCKS(X)                                                                           \
    X(burst_bytes)                                                                                 \
    X(planes_bytes)                                                                                \
    X(gather_lines)                                                                                \
    X(second_level_bytes)                                                                          \
    X(tile_columns)                                                                                \
    X(tile_source_bytes)                                                                           \
    X(panel_rows)                                                                                  \
    X(stage_bytes)                                                                                 \
    X(stage_width)                                                                                 \
    X(stage_rows)                                                                                  \
    X(avx2_store_ahead)                                                                            \
    X(avx512_store_ahead)                                                                          \
    X(avx512_skinny_ahead)                                                                         \
    X(avx512_narrow_ahead)                                                                         \
    X(avx512_stream_ahead)

/* The thresholds. */
#define TUNING_THRESHOLDS(X)                                                                       \
    X(stream_rows_min)                                                                             \
    X(stream_short_min)                                                                            \
    X(stream_transpose_min)                                                                        \
    X(stream_bytes_min)                                                                            \
    X(stream_panel_min)                                                                            \
    X(stream_pixels_min)                                                                           \
    X(stream_planes_min)                                                                           \
    X(stream_sets_min)

struct tuning tuning_now = {.stream_least = SOONER_IN_SETS,
                            .stream_rows_min = DEFAULT_stream_min,
                            .stream_short_min = DEFAULT_stream_min,
                            .stream_transpose_min = DEFAULT_stream_min,
                            .stream_bytes_min = SOONER,
                            .stream_panel_min = SOONER,
                            .stream_pixels_min = SOONER,
                            .stream_planes_min = DEFAULT_stream_min,
                            .stream_sets_min = SOONER_IN_SETS,
#define BLOCK(name) .name = DEFAULT_##name,
                            TUNING_BLOCKS(BLOCK)
#undef BLOCK
};

static void apply_thresholds(const mli_tuning *tuning)
{
    uint64_t least = UINT64_MAX;

#define APPLY(name)                                                                                \
    tuning_now.name = tuning->name < SIZE_MAX ? (size_t)tuning->name : SIZE_MAX;                   \
    least = tuning->name < least ? tuning->name : least;
    TUNING_THRESHOLDS(APPLY)
#undef APPLY
    tuning_now.stream_least = least < SIZE_MAX ? (size_t)least : SIZE_MAX;
}

void tuning_apply(const mli_tuning *tuning)
{
    apply_thresholds(tuning);
#define APPLY(name) tuning_now.name = (uint32_t)tuning->name;
    TUNING_BLOCKS(APPLY)
#undef APPLY
}

void tuning_read(mli_tuning *tuning)
{
#define READ(name) tuning->name = tuning_now.name == SIZE_MAX ? UINT64_MAX : tuning_now.name;
    TUNING_THRESHOLDS(READ)
#undef READ
#define READ(name) tuning->name = tuning_now.name;
    TUNING_BLOCKS(READ)
#undef READ
}

void tuning_scale_stream(mli_tuning *tuning, uint64_t bytes)
{
    const uint64_t sooner = bytes == UINT64_MAX ? bytes : bytes / TUNE_STREAM_SOONER;

    tuning->stream_rows_min = tuning->stream_short_min = bytes;
    tuning->stream_transpose_min = tuning->stream_planes_min = bytes;
    tuning->stream_bytes_min = tuning->stream_panel_min = tuning->stream_pixels_min = sooner;
    tuning->stream_sets_min = bytes == UINT64_MAX ? bytes : bytes / TUNE_STREAM_SOONER_IN_SETS;
}

void tuning_defaults(mli_tuning *tuning)
{
    tuning_scale_stream(tuning, DEFAULT_stream_min);
#define SET(name) tuning->name = DEFAULT_##name;
    TUNING_BLOCKS(SET)
#undef SET
}

void tuning_set_stream_min(uint64_t bytes)
{
    mli_tuning tuning;

    tuning_scale_stream(&tuning, bytes);
    apply_thresholds(&tuning);
}
