/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaf kernels: they move bytes between strided rows and know nothing else. Addresses may be
 * misaligned in every way; source and destination never overlap; not a byte outside the elements
 * named is read or written, but that a vector may read what lies between the elements of one line
 * of a pick or of a narrow transpose, all within the same few cache lines. Counts and runs are 1 or
 * more; all steps are in bytes.
 *
 * To add a faster level, see level.h.
 */
#ifndef MLI_EXEC_LEAF_H
#define MLI_EXEC_LEAF_H

#include <stddef.h>
#include <stdint.h>

/* dst[i * dst_step + 0 .. run) = src[i * src_step + 0 .. run) for i < count */
typedef void leaf_rows(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                       size_t run, size_t count);

/*
 * dst[r * dst_step + c * E] = src[c * src_step + r * E] for r < rows, c < cols, elements of E
 * bytes: contiguous columns of the source become contiguous rows of the destination.
 */
typedef void leaf_transpose(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                            size_t rows, size_t cols);

/*
 * dst[r * dst_step + c * E] = src[r * src_step + c * step] for r < rows, c < cols, elements of E
 * bytes: elements that lie apart become neighbours. step is not E; where it is less, the source's
 * elements overlap.
 */
typedef void leaf_pick(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                       size_t step, size_t rows, size_t cols);

/* dst[i * step + 0 .. run) = 0 for i < count */
typedef void leaf_fill(uint8_t *dst, size_t step, size_t run, size_t count);

struct leaf_table {
    const char *name;
    leaf_rows *rows;
    leaf_transpose *transpose[4]; /* for elements of 1, 2, 4 and 8 bytes */
    leaf_pick *pick[4];           /* the same */
    leaf_fill *fill;
};

extern const struct leaf_table leaf_c;

#endif /* MLI_EXEC_LEAF_H */
