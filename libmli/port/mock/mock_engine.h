/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The controller of mock_device.h behind mli_mov_*: an example of a driver, which docs/porting.md
 * goes through.
 *
 *   mock:ring=N   descriptors that a channel is given at a time, 1 to MOCK_RING_MAX (4)
 *   mock:loops=N  loops of a descriptor that are used, 0 to MOCK_LOOPS (2)
 */
#ifndef MOCK_ENGINE_H
#define MOCK_ENGINE_H

#include "mli_engine.h"

enum { MOCK_RING_MAX = 8 };

extern const struct mli_engine mock_engine;

#endif /* MOCK_ENGINE_H */
