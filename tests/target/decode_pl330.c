/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arm PrimeCell DMA-330 (PL330): an interpreter of the instructions of a channel thread. Sources:
 * Arm DDI 0424 (instruction set, channel control register) as the drivers of Xilinx and Linux and
 * QEMU's model use it.
 *
 * Bytes that were read and not yet written are in a queue, the MFIFO. Here the queue of a channel
 * holds one longest burst, as with the 8 channels and 128 lines of Zynq-7000. Refused: changing
 * bursts or addresses while bytes are queued, peripherals, events to wait for, and byte swaps.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/target/decoder.h"

enum { BURST_BEATS = 16, BUS_MAX = 16, QUEUE_MAX = BURST_BEATS * BUS_MAX };
enum { AXI_PAGE = 4096 }; /* no burst of AXI crosses a multiple of this number */
enum { RD_SAR, RD_CCR, RD_DAR };

/* One side of a burst, from the channel control register. */
struct burst {
    bool increments;
    uint32_t size, beats;
};

struct thread {
    struct board *board;
    uint32_t pc, sar, dar, ccr;
    uint8_t counter[2];
    struct burst src, dst;
    bool controlled; /* true: the channel control register was written */
    uint8_t queue[QUEUE_MAX];
    uint32_t queued;
    bool ended;
};

static bool bad(struct thread *t, uint32_t pc, const char *what)
{
    return board_fail(t->board, "instruction at 0x%" PRIx32 ": %s", pc, what);
}

static uint32_t bus_bytes(const struct thread *t)
{
    return t->board->profile->dma.bus_bytes;
}

static bool set_control(struct thread *t, uint32_t pc, uint32_t value)
{
    if (bits_of(value, 31, 28) != 0)
        return bad(t, pc, "byte swap");
    t->src =
        (struct burst){value & 1, 1u << bits_of(value, 3, 1), (uint32_t)bits_of(value, 7, 4) + 1};
    t->dst = (struct burst){value >> 14 & 1, 1u << bits_of(value, 17, 15),
                            (uint32_t)bits_of(value, 21, 18) + 1};
    if (t->src.size > bus_bytes(t) || t->dst.size > bus_bytes(t))
        return bad(t, pc, "beats wider than the bus");
    t->controlled = true;
    t->ccr = value;
    return true;
}

/*
 * Returns the number of bytes of a burst, whose first beat is shorter if it is misaligned; 0 after
 * a fault.
 */
static uint32_t burst_bytes(struct thread *t, uint32_t pc, const struct burst *burst,
                            uint32_t address)
{
    uint32_t off;

    if (!t->controlled)
        return bad(t, pc, "a burst before the channel control register is written");
    off = address % burst->size;
    if (off != 0 && !burst->increments)
        return bad(t, pc, "a fixed address that is misaligned");
    if (burst->increments && address % AXI_PAGE + burst->size * burst->beats - off > AXI_PAGE)
        return bad(t, pc, "a burst crosses 4 KiB");
    return burst->size * burst->beats - off;
}

/* Reads a burst. If the address is fixed, every beat reads from the same place. */
static bool load(struct thread *t, uint32_t pc)
{
    const uint32_t bytes = burst_bytes(t, pc, &t->src, t->sar);
    const uint32_t part = t->src.increments ? bytes : t->src.size;

    if (bytes == 0)
        return false;
    if (t->queued + bytes > BURST_BEATS * bus_bytes(t))
        return bad(t, pc, "the MFIFO overflows");
    for (uint32_t i = 0; i < bytes; i += part, t->queued += part)
        if (!board_read(t->board, PROFILE_DMA, t->sar, t->queue + t->queued, part))
            return false;
    t->sar += t->src.increments ? bytes : 0;
    return true;
}

static bool store(struct thread *t, uint32_t pc)
{
    const uint32_t bytes = burst_bytes(t, pc, &t->dst, t->dar);

    if (bytes == 0)
        return false;
    if (!t->dst.increments)
        return bad(t, pc, "a fixed destination");
    if (t->queued < bytes)
        return bad(t, pc, "a store waits for ever: too few bytes are queued");
    if (!board_write(t->board, PROFILE_DMA, t->dar, t->queue, bytes))
        return false;
    t->queued -= bytes;
    memmove(t->queue, t->queue + bytes, t->queued);
    t->dar += bytes;
    return true;
}

static bool store_zeros(struct thread *t, uint32_t pc)
{
    const uint32_t bytes = burst_bytes(t, pc, &t->dst, t->dar);

    if (bytes == 0)
        return false;
    if (!t->dst.increments || t->dar % t->dst.size != 0)
        return bad(t, pc, "zeros to a fixed or misaligned destination");
    if (!board_zero(t->board, t->dar, bytes))
        return false;
    t->dar += bytes;
    return true;
}

static bool move_register(struct thread *t, uint32_t pc)
{
    const uint8_t target = (uint8_t)board_number(t->board, pc + 1, 1);
    const uint32_t value = (uint32_t)board_number(t->board, pc + 2, 4);

    t->pc = pc + 6;
    if (t->queued > 0)
        return bad(t, pc, "DMAMOV while bytes are queued");
    switch (target) {
    case RD_SAR:
        t->sar = value;
        return true;
    case RD_DAR:
        t->dar = value;
        return true;
    case RD_CCR:
        return set_control(t, pc, value);
    default:
        return bad(t, pc, "DMAMOV to an unknown register");
    }
}

/* DMAADDH and DMAADNH. */
static bool add(struct thread *t, uint32_t pc, uint8_t opcode)
{
    const uint32_t value = (uint32_t)board_number(t->board, pc + 1, 2);
    const uint32_t sum = (opcode & 0xfd) == 0x5c ? value | 0xffff0000u : value;

    t->pc = pc + 3;
    if (t->queued > 0)
        return bad(t, pc, "changes an address while bytes are queued");
    if (opcode & 2)
        t->dar += sum;
    else
        t->sar += sum;
    return true;
}

static bool loop_begin(struct thread *t, uint32_t pc, uint8_t opcode)
{
    t->counter[opcode >> 1 & 1] = (uint8_t)board_number(t->board, pc + 1, 1);
    t->pc = pc + 2;
    return true;
}

static bool loop_end(struct thread *t, uint32_t pc, uint8_t opcode)
{
    uint8_t *counter = &t->counter[opcode >> 2 & 1];
    const uint8_t back = (uint8_t)board_number(t->board, pc + 1, 1);

    if (!(opcode & 0x10))
        return bad(t, pc, "a loop without end");
    if (opcode & 3)
        return bad(t, pc, "a loop that depends on a peripheral");
    t->pc = *counter != 0 ? pc - back : pc + 2;
    *counter -= *counter != 0;
    return true;
}

static bool send_event(struct thread *t, uint32_t pc)
{
    t->pc = pc + 2;
    if (board_number(t->board, pc + 1, 1) & 7)
        return bad(t, pc, "DMASEV with reserved bits");
    return true;
}

static bool end(struct thread *t, uint32_t pc)
{
    t->ended = true;
    return t->queued == 0 || bad(t, pc, "DMAEND while bytes are queued");
}

static bool instruction(struct thread *t)
{
    const uint32_t pc = t->pc;
    const uint8_t opcode = (uint8_t)board_number(t->board, pc, 1);

    if (t->board->fault[0] != '\0')
        return false;
    t->pc = pc + 1;
    switch (opcode) {
    case 0x00:
        return end(t, pc);
    case 0x04:
        return load(t, pc);
    case 0x08:
        return store(t, pc);
    case 0x0c:
        return store_zeros(t, pc);
    case 0x12: /* DMARMB */
    case 0x13: /* DMAWMB */
    case 0x18: /* DMANOP */
        return true;
    case 0x20:
    case 0x22:
        return loop_begin(t, pc, opcode);
    case 0x34:
        return send_event(t, pc);
    case 0x54:
    case 0x56:
    case 0x5c:
    case 0x5e:
        return add(t, pc, opcode);
    case 0xbc:
        return move_register(t, pc);
    default:
        if ((opcode & 0xe8) == 0x28)
            return loop_end(t, pc, opcode);
        return board_fail(t->board, "instruction at 0x%" PRIx32 ": opcode 0x%02x", pc, opcode);
    }
}

static bool chain(struct board *board, uint64_t first, uint64_t *executed)
{
    struct thread t = {.board = board, .pc = (uint32_t)first};

    *executed = 0;
    if (first > UINT32_MAX)
        return board_fail(board, "a program at 0x%" PRIx64 ", beyond 32 bits", first);
    while (!t.ended)
        if (!instruction(&t) || board->fault[0] != '\0')
            return false;
    return true;
}

const struct decoder decode_pl330 = {.kind = PROFILE_PL330, .name = "pl330", .chain = chain};
