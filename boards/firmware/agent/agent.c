/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/firmware/agent/agent.h"

#include <string.h>

#include "mli_engine.h"
#include "mli_helpers_api.h"

enum { WAIT_MS_MAX = 1000, READ_BYTES_MAX = SERIAL_PAYLOAD_MAX - 1 };

/* Sending */

static void send(struct agent *agent, const struct serial_packet *packet)
{
    serial_encode(packet->bytes, packet->length, agent->port->put, agent->port->context);
}

/* Begins the reply to a request: its header and its result. */
static struct serial_packet *reply(struct agent *agent, enum serial_result result)
{
    serial_packet_begin(&agent->reply, agent->kind | SERIAL_REPLY, agent->sequence, agent->boot);
    serial_put_u8(&agent->reply, result);
    return &agent->reply;
}

/* Makes the whole reply to a request that libmli has refused. */
static enum serial_result refuse(struct agent *agent, mli_status status)
{
    struct serial_packet *packet = reply(agent, SERIAL_RESULT_REFUSED);

    serial_put_u32(packet, status);
    serial_put_text(packet, mli_last_error());
    return SERIAL_RESULT_REFUSED;
}

/* The pool */

/*
 * Gives the pool as many channels as the engine has, at most `most`. Returns false if it has none.
 */
static bool fill_pool(uint32_t most)
{
    for (uint32_t count = most; count > 0; count--) {
        if (mli_mov_set_num_dma_ch(0, (int)count) == MLI_STATUS_OK)
            return true;
    }
    return false;
}

static uint32_t most_channels(uint32_t wanted)
{
    return wanted > 0 && wanted < MLI_MOV_MAX_CHANNELS ? wanted : MLI_MOV_MAX_CHANNELS;
}

/* Returns the number of channels in the pool, all of which are free: tries to claim so many. */
static uint8_t count_channels(void)
{
    mli_mov_handle_t handle;

    for (int count = MLI_MOV_MAX_CHANNELS; count > 0; count--) {
        if (mli_mov_acquire_handle(count, &handle) != MLI_STATUS_OK)
            continue;
        (void)mli_mov_release_handle(&handle);
        return (uint8_t)count;
    }
    return 0;
}

bool agent_init(struct agent *agent, const struct agent_port *port)
{
    bool chosen;

    memset(agent, 0, sizeof(*agent));
    agent->port = port;
    serial_decoder_init(&agent->in);
    agent_memory_init(&agent->memory, port->memory, port->memory_bytes);
    agent_transfers_init(&agent->transfers, port->now_ns);
    chosen = mli_mov_set_engine(port->engine) == MLI_STATUS_OK &&
             fill_pool(most_channels(port->channels));
    if (!chosen) {
        (void)mli_mov_set_engine(mli_mov_engine_at(0));
        fill_pool(most_channels(port->channels));
    }
    agent->channels = count_channels();
    return chosen;
}

void agent_finish(struct agent *agent)
{
    (void)agent_transfers_stop(&agent->transfers);
    (void)mli_mov_set_num_dma_ch(0, 0);
}

/*
 * Requests. A handler adds the payload to agent->reply, and returns the result. A result other than
 * DONE and REFUSED has no payload.
 */

static bool is_big_endian(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

static void copy_name(char out[SERIAL_NAME_MAX], const char *name)
{
    size_t length = strlen(name);

    if (length >= SERIAL_NAME_MAX)
        length = SERIAL_NAME_MAX - 1;
    memcpy(out, name, length);
    out[length] = '\0';
}

static enum serial_result hello(struct agent *agent, struct serial_reader *reader)
{
    const uint32_t number = serial_get_u32(reader);
    struct serial_hello hello = {
        .version = SERIAL_VERSION,
        .pointer_bits = sizeof(void *) * 8,
        .payload_max = SERIAL_PAYLOAD_MAX,
        .buffers_max = AGENT_BUFFERS_MAX,
        .transfers_max = AGENT_TRANSFERS_MAX,
        .memory_base = (uintptr_t)agent->memory.base,
        .memory_bytes = agent->memory.bytes,
        .channels = agent->channels,
    };
    struct mli_channel_caps caps = {0};

    /* The number in the peer's first hello distinguishes this boot from earlier boots. */
    if (agent->boot == 0)
        agent->boot = number ? number : 1;
    mli_mov_engine_caps(&caps);
    hello.boot = agent->boot;
    hello.tiny = caps.tiny;
    hello.flags = (is_big_endian() ? SERIAL_HELLO_BIG_ENDIAN : 0) |
                  (mli_mov_is_polled() ? SERIAL_HELLO_POLLED : 0);
    if (agent->port->now_ns)
        hello.uptime_ns = agent->port->now_ns();
    copy_name(hello.board, agent->port->board);
    copy_name(hello.engine, mli_mov_engine_name());
    copy_name(hello.library, mli_version());
    serial_hello_put(reply(agent, SERIAL_RESULT_DONE), &hello);
    return SERIAL_RESULT_DONE;
}

static enum serial_result reset(struct agent *agent, struct serial_reader *reader)
{
    (void)reader;
    if (!agent_transfers_stop(&agent->transfers))
        return SERIAL_RESULT_BUSY;
    agent_memory_init(&agent->memory, agent->port->memory, agent->port->memory_bytes);
    return SERIAL_RESULT_DONE;
}

static enum serial_result alloc(struct agent *agent, struct serial_reader *reader)
{
    const uint64_t bytes = serial_get_u64(reader);
    const uint32_t alignment = serial_get_u32(reader);
    enum serial_result result;
    uint16_t number = 0;

    if (bytes == 0 || alignment > AGENT_ALIGNMENT_MAX || (alignment & (alignment - 1)) != 0)
        return SERIAL_RESULT_MALFORMED;
    result = agent_memory_alloc(&agent->memory, bytes, alignment, &number);
    if (result != SERIAL_RESULT_DONE)
        return result;
    serial_put_u16(&agent->reply, number);
    serial_put_u64(&agent->reply, (uintptr_t)agent_memory_at(&agent->memory, number, 0, 0));
    return SERIAL_RESULT_DONE;
}

static enum serial_result free_buffer(struct agent *agent, struct serial_reader *reader)
{
    const uint16_t number = serial_get_u16(reader);
    struct agent_buffer *buffer = agent_memory_buffer(&agent->memory, number);

    if (buffer && agent_transfers_use(&agent->transfers, number))
        return SERIAL_RESULT_BUSY;
    if (buffer)
        buffer->bytes = 0;
    return buffer ? SERIAL_RESULT_DONE : SERIAL_RESULT_NO_BUFFER;
}

static enum serial_result write(struct agent *agent, struct serial_reader *reader)
{
    const uint16_t number = serial_get_u16(reader);
    const uint64_t offset = serial_get_u64(reader);
    const size_t count = (size_t)(reader->end - reader->at);
    const uint8_t *bytes = serial_get_bytes(reader, count);
    uint8_t *to = agent_memory_at(&agent->memory, number, offset, count);

    if (to && bytes)
        memcpy(to, bytes, count);
    return to && bytes ? SERIAL_RESULT_DONE : SERIAL_RESULT_NO_BUFFER;
}

static enum serial_result read(struct agent *agent, struct serial_reader *reader)
{
    const uint16_t number = serial_get_u16(reader);
    const uint64_t offset = serial_get_u64(reader);
    const uint16_t count = serial_get_u16(reader);
    const uint8_t *from = agent_memory_at(&agent->memory, number, offset, count);

    if (count > READ_BYTES_MAX)
        return SERIAL_RESULT_MALFORMED;
    if (from)
        serial_put_bytes(&agent->reply, from, count);
    return from ? SERIAL_RESULT_DONE : SERIAL_RESULT_NO_BUFFER;
}

static enum serial_result fill(struct agent *agent, struct serial_reader *reader)
{
    const uint16_t number = serial_get_u16(reader);
    const uint64_t offset = serial_get_u64(reader), count = serial_get_u64(reader);
    const uint8_t value = serial_get_u8(reader);
    uint8_t *to = agent_memory_at(&agent->memory, number, offset, count);

    if (to)
        memset(to, value, (size_t)count);
    return to ? SERIAL_RESULT_DONE : SERIAL_RESULT_NO_BUFFER;
}

static enum serial_result digest(struct agent *agent, struct serial_reader *reader)
{
    const uint16_t number = serial_get_u16(reader);
    const uint64_t offset = serial_get_u64(reader), count = serial_get_u64(reader);
    const uint32_t begin = serial_get_u32(reader);
    const uint8_t *from = agent_memory_at(&agent->memory, number, offset, count);

    if (from)
        serial_put_u32(&agent->reply, serial_crc32(begin, from, (size_t)count));
    return from ? SERIAL_RESULT_DONE : SERIAL_RESULT_NO_BUFFER;
}

static enum serial_result start_transfer(struct agent *agent, struct serial_reader *reader)
{
    static struct serial_move move; /* too large for the stack of a small board */
    enum serial_result result = SERIAL_RESULT_MALFORMED;
    mli_status status = MLI_STATUS_OK;
    uint8_t number = 0;

    if (serial_move_get(reader, &move))
        result = agent_transfer_start(&agent->transfers, &agent->memory, &move, &number, &status);
    if (result == SERIAL_RESULT_REFUSED)
        return refuse(agent, status);
    if (result != SERIAL_RESULT_DONE)
        return result;
    serial_put_u8(&agent->reply, number);
    serial_tensor_put(&agent->reply, &move.dst);
    return SERIAL_RESULT_DONE;
}

/* Answers status, wait and cancel. */
static enum serial_result answer_status(struct agent *agent, struct serial_reader *reader)
{
    struct agent_transfer *transfer = agent_transfer_find(&agent->transfers, serial_get_u8(reader));
    uint32_t wait_ms = agent->kind == SERIAL_WAIT ? serial_get_u16(reader) : 0;
    struct serial_status status;

    if (!transfer)
        return SERIAL_RESULT_NO_TRANSFER;
    if (agent->kind == SERIAL_CANCEL)
        agent_transfer_cancel(transfer);
    wait_ms = wait_ms < WAIT_MS_MAX ? wait_ms : WAIT_MS_MAX;
    agent_transfer_status(&agent->transfers, transfer, wait_ms, &status);
    serial_status_put(&agent->reply, &status);
    return SERIAL_RESULT_DONE;
}

static enum serial_result release(struct agent *agent, struct serial_reader *reader)
{
    struct agent_transfer *transfer = agent_transfer_find(&agent->transfers, serial_get_u8(reader));

    if (!transfer)
        return SERIAL_RESULT_NO_TRANSFER;
    return agent_transfer_release(transfer) ? SERIAL_RESULT_DONE : SERIAL_RESULT_BUSY;
}

static enum serial_result stats(struct agent *agent, struct serial_reader *reader)
{
    mli_mov_channel_stats counters;
    const mli_status status = mli_mov_get_channel_stats(serial_get_u8(reader), &counters);

    if (status != MLI_STATUS_OK)
        return refuse(agent, status);
    serial_stats_put(&agent->reply, &counters);
    return SERIAL_RESULT_DONE;
}

/*
 * Chooses the engine. If the library refuses it, chooses the port's engine with all its channels
 * again.
 */
static enum serial_result engine(struct agent *agent, struct serial_reader *reader)
{
    static char spec[SERIAL_SPEC_MAX];
    const uint32_t wanted = serial_get_u8(reader);
    const uint32_t most = most_channels(wanted ? wanted : agent->port->channels);
    mli_status status;

    serial_get_text(reader, spec, sizeof(spec));
    if (agent_transfers_any(&agent->transfers))
        return SERIAL_RESULT_BUSY;
    (void)mli_mov_set_num_dma_ch(0, 0);
    status = mli_mov_set_engine(*spec ? spec : agent->port->engine);
    if (status == MLI_STATUS_OK && !fill_pool(most))
        status = MLI_STATUS_NOT_ENGH_MEM;
    if (status != MLI_STATUS_OK) {
        refuse(agent, status);
        (void)mli_mov_set_engine(agent->port->engine);
        fill_pool(most_channels(agent->port->channels));
        agent->channels = count_channels();
        return SERIAL_RESULT_REFUSED;
    }
    agent->channels = count_channels();
    serial_put_u8(&agent->reply, agent->channels);
    serial_put_text(&agent->reply, mli_mov_engine_name());
    return SERIAL_RESULT_DONE;
}

static enum serial_result engines(struct agent *agent, struct serial_reader *reader)
{
    const char *name = mli_mov_engine_at(serial_get_u8(reader));

    serial_put_text(&agent->reply, name ? name : "");
    return SERIAL_RESULT_DONE;
}

static enum serial_result handle(struct agent *agent, struct serial_reader *reader)
{
    static enum serial_result (*const handlers[])(struct agent *, struct serial_reader *) = {
        [SERIAL_HELLO] = hello,
        [SERIAL_RESET] = reset,
        [SERIAL_ALLOC] = alloc,
        [SERIAL_FREE] = free_buffer,
        [SERIAL_WRITE] = write,
        [SERIAL_READ] = read,
        [SERIAL_FILL] = fill,
        [SERIAL_DIGEST] = digest,
        [SERIAL_START] = start_transfer,
        [SERIAL_STATUS] = answer_status,
        [SERIAL_WAIT] = answer_status,
        [SERIAL_CANCEL] = answer_status,
        [SERIAL_RELEASE] = release,
        [SERIAL_STATS] = stats,
        [SERIAL_ENGINE] = engine,
        [SERIAL_ENGINES] = engines,
    };

    if (agent->kind >= sizeof(handlers) / sizeof(handlers[0]) || !handlers[agent->kind])
        return SERIAL_RESULT_MALFORMED;
    reply(agent, SERIAL_RESULT_DONE);
    return handlers[agent->kind](agent, reader);
}

/* Handles a new request, and keeps its reply for a repetition of the request. */
static void answer(struct agent *agent, const struct serial_received *request)
{
    struct serial_reader reader = serial_reader_init(request);
    enum serial_result result;

    agent->kind = request->kind;
    agent->sequence = request->sequence;
    agent->answered = false;
    if (request->version != SERIAL_VERSION && request->kind != SERIAL_HELLO)
        result = SERIAL_RESULT_MALFORMED;
    else if (request->kind != SERIAL_HELLO && (agent->boot == 0 || request->boot != agent->boot))
        result = SERIAL_RESULT_BOOT;
    else
        result = handle(agent, &reader);
    if (reader.failed)
        result = SERIAL_RESULT_MALFORMED;
    if (result != SERIAL_RESULT_DONE && result != SERIAL_RESULT_REFUSED)
        reply(agent, result);
    agent->answered = serial_packet_end(&agent->reply);
    if (agent->answered)
        send(agent, &agent->reply);
}

static bool came_before(const struct agent *agent, const struct serial_received *request)
{
    return agent->answered && request->kind == agent->kind &&
           request->sequence == agent->sequence && request->kind != SERIAL_HELLO &&
           request->boot == agent->boot;
}

/* Reports a damaged frame, so that the peer does not have to wait for its timeout. */
static void complain(struct agent *agent)
{
    static struct serial_packet packet;

    serial_packet_begin(&packet, SERIAL_DAMAGED, 0, agent->boot);
    if (serial_packet_end(&packet))
        send(agent, &packet);
}

bool agent_poll(struct agent *agent)
{
    struct serial_received request;
    int byte = agent->port->get(agent->port->context);

    if (byte < 0) {
        (void)mli_mov_poll();
        return false;
    }
    for (; byte >= 0; byte = agent->port->get(agent->port->context)) {
        const enum serial_event event = serial_decode(&agent->in, (uint8_t)byte, &request);

        if (event == SERIAL_NOTHING)
            continue;
        if (event == SERIAL_GARBAGE)
            complain(agent);
        else if (request.kind & SERIAL_REPLY)
            continue; /* the line sends the agent's own frames back */
        else if (came_before(agent, &request))
            send(agent, &agent->reply);
        else
            answer(agent, &request);
        break;
    }
    return true;
}
