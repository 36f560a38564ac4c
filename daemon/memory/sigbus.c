/* SPDX-License-Identifier: BSD-3-Clause */
#include "sigbus.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The handler runs between sigbus_guard_init() and _finish() of whoever works on the range that
 * was touched, so that one holds still. Others may come and go meanwhile: `changes` is odd while a
 * range is being written, and a reader that sees it odd or sees it move looks at none of his.
 */
static struct range {
    atomic_bool taken;
    atomic_uint changes;
    atomic_uintptr_t begin, end; /* both 0: nothing is guarded */
    atomic_bool hit;
} ranges[SIGBUS_GUARDS_MAX];

static struct sigaction previous;
static uintptr_t page_size;

/* Everything from the page of `address` to the end of the range becomes zeros. */
static bool replace_pages(struct range *range, unsigned char *address, uintptr_t end)
{
    unsigned char *page = address - ((uintptr_t)address & (page_size - 1));
    void *pages = mmap(page, end - (uintptr_t)page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

    if (pages == MAP_FAILED)
        return false;
    atomic_store(&range->hit, true);
    return true;
}

static bool rescue(unsigned char *address)
{
    const uintptr_t at = (uintptr_t)address;

    for (int i = 0; i < SIGBUS_GUARDS_MAX; i++) {
        const unsigned before = atomic_load(&ranges[i].changes);
        const uintptr_t begin = atomic_load(&ranges[i].begin);
        const uintptr_t end = atomic_load(&ranges[i].end);

        if (before % 2 == 0 && before == atomic_load(&ranges[i].changes) && at >= begin && at < end)
            return replace_pages(&ranges[i], address, end);
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

int sigbus_guard_init(struct sigbus_guard *guard, void *pages, size_t size)
{
    guard->slot = -1;
    for (int i = 0; i < SIGBUS_GUARDS_MAX; i++) {
        if (atomic_exchange(&ranges[i].taken, true))
            continue;
        atomic_store(&ranges[i].hit, false);
        set_range(&ranges[i], (uintptr_t)pages, (uintptr_t)pages + size);
        guard->slot = i;
        unblock();
        return 0;
    }
    return -EBUSY;
}

bool sigbus_guard_finish(struct sigbus_guard *guard)
{
    struct range *range;
    bool hit;

    if (guard->slot < 0)
        return false;
    range = &ranges[guard->slot];
    guard->slot = -1;
    set_range(range, 0, 0);
    hit = atomic_load(&range->hit);
    atomic_store(&range->taken, false);
    return hit;
}
