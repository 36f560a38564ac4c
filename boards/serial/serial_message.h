/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads of more than a few numbers as plain data: hello, moves, statuses, counters. A _put
 * function appends a payload to a packet, a _get function reads it: it returns whether the payload
 * had this form.
 */
#ifndef PROTO_SERIAL_MESSAGE_H
#define PROTO_SERIAL_MESSAGE_H

#include "boards/serial/serial_frame.h"
#include "mli_mov_api.h"

enum { SERIAL_HELLO_BIG_ENDIAN = 1, SERIAL_HELLO_POLLED = 2 };

/* The reply to hello. */
struct serial_hello {
    uint16_t version;
    uint32_t boot; /* never 0 */
    uint8_t flags;
    uint8_t channels; /* channels of the pool */
    uint8_t pointer_bits;
    uint16_t payload_max; /* largest payload that the agent takes and sends */
    uint16_t buffers_max;
    uint16_t transfers_max;
    uint64_t memory_base, memory_bytes; /* memory for tensors */
    uint64_t uptime_ns;
    uint64_t tiny; /* up to this size the processor moves the data, and no channel */
    char board[SERIAL_NAME_MAX], engine[SERIAL_NAME_MAX], library[SERIAL_NAME_MAX];
};

void serial_hello_put(struct serial_packet *packet, const struct serial_hello *hello);
bool serial_hello_get(struct serial_reader *reader, struct serial_hello *hello);

enum serial_op { SERIAL_OP_MOVE, SERIAL_OP_PERMUTE };

/* How the agent runs a transfer. */
enum serial_mode {
    SERIAL_MODE_POLL,     /* mli_mov_isdone() */
    SERIAL_MODE_CALLBACK, /* a completion callback */
    SERIAL_MODE_SYNC      /* mli_mov_tensor_sync(), or a permute kernel: start returns at the end */
};

enum { SERIAL_NO_AXIS = 0xff, SERIAL_NO_BUFFER = 0 };

/*
 * A tensor in a buffer of the board. Per-axis parameters are in a buffer too, in the byte order of
 * the board: int16 scale[count], int16 zero_point[count], int8 scale_frac_bits[count].
 */
struct serial_tensor {
    uint16_t type; /* mli_element_type */
    uint8_t rank;
    uint16_t buffer;
    int64_t offset;    /* bytes from the buffer's first byte to the tensor's first element; may be
                          negative if the move does not read the first elements */
    uint32_t capacity; /* bytes from the first element on */
    uint32_t shape[MLI_MAX_RANK];
    int32_t stride[MLI_MAX_RANK];
    int8_t frac_bits;          /* fx types */
    int16_t scale, zero_point; /* sa types, per tensor */
    int8_t scale_frac_bits;
    uint8_t axis; /* SERIAL_NO_AXIS: parameters per tensor */
    uint16_t params_buffer;
    uint32_t params_offset, params_count;
};

/* The payload of start. */
struct serial_move {
    uint8_t op;       /* enum serial_op */
    uint8_t mode;     /* enum serial_mode */
    uint8_t channels; /* channels to claim, from 1; ignored with SERIAL_MODE_SYNC */
    struct serial_tensor src;
    struct serial_tensor dst; /* in: memory, strides, for a permute also shape. Its layout of the
                                 reply is that of the result */
    mli_mov_cfg_t cfg;
};

void serial_move_put(struct serial_packet *packet, const struct serial_move *move);
bool serial_move_get(struct serial_reader *reader, struct serial_move *move);

void serial_tensor_put(struct serial_packet *packet, const struct serial_tensor *tensor);
bool serial_tensor_get(struct serial_reader *reader, struct serial_tensor *tensor);

/* The reply to status, wait and cancel. */
struct serial_status {
    uint8_t stage; /* mli_mov_stage */
    uint32_t code; /* mli_status */
    uint64_t bytes, bytes_total;
    uint64_t address; /* first byte of the row that was not written completely; 0: unknown */
    uint32_t channel, descriptor;
    uint64_t row;
    uint64_t moving_ns; /* time from start to end, as the board's clock shows it; 0: no clock */
    uint32_t callbacks; /* calls of the completion callback */
};

void serial_status_put(struct serial_packet *packet, const struct serial_status *status);
bool serial_status_get(struct serial_reader *reader, struct serial_status *status);

void serial_stats_put(struct serial_packet *packet, const mli_mov_channel_stats *stats);
bool serial_stats_get(struct serial_reader *reader, mli_mov_channel_stats *stats);

#endif /* PROTO_SERIAL_MESSAGE_H */
