/* SPDX-License-Identifier: BSD-3-Clause */
/* What memcpy takes here: what the time of a move is held against. */
#ifndef CLI_MEMCPY_TIME_H
#define CLI_MEMCPY_TIME_H

#include <stdint.h>

/**
 * The median of a few copies of so many bytes, in ns; of large sizes, a part is copied and the time
 * multiplied. Takes a fraction of a second. 0 where memory is short.
 */
uint64_t memcpy_time(uint64_t bytes);

#endif /* CLI_MEMCPY_TIME_H */
