/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/boards/pl330_model.h"

#include <string.h>

#include "tests/unit/boards/bus_windows.h"

enum { CHANNELS = 8, EVENTS = 16, BUS_BYTES = 8, BURST_MAX = 16 * BUS_BYTES };
enum { LATE = 24, QUEUE_MAX = LATE + 1 };
enum { STOPPED = 0, EXECUTING = 1, WAITING = 4, FAULTING = 15 };
enum {
    FAULT_UNDEFINED = 1 << 0,
    FAULT_OPERAND = 1 << 1,
    FAULT_SECURITY = 1 << 7,
    FAULT_STORE = 1 << 13,
    FAULT_WRITE = 1 << 17,
    FAULT_READ = 1 << 18,
};

/* A load or store whose result, success or a bus error, is not known yet. */
struct access {
    uint32_t age; /* instructions since the access began */
    uint32_t address, bytes;
    bool store;
    uint8_t data[BURST_MAX];
};

struct thread {
    uint32_t state, fault;
    uint32_t pc, sar, dar, ccr;
    uint8_t counter[2];
    uint8_t fifo[BURST_MAX];
    uint32_t held; /* bytes in the FIFO */
    struct access queue[QUEUE_MAX];
    uint32_t queued;
    bool nonsecure;
};

struct pl330_model pl330_model;

static struct thread threads[CHANNELS];
static uint32_t inten, pending; /* events */
static uint32_t inst0, inst1, manager_fault;
static const char *complaint;
static bool locked, handling;

static struct {
    const uint8_t *at;
    size_t bytes;
} poison;

static void complain(const char *what)
{
    if (!complaint)
        complaint = what;
}

const char *pl330_model_complaint(void)
{
    return complaint;
}

static uint64_t bus_address(const void *memory)
{
    uint64_t bus;

    if (!bus_windows_address(memory, &bus))
        complain("memory in too many windows");
    return bus + (pl330_model.far ? UINT64_C(1) << 32 : 0);
}

static bool is_poisoned(uint32_t address, uint32_t bytes)
{
    const uint8_t *at = bus_windows_memory(address);

    return poison.bytes > 0 && at < poison.at + poison.bytes && poison.at < at + bytes;
}

void pl330_model_poison(const void *memory, size_t bytes)
{
    poison.at = memory;
    poison.bytes = bytes;
}

static void fault(struct thread *t, uint32_t type)
{
    t->fault |= type;
    t->state = FAULTING;
    t->queued = 0;
    t->held = 0;
}

/* Ends the oldest access. */
static void complete(struct thread *t)
{
    const struct access access = t->queue[0];

    memmove(t->queue, t->queue + 1, --t->queued * sizeof(t->queue[0]));
    if (is_poisoned(access.address, access.bytes)) {
        if (pl330_model.errors > 0 && --pl330_model.errors == 0)
            poison.bytes = 0;
        fault(t, access.store ? FAULT_WRITE : FAULT_READ);
    } else if (access.store) {
        memcpy(bus_windows_memory(access.address), access.data, access.bytes);
    }
}

/* Ends the accesses that began at least `age` instructions ago. */
static void complete_older(struct thread *t, uint32_t age)
{
    while (t->state != FAULTING && t->queued > 0 && t->queue[0].age >= age)
        complete(t);
}

static struct access *add_access(struct thread *t, uint32_t address, uint32_t bytes, bool store)
{
    struct access *access = &t->queue[t->queued++];

    *access = (struct access){.address = address, .bytes = bytes, .store = store};
    return access;
}

static uint32_t number(uint32_t address, uint32_t bytes)
{
    uint32_t value = 0;

    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint32_t)*bus_windows_memory(address + i) << 8 * i;
    return value;
}

/* Returns the size in bytes of a burst of the side whose fields begin at bit `at` of CCR. */
static uint32_t burst_bytes(const struct thread *t, unsigned bit, uint32_t address)
{
    const uint32_t size = 1u << (t->ccr >> (bit + 1) & 7);
    const uint32_t bytes = size * ((t->ccr >> (bit + 4) & 15) + 1);

    if (!(t->ccr >> bit & 1) || size > BUS_BYTES || address % size != 0)
        complain("a burst with a fixed address, wider than the bus, or misaligned");
    if (address % 4096 + bytes > 4096)
        complain("a burst crosses 4 KiB");
    return bytes < BURST_MAX ? bytes : BURST_MAX;
}

static void load(struct thread *t)
{
    const uint32_t bytes = burst_bytes(t, 0, t->sar);

    if (t->held > 0)
        complain("a load before the former one is stored");
    add_access(t, t->sar, bytes, false);
    memcpy(t->fifo, bus_windows_memory(t->sar), bytes);
    pl330_model.loaded += bytes;
    t->held = bytes;
    t->sar += bytes;
}

static void store(struct thread *t, bool zeros)
{
    const uint32_t bytes = burst_bytes(t, 14, t->dar);
    struct access *access;

    if (!zeros && t->held != bytes) {
        fault(t, FAULT_STORE);
        return;
    }
    access = add_access(t, t->dar, bytes, true);
    if (!zeros) {
        memcpy(access->data, t->fifo, bytes);
        t->held = 0;
    }
    t->dar += bytes;
}

static void move_register(struct thread *t)
{
    const uint32_t value = number(t->pc + 2, 4);

    switch (number(t->pc + 1, 1)) {
    case 0:
        t->sar = value;
        break;
    case 1:
        if (t->nonsecure && (value & 1u << 9) == 0)
            fault(t, FAULT_SECURITY);
        t->ccr = value;
        break;
    case 2:
        t->dar = value;
        break;
    default:
        fault(t, FAULT_OPERAND);
    }
}

static void add(struct thread *t, uint32_t opcode)
{
    const uint32_t value = number(t->pc + 1, 2) | (opcode & 8 ? 0xffff0000u : 0);

    if (opcode & 2)
        t->dar += value;
    else
        t->sar += value;
}

/* Executes DMAWFE for an event that raises no interrupt. */
static bool wait_for_event(struct thread *t)
{
    const uint32_t event = number(t->pc + 1, 1) >> 3;

    if (event >= EVENTS || inten >> event & 1) {
        fault(t, FAULT_OPERAND);
        return true;
    }
    t->state = pending >> event & 1 ? EXECUTING : WAITING;
    if (t->state == WAITING)
        return false;
    pending &= ~(1u << event);
    return true;
}

static void send_event(struct thread *t, uint32_t event)
{
    if (event < EVENTS)
        pending |= 1u << event;
    else
        fault(t, FAULT_OPERAND);
}

/* Executes an instruction. The program counter stays at an instruction with a fault. */
static void execute(struct thread *t)
{
    const uint32_t opcode = number(t->pc, 1);
    uint32_t next = t->pc + 1;

    switch (opcode) {
    case 0x00: /* DMAEND */
        complete_older(t, 0);
        t->state = t->state == FAULTING ? FAULTING : STOPPED;
        break;
    case 0x04:
        load(t);
        break;
    case 0x08:
    case 0x0c:
        store(t, opcode == 0x0c);
        break;
    case 0x13: /* DMAWMB */
        complete_older(t, 0);
        break;
    case 0x20:
    case 0x22: /* DMALP */
        t->counter[opcode >> 1 & 1] = (uint8_t)number(t->pc + 1, 1);
        next++;
        break;
    case 0x34:
        send_event(t, number(t->pc + 1, 1) >> 3);
        next++;
        break;
    case 0x36:
        next = wait_for_event(t) ? next + 1 : t->pc;
        break;
    case 0x38:
    case 0x3c: /* DMALPEND */
        next = t->counter[opcode >> 2 & 1] > 0 ? t->pc - number(t->pc + 1, 1) : next + 1;
        t->counter[opcode >> 2 & 1] -= t->counter[opcode >> 2 & 1] > 0;
        break;
    case 0x54:
    case 0x56:
    case 0x5c:
    case 0x5e:
        add(t, opcode);
        next += 2;
        break;
    case 0xbc:
        move_register(t);
        next += 5;
        break;
    default:
        fault(t, FAULT_UNDEFINED);
    }
    if (t->state != FAULTING)
        t->pc = next;
}

static void pass(struct thread *t)
{
    if (t->state != EXECUTING && t->state != WAITING)
        return;
    for (uint32_t i = 0; i < t->queued; i++)
        t->queue[i].age++;
    complete_older(t, LATE);
    if (t->state != FAULTING)
        execute(t);
}

static uint32_t faulting(void)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < CHANNELS; i++)
        bits |= (uint32_t)(threads[i].state == FAULTING) << i;
    return bits;
}

/* Handles interrupts until none is active: they are level-sensitive. */
static void interrupt(void)
{
    uint32_t most = 1000;

    if (!pl330_model.interrupts || locked || handling)
        return;
    handling = true;
    while ((pending & inten || faulting() || manager_fault) && most-- > 0) {
        pl330_model.handled++;
        pl330_interrupt();
    }
    if (most == UINT32_MAX)
        complain("an interrupt for ever");
    handling = false;
}

static void let_time_pass(uint32_t instructions)
{
    for (uint32_t i = 0; i < instructions; i++)
        for (uint32_t n = 0; n < CHANNELS; n++)
            pass(&threads[n]);
}

void pl330_model_run(uint32_t instructions)
{
    let_time_pass(instructions);
    interrupt();
}

/* Executes the instruction of the debug registers. */
static void debug(void)
{
    const uint32_t opcode = inst0 >> 16 & 0xff, operand = inst0 >> 24;
    struct thread *t = &threads[inst0 >> 8 & 7];

    if ((inst0 & 1) == 0 && opcode == 0x01) {
        manager_fault = 0;
    } else if (inst0 & 1 && opcode == 0x01) {
        if (pl330_model.immune)
            return;
        /* Drops the stores that have not begun. */
        if (t->queued > 0 && t->state != FAULTING)
            complete(t);
        t->state = STOPPED;
        t->fault = 0;
        t->queued = 0;
        t->held = 0;
    } else if ((inst0 & 1) == 0 && opcode == 0x34) {
        send_event(t, operand >> 3);
    } else if ((inst0 & 1) == 0 && (opcode & 0xfd) == 0xa0) {
        t = &threads[operand & 7];
        if (pl330_model.refuses || (pl330_model.nonsecure && !(opcode & 2))) {
            manager_fault = 1 << 4;
        } else if (t->state == STOPPED) {
            *t = (struct thread){.state = EXECUTING, .pc = inst1, .nonsecure = opcode & 2};
            pl330_model.programs++;
        }
    } else {
        complain("an instruction that the debug registers do not have");
    }
}

static uint32_t read_channel(uint32_t offset)
{
    const struct thread *t = &threads[(offset - 0x400) / 0x20];

    switch (offset % 0x20) {
    case 0x00:
        return t->sar;
    case 0x04:
        return t->dar;
    case 0x08:
        return t->ccr;
    case 0x0c:
        return t->counter[0];
    default:
        return t->counter[1];
    }
}

static uint32_t read_register(uint32_t offset)
{
    if (offset == 0x028 || offset == 0x034 || (offset >= 0x100 && offset < 0x140))
        let_time_pass(pl330_model.pace);
    if (offset >= 0x040 && offset < 0x060)
        return threads[(offset - 0x040) / 4].fault;
    if (offset >= 0x100 && offset < 0x140)
        return offset % 8 ? threads[(offset - 0x100) / 8].pc : threads[(offset - 0x100) / 8].state;
    if (offset >= 0x400 && offset < 0x500)
        return read_channel(offset);
    switch (offset) {
    case 0x000:
        return pl330_model.nonsecure ? 1u << 9 : 0;
    case 0x020:
        return inten;
    case 0x024:
        return pending;
    case 0x028:
        return pending & inten;
    case 0x030:
        return manager_fault != 0;
    case 0x034:
        return faulting();
    case 0x038:
        return manager_fault;
    case 0xd00:
        return 0;
    case 0xe00:
        return (CHANNELS - 1) << 4 | (EVENTS - 1) << 17;
    case 0xe14:
        return 3 | 127u << 20; /* data bus of 64 bits, FIFO of 128 lines */
    case 0xfe0:
        return 0x30;
    case 0xfe4:
        return 0x13;
    default:
        complain("a read of an unknown register");
        return 0;
    }
}

static void write_register(uint32_t offset, uint32_t value)
{
    if (!locked)
        complain("a write without the lock");
    if (offset == 0x020)
        inten = value;
    else if (offset == 0x02c)
        pending &= ~(value & inten);
    else if (offset == 0xd04)
        debug();
    else if (offset == 0xd08)
        inst0 = value;
    else if (offset == 0xd0c)
        inst1 = value;
    else
        complain("a write to an unknown register");
}

static uintptr_t lock(void)
{
    if (locked)
        complain("the lock is taken twice");
    locked = true;
    return 0;
}

static bool executing(void)
{
    bool any = false;

    for (uint32_t i = 0; i < CHANNELS; i++)
        any = any || threads[i].state == EXECUTING;
    return any;
}

static void unlock(uintptr_t before)
{
    (void)before;
    locked = false;
    while (pl330_model.instant && executing())
        let_time_pass(1);
    interrupt();
}

void pl330_model_reset(void)
{
    static const struct pl330_platform platform = {
        .read = read_register, .write = write_register, .lock = lock, .unlock = unlock};
    static const struct mli_platform addresses = {.size = sizeof(addresses),
                                                  .bus_address = bus_address};

    memset(threads, 0, sizeof(threads));
    bus_windows_reset();
    pl330_model = (struct pl330_model){.pace = 16};
    inten = pending = manager_fault = 0;
    complaint = NULL;
    pl330_model_poison(NULL, 0);
    (void)mli_mov_set_platform(&addresses);
    pl330_set_platform(&platform);
}
