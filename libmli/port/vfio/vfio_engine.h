/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine vfio: a DMA controller on PCI behind an IOMMU, which this process programs through
 * Linux's VFIO. vfio_controller.h says how to add a controller.
 *
 *   vfio:device=ADDRESS  Use this PCI device, for example device=0000:00:04.0. Required. The device
 *                        must be bound to the driver vfio-pci.
 *   vfio:timeout_ms=N    Give up a run of bytes after N ms, 1 to 600000 (default: 10000).
 *
 * Data flow: submit hands the work item to the thread of the channel. The thread maps the memory of
 * the plan for the device, cuts the plan into runs, and for each run starts the controller and
 * sleeps until its interrupt. docs/vfio.md explains how to prepare a machine.
 */
#ifndef VFIO_ENGINE_H
#define VFIO_ENGINE_H

#include "mli_engine.h"

extern const struct mli_engine vfio_engine;

#endif /* VFIO_ENGINE_H */
