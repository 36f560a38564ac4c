/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the wire format of Protocol Buffers in place: a message is a sequence of fields, each with
 * a number and a varint, 4 or 8 bytes, or bytes with a length
 * (https://protobuf.dev/programming-guides/encoding/). A library that unpacks messages would copy
 * the weights of a model, and would not say where in the file they are.
 */
#ifndef CLI_MODEL_PROTOBUF_H
#define CLI_MODEL_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_32 = 5 };

/* A message, or a packed list of numbers, that is being read. */
struct protobuf {
    const uint8_t *at, *end;
};

struct protobuf_field {
    uint32_t number;
    enum protobuf_wire wire;
    uint64_t value;       /* PROTOBUF_VARINT, _64 and _32 */
    const uint8_t *bytes; /* PROTOBUF_BYTES */
    uint64_t size;
};

/** Reads the next field. Returns 1, 0 at the end, or -1 if the bytes are no message. */
int protobuf_next(struct protobuf *message, struct protobuf_field *field);

/** Returns the message, or the packed list, in a field of bytes. */
struct protobuf protobuf_inside(const struct protobuf_field *field);

/**
 * Reads the next number of a repeated field: `list` is protobuf_inside(field) before the first call
 * if the field is packed. `wire` is that of one number. Returns 1, 0 at the end, or -1.
 */
int protobuf_number(struct protobuf *list, enum protobuf_wire wire, uint64_t *value);

#endif /* CLI_MODEL_PROTOBUF_H */
