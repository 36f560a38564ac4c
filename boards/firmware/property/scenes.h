/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenes: short sequences of moves on a board's controller with a fixed result, for what random
 * cases do not reach: errors, cancels, stuck channels, transfers that callbacks start.
 */
#ifndef FIRMWARE_PROPERTY_SCENES_H
#define FIRMWARE_PROPERTY_SCENES_H

#include <stdint.h>

struct scene_count {
    uint32_t passed, failed, skipped;
};

/*
 * Plays all scenes on the engine in use, which has `channels` channels from `first` on in the pool.
 * Prints a line for each scene that failed or that the board cannot play.
 */
void scenes_play(uint32_t first, uint32_t channels, struct scene_count *count);

#endif /* FIRMWARE_PROPERTY_SCENES_H */
