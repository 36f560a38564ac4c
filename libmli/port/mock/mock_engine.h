/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine for the controller of mock_device.h: an example of a driver, which docs/porting.md
 * explains.
 *
 *   mock:ring=N   Give a channel at most N descriptors at a time, 1 to MOCK_RING_MAX (default: 4).
 *   mock:loops=N  Use N loops of a descriptor, 0 to MOCK_LOOPS (default: 2).
 *   mock:any=N    1: let a descriptor have any loops of a box (default: 0).
 *   mock:unit=N   Let the device move only multiples of N bytes, a power of two up to
 *                 MOCK_UNIT_MAX: runs, steps and addresses (default: 1).
 *   mock:worth=N  Let the processor move a box if its descriptors would have fewer than N bytes
 *                 (default: 0).
 *   mock:iommu=N  1: let the device access attached memory only (default: 0).
 *   mock:interrupt=N
 *                 0: poll (default). 1: complete transfers by interrupts, which a thread raises.
 *                 2: complete transfers by interrupts that mock_device_run() raises.
 */
#pragma once

#include "mli_engine.h"

enum { MOCK_RING_MAX = 8, MOCK_UNIT_MAX = 64 };

extern const struct mli_engine mock_engine;
