/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the SiFive PDMA after its manual, and of a processor that takes its interrupts, for
 * tests of the engine on a host. Unlike in QEMU's model, blocks take time, transactions must be
 * aligned, and addresses can be bad.
 */
#ifndef TEST_PDMA_MODEL_H
#define TEST_PDMA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boards/drivers/pdma.h"

/* Resets the model and makes it the platform of the engine. */
void pdma_model_init(void);

/* Sets whether a block ends as soon as it starts; otherwise pdma_model_step() ends it. */
void pdma_model_set_fast(bool fast);

/* Ends the block that runs on the channel, and delivers interrupts. Returns false if none runs. */
bool pdma_model_step(uint32_t channel);

/* Makes writes to these bytes a bus error. */
void pdma_model_set_bad(const void *at, size_t bytes);

/* Tells the engine that there is no memory at these bytes. */
void pdma_model_set_hole(const void *at, size_t bytes);

/* Makes the channel ignore the next `count` starts. */
void pdma_model_stick(uint32_t channel, uint32_t count);

bool pdma_model_runs(uint32_t channel);
uint32_t pdma_model_blocks(void);     /* number of blocks that have ended */
uint32_t pdma_model_interrupts(void); /* number of calls of the handler */
uint32_t pdma_model_violations(void); /* number of unaligned transactions and wrong accesses */

#endif /* TEST_PDMA_MODEL_H */
