/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenes: short sequences of moves on a board's controller with a fixed result. They test errors,
 * cancels, stuck channels and transfers that callbacks start, which random cases do not reach.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/**
 * Moves 4 KiB on a channel of the pool. If the transfer does not end within a second, prints
 * whether interrupts have come and bytes are moved, and returns false. In that case do not run the
 * random cases: they wait for their transfers and would never end.
 */
bool first_transfer(uint32_t channel);

struct scene_count {
    uint32_t passed, failed, skipped;
};

/*
 * Plays all scenes on the engine in use, which has `channels` channels from `first` on in the pool.
 * Prints a line for each scene that failed or that the board cannot play.
 */
void scenes_play(uint32_t first, uint32_t channels, struct scene_count *count);
