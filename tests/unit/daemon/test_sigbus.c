/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/memory/sigbus.h"
#include "tests/unit/daemon/costs.h"
#include "tests/unit/daemon/test_peer.h"

enum { PAGE = 4096, PAGES = 8 };

/*
 * Maps a memfd full of 'x'. Installs the service's SIGBUS handler again, because cmocka installs
 * its own one for each test.
 */
static unsigned char *map_full(int *fd)
{
    unsigned char *pages;

    assert_int_equal(sigbus_install(), 0);
    *fd = memfd_with(NULL, PAGES * PAGE);
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    memset(pages, 'x', PAGES * PAGE);
    return pages;
}

static unsigned sum(const volatile unsigned char *bytes, size_t size)
{
    unsigned total = 0;

    for (size_t i = 0; i < size; i++)
        total += bytes[i];
    return total;
}

static void test_untouched_range(void **state)
{
    struct sigbus_guard guard, none = {-1};
    int fd;
    unsigned char *pages = map_full(&fd);

    (void)state;
    assert_int_equal(sigbus_guard_init(&guard, pages, PAGES * PAGE), 0);
    assert_int_equal(sum(pages, PAGES * PAGE), PAGES * PAGE * 'x');
    assert_false(sigbus_guard_finish(&guard));
    assert_false(sigbus_guard_finish(&guard));
    assert_false(sigbus_guard_finish(&none));
    munmap(pages, PAGES * PAGE);
    close(fd);
}

static void test_shrunk_under_a_reader(void **state)
{
    struct sigbus_guard guard;
    int fd;
    unsigned char *pages = map_full(&fd);

    (void)state;
    assert_int_equal(sigbus_guard_init(&guard, pages, PAGES * PAGE), 0);
    assert_int_equal(ftruncate(fd, 3 * PAGE), 0);
    assert_int_equal(sum(pages, PAGES * PAGE), 3 * PAGE * 'x');
    assert_true(sigbus_guard_finish(&guard));
    munmap(pages, PAGES * PAGE);
    close(fd);
}

static void test_shrunk_under_a_writer(void **state)
{
    struct sigbus_guard guard;
    char kept[PAGE];
    int fd;
    unsigned char *pages = map_full(&fd);

    (void)state;
    assert_int_equal(sigbus_guard_init(&guard, pages, PAGES * PAGE), 0);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    memset(pages, 'y', PAGES * PAGE);
    assert_true(sigbus_guard_finish(&guard));
    memset(kept, 'y', sizeof kept);
    assert_file(fd, kept, sizeof kept);
    munmap(pages, PAGES * PAGE);
    close(fd);
}

/*
 * Uses more guards than one block of slots holds. After a guard was hit, the next guard in its
 * slot must not be marked as hit.
 */
static void test_slots_start_clean(void **state)
{
    enum { MANY = 1000 };
    struct sigbus_guard guards[MANY];
    int fd;
    unsigned char *pages = map_full(&fd);

    (void)state;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(sigbus_guard_init(&guards[i], pages + (MANY - 1 - i) * 16 * PAGE, PAGE),
                         0);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(sum(pages, PAGE), 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(sigbus_guard_hit(&guards[i]), i == MANY - 1);
    assert_true(sigbus_guard_finish(&guards[MANY - 1]));
    assert_false(sigbus_guard_hit(&guards[MANY - 1]));
    assert_int_equal(sigbus_guard_init(&guards[MANY - 1], pages, PAGE), 0);
    for (int i = 0; i < MANY; i++)
        assert_false(sigbus_guard_finish(&guards[i]));
    munmap(pages, PAGES * PAGE);
    close(fd);
}

static void *no_memory(size_t count, size_t size)
{
    (void)count, (void)size;
    return NULL;
}

/*
 * Takes guards until a new block of slots must be allocated, and that allocation fails. Then takes
 * all guards.
 */
static void test_no_slot(void **state)
{
    static struct sigbus_guard guards[SIGBUS_GUARDS_MAX];
    const struct seam real = seam;
    int count = 0, error;
    int fd;
    unsigned char *pages = map_full(&fd);

    (void)state;
    seam.calloc = no_memory;
    while ((error = sigbus_guard_init(&guards[count], pages, PAGE)) == 0)
        count++;
    assert_int_equal(error, -ENOMEM);
    assert_int_equal(guards[count].slot, -1);
    seam = real;
    while ((error = sigbus_guard_init(&guards[count], pages, PAGE)) == 0 &&
           count < SIGBUS_GUARDS_MAX - 1)
        count++;
    assert_int_equal(error, 0);
    assert_int_equal(sigbus_guard_init(&(struct sigbus_guard){0}, pages, PAGE), -EBUSY);
    for (int i = 0; i < SIGBUS_GUARDS_MAX; i++)
        assert_false(sigbus_guard_finish(&guards[i]));
    munmap(pages, PAGES * PAGE);
    close(fd);
}

static struct sigbus_guard crowd[SIGBUS_GUARDS_MAX];

static void crowd_init(int count, unsigned char *pages)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(sigbus_guard_init(&crowd[i], pages, PAGE), 0);
}

static void crowd_finish(int count)
{
    for (int i = 0; i < count; i++)
        assert_false(sigbus_guard_finish(&crowd[i]));
}

static void come_and_go(void *pages)
{
    for (int i = 0; i < 2000; i++) {
        struct sigbus_guard guard;

        assert_int_equal(sigbus_guard_init(&guard, pages, PAGE), 0);
        sigbus_guard_finish(&guard);
    }
}

/* Taking a slot is quick even if all other slots are taken. */
static void test_last_slot_costs_as_the_first(void **state)
{
    enum { MANY = SIGBUS_GUARDS_MAX - 1 };
    int fd;
    unsigned char *pages = map_full(&fd);
    double few, many;

    (void)state;
    few = cost_of(come_and_go, pages);
    crowd_init(MANY, pages);
    many = cost_of(come_and_go, pages);
    crowd_finish(MANY);
    print_message("a guard with %d others costs %.1f times as much as alone\n", MANY, many / few);
    assert_true(many < few * COST_RATIO_MAX);
    munmap(pages, PAGES * PAGE);
    close(fd);
}

/* Returns the nanoseconds that the handling of a fault takes in a guarded range of this thread. */
static double cost_of_fault(void)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 50; i++) {
        int fd;
        unsigned char *pages = map_full(&fd);
        struct sigbus_guard guard;
        uint64_t took;

        assert_int_equal(sigbus_guard_init(&guard, pages, PAGES * PAGE), 0);
        sigbus_guard_expect(&guard);
        assert_int_equal(ftruncate(fd, 0), 0);
        took = uv_hrtime();
        sum(pages, 1);
        took = uv_hrtime() - took;
        assert_true(sigbus_guard_finish(&guard));
        if (took < best)
            best = took;
        munmap(pages, PAGES * PAGE);
        close(fd);
    }
    return (double)best;
}

static double fault_alone;

/* This test runs first, before other tests use many slots. */
static void test_fault_with_few_guards(void **state)
{
    (void)state;
    fault_alone = cost_of_fault();
}

static void test_fault_with_many_guards(void **state)
{
    enum { MANY = SIGBUS_GUARDS_MAX, RATIO_MAX = 6 };
    static unsigned char other[PAGE];
    double many;

    (void)state;
    crowd_init(MANY, other);
    for (int i = 0; i < MANY; i++) /* frees the last slot for the guard whose memory faults */
        if (crowd[i].slot == MANY - 1)
            sigbus_guard_finish(&crowd[i]);
    many = cost_of_fault();
    crowd_finish(MANY);
    print_message("a fault with %d guards costs %.1f times as much as with one\n", MANY,
                  many / fault_alone);
    assert_true(many < fault_alone * RATIO_MAX);
}

/* Begins with SIGBUS blocked, like a thread that has inherited a mask which blocks SIGBUS. */
static void *begin_blocked(void *context)
{
    struct sigbus_guard guard;
    int fd;
    unsigned char *pages = map_full(&fd);

    (void)context;
    assert_int_equal(sigbus_guard_init(&guard, pages, PAGES * PAGE), 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(sum(pages, PAGES * PAGE), 0);
    assert_true(sigbus_guard_finish(&guard));
    munmap(pages, PAGES * PAGE);
    close(fd);
    return NULL;
}

static void test_blocked_signal(void **state)
{
    sigset_t set, before;
    pthread_t thread;

    (void)state;
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, &before);
    assert_int_equal(pthread_create(&thread, NULL, begin_blocked, NULL), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_join(thread, NULL);
}

/* Each thread sets up and ends guards for ranges of its own; some of the files shrink. */
static void *churn(void *context)
{
    atomic_int *wrong = context;

    for (int round = 0; round < 200; round++) {
        const bool shrink = round % 3 == 0;
        struct sigbus_guard guard;
        int fd = memfd_create("churn", MFD_CLOEXEC);
        unsigned char *pages;

        if (ftruncate(fd, 4 * PAGE) < 0)
            ++*wrong;
        pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (sigbus_guard_init(&guard, pages, 4 * PAGE) < 0)
            ++*wrong;
        if (shrink && ftruncate(fd, PAGE) < 0)
            ++*wrong;
        memset(pages, 1, 4 * PAGE);
        if (sum(pages, 4 * PAGE) != 4 * PAGE || sigbus_guard_finish(&guard) != shrink)
            ++*wrong;
        munmap(pages, 4 * PAGE);
        close(fd);
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    pthread_t threads[8];
    atomic_int wrong = 0;

    (void)state;
    assert_int_equal(sigbus_install(), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &wrong), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

static void die_of_unguarded(void)
{
    struct sigbus_guard guard;
    int fd;
    unsigned char *pages = map_full(&fd);

    sigbus_guard_init(&guard, pages, PAGE);
    if (ftruncate(fd, 0) < 0)
        abort();
    sum(pages + PAGE, PAGE);
}

static void die_of_kill(void)
{
    sigbus_install();
    raise(SIGBUS);
}

/* Runs a function in a child process. Returns the signal that ends it, or 0. */
static int signal_of(void (*function)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        /* replaces cmocka's handler, which would continue the test program */
        signal(SIGBUS, SIG_DFL);
        close(STDERR_FILENO);
        function();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A fault outside all guarded ranges is fatal. */
static void test_unguarded_faults_are_fatal(void **state)
{
    (void)state;
    assert_int_equal(signal_of(die_of_unguarded), SIGBUS);
    assert_int_equal(signal_of(die_of_kill), SIGBUS);
}

/* Runs in a new thread: under valgrind a signal cannot extend the stack of the first thread. */
static void grow_stack(void)
{
    volatile char room[64 * 1024];

    for (size_t i = sizeof room; i > 0; i -= PAGE)
        room[i - 1] = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untouched_range),
        cmocka_unit_test(test_fault_with_few_guards),
        cmocka_unit_test(test_shrunk_under_a_reader),
        cmocka_unit_test(test_shrunk_under_a_writer),
        cmocka_unit_test(test_slots_start_clean),
        cmocka_unit_test(test_blocked_signal),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_no_slot),
        cmocka_unit_test(test_last_slot_costs_as_the_first),
        cmocka_unit_test(test_fault_with_many_guards),
        cmocka_unit_test(test_unguarded_faults_are_fatal),
    };

    grow_stack();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
