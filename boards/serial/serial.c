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

void serial_hello_put(struct serial_packet *packet, const struct serial_hello *hello)
{
    serial_put_u16(packet, hello->version);
    serial_put_u32(packet, hello->boot);
    serial_put_u8(packet, hello->flags);
    serial_put_u8(packet, hello->channels);
    serial_put_u8(packet, hello->pointer_bits);
    serial_put_u16(packet, hello->payload_max);
    serial_put_u16(packet, hello->buffers_max);
    serial_put_u16(packet, hello->transfers_max);
    serial_put_u64(packet, hello->memory_base);
    serial_put_u64(packet, hello->memory_bytes);
    serial_put_u64(packet, hello->uptime_ns);
    serial_put_u64(packet, hello->tiny);
    serial_put_text(packet, hello->board);
    serial_put_text(packet, hello->engine);
    serial_put_text(packet, hello->library);
}

bool serial_hello_get(struct serial_reader *reader, struct serial_hello *hello)
{
    memset(hello, 0, sizeof(*hello));
    hello->version = serial_get_u16(reader);
    hello->boot = serial_get_u32(reader);
    hello->flags = serial_get_u8(reader);
    hello->channels = serial_get_u8(reader);
    hello->pointer_bits = serial_get_u8(reader);
    hello->payload_max = serial_get_u16(reader);
    hello->buffers_max = serial_get_u16(reader);
    hello->transfers_max = serial_get_u16(reader);
    hello->memory_base = serial_get_u64(reader);
    hello->memory_bytes = serial_get_u64(reader);
    hello->uptime_ns = serial_get_u64(reader);
    hello->tiny = serial_get_u64(reader);
    serial_get_text(reader, hello->board, sizeof(hello->board));
    serial_get_text(reader, hello->engine, sizeof(hello->engine));
    serial_get_text(reader, hello->library, sizeof(hello->library));
    return serial_reader_done(reader);
}

void serial_tensor_put(struct serial_packet *packet, const struct serial_tensor *tensor)
{
    serial_put_u16(packet, tensor->type);
    serial_put_u8(packet, tensor->rank);
    serial_put_u16(packet, tensor->buffer);
    serial_put_u64(packet, (uint64_t)tensor->offset);
    serial_put_u32(packet, tensor->capacity);
    for (size_t i = 0; i < MLI_MAX_RANK; i++) {
        serial_put_u32(packet, tensor->shape[i]);
        serial_put_u32(packet, (uint32_t)tensor->stride[i]);
    }
    serial_put_u8(packet, (uint8_t)tensor->frac_bits);
    serial_put_u16(packet, (uint16_t)tensor->scale);
    serial_put_u16(packet, (uint16_t)tensor->zero_point);
    serial_put_u8(packet, (uint8_t)tensor->scale_frac_bits);
    serial_put_u8(packet, tensor->axis);
    serial_put_u16(packet, tensor->params_buffer);
    serial_put_u32(packet, tensor->params_offset);
    serial_put_u32(packet, tensor->params_count);
}

bool serial_tensor_get(struct serial_reader *reader, struct serial_tensor *tensor)
{
    memset(tensor, 0, sizeof(*tensor));
    tensor->type = serial_get_u16(reader);
    tensor->rank = serial_get_u8(reader);
    tensor->buffer = serial_get_u16(reader);
    tensor->offset = (int64_t)serial_get_u64(reader);
    tensor->capacity = serial_get_u32(reader);
    for (size_t i = 0; i < MLI_MAX_RANK; i++) {
        tensor->shape[i] = serial_get_u32(reader);
        tensor->stride[i] = (int32_t)serial_get_u32(reader);
    }
    tensor->frac_bits = (int8_t)serial_get_u8(reader);
    tensor->scale = (int16_t)serial_get_u16(reader);
    tensor->zero_point = (int16_t)serial_get_u16(reader);
    tensor->scale_frac_bits = (int8_t)serial_get_u8(reader);
    tensor->axis = serial_get_u8(reader);
    tensor->params_buffer = serial_get_u16(reader);
    tensor->params_offset = serial_get_u32(reader);
    tensor->params_count = serial_get_u32(reader);
    return !reader->failed;
}

void serial_move_put(struct serial_packet *packet, const struct serial_move *move)
{
    serial_put_u8(packet, move->op);
    serial_put_u8(packet, move->mode);
    serial_put_u8(packet, move->channels);
    serial_tensor_put(packet, &move->src);
    serial_tensor_put(packet, &move->dst);
    for (size_t i = 0; i < MLI_MAX_RANK; i++) {
        serial_put_u32(packet, move->cfg.offset[i]);
        serial_put_u32(packet, move->cfg.size[i]);
        serial_put_u32(packet, move->cfg.sub_sample_step[i]);
        serial_put_u32(packet, move->cfg.dst_offset[i]);
        serial_put_u32(packet, (uint32_t)move->cfg.dst_mem_stride[i]);
        serial_put_u8(packet, move->cfg.perm_dim[i]);
        serial_put_u8(packet, move->cfg.padding_pre[i]);
        serial_put_u8(packet, move->cfg.padding_post[i]);
    }
}

bool serial_move_get(struct serial_reader *reader, struct serial_move *move)
{
    memset(move, 0, sizeof(*move));
    move->op = serial_get_u8(reader);
    move->mode = serial_get_u8(reader);
    move->channels = serial_get_u8(reader);
    serial_tensor_get(reader, &move->src);
    serial_tensor_get(reader, &move->dst);
    for (size_t i = 0; i < MLI_MAX_RANK; i++) {
        move->cfg.offset[i] = serial_get_u32(reader);
        move->cfg.size[i] = serial_get_u32(reader);
        move->cfg.sub_sample_step[i] = serial_get_u32(reader);
        move->cfg.dst_offset[i] = serial_get_u32(reader);
        move->cfg.dst_mem_stride[i] = (int32_t)serial_get_u32(reader);
        move->cfg.perm_dim[i] = serial_get_u8(reader);
        move->cfg.padding_pre[i] = serial_get_u8(reader);
        move->cfg.padding_post[i] = serial_get_u8(reader);
    }
    return serial_reader_done(reader);
}

void serial_status_put(struct serial_packet *packet, const struct serial_status *status)
{
    serial_put_u8(packet, status->stage);
    serial_put_u32(packet, status->code);
    serial_put_u64(packet, status->bytes);
    serial_put_u64(packet, status->bytes_total);
    serial_put_u64(packet, status->address);
    serial_put_u32(packet, status->channel);
    serial_put_u32(packet, status->descriptor);
    serial_put_u64(packet, status->row);
    serial_put_u64(packet, status->moving_ns);
    serial_put_u32(packet, status->callbacks);
}

bool serial_status_get(struct serial_reader *reader, struct serial_status *status)
{
    memset(status, 0, sizeof(*status));
    status->stage = serial_get_u8(reader);
    status->code = serial_get_u32(reader);
    status->bytes = serial_get_u64(reader);
    status->bytes_total = serial_get_u64(reader);
    status->address = serial_get_u64(reader);
    status->channel = serial_get_u32(reader);
    status->descriptor = serial_get_u32(reader);
    status->row = serial_get_u64(reader);
    status->moving_ns = serial_get_u64(reader);
    status->callbacks = serial_get_u32(reader);
    return serial_reader_done(reader);
}

/* Counters that later versions add follow behind these. */
enum { STATS_NUMBERS = 10 };

void serial_stats_put(struct serial_packet *packet, const mli_mov_channel_stats *stats)
{
    serial_put_u8(packet, STATS_NUMBERS);
    serial_put_u64(packet, stats->submitted);
    serial_put_u64(packet, stats->completed);
    serial_put_u64(packet, stats->failed);
    serial_put_u64(packet, stats->cancelled);
    serial_put_u64(packet, stats->bytes);
    serial_put_u64(packet, stats->rows);
    serial_put_u64(packet, stats->busy_ns);
    serial_put_u64(packet, stats->queue_high_water);
    serial_put_u64(packet, stats->cpu_pieces);
    serial_put_u64(packet, stats->cpu_bytes);
}

bool serial_stats_get(struct serial_reader *reader, mli_mov_channel_stats *stats)
{
    const size_t count = serial_get_u8(reader);
    uint64_t numbers[STATS_NUMBERS] = {0};

    for (size_t i = 0; i < count; i++) {
        const uint64_t number = serial_get_u64(reader);

        if (i < STATS_NUMBERS)
            numbers[i] = number;
    }
    memset(stats, 0, sizeof(*stats));
    stats->submitted = numbers[0];
    stats->completed = numbers[1];
    stats->failed = numbers[2];
    stats->cancelled = numbers[3];
    stats->bytes = numbers[4];
    stats->rows = numbers[5];
    stats->busy_ns = numbers[6];
    stats->queue_high_water = numbers[7];
    stats->cpu_pieces = numbers[8];
    stats->cpu_bytes = numbers[9];
    return serial_reader_done(reader);
}
