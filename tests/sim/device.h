/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated DMA controller: an engine of libmli whose channels end their transfers after random
 * times, in any order, on a thread of its own. At the rates of the world a transfer ends with
 * DMA_ERROR half way, or is stuck until it is cancelled and long after that.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include <stdint.h>

struct process;

/**
 * Adds the engine "sim" to libmli and starts the device. The process is the service's; it must
 * leave a channel that got stuck alone for `quarantine_ns`.
 */
void device_begin(struct process *process, uint32_t tiny, uint64_t quarantine_ns);
/**
 * The service has reported to a client that the channel did not end its transfer within `ms`.
 * Checks that the channel got no work item since then, nor gets one before the quarantine ends.
 */
void device_quarantined(uint32_t channel, uint64_t ms);
/** Ends stuck transfers; from now on no transfer gets stuck. */
void device_repair(void);
/** Numbers of transfers that were begun, and ended. */
uint64_t device_begun(void);
uint64_t device_ended(void);

#endif /* SIM_DEVICE_H */
