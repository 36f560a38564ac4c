/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gate that holds every transfer before it touches any data: an engine of its own, "gate", whose
 * channels are threads that wait there. It takes no notice of a cancel before it is let go, like
 * a device that is slow to stop.
 */
#ifndef TEST_GATE_H
#define TEST_GATE_H

#include <semaphore.h>

#include "daemon/config/config.h"

struct gate {
    sem_t entered, leave;
    uint32_t flags; /* of the channels: MLI_CHANNEL_CPU or 0 */
};

/** Sets the service's engine. Call it before the service starts. */
void gate_close(struct gate *gate, struct config *config);
/** Waits until a transfer has come to the gate. */
void gate_wait(struct gate *gate);
/** Lets one transfer go. All must be let go before the service stops. */
void gate_release(struct gate *gate);
/** Call it when no service runs. */
void gate_remove(struct gate *gate);

#endif /* TEST_GATE_H */
