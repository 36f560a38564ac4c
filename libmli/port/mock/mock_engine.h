/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine for the controller of mock_device.h: an example of a driver, which docs/porting.md
 * explains.
 *
 *   mock:ring=N   Give a channel at most N descriptors at a time, 1 to MOCK_RING_MAX (default: 4).
 *   mock:loops=N  Use N loops of a descriptor, 0 to MOCK_LOOPS (default: 2).
 */
#ifndef MOCK_ENGINE_H
#define MOCK_ENGINE_H

#include "mli_engine.h"

enum { MOCK_RING_MAX = 8 };

extern const struct mli_engine mock_engine;

#endif /* MOCK_ENGINE_H */
