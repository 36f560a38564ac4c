/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the ZDMA as its manual describes it (UG1085, chapter 19; UG1087, module ZDMA), for
 * tests of the driver on a host. Unlike QEMU's model, its channels take time, and memory that does
 * not answer causes a bus error. The model fails the test if a program does what the manual
 * forbids.
 *
 * Time passes for a channel when its ISR is read, and in zdma_model_run().
 */
#ifndef TEST_ZDMA_MODEL_H
#define TEST_ZDMA_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { ZDMA_MODEL_CHANNELS = 4 };

/* Resets all channels, and removes poison. */
void zdma_model_reset(void);

/* Accesses a register, as struct zdma_platform does. Any thread. */
uint32_t zdma_model_read(uint32_t channel, uint32_t offset);
void zdma_model_write(uint32_t channel, uint32_t offset, uint32_t value);

/* Returns whether the channel's interrupt line is high. */
bool zdma_model_interrupt(uint32_t channel);

/* Sets how many source elements a channel executes at each read of ISR (default: 1). */
void zdma_model_set_pace(uint32_t channel, uint32_t elements);

/* Executes up to `elements` source elements, as if the channel had had the time. */
void zdma_model_run(uint32_t channel, uint32_t elements);

/* Makes reads or writes of data at [address, address + bytes) fail. */
void zdma_model_poison(const void *address, uint32_t bytes, bool reads, bool writes);

/* Makes writes that enable the channel have no effect. */
void zdma_model_ignore_start(uint32_t channel, bool ignore);

/* Return the number of lists that were started, and the number of fills in write-only mode. */
uint32_t zdma_model_lists(void);
uint32_t zdma_model_fills(void);

/* Calls `see` with the source and destination elements of each list when it is started. */
void zdma_model_watch(void (*see)(const uint32_t *src, const uint32_t *dst));

#endif /* TEST_ZDMA_MODEL_H */
