/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulated DMA controller: an engine of libmli whose channels end their transfers after random
 * times, in any order, on a thread of its own. With the probabilities of the world's rates, a
 * transfer ends with DMA_ERROR half way, or is stuck until long after its cancel.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include <stdint.h>

struct process;

/**
 * Adds the engine "sim" to libmli and starts the device. Call it in the service's process. After a
 * channel got stuck, the service must not use it for `quarantine_ns`.
 */
void device_begin(struct process *process, uint32_t tiny, uint64_t quarantine_ns);
/**
 * Call it when the service reports that a channel did not end its transfer within `ms`. Checks
 * that this channel gets no work item before its quarantine ends.
 */
void device_quarantined(uint32_t channel, uint64_t ms);
/** Ends stuck transfers; from now on no transfer gets stuck. */
void device_repair(void);
/** Return the number of transfers that have begun, and the number that have ended. */
uint64_t device_begun(void);
uint64_t device_ended(void);

#endif /* SIM_DEVICE_H */
