/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent as the program of a board: the console is the line to mlictl. */
#include "boards/firmware/agent/agent.h"
#include "boards/firmware/board.h"

enum { RECEIVED_MAX = 256, PAUSE_LOOPS = 1000 };

/* Bytes of the console that were read and not yet taken. */
static uint8_t received[RECEIVED_MAX];
static size_t begin, end;

/* Waits less than the time of a byte at 921600 baud. Without the pause, the reads of an empty UART
 * keep QEMU from delivering bytes to it. */
static void pause(void)
{
    for (volatile uint32_t i = 0; i < PAUSE_LOOPS; i++)
        ;
}

static int get(void *context)
{
    (void)context;
    if (begin == end) {
        begin = 0;
        end = board_read(received, sizeof(received));
        if (end == 0)
            pause();
    }
    return begin < end ? received[begin++] : -1;
}

static void put(void *context, const uint8_t *bytes, size_t size)
{
    (void)context;
    board_write(bytes, size);
}

int main(void)
{
    static struct agent agent;
    const struct board_memory memory = board_memory();
    const struct agent_port port = {.board = board_name,
                                    .engine = board_engine->name,
                                    .channels = MLI_MOV_MAX_CHANNELS,
                                    .memory = memory.base,
                                    .memory_bytes = memory.bytes,
                                    .get = get,
                                    .put = put,
                                    .now_ns = board_time_ns};

    (void)mli_mov_add_engine(board_engine); /* an error shows in the reply to hello: its engine */
    (void)agent_init(&agent, &port);
    (void)board_interrupts(true);
    for (;;)
        (void)agent_poll(&agent);
}
