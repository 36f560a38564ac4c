/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measured constants of exec: sizes of caches, block sizes, thresholds, prefetch distances. Another
 * value changes how long a move takes, and never what it writes. Limits that follow from a kernel's
 * algorithm (registers, tables, steps it can read) stay with the kernel.
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
 * 10 %. MLI_STREAM_MIN and mli_cpu_set_stream_min() replace TUNE_STREAM_MIN at run time.
 *
 * Measured constants outside exec: CHUNK_MIN and CHUNK_MAX (dma/processor.c), TINY and LINGER
 * (dma/engine_threads.c, measured with bench-async), LITTLE (transfer.h).
 */
#ifndef MLI_EXEC_TUNING_H
#define MLI_EXEC_TUNING_H

/* Properties of the machine. */
enum {
    TUNE_LINE = 64,              /* bytes of a cache line */
    TUNE_L1_LINES = 256,         /* lines of the first-level cache for a source */
    TUNE_L2_BYTES = 1024 * 1024, /* bytes of the second-level cache for the destination; the source
                                    has the other half */
    TUNE_SETS = 2048,            /* bytes of half of the sets of the first-level cache: rows at a
                                    multiple of this distance share a few sets */
};

/* Choosing a walk (exec.c, walk.c). */
enum {
    TUNE_SMALL_ROW = 4096, /* bytes: a single row up to this size is moved directly */
    TUNE_SHORT_ROW = 512,  /* bytes: shorter rows that share lines of the source move together */
    TUNE_BURST = 2048,     /* bytes of a destination row that such rows move at a time */
    TUNE_PLANES = 32768,   /* bytes: limit of a group of planes moved with the zeros around them */
    TUNE_MERGE_BELOW = TUNE_LINE, /* bytes: shorter rows and columns merge with another loop's */
    TUNE_BORDERED_ROW = 512,      /* bytes: zeros beside shorter rows become columns of a table */
    TUNE_BORDERED_COLUMNS = 56,   /* limit on such columns, in the second-level cache */
};

/* Transposes (panel.h, tile_block.h). */
enum {
    TUNE_PANEL = 256,            /* rows, and columns, in the tables of a panel */
    TUNE_PANEL_SMALL = 64,       /* rows, and columns, for levels with little stack */
    TUNE_TILE_COLUMNS_MAX = 512, /* columns of a block of tiles */
    TUNE_TILE_COLUMNS_MIN = 64,  /* fewest columns of a block with rows that share cache sets */
    TUNE_TILE_SOURCE = 6 * 4096, /* bytes of the first-level cache for the source of such a block */
};

/* Streaming: stores that bypass the caches (level.c, stage*.c). */
enum {
    TUNE_STREAM_MIN = 32 * 1024 * 1024, /* bytes of the smallest destination that streams */
    TUNE_STREAM_SOONER = 6, /* a 6th of TUNE_STREAM_MIN: panels, pixels, 1-byte transposes */
    TUNE_STREAM_SOONER_IN_SETS = 32, /* a 32nd of TUNE_STREAM_MIN: rows that share cache sets */
    TUNE_STREAM_PIXEL = 16,          /* bytes of the largest pixel that streams sooner */
    TUNE_STREAM_LONG = 2 * 1024,     /* bytes: rows of at least this size stream well one by one */
    TUNE_STAGE_WIDTH = 256,          /* bytes of each row on the stage, for rows that are apart */
    TUNE_STAGE_ROWS = 512,           /* rows on the stage at a time, for rows that are apart */
    TUNE_STAGE_L1 = 16 * 1024,       /* bytes of the first-level cache that a stage takes */
    TUNE_MATRIX_ROWS = 24, /* rows: the processor can follow the writes to fewer rows itself */
    TUNE_LONG_ROW = 8 * TUNE_LINE,  /* bytes of the shortest row of a matrix or panel */
    TUNE_PIXEL_MAX = 8 * TUNE_LINE, /* bytes of the largest pixel that a stage holds whole */
    TUNE_TURN = 512,      /* bytes to stream at a time while half of the stage is filled */
    TUNE_TURN_ROW = 7,    /* bytes of the shortest row that takes turns */
    TUNE_TURN_PLACES = 8, /* places of the source that take turns */
    TUNE_TURN_GATHER = 8 * TUNE_LINE, /* bytes of source of the longest gather that takes turns */
    TUNE_FETCH_GAPS = 4,              /* the source is fetched if at most 3 of 4 bytes are gaps */
};

/* Kernels in plain C. */
enum {
    TUNE_C_CALL_MIN = 65,     /* bytes: from here on memcpy and memset are faster */
    TUNE_C_NARROW = 8 * 1024, /* bytes of source in a block of a transpose with few rows */
};

/* Kernels with NEON. */
enum {
    TUNE_NEON_CALL_MIN = 1024, /* bytes: from here on memcpy and memset are faster */
};

/* Kernels with AVX2. */
enum {
    TUNE_AVX2_CALL_MIN = 1024,   /* bytes: from here on memcpy is faster */
    TUNE_AVX2_STORE_AHEAD = 256, /* bytes from a store to the line that is fetched for writing */
};

/* Kernels with AVX-512. */
enum {
    TUNE_AVX512_CALL_MIN = 16 * 1024, /* bytes of a row: from here on memcpy is faster */
    TUNE_AVX512_FILL_CALL_MIN = 2048, /* bytes of zeros: from here on memset is faster */
    TUNE_AVX512_STORE_AHEAD = 512,  /* bytes from a store to the line that is fetched for writing */
    TUNE_AVX512_SKINNY_AHEAD = 512, /* bytes from a store to the fetched line in skinny_avx512.c */
    TUNE_AVX512_NARROW_AHEAD = 256, /* bytes from a store to the fetched line in narrow_avx512.c */
    TUNE_AVX512_STREAM_AHEAD = 512, /* bytes from a streamed line to the fetched source line */
    TUNE_AVX512_STREAM_PAGES = 4,   /* pages that are streamed in turns */
    TUNE_AVX512_FETCH_ROW = 16,     /* bytes of the shortest row that is fetched ahead */
    TUNE_AVX512_ROW_FAR = 192,      /* bytes between rows: from here on neighbours of short rows
                                       are in cache lines that the move does not need */
    TUNE_AVX512_SMALL_BYTES = 4096, /* bytes of a nest that is too small for groups of rows */
    TUNE_AVX512_SMALL_ROWS = 32,    /* rows of such a nest, if rows have less than 16 bytes */
    TUNE_AVX512_PACKED_FAR = 64,    /* bytes between rows: from here on one load for each row */
    TUNE_AVX512_GROUPS_AHEAD = 16,  /* groups from a load to the source line that is fetched */
    TUNE_AVX512_GROUPS_MIN = 8,     /* fewest groups for which a permutation is worth computing */
    TUNE_AVX512_SEVERAL_MIN = 8,    /* rows that are worth gathering several at a time */
    TUNE_AVX512_SKINNY_MIN = 8 * TUNE_LINE, /* bytes of a plane: below, tiles are faster */
    TUNE_AVX512_ALIGN_MIN = 8,              /* chunks that are worth aligning to cache lines */
};

#endif /* MLI_EXEC_TUNING_H */
