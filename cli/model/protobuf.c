/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/model/protobuf.h"

#include <endian.h>
#include <string.h>

static bool varint(struct protobuf *message, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && message->at < message->end; shift += 7) {
        uint8_t byte = *message->at++;

        if (shift == 63 && byte > 1)
            return false; /* more than 64 bits */
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool fixed(struct protobuf *message, size_t size, uint64_t *value)
{
    uint64_t bits = 0;

    if ((size_t)(message->end - message->at) < size)
        return false;
    memcpy(&bits, message->at, size);
    message->at += size;
    *value = le64toh(bits); /* little-endian: the high bytes of a shorter number are 0 */
    return true;
}

int protobuf_number(struct protobuf *list, enum protobuf_wire wire, uint64_t *value)
{
    if (list->at == list->end)
        return 0;
    bool read = wire == PROTOBUF_VARINT ? varint(list, value)
                : wire == PROTOBUF_32   ? fixed(list, 4, value)
                                        : fixed(list, 8, value);
    return read ? 1 : -1;
}

int protobuf_next(struct protobuf *message, struct protobuf_field *field)
{
    uint64_t tag;

    if (message->at == message->end)
        return 0;
    if (!varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > UINT64_C(0x1fffffff))
        return -1;
    *field = (struct protobuf_field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case PROTOBUF_VARINT:
    case PROTOBUF_64:
    case PROTOBUF_32:
        field->wire = (enum protobuf_wire)(tag & 7);
        return protobuf_number(message, field->wire, &field->value) == 1 ? 1 : -1;
    case PROTOBUF_BYTES:
        field->wire = PROTOBUF_BYTES;
        if (!varint(message, &field->size) || field->size > (uint64_t)(message->end - message->at))
            return -1;
        field->bytes = message->at;
        message->at += field->size;
        return 1;
    default: /* a group: no version of ONNX has groups */
        return -1;
    }
}

struct protobuf protobuf_inside(const struct protobuf_field *field)
{
    return field->bytes ? (struct protobuf){field->bytes, field->bytes + field->size}
                        : (struct protobuf){0};
}
