/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcpy and memset as compiler builtins: a freestanding build, too, then turns copies of a
 * constant size into loads and stores.
 */
#ifndef MLI_BYTES_H
#define MLI_BYTES_H

#define copy_bytes(to, from, size) __builtin_memcpy((to), (from), (size))
#define zero_bytes(to, size)       __builtin_memset((to), 0, (size))

#endif /* MLI_BYTES_H */
