/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers of the agent: requests as libmli's tensors and handles. */
#ifndef FIRMWARE_AGENT_TRANSFER_H
#define FIRMWARE_AGENT_TRANSFER_H

#include "boards/firmware/agent/agent_memory.h"
#include "boards/serial/serial.h"

#ifndef AGENT_TRANSFERS_MAX
#define AGENT_TRANSFERS_MAX 4
#endif

struct agent_transfer {
    bool used;
    bool sync;           /* true: it has ended; `status` is its status */
    bool timed;          /* true: `end_ns` is the time of its end */
    uint16_t buffers[4]; /* buffers that it uses: source, destination and their parameters */
    mli_mov_handle_t handle;
    struct serial_status status;
    uint64_t begin_ns;
    volatile uint64_t end_ns;
    volatile uint32_t callbacks;
};

struct agent_transfers {
    struct agent_transfer list[AGENT_TRANSFERS_MAX];
    uint64_t (*now_ns)(void); /* or null */
};

/** Forgets all transfers. `now_ns` may be null. One set of transfers can exist at a time. */
void agent_transfers_init(struct agent_transfers *transfers, uint64_t (*now_ns)(void));

/**
 * Starts a move. Returns its result; done: *number is the transfer, and move->dst the layout of the
 * destination. Refused: *status is the status of libmli, and mli_last_error() the reason.
 */
enum serial_result agent_transfer_start(struct agent_transfers *transfers,
                                        struct agent_memory *memory, struct serial_move *move,
                                        uint8_t *number, mli_status *status);

/** Returns a transfer, or null if there is no transfer of this number. */
struct agent_transfer *agent_transfer_find(struct agent_transfers *transfers, uint8_t number);

/** Reads the status, after waiting at most `wait_ms` for the end. */
void agent_transfer_status(struct agent_transfers *transfers, struct agent_transfer *transfer,
                           uint32_t wait_ms, struct serial_status *status);

void agent_transfer_cancel(struct agent_transfer *transfer);

/** Forgets a transfer. Returns false if it still runs. */
bool agent_transfer_release(struct agent_transfer *transfer);

/** Returns whether a transfer uses the buffer. */
bool agent_transfers_use(const struct agent_transfers *transfers, uint16_t buffer);

/** Returns whether there are transfers. */
bool agent_transfers_any(const struct agent_transfers *transfers);

/**
 * Cancels and forgets all transfers; waits a second for their ends. Returns false if one still
 * runs: its channel is stuck.
 */
bool agent_transfers_stop(struct agent_transfers *transfers);

#endif /* FIRMWARE_AGENT_TRANSFER_H */
