/* SPDX-License-Identifier: BSD-3-Clause */
#include "sigbus.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "seam.h"

/*
 * The handler runs between sigbus_guard_init() and _finish() of whoever works on the range that
 * was touched, so that one holds still. Others may come and go meanwhile: `changes` is odd while a
 * range is being written, and a reader that sees it odd or sees it move looks at none of his.
 */
struct range {
    atomic_bool taken;
    atomic_uint changes;
    atomic_uintptr_t begin, end; /* both 0: nothing is guarded */
    atomic_bool hit;
};

enum { BLOCK = 256, BLOCKS = SIGBUS_GUARDS_MAX / BLOCK };

/*
 * Slot s is blocks[s / BLOCK][s % BLOCK]. Blocks are added when all slots are taken, and never
 * freed: the handler may be looking at them at any time.
 */
static struct range first_block[BLOCK];
static _Atomic(struct range *) blocks[BLOCKS] = {first_block};
static atomic_uint block_count = 1;
static atomic_uint next_slot; /* where the search for a free one begins */

static struct sigaction previous;
static uintptr_t page_size;

static struct range *range_at(unsigned slot)
{
    return &atomic_load(&blocks[slot / BLOCK])[slot % BLOCK];
}

/*
 * Everything from the page of `address` to the end of the range becomes zeros. The mark comes
 * first: others who read these zeros are at work on the same range, and ask for it afterwards.
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

static bool rescue(unsigned char *address)
{
    const uintptr_t at = (uintptr_t)address;
    const unsigned slots = atomic_load(&block_count) * BLOCK;

    for (unsigned i = 0; i < slots; i++) {
        struct range *range = range_at(i);
        const unsigned before = atomic_load(&range->changes);
        const uintptr_t begin = atomic_load(&range->begin);
        const uintptr_t end = atomic_load(&range->end);

        if (before % 2 == 0 && before == atomic_load(&range->changes) && at >= begin && at < end)
            return replace_pages(range, address, end);
    }
    return false;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
    const int saved = errno;

    (void)context;
    /* si_code > 0: the kernel says so, and si_addr holds. Else somebody called kill(2). */
    if (info->si_code <= 0 || !rescue(info->si_addr)) {
        sigaction(SIGBUS, &previous, NULL);
        if (info->si_code <= 0)
            raise(number);
        /* A real fault comes again when this returns, and meets the old disposition. */
    }
    errno = saved;
}

int sigbus_install(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
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

static void unblock(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void set_range(struct range *range, uintptr_t begin, uintptr_t end)
{
    atomic_fetch_add(&range->changes, 1);
    atomic_store(&range->begin, begin);
    atomic_store(&range->end, end);
    atomic_fetch_add(&range->changes, 1);
}

/* A free slot, taken now, or -1. */
static int take_slot(void)
{
    const unsigned slots = atomic_load(&block_count) * BLOCK;
    const unsigned first = atomic_load_explicit(&next_slot, memory_order_relaxed);

    for (unsigned i = 0; i < slots; i++) {
        const unsigned slot = (first + i) % slots;
        struct range *range = range_at(slot);

        if (atomic_load_explicit(&range->taken, memory_order_relaxed) ||
            atomic_exchange(&range->taken, true))
            continue;
        atomic_store_explicit(&next_slot, slot + 1, memory_order_relaxed);
        return (int)slot;
    }
    return -1;
}

/* Returns 0 or -errno. Who comes second finds room, too. */
static int add_block(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct range *block = NULL;
    unsigned count;

    pthread_mutex_lock(&mutex);
    count = atomic_load(&block_count);
    if (count < BLOCKS)
        block = seam.calloc(BLOCK, sizeof *block);
    if (block) {
        atomic_store(&blocks[count], block);
        atomic_store(&next_slot, count * BLOCK);
        atomic_store(&block_count, count + 1);
    }
    pthread_mutex_unlock(&mutex);
    if (block)
        return 0;
    return count < BLOCKS ? -ENOMEM : -EBUSY;
}

int sigbus_guard_init(struct sigbus_guard *guard, void *pages, size_t size)
{
    struct range *range;
    int error;

    while ((guard->slot = take_slot()) < 0) {
        error = add_block();
        if (error < 0)
            return error;
    }
    range = range_at((unsigned)guard->slot);
    atomic_store(&range->hit, false);
    set_range(range, (uintptr_t)pages, (uintptr_t)pages + size);
    unblock();
    return 0;
}

bool sigbus_guard_hit(const struct sigbus_guard *guard)
{
    return guard->slot >= 0 && atomic_load(&range_at((unsigned)guard->slot)->hit);
}

bool sigbus_guard_finish(struct sigbus_guard *guard)
{
    struct range *range;
    bool hit;

    if (guard->slot < 0)
        return false;
    range = range_at((unsigned)guard->slot);
    guard->slot = -1;
    set_range(range, 0, 0);
    hit = atomic_load(&range->hit);
    atomic_store(&range->taken, false);
    return hit;
}
