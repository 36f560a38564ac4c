/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the wire format of Protocol Buffers in place: a message is a sequence of fields. A field
 * has a number, and as its value a varint, 4 bytes, 8 bytes, or a length and bytes
 * (https://protobuf.dev/programming-guides/encoding/). A library that unpacks messages would copy
 * the weights of a model, and would not say where in the file they are.
 */
#pragma once

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
    uint64_t value;       /* value of a PROTOBUF_VARINT, PROTOBUF_64 or PROTOBUF_32 */
    const uint8_t *bytes; /* value of a PROTOBUF_BYTES, `size` bytes */
    uint64_t size;
};

/** Reads the next field. Returns 1, 0 at the end, or -1 if the bytes are no message. */
int protobuf_next(struct protobuf *message, struct protobuf_field *field);

/** Returns the message, or the packed list, in a field of bytes. */
struct protobuf protobuf_inside(const struct protobuf_field *field);

/**
 * Reads the next number of a packed field; `list` begins as protobuf_inside(field). `wire` is the
 * wire type of one number. Returns 1, 0 at the end, or -1.
 */
int protobuf_number(struct protobuf *list, enum protobuf_wire wire, uint64_t *value);
