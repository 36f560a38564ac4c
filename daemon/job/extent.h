/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bytes of its source a move reads. */
#ifndef DAEMON_EXTENT_H
#define DAEMON_EXTENT_H

#include "daemon/job/operands.h"
#include "mli_mov_api.h"

/**
 * From the first to the last byte that the window of `cfg` reads; at least one element, so that
 * there is something to map even where a window lies in the padding alone. Both must have passed
 * mli_mov_layout(). A distance that 64 bits cannot hold becomes UINT64_MAX. Only what lies in the
 * window counts: a tile may be read from a file that holds no more than the tile.
 */
struct span extent_read(const mli_tensor *src, const mli_mov_cfg_t *cfg);

#endif /* DAEMON_EXTENT_H */
