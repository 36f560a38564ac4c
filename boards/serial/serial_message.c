/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/serial/serial_message.h"

#include <string.h>

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
