/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debug registers execute an instruction in place of a thread. All threads and the interrupt
 * handler share them, and lock() protects them. Static functions are called between lock() and
 * unlock().
 */
#include "boards/drivers/pl330/pl330_device.h"

#include <stdatomic.h>

#include "boards/drivers/pl330/pl330_registers.h"

enum {
    BEATS_MAX = 16,     /* beats of a burst */
    STOP_READS = 100000 /* reads of a status register until a thread has stopped for certain */
};

struct pl330_platform pl330_platform;

/* Properties of the controller, from its configuration registers. */
static struct {
    uint32_t threads;
    struct pl330_bus bus;
    bool nonsecure;
} found;

/* The reports of the threads. */
static struct {
    atomic_bool ended, faulted;
    uint32_t counter;         /* loop counter 1 at the fault */
    struct pl330_fault fault; /* the last fault */
} reports[PL330_CHANNELS_MAX];

static uint32_t get(uint32_t offset)
{
    if (pl330_platform.read)
        return pl330_platform.read(offset);
    return *(volatile uint32_t *)(pl330_platform.base + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    if (pl330_platform.write)
        pl330_platform.write(offset, value);
    else
        *(volatile uint32_t *)(pl330_platform.base + offset) = value;
}

static uintptr_t lock(void)
{
    return pl330_platform.lock ? pl330_platform.lock() : 0;
}

static void unlock(uintptr_t before)
{
    if (pl330_platform.unlock)
        pl330_platform.unlock(before);
}

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Reads the configuration. The longest burst is a share of the FIFO for each thread. */
static void read_configuration(void)
{
    const uint32_t cr0 = get(PL330_CR0), crd = get(PL330_CRD);
    const uint32_t threads = (cr0 >> 4 & 7) + 1, events = (cr0 >> 17 & 31) + 1;
    const uint32_t lines = (crd >> 20 & 0x3ff) + 1;
    uint32_t burst;

    found.nonsecure = get(PL330_DSR) & PL330_DSR_NONSECURE;
    found.threads = lesser(threads, events);
    found.bus.bytes = 1u << (crd & 7);
    burst = lesser(lines / threads, BEATS_MAX) * found.bus.bytes;
    while (burst & (burst - 1))
        burst &= burst - 1;
    found.bus.burst_bytes = burst > 0 ? burst : 1;
    found.bus.zero_barriers = pl330_platform.zero_barriers;
    found.bus.control = found.nonsecure ? PL330_CCR_NONSECURE : 0;
}

uint32_t pl330_device_probe(void)
{
    uint32_t part;

    if (!pl330_platform.base && !pl330_platform.read)
        return 0;
    part = (get(PL330_PERIPH_ID0) & 0xff) | (get(PL330_PERIPH_ID1) & 0xf) << 8;
    if (part != PL330_PART_NUMBER)
        return 0;
    read_configuration();
    return found.threads;
}

const struct pl330_bus *pl330_device_bus(void)
{
    return &found.bus;
}

uint32_t pl330_device_spare_event(uint32_t thread)
{
    return found.threads + thread;
}

static uint32_t state_of(uint32_t thread)
{
    return get(PL330_CSR(thread)) & PL330_STATE_MASK;
}

/* Executes an instruction by the debug registers, which all threads share. */
static void debug(uint32_t inst0, uint32_t inst1)
{
    set(PL330_DBGINST0, inst0);
    set(PL330_DBGINST1, inst1);
    set(PL330_DBGCMD, 0);
    for (uint32_t i = 0; i < STOP_READS && get(PL330_DBGSTATUS) & 1; i++)
        ;
}

/* Waits until a thread reaches a state. Returns false if it does not for a long time. */
static bool reaches(uint32_t thread, uint32_t state)
{
    for (uint32_t i = 0; i < STOP_READS; i++) {
        if (state_of(thread) == state)
            return true;
    }
    return false;
}

/* Stops a thread in any state. Returns false if it does not stop. */
static bool kill(uint32_t thread)
{
    debug(PL330_DEBUG(PL330_DMAKILL, 0) | PL330_DEBUG_CHANNEL(thread), 0);
    return reaches(thread, PL330_STOPPED);
}

/* Records the registers of a thread that has a fault, and stops the thread. */
static void record_fault(uint32_t thread)
{
    (void)reaches(thread, PL330_FAULTING); /* accesses to memory that have begun are completed */
    reports[thread].counter = get(PL330_LC1(thread));
    reports[thread].fault = (struct pl330_fault){
        .type = get(PL330_FTR(thread)),
        .pc = get(PL330_CPC(thread)),
        .sar = get(PL330_SAR(thread)),
        .dar = get(PL330_DAR(thread)),
    };
    (void)kill(thread);
    atomic_store_explicit(&reports[thread].faulted, true, memory_order_release);
}

static uint32_t observe(uint32_t threads)
{
    const uint32_t faults = get(PL330_FSRC) & threads, events = get(PL330_INTMIS) & threads;

    for (uint32_t i = 0; i < found.threads; i++) {
        if (faults >> i & 1)
            record_fault(i);
        if (events >> i & 1)
            atomic_store_explicit(&reports[i].ended, true, memory_order_release);
    }
    if (events)
        set(PL330_INTCLR, events);
    return faults | events;
}

uint32_t pl330_device_observe(uint32_t threads)
{
    const uintptr_t former = lock();
    const uint32_t reported = observe(threads);

    unlock(former);
    return reported;
}

void pl330_device_send(uint32_t event)
{
    const uintptr_t former = lock();

    debug(PL330_DEBUG(PL330_DMASEV, event << 3), 0);
    unlock(former);
}

bool pl330_thread_open(uint32_t thread)
{
    const uintptr_t former = lock();
    const bool stopped = state_of(thread) == PL330_STOPPED || kill(thread);

    reports[thread].fault = (struct pl330_fault){0};
    set(PL330_INTCLR, 1u << thread);
    set(PL330_INTEN, get(PL330_INTEN) | 1u << thread);
    unlock(former);
    return stopped;
}

void pl330_thread_close(uint32_t thread)
{
    const uintptr_t former = lock();

    set(PL330_INTEN, get(PL330_INTEN) & ~(1u << thread));
    unlock(former);
}

/* A DMAGO that is refused is a fault of the manager thread. */
bool pl330_thread_start(uint32_t thread, uint32_t program)
{
    const uint32_t go = PL330_DMAGO | (found.nonsecure ? PL330_DMAGO_NONSECURE : 0);
    const uintptr_t former = lock();
    bool refused;

    atomic_store_explicit(&reports[thread].ended, false, memory_order_relaxed);
    atomic_store_explicit(&reports[thread].faulted, false, memory_order_relaxed);
    debug(PL330_DEBUG(go, thread), program);
    refused = get(PL330_FSRD) & 1;
    if (refused) {
        reports[thread].fault = (struct pl330_fault){.type = get(PL330_FTRD)};
        debug(PL330_DEBUG(PL330_DMAKILL, 0), 0);
    }
    unlock(former);
    return !refused;
}

void pl330_thread_finish(uint32_t thread)
{
    (void)reaches(thread, PL330_STOPPED); /* DMAEND follows DMASEV */
}

bool pl330_thread_kill(uint32_t thread, struct pl330_position *at)
{
    const uintptr_t former = lock();
    bool killed;

    at->waits = state_of(thread) == PL330_WAITING_FOR_EVENT;
    at->pc = get(PL330_CPC(thread));
    at->counter = get(PL330_LC1(thread));
    killed = kill(thread);
    (void)observe(1u << thread);
    unlock(former);
    return killed;
}

enum pl330_report pl330_thread_report(uint32_t thread)
{
    if (atomic_load_explicit(&reports[thread].ended, memory_order_acquire))
        return PL330_ENDED;
    return atomic_load_explicit(&reports[thread].faulted, memory_order_acquire) ? PL330_FAULTED
                                                                                : PL330_NOTHING;
}

struct pl330_position pl330_thread_fault(uint32_t thread, struct pl330_fault *fault)
{
    const uintptr_t former = lock();
    const struct pl330_position at = {reports[thread].fault.pc, reports[thread].counter, false};

    *fault = reports[thread].fault;
    unlock(former);
    return at;
}
