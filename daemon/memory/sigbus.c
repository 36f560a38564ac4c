/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/sigbus.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/seam.h"

/*
 * While the handler runs, the guard of the range that was accessed cannot end. Other guards may
 * start and end: `changes` is odd while a range is being written, and the handler skips a range
 * whose `changes` is odd, or changes while the handler reads the range.
 */
struct range {
    unsigned next; /* in a free slot: number of the next free slot + 1; 0: this slot is the last */
    atomic_uint changes;
    atomic_uintptr_t begin, end; /* the guarded range; both 0: no range is guarded */
    atomic_bool hit;
};

enum { BLOCK = 256, BLOCKS = SIGBUS_GUARDS_MAX / BLOCK, EXPECTED_MAX = 2 };

/*
 * Slot s is blocks[s / BLOCK][s % BLOCK]. Blocks are added when all slots are in use, and are never
 * freed, because the handler may read them at any time. Free slots are in two lists, linked by
 * slot + 1: any thread adds to `freed_slots`; take_slot() moves that whole list to `free_slots`.
 */
static struct range first_block[BLOCK];
static _Atomic(struct range *) blocks[BLOCKS] = {first_block};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned free_slots;      /* guarded by the mutex */
static atomic_uint freed_slots;  /* list of slots freed since `free_slots` was filled */
static atomic_uint unused_slots; /* number of the first slot that was never used */

/* Slots of the thread's latest calls of sigbus_guard_expect(); the handler checks them first. */
static _Thread_local unsigned expected[EXPECTED_MAX], expected_next;

static struct sigaction previous;
static uintptr_t page_size;

static struct range *range_at(unsigned slot)
{
    return &atomic_load(&blocks[slot / BLOCK])[slot % BLOCK];
}

/*
 * Replaces the pages from `address` to the end of the range by zeros. Sets the mark first: another
 * thread that reads these zeros works on the same range, and checks the mark afterwards.
 */
static bool replace_pages(struct range *range, unsigned char *address, uintptr_t end)
{
    unsigned char *page = address - ((uintptr_t)address & (page_size - 1));
    void *pages;

    atomic_store(&range->hit, true);
    pages = mmap(page, end - (uintptr_t)page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    return pages != MAP_FAILED;
}

/* Returns the end of the range if the range contains the address, else 0. */
static uintptr_t end_around(struct range *range, uintptr_t at)
{
    const unsigned before = atomic_load(&range->changes);
    const uintptr_t begin = atomic_load(&range->begin);
    const uintptr_t end = atomic_load(&range->end);
    const bool whole = before % 2 == 0 && before == atomic_load(&range->changes);

    return whole && at >= begin && at < end ? end : 0;
}

static bool rescue(unsigned char *address)
{
    const unsigned slots = atomic_load(&unused_slots);

    for (unsigned i = 0; i < slots + EXPECTED_MAX; i++) {
        const unsigned slot = i < EXPECTED_MAX ? expected[i] : i - EXPECTED_MAX;
        const uintptr_t end = end_around(range_at(slot), (uintptr_t)address);

        if (end)
            return replace_pages(range_at(slot), address, end);
    }
    return false;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
    const int saved = errno;

    (void)context;
    /* si_code > 0: the kernel sent the signal, and si_addr is valid. Else it came from kill(2). */
    if (info->si_code <= 0 || !rescue(info->si_addr)) {
        sigaction(SIGBUS, &previous, NULL);
        if (info->si_code <= 0)
            raise(number);
        /* If the signal came from a fault, the instruction now faults again, and the previous
         * disposition handles it. */
    }
    errno = saved;
}

int sigbus_install(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction now;
    int error = 0;

    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&mutex);
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &now) < 0 ||
        (now.sa_sigaction != on_sigbus && sigaction(SIGBUS, &action, &previous) < 0))
        error = -errno;
    pthread_mutex_unlock(&mutex);
    return error;
}

/* Unblocks SIGBUS for the calling thread. Only the first call of a thread is a system call. */
static void unblock(void)
{
    static _Thread_local bool unblocked;
    sigset_t set;

    if (unblocked)
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    unblocked = pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0;
}

static void set_range(struct range *range, uintptr_t begin, uintptr_t end)
{
    atomic_fetch_add(&range->changes, 1);
    atomic_store(&range->begin, begin);
    atomic_store(&range->end, end);
    atomic_fetch_add(&range->changes, 1);
}

/* Allocates a block of slots for guards, and adds the slots to `unused_slots`. The mutex must be
 * held. Returns 0 or -errno. */
static int add_block(void)
{
    const unsigned count = atomic_load(&unused_slots) / BLOCK;
    struct range *block;

    if (count == BLOCKS)
        return -EBUSY;
    block = seam.calloc(BLOCK, sizeof *block);
    if (!block)
        return -ENOMEM;
    atomic_store(&blocks[count], block);
    return 0;
}

unsigned sigbus_blocks(void)
{
    unsigned count = 0;

    while (count + 1 < BLOCKS && atomic_load(&blocks[count + 1]))
        count++;
    return count;
}

/* Returns a freed slot, a new slot, or -errno. The mutex must be held. */
static int take_slot(void)
{
    unsigned slot;
    int error;

    if (free_slots == 0)
        free_slots = atomic_exchange_explicit(&freed_slots, 0, memory_order_acquire);
    if (free_slots > 0) {
        slot = free_slots - 1;
        free_slots = range_at(slot)->next;
        return (int)slot;
    }
    slot = atomic_load(&unused_slots);
    if (slot % BLOCK == 0 && slot > 0) {
        error = add_block();
        if (error < 0)
            return error;
    }
    atomic_store(&unused_slots, slot + 1);
    return (int)slot;
}

/*
 * May run on any thread without the mutex: a thread that ends a transfer must not wait for another
 * thread.
 */
static void give_slot_back(unsigned slot)
{
    unsigned latest = atomic_load_explicit(&freed_slots, memory_order_relaxed);

    do
        range_at(slot)->next = latest;
    while (!atomic_compare_exchange_weak_explicit(&freed_slots, &latest, slot + 1,
                                                  memory_order_release, memory_order_relaxed));
}

int sigbus_guard_init(struct sigbus_guard *guard, void *pages, size_t size)
{
    struct range *range;
    int slot;

    pthread_mutex_lock(&mutex);
    slot = take_slot();
    pthread_mutex_unlock(&mutex);
    guard->slot = slot < 0 ? -1 : slot;
    if (slot < 0)
        return slot;
    range = range_at((unsigned)slot);
    atomic_store(&range->hit, false);
    set_range(range, (uintptr_t)pages, (uintptr_t)pages + size);
    unblock();
    return 0;
}

void sigbus_guard_expect(const struct sigbus_guard *guard)
{
    if (guard->slot < 0)
        return;
    expected[expected_next] = (unsigned)guard->slot;
    expected_next = (expected_next + 1) % EXPECTED_MAX;
}

bool sigbus_guard_hit(const struct sigbus_guard *guard)
{
    return guard->slot >= 0 && atomic_load(&range_at((unsigned)guard->slot)->hit);
}

bool sigbus_guard_finish(struct sigbus_guard *guard)
{
    const int slot = guard->slot;
    struct range *range;
    bool hit;

    if (slot < 0)
        return false;
    range = range_at((unsigned)slot);
    guard->slot = -1;
    set_range(range, 0, 0);
    hit = atomic_load(&range->hit);
    give_slot_back((unsigned)slot);
    return hit;
}
