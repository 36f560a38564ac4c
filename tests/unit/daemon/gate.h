/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gate holds every transfer before it accesses any data. It is an engine, "gate": its channels
 * are threads that wait at the gate. A held transfer notices a cancel only when it is released,
 * like a device that is slow to stop.
 */
#ifndef TEST_GATE_H
#define TEST_GATE_H

#include <semaphore.h>
#include <stdatomic.h>

#include "daemon/config/config.h"

struct gate {
    sem_t entered, leave;
    atomic_bool open;
    uint32_t flags; /* flags of the channels: MLI_CHANNEL_CPU or 0 */
};

/** Makes the gate the service's engine. Call it before the service starts. */
void gate_close(struct gate *gate, struct config *config);
/** Waits until a transfer is held at the gate. */
void gate_wait(struct gate *gate);
/**
 * Releases one held transfer, or the next transfer if none is held. All transfers must be released
 * before the service stops.
 */
void gate_release(struct gate *gate);
/** Releases the held transfers, and holds no further transfers. */
void gate_open(struct gate *gate);
/** Frees the gate. Call it when no service is running. */
void gate_remove(struct gate *gate);

#endif /* TEST_GATE_H */
