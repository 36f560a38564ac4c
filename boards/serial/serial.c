/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames: CRC-32 and COBS; then messages: values in packets, the least significant byte first. */
#include <string.h>

#include "boards/serial/serial.h"

enum {
    CODE_MAX = 0xff, /* a code byte for 254 bytes without a zero byte after them */
    BYTE_BITS = 8,
    NIBBLE_BITS = 4,
    NIBBLE_MASK = 0xf
};

/* Two look-ups for each byte: a table of 64 bytes fits every board. */
uint32_t serial_crc32(uint32_t crc, const void *bytes, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *at = bytes;

    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = crc >> NIBBLE_BITS ^ table[crc & NIBBLE_MASK];
        crc = crc >> NIBBLE_BITS ^ table[crc & NIBBLE_MASK];
    }
    return ~crc;
}

/* Names */

const char *serial_request_name(uint8_t request)
{
    switch (request) {
#define REQUEST_NAME(name, number, text)                                                           \
    case (number):                                                                                 \
        return text;
        SERIAL_REQUESTS(REQUEST_NAME)
#undef REQUEST_NAME
    default:
        return "?";
    }
}

const char *serial_result_text(uint8_t result)
{
    switch (result) {
#define RESULT_TEXT(name, number, text)                                                            \
    case (number):                                                                                 \
        return text;
        SERIAL_RESULTS(RESULT_TEXT)
#undef RESULT_TEXT
    default:
        return "an unknown result";
    }
}

/* Packets */

static void put_number(struct serial_packet *packet, uint64_t value, size_t bytes)
{
    uint8_t *at = serial_put_room(packet, bytes);

    for (size_t i = 0; at && i < bytes; i++)
        at[i] = (uint8_t)(value >> BYTE_BITS * i);
}

void serial_packet_begin(struct serial_packet *packet, uint8_t kind, uint16_t sequence,
                         uint32_t boot)
{
    packet->length = 0;
    packet->full = false;
    serial_put_u8(packet, kind);
    serial_put_u8(packet, SERIAL_VERSION);
    serial_put_u16(packet, sequence);
    serial_put_u32(packet, boot);
    serial_put_u16(packet, 0);
}

uint8_t *serial_put_room(struct serial_packet *packet, size_t size)
{
    uint8_t *room = packet->bytes + packet->length;

    if (packet->full || size > SERIAL_PACKET_MAX - SERIAL_CRC_BYTES - packet->length) {
        packet->full = true;
        return NULL;
    }
    packet->length += size;
    return room;
}

void serial_put_u8(struct serial_packet *packet, uint8_t value)
{
    put_number(packet, value, sizeof(value));
}

void serial_put_u16(struct serial_packet *packet, uint16_t value)
{
    put_number(packet, value, sizeof(value));
}

void serial_put_u32(struct serial_packet *packet, uint32_t value)
{
    put_number(packet, value, sizeof(value));
}

void serial_put_u64(struct serial_packet *packet, uint64_t value)
{
    put_number(packet, value, sizeof(value));
}

void serial_put_bytes(struct serial_packet *packet, const void *bytes, size_t size)
{
    uint8_t *room = serial_put_room(packet, size);

    if (room && size > 0)
        memcpy(room, bytes, size);
}

void serial_put_text(struct serial_packet *packet, const char *text)
{
    size_t length = strlen(text);

    if (length > UINT8_MAX)
        length = UINT8_MAX;
    serial_put_u8(packet, (uint8_t)length);
    serial_put_bytes(packet, text, length);
}

bool serial_packet_end(struct serial_packet *packet)
{
    const size_t size = packet->length - SERIAL_HEADER_BYTES;
    uint32_t crc;

    if (packet->full)
        return false;
    packet->bytes[SERIAL_HEADER_BYTES - 2] = (uint8_t)size;
    packet->bytes[SERIAL_HEADER_BYTES - 1] = (uint8_t)(size >> BYTE_BITS);
    crc = serial_crc32(0, packet->bytes, packet->length);
    for (size_t i = 0; i < SERIAL_CRC_BYTES; i++)
        packet->bytes[packet->length++] = (uint8_t)(crc >> BYTE_BITS * i);
    return true;
}

/* Frames */

void serial_encode(const uint8_t *packet, size_t length,
                   void (*put)(void *context, const uint8_t *bytes, size_t size), void *context)
{
    static const uint8_t end = 0;
    size_t at = 0;

    put(context, &end, 1);
    for (;;) {
        size_t run = 0;
        uint8_t code;

        while (at + run < length && run < CODE_MAX - 1 && packet[at + run] != 0)
            run++;
        code = (uint8_t)(run + 1);
        put(context, &code, 1);
        put(context, packet + at, run);
        at += run;
        if (at == length)
            break;
        at += code < CODE_MAX; /* the code byte stands for this zero byte */
        if (at == length && code < CODE_MAX) {
            /* The packet ends with a zero byte: append an empty group. */
            code = 1;
            put(context, &code, 1);
            break;
        }
    }
    put(context, &end, 1);
}

void serial_decoder_init(struct serial_decoder *decoder)
{
    memset(decoder, 0, sizeof(*decoder));
}

static void keep(struct serial_decoder *decoder, uint8_t byte)
{
    if (decoder->length < sizeof(decoder->packet))
        decoder->packet[decoder->length++] = byte;
    else
        decoder->broken = true;
}

static struct serial_reader reader_of(const uint8_t *bytes, size_t size)
{
    return (struct serial_reader){bytes, bytes + size, false};
}

/* Checks a frame that has ended. Returns whether it is a packet. */
static bool take(struct serial_decoder *decoder, struct serial_received *received)
{
    const size_t frame = decoder->length;
    struct serial_reader header, crc;
    uint16_t size;

    if (decoder->broken || decoder->left != 0 || frame < SERIAL_HEADER_BYTES + SERIAL_CRC_BYTES)
        return false;
    header = reader_of(decoder->packet, SERIAL_HEADER_BYTES);
    received->kind = serial_get_u8(&header);
    received->version = serial_get_u8(&header);
    received->sequence = serial_get_u16(&header);
    received->boot = serial_get_u32(&header);
    size = serial_get_u16(&header);
    if (frame != (size_t)SERIAL_HEADER_BYTES + size + SERIAL_CRC_BYTES)
        return false;
    crc = reader_of(decoder->packet + frame - SERIAL_CRC_BYTES, SERIAL_CRC_BYTES);
    received->payload = decoder->packet + SERIAL_HEADER_BYTES;
    received->size = size;
    return serial_get_u32(&crc) == serial_crc32(0, decoder->packet, frame - SERIAL_CRC_BYTES);
}

static enum serial_event end_frame(struct serial_decoder *decoder, struct serial_received *received)
{
    const bool empty = decoder->length == 0 && !decoder->zero && decoder->left == 0;
    const bool packet = !empty && take(decoder, received);

    decoder->length = 0;
    decoder->left = 0;
    decoder->zero = decoder->broken = false;
    decoder->frames += packet;
    decoder->damaged += !packet && !empty;
    return packet ? SERIAL_PACKET : empty ? SERIAL_NOTHING : SERIAL_GARBAGE;
}

enum serial_event serial_decode(struct serial_decoder *decoder, uint8_t byte,
                                struct serial_received *received)
{
    if (byte == 0)
        return end_frame(decoder, received);
    if (decoder->left > 0) {
        decoder->left--;
        keep(decoder, byte);
        return SERIAL_NOTHING;
    }
    if (decoder->zero)
        keep(decoder, 0);
    decoder->left = (uint8_t)(byte - 1);
    decoder->zero = byte != CODE_MAX;
    return SERIAL_NOTHING;
}

/* Readers */

struct serial_reader serial_reader_init(const struct serial_received *received)
{
    return reader_of(received->payload, received->size);
}

const uint8_t *serial_get_bytes(struct serial_reader *reader, size_t size)
{
    const uint8_t *at = reader->at;

    if (reader->failed || size > (size_t)(reader->end - reader->at)) {
        reader->failed = true;
        return NULL;
    }
    reader->at += size;
    return at;
}

static uint64_t get_number(struct serial_reader *reader, size_t bytes)
{
    const uint8_t *at = serial_get_bytes(reader, bytes);
    uint64_t value = 0;

    for (size_t i = 0; at && i < bytes; i++)
        value |= (uint64_t)at[i] << BYTE_BITS * i;
    return value;
}

uint8_t serial_get_u8(struct serial_reader *reader)
{
    return (uint8_t)get_number(reader, sizeof(uint8_t));
}

uint16_t serial_get_u16(struct serial_reader *reader)
{
    return (uint16_t)get_number(reader, sizeof(uint16_t));
}

uint32_t serial_get_u32(struct serial_reader *reader)
{
    return (uint32_t)get_number(reader, sizeof(uint32_t));
}

uint64_t serial_get_u64(struct serial_reader *reader)
{
    return get_number(reader, sizeof(uint64_t));
}

void serial_get_text(struct serial_reader *reader, char *out, size_t size)
{
    const size_t length = serial_get_u8(reader);
    const uint8_t *text = serial_get_bytes(reader, length);
    const size_t kept = !text ? 0 : length < size ? length : size - 1;

    if (kept > 0)
        memcpy(out, text, kept);
    out[kept] = '\0';
}

bool serial_reader_done(const struct serial_reader *reader)
{
    return !reader->failed && reader->at == reader->end;
}

/* Payloads as tables of their fields */

/* A field: a number of 1, 2, 4 or 8 bytes in the byte order of the machine, or a longer text. */
struct field {
    uint16_t at; /* offset in the struct */
    uint16_t bytes;
};

#define FIELD(type, name)                                                                          \
    {                                                                                              \
        offsetof(type, name), sizeof(((type *)0)->name)                                            \
    }
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the address of the low bytes of a number. */
static uint8_t *low_bytes(uint64_t *number, size_t bytes)
{
    return (uint8_t *)number +
           (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(*number) - bytes : 0);
}

static void put_fields(struct serial_packet *packet, const void *from, const struct field *fields,
                       size_t count)
{
    for (const struct field *field = fields; field < fields + count; field++) {
        const uint8_t *at = (const uint8_t *)from + field->at;
        uint64_t number = 0;

        if (field->bytes > sizeof(number)) {
            serial_put_text(packet, (const char *)at);
            continue;
        }
        memcpy(low_bytes(&number, field->bytes), at, field->bytes);
        put_number(packet, number, field->bytes);
    }
}

static void get_fields(struct serial_reader *reader, void *to, const struct field *fields,
                       size_t count)
{
    for (const struct field *field = fields; field < fields + count; field++) {
        uint8_t *at = (uint8_t *)to + field->at;
        uint64_t number;

        if (field->bytes > sizeof(number)) {
            serial_get_text(reader, (char *)at, field->bytes);
            continue;
        }
        number = get_number(reader, field->bytes);
        memcpy(at, low_bytes(&number, field->bytes), field->bytes);
    }
}

#define HELLO(name) FIELD(struct serial_hello, name)
static const struct field hello_fields[] = {
    HELLO(version),      HELLO(boot),         HELLO(flags),       HELLO(channels),
    HELLO(pointer_bits), HELLO(payload_max),  HELLO(buffers_max), HELLO(transfers_max),
    HELLO(memory_base),  HELLO(memory_bytes), HELLO(uptime_ns),   HELLO(tiny),
    HELLO(board),        HELLO(engine),       HELLO(library),
};

#define TENSOR(name)  FIELD(struct serial_tensor, name)
#define TENSOR_DIM(i) TENSOR(shape[i]), TENSOR(stride[i])
static const struct field tensor_fields[] = {
    TENSOR(type),
    TENSOR(rank),
    TENSOR(buffer),
    TENSOR(offset),
    TENSOR(capacity),
    TENSOR_DIM(0),
    TENSOR_DIM(1),
    TENSOR_DIM(2),
    TENSOR_DIM(3),
    TENSOR(frac_bits),
    TENSOR(scale),
    TENSOR(zero_point),
    TENSOR(scale_frac_bits),
    TENSOR(axis),
    TENSOR(params_buffer),
    TENSOR(params_offset),
    TENSOR(params_count),
};

#define CFG(name) FIELD(mli_mov_cfg_t, name)
#define CFG_DIM(i)                                                                                 \
    CFG(offset[i]), CFG(size[i]), CFG(sub_sample_step[i]), CFG(dst_offset[i]),                     \
        CFG(dst_mem_stride[i]), CFG(perm_dim[i]), CFG(padding_pre[i]), CFG(padding_post[i])
static const struct field cfg_fields[] = {CFG_DIM(0), CFG_DIM(1), CFG_DIM(2), CFG_DIM(3)};
_Static_assert(MLI_MAX_RANK == 4, "the tables have four dimensions");

#define STATUS(name) FIELD(struct serial_status, name)
static const struct field status_fields[] = {
    STATUS(stage),   STATUS(code),       STATUS(bytes), STATUS(bytes_total), STATUS(address),
    STATUS(channel), STATUS(descriptor), STATUS(row),   STATUS(moving_ns),   STATUS(callbacks),
};

/* Counters that later versions add follow behind these. */
#define STATS(name) FIELD(mli_mov_channel_stats, name)
static const struct field stats_fields[] = {
    STATS(submitted),  STATS(completed), STATS(failed),  STATS(cancelled),
    STATS(bytes),      STATS(rows),      STATS(busy_ns), STATS(queue_high_water),
    STATS(cpu_pieces), STATS(cpu_bytes),
};

void serial_hello_put(struct serial_packet *packet, const struct serial_hello *hello)
{
    put_fields(packet, hello, hello_fields, COUNT_OF(hello_fields));
}

bool serial_hello_get(struct serial_reader *reader, struct serial_hello *hello)
{
    memset(hello, 0, sizeof(*hello));
    get_fields(reader, hello, hello_fields, COUNT_OF(hello_fields));
    return serial_reader_done(reader);
}

void serial_tensor_put(struct serial_packet *packet, const struct serial_tensor *tensor)
{
    put_fields(packet, tensor, tensor_fields, COUNT_OF(tensor_fields));
}

bool serial_tensor_get(struct serial_reader *reader, struct serial_tensor *tensor)
{
    memset(tensor, 0, sizeof(*tensor));
    get_fields(reader, tensor, tensor_fields, COUNT_OF(tensor_fields));
    return !reader->failed;
}

void serial_move_put(struct serial_packet *packet, const struct serial_move *move)
{
    serial_put_u8(packet, move->op);
    serial_put_u8(packet, move->mode);
    serial_put_u8(packet, move->channels);
    serial_tensor_put(packet, &move->src);
    serial_tensor_put(packet, &move->dst);
    put_fields(packet, &move->cfg, cfg_fields, COUNT_OF(cfg_fields));
}

bool serial_move_get(struct serial_reader *reader, struct serial_move *move)
{
    memset(move, 0, sizeof(*move));
    move->op = serial_get_u8(reader);
    move->mode = serial_get_u8(reader);
    move->channels = serial_get_u8(reader);
    serial_tensor_get(reader, &move->src);
    serial_tensor_get(reader, &move->dst);
    get_fields(reader, &move->cfg, cfg_fields, COUNT_OF(cfg_fields));
    return serial_reader_done(reader);
}

void serial_status_put(struct serial_packet *packet, const struct serial_status *status)
{
    put_fields(packet, status, status_fields, COUNT_OF(status_fields));
}

bool serial_status_get(struct serial_reader *reader, struct serial_status *status)
{
    memset(status, 0, sizeof(*status));
    get_fields(reader, status, status_fields, COUNT_OF(status_fields));
    return serial_reader_done(reader);
}

void serial_stats_put(struct serial_packet *packet, const mli_mov_channel_stats *stats)
{
    serial_put_u8(packet, COUNT_OF(stats_fields));
    put_fields(packet, stats, stats_fields, COUNT_OF(stats_fields));
}

bool serial_stats_get(struct serial_reader *reader, mli_mov_channel_stats *stats)
{
    const size_t count = serial_get_u8(reader), known = COUNT_OF(stats_fields);

    memset(stats, 0, sizeof(*stats));
    get_fields(reader, stats, stats_fields, count < known ? count : known);
    for (size_t i = known; i < count; i++)
        (void)serial_get_u64(reader);
    return serial_reader_done(reader);
}
