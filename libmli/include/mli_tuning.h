/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tuning (extension): the thresholds, block sizes and prefetch distances of the leaf kernels that
 * depend on the caches of the machine. They change how long a move takes, and never which bytes it
 * writes. The library does not detect the caches; a program passes their sizes:
 *
 *     mli_tuning tuning = {.size = sizeof(tuning)};
 *     mli_caches caches = {.l1d = 49152, .l2 = 2097152, .l3 = 110100480};
 *
 *     mli_tuning_default(&tuning, &caches);
 *     tuning.stream_pixels_min = 1 << 20;
 *     if (mli_tuning_set(&tuning) != MLI_STATUS_OK)
 *         puts(mli_last_error());
 *
 * `mlictl calibrate --kernels` measures the values of a machine. Each level reads only some of the
 * values: plain C and NEON never stream, and use no prefetch distance of this struct.
 *
 * A library that is built with -Dtuning=false (-DMLI_NO_TUNING) has constants in place of all
 * members except stream_*, and refuses mli_tuning_set().
 */
#ifndef MLI_TUNING_H
#define MLI_TUNING_H

#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** The data caches of a processor core, in bytes; 0: unknown, or the processor has none. */
typedef struct _mli_caches {
    uint64_t l1d; /**< bytes of the first-level data cache */
    uint64_t l2;  /**< bytes of the second-level cache */
    uint64_t l3;  /**< bytes of the third-level cache, which several cores may share */
} mli_caches;

/**
 * The tuning of the leaf kernels. MLI_TUNING_TABLE has the range of each member; the defaults in
 * parentheses are those of mli_tuning_default() for unknown caches.
 */
typedef struct _mli_tuning {
    /** sizeof(mli_tuning) when the program was compiled. Later versions add members at the end. */
    size_t size;

    /*
     * Minimum bytes of a destination whose stores bypass the caches, by kind of move; 0: all sizes,
     * UINT64_MAX: none.
     */
    uint64_t stream_rows_min;      /**< rows of 2 KiB and more that are not padded, as in copies
                                      (32 MiB) */
    uint64_t stream_short_min;     /**< shorter or padded rows, and all gathers (32 MiB) */
    uint64_t stream_transpose_min; /**< transposes of larger elements than bytes, and all transposes
                                      without a member of their own (32 MiB) */
    uint64_t stream_bytes_min;     /**< transposes of 1-byte elements (32 MiB / 6) */
    uint64_t stream_panel_min;     /**< transposes where two dimensions together form the rows or
                                      the columns (32 MiB / 6) */
    uint64_t stream_pixels_min;    /**< from planes to pixels of up to 16 bytes (32 MiB / 6) */
    uint64_t stream_planes_min;    /**< from pixels to fewer than 24 planes (32 MiB) */
    uint64_t stream_sets_min;      /**< transposes to rows that are a multiple of 2 KiB apart
                                      (1 MiB) */

    /* Blocks. */
    uint64_t burst_bytes;  /**< if rows are short: bytes of one destination row that are moved
                              before another row, which is beside it in the source (2048) */
    uint64_t planes_bytes; /**< maximum bytes of a group of planes that is moved with the zeros
                              around it (32768) */
    uint64_t gather_lines; /**< cache lines of the source that a gather keeps in the first-level
                              cache (256) */
    uint64_t second_level_bytes; /**< bytes of a destination that stay in the second-level cache
                                    (1 MiB) */
    uint64_t tile_columns;       /**< columns in a block of tiles of a transpose (512) */
    uint64_t tile_source_bytes;  /**< bytes of the first-level cache for the source of a block of
                                    tiles (24576) */
    uint64_t panel_rows; /**< maximum number of rows and of columns of a panel, which is a part of a
                            transpose of more than two dimensions (256) */

    /* The stage: the buffer in which a block is collected before it is streamed. */
    /** Bytes in one half of the stage, for contiguous destinations (16384). */
    uint64_t stage_bytes;
    uint64_t stage_width; /**< bytes of each row on the stage if destination rows have gaps (256) */
    uint64_t stage_rows;  /**< rows on the stage at a time if destination rows have gaps (512);
                             stage_rows * (stage_width + 128) is at most 196608 */

    /* Prefetch distances: bytes from the line that is stored or streamed now to the line that is
       prefetched. */
    uint64_t avx2_store_ahead;    /**< AVX2: destination of transposes to few rows (256) */
    uint64_t avx512_store_ahead;  /**< AVX-512: destination of copies of rows (512) */
    uint64_t avx512_skinny_ahead; /**< AVX-512: destination of packed pixels to planes and of
                                     planes to packed pixels (512) */
    uint64_t avx512_narrow_ahead; /**< AVX-512: destination of pixels with gaps to planes (256) */
    uint64_t avx512_stream_ahead; /**< AVX-512: source of long rows that are streamed (512) */
} mli_tuning;

/** Every member but `size`, in order: X(name, least, most, multiple of). */
#define MLI_TUNING_TABLE(X)                                                                        \
    X(stream_rows_min, 0, UINT64_MAX, 1)                                                           \
    X(stream_short_min, 0, UINT64_MAX, 1)                                                          \
    X(stream_transpose_min, 0, UINT64_MAX, 1)                                                      \
    X(stream_bytes_min, 0, UINT64_MAX, 1)                                                          \
    X(stream_panel_min, 0, UINT64_MAX, 1)                                                          \
    X(stream_pixels_min, 0, UINT64_MAX, 1)                                                         \
    X(stream_planes_min, 0, UINT64_MAX, 1)                                                         \
    X(stream_sets_min, 0, UINT64_MAX, 1)                                                           \
    X(burst_bytes, 512, 65536, 64)                                                                 \
    X(planes_bytes, 4096, 1048576, 64)                                                             \
    X(gather_lines, 16, 8192, 1)                                                                   \
    X(second_level_bytes, 65536, 268435456, 1)                                                     \
    X(tile_columns, 128, 4096, 128)                                                                \
    X(tile_source_bytes, 4096, 1048576, 1)                                                         \
    X(panel_rows, 64, 256, 16)                                                                     \
    X(stage_bytes, 4096, 65536, 64)                                                                \
    X(stage_width, 64, 512, 64)                                                                    \
    X(stage_rows, 16, 1024, 16)                                                                    \
    X(avx2_store_ahead, 0, 16384, 64)                                                              \
    X(avx512_store_ahead, 0, 16384, 64)                                                            \
    X(avx512_skinny_ahead, 0, 16384, 64)                                                           \
    X(avx512_narrow_ahead, 0, 16384, 64)                                                           \
    X(avx512_stream_ahead, 0, 16384, 64)

/** Maximum number of bytes of stage_rows * (stage_width + MLI_TUNING_STAGE_EDGES). */
#define MLI_TUNING_STAGE_ROOM  196608
#define MLI_TUNING_STAGE_EDGES 128

/**
 * Sets *tuning to the defaults for a machine with these caches; null or unknown sizes stand for the
 * machine of docs/performance.md (48 KiB, 2 MiB, 105 MiB). The environment and mli_tuning_set() do
 * not change the result.
 *
 * @param tuning in: `size`; out: the members that fit in `size` bytes; bytes beyond those that this
 *               library knows become 0
 * @param caches sizes in bytes, or null; any value is legal
 *
 * @retval MLI_STATUS_OK             done
 * @retval MLI_STATUS_ARGUMENT_ERROR null tuning, or a size that is not a multiple of 8 from 16 to
 *                                   4096
 *
 * Thread-safe.
 */
mli_status mli_tuning_default(mli_tuning *tuning, const mli_caches *caches);

/**
 * Reads the tuning in use. Before the first mli_tuning_set() these are the defaults for unknown
 * caches, with the thresholds of MLI_STREAM_MIN if this environment variable is set
 * (mli_cpu_set_stream_min()). Has the parameters and statuses of mli_tuning_default().
 *
 * Thread-safe, unless another thread is inside mli_tuning_set() or mli_cpu_set_stream_min().
 */
mli_status mli_tuning_get(mli_tuning *tuning);

/**
 * Replaces the tuning of the process by a copy of *tuning. Members beyond tuning->size get their
 * defaults for unknown caches. Null restores all these defaults. The environment variable
 * MLI_STREAM_MIN has no effect after a call.
 *
 * A refused call changes nothing.
 *
 * @retval MLI_STATUS_OK             in use
 * @retval MLI_STATUS_ARGUMENT_ERROR a bad size as in mli_tuning_default(), a byte other than 0
 *                                   beyond the members that this library knows, a value outside
 *                                   the range of MLI_TUNING_TABLE, a stage that is too large, a
 *                                   transfer that is running, a call in a completion callback, or
 *                                   a library that was built without tuning
 *
 * Not thread-safe: call it while no other thread is inside the library. The library refuses the
 * call while transfers of mli_mov_start() run; it cannot see synchronous moves of other threads.
 */
mli_status mli_tuning_set(const mli_tuning *tuning);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* MLI_TUNING_H */
