/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measured numbers of exec: sizes of caches, block sizes, thresholds, prefetch distances. Another
 * value changes how long a move takes, and never what it writes. Limits that follow from a kernel's
 * algorithm (registers, tables, steps it can read) stay with the kernel.
 *
 * The numbers that depend on the caches are variables: TUNED(name) reads one, mli_tuning_set() of
 * mli_tuning.h sets them, `mlictl calibrate --kernels` measures them. DEFAULT_name is the value on
 * the machine below. TUNE_* are constants.
 *
 * To turn a constant into a variable, start here:
 *   1. Add it to struct _mli_tuning and MLI_TUNING_TABLE (mli_tuning.h), to the enum of defaults
 *      and struct tuning here, and to mli_tuning_default() (libmli/src/tuning.c) if it follows from
 *      a size of the caches.
 *   2. Read it with TUNED(). In a loop that stores bytes, read a local copy, because the compiler
 *      assumes that a store of bytes changes any global variable.
 *   3. Measure it: the table in cli/calibrate/kernels_table.c.
 *
 * The machine: an Intel Sapphire Rapids VM at 2 GHz, with 48 KiB of first-level data cache and 2
 * MiB of second-level cache per core, a third-level cache of 105 MiB that other VMs share, pages of
 * 4 KiB, and cache lines of 64 bytes; gcc 12, -O3. docs/performance.md has the figures. NEON has
 * not been measured.
 *
 * To measure a value again: change it here, build with `meson setup BUILD -Dbuildtype=release
 * -Dbench=true`, and compare two builds
 *     BUILD/tests/leaf/test_leaf LEVEL --bench      a kernel alone, in the caches
 *     BUILD/bench/moves/bench-moves --quick         whole moves, as multiples of memcpy
 *     BUILD/bench/moves/bench-moves --size KIB      one size of destination
 * Repeat each run: two runs of one build differ by some 3 %, with destinations in memory by up to
 * 10 %. MLI_STREAM_MIN and mli_cpu_set_stream_min() replace the thresholds of streaming.
 *
 * Measured constants outside exec: CHUNK_MIN and CHUNK_MAX, TINY and LINGER (dma/processor.c, the
 * latter two measured with bench-async), LITTLE (transfer.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Properties of the machine. */
enum {
    TUNE_LINE = 64,   /* bytes of a cache line */
    TUNE_SETS = 2048, /* rows that are a multiple of this number of bytes apart compete for a few
                         sets of the first-level cache */
};

/* Defaults of the variables. mli_tuning.h describes each. */
enum {
    DEFAULT_stream_min =
        32 * 1024 * 1024, /* default of most thresholds; TUNE_STREAM_SOONER has other defaults */
    DEFAULT_burst_bytes = 2048,
    DEFAULT_planes_bytes = 32768,
    DEFAULT_gather_lines = 256,
    DEFAULT_second_level_bytes = 1024 * 1024,
    DEFAULT_tile_columns = 512,
    DEFAULT_tile_source_bytes = 6 * 4096,
    DEFAULT_panel_rows = 256,
    DEFAULT_stage_bytes = 16 * 1024,
    DEFAULT_stage_width = 256,
    DEFAULT_stage_rows = 512,
    DEFAULT_avx2_store_ahead = 256,
    DEFAULT_avx512_store_ahead = 512,
    DEFAULT_avx512_skinny_ahead = 512,
    DEFAULT_avx512_narrow_ahead = 256,
    DEFAULT_avx512_stream_ahead = 512,
};

/* Sizes of the buffers and tables that the variables share. */
enum {
    TUNE_STAGE_WIDTH_MAX = 512,       /* maximum number of bytes of a row on the stage */
    TUNE_STAGE_ROOM = 192 * 1024,     /* bytes of the stage */
    TUNE_STAGE_EDGES = 2 * TUNE_LINE, /* room on the stage beside each row, in bytes */
    TUNE_STAGE_BYTES_MAX = 64 * 1024, /* maximum bytes of each of the two halves of the stage */
};

/*
 * The variables. Each move reads the first cache line, large moves read the second. Written by
 * tuning_apply() and tuning_set_stream_min() only, while no thread moves.
 */
struct tuning {
    _Alignas(TUNE_LINE) size_t stream_least; /* the smallest of the thresholds below */
    uint32_t burst_bytes, planes_bytes, gather_lines, second_level_bytes;
    uint32_t tile_columns, tile_source_bytes, panel_rows;
    uint32_t avx2_store_ahead, avx512_store_ahead;
    uint32_t avx512_skinny_ahead, avx512_narrow_ahead, avx512_stream_ahead;
    _Alignas(TUNE_LINE) size_t stream_rows_min;
    size_t stream_short_min, stream_transpose_min, stream_bytes_min;
    size_t stream_panel_min, stream_pixels_min, stream_planes_min, stream_sets_min;
    uint32_t stage_bytes, stage_width, stage_rows;
};

extern struct tuning tuning_now;

/* Returns a variable. Without the build option `tuning`, all except stream_* are constants. */
#ifdef MLI_NO_TUNING
#define TUNED(name) ((size_t)DEFAULT_##name)
#else
#define TUNED(name) ((size_t)tuning_now.name)
#endif

struct _mli_tuning;

/** Sets all tuning variables. The caller has checked the values. */
void tuning_apply(const struct _mli_tuning *tuning);

/** Reads all variables but `size`. */
void tuning_read(struct _mli_tuning *tuning);

/** Sets all thresholds of streaming, derived from the threshold of rows: mli_cpu_set_stream_min().
 */
void tuning_set_stream_min(uint64_t bytes);

/** Sets *tuning, except for `size`, to the defaults. */
void tuning_defaults(struct _mli_tuning *tuning);

/** Sets the thresholds of *tuning as tuning_set_stream_min() does. */
void tuning_scale_stream(struct _mli_tuning *tuning, uint64_t bytes);

/* Choosing a walk (exec.c, walk.c). */
enum {
    TUNE_SMALL_ROW = 4096, /* bytes: a single row up to this size is moved directly */
    TUNE_SHORT_ROW = 512,  /* bytes: rows below this that share lines of the source move together */
    /* Rows and columns with fewer bytes are merged with another loop to longer ones. */
    TUNE_MERGE_BELOW = TUNE_LINE,
    /* A transpose can move the zeros beside its rows as additional columns, which needs tables of
       addresses. It does if rows have less than BORDERED_ROW bytes, and if it has at most
       BORDERED_COLUMNS columns or more data than half of the second-level cache. */
    TUNE_BORDERED_ROW = 512,
    TUNE_BORDERED_COLUMNS = 56,
};

/* Transposes (walk.c, tile_block.h). */
enum {
    TUNE_PANEL = 256,           /* maximum number of rows, and columns, in the tables of a panel */
    TUNE_PANEL_SMALL = 64,      /* the same for kernels that may use only a small stack */
    TUNE_TILE_COLUMNS_MIN = 64, /* fewest columns of a block with rows that share cache sets */
};

/* Streaming: stores that bypass the caches (level.c, stage.c). */
enum {
    TUNE_STREAM_SOONER = 6,          /* a 6th of stream_min, for panels, pixels, 1-byte elements */
    TUNE_STREAM_SOONER_IN_SETS = 32, /* a 32nd of stream_min, for rows that share cache sets */
    TUNE_STREAM_PIXEL = 16,          /* bytes of the largest pixel that streams sooner */
    TUNE_STREAM_LONG = 2 * 1024,     /* bytes: rows of at least this size stream well one by one */
    TUNE_MATRIX_ROWS = 24, /* minimum rows; the processor combines writes to fewer rows itself */
    TUNE_LONG_ROW = 8 * TUNE_LINE,  /* minimum bytes of a destination row, if a stage collects it */
    TUNE_PIXEL_MAX = 8 * TUNE_LINE, /* larger pixels do not go through the stage as a whole */
    TUNE_TURN = 512,      /* bytes that are streamed between two calls that fill the other half */
    TUNE_TURN_ROW = 7,    /* minimum bytes of interleaved rows */
    TUNE_TURN_PLACES = 8, /* number of source positions that are interleaved */
    TUNE_TURN_GATHER = 8 * TUNE_LINE, /* maximum source size of an interleaved gather */
    TUNE_FETCH_GAPS = 4, /* the source is prefetched if at least 1 of 4 bytes is moved */
};

/* Kernels in plain C. */
enum {
    TUNE_C_CALL_MIN = 65,     /* size from which memcpy and memset are faster */
    TUNE_C_NARROW = 8 * 1024, /* bytes of source in a block of a transpose with few rows */
};

/* Kernels with NEON. */
enum {
    TUNE_NEON_CALL_MIN = 1024, /* size from which memcpy and memset are faster */
};

/* Kernels with AVX2. */
enum {
    TUNE_AVX2_CALL_MIN = 1024, /* size from which memcpy is faster */
};

/* Kernels with AVX-512. */
enum {
    TUNE_AVX512_CALL_MIN = 16 * 1024, /* size of a row from which memcpy is faster */
    TUNE_AVX512_FILL_CALL_MIN = 2048, /* number of zero bytes from which memset is faster */
    TUNE_AVX512_STREAM_PAGES = 4,     /* number of pages that are streamed alternately */
    TUNE_AVX512_FETCH_ROW = 16,       /* bytes of the shortest row that is fetched ahead */
    TUNE_AVX512_ROW_FAR = 192, /* if rows are this many bytes apart, the bytes beside a short row
                                  are in cache lines that the move does not need */
    /* A nest with fewer bytes does not move several rows at a time. */
    TUNE_AVX512_SMALL_BYTES = 4096,
    TUNE_AVX512_SMALL_ROWS = 32,   /* maximum rows of this nest if rows have less than 16 bytes */
    TUNE_AVX512_PACKED_FAR = 64,   /* if rows are this far apart, each row needs its own load */
    TUNE_AVX512_GROUPS_AHEAD = 16, /* prefetch distance in the source, in groups */
    TUNE_AVX512_GROUPS_MIN = 8,    /* fewest groups for which a permutation is worth computing */
    TUNE_AVX512_SEVERAL_MIN = 8,   /* fewest rows that are gathered several at a time */
    TUNE_AVX512_SKINNY_MIN = 8 * TUNE_LINE, /* minimum bytes of a plane; tiles move smaller ones */
    TUNE_AVX512_ALIGN_MIN = 8, /* fewest chunks for which aligning to lines is worth it */
};
