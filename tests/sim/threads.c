/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the service are fibers. A mutex holds the number of the fiber that owns it. A
 * condition variable counts the fibers that wait, and the signals that these fibers have not
 * received yet. Both may be initialised statically with zeros.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { THREADS_MAX = 1 << 16 };

struct start {
    void *(*run)(void *argument);
    void *argument;
};

static void begin(void *context)
{
    struct start start = *(struct start *)context;

    real_free(context);
    start.run(start.argument);
}

int WRAP(pthread_create)(pthread_t *thread, const pthread_attr_t *attributes,
                         void *(*run)(void *argument), void *argument)
{
    struct start *start;

    (void)attributes;
    kernel_enter("pthread_create");
    if (kernel_fails(world_rates.threads))
        return EAGAIN;
    start = real_malloc(sizeof *start);
    if (!start)
        return EAGAIN;
    *start = (struct start){run, argument};
    *thread = fiber_number(fiber_start(process_now(), begin, start));
    return 0;
}

static bool has_ended(void *context)
{
    return !fiber_find(*(unsigned *)context);
}

int WRAP(pthread_join)(pthread_t thread, void **result)
{
    unsigned number = (unsigned)thread;

    (void)result;
    kernel_enter("pthread_join");
    (void)fiber_wait(has_ended, &number, FIBER_FOREVER);
    return 0;
}

pthread_t WRAP(pthread_self)(void)
{
    return fiber_current() ? fiber_number(fiber_current()) : 0;
}

/* The running fiber sleeps here until a signal wakes it. */
static bool interrupted[THREADS_MAX];
static unsigned sleeping;

int WRAP(pthread_kill)(pthread_t thread, int number)
{
    (void)number;
    kernel_enter("pthread_kill");
    interrupted[thread % THREADS_MAX] = true;
    return 0;
}

static bool is_set(void *context)
{
    return *(bool *)context;
}

void interruptible_sleep(uint64_t ns)
{
    bool *flag = &interrupted[fiber_number(fiber_current()) % THREADS_MAX];

    *flag = false;
    sleeping++;
    (void)fiber_wait(is_set, flag, world_now() + ns);
    sleeping--;
    *flag = false;
}

unsigned kernel_sleeping(void)
{
    return sleeping;
}

static unsigned *owner_of(pthread_mutex_t *mutex)
{
    return (unsigned *)mutex;
}

static bool is_free(void *context)
{
    return *(unsigned *)context == 0;
}

int WRAP(pthread_mutex_init)(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    *owner_of(mutex) = 0;
    return 0;
}

int WRAP(pthread_mutex_destroy)(pthread_mutex_t *mutex)
{
    if (*owner_of(mutex) != 0)
        world_fail("pthread_mutex_destroy: the mutex is locked");
    return 0;
}

int WRAP(pthread_mutex_lock)(pthread_mutex_t *mutex)
{
    if (!fiber_current())
        return 0;
    if (*owner_of(mutex) == fiber_number(fiber_current()))
        world_fail("pthread_mutex_lock: the thread holds the mutex already");
    if (*owner_of(mutex) != 0)
        (void)fiber_wait(is_free, owner_of(mutex), FIBER_FOREVER);
    *owner_of(mutex) = fiber_number(fiber_current());
    return 0;
}

int WRAP(pthread_mutex_trylock)(pthread_mutex_t *mutex)
{
    return *owner_of(mutex) ? EBUSY : WRAP(pthread_mutex_lock)(mutex);
}

int WRAP(pthread_mutex_unlock)(pthread_mutex_t *mutex)
{
    if (!fiber_current())
        return 0;
    if (*owner_of(mutex) != fiber_number(fiber_current()))
        world_fail("pthread_mutex_unlock: another thread holds the mutex");
    *owner_of(mutex) = 0;
    return 0;
}

struct condition {
    unsigned waiting, signals;
};

static bool is_signalled(void *context)
{
    struct condition *condition = context;

    return condition->signals > 0;
}

static struct condition *condition_of(pthread_cond_t *condition)
{
    return (struct condition *)condition;
}

int WRAP(pthread_cond_init)(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    (void)attributes;
    *condition_of(condition) = (struct condition){0};
    return 0;
}

int WRAP(pthread_cond_destroy)(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

int WRAP(pthread_cond_signal)(pthread_cond_t *condition)
{
    struct condition *c = condition_of(condition);

    if (c->signals < c->waiting)
        c->signals++;
    return 0;
}

int WRAP(pthread_cond_broadcast)(pthread_cond_t *condition)
{
    struct condition *c = condition_of(condition);

    c->signals = c->waiting;
    return 0;
}

/* A wait may end without a signal: POSIX allows it. */
static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline)
{
    struct condition *c = condition_of(condition);
    bool in_time;

    kernel_enter("pthread_cond_wait");
    WRAP(pthread_mutex_unlock)(mutex);
    c->waiting++;
    if (kernel_fails(world_rates.interrupted))
        fiber_yield();
    else
        (void)fiber_wait(is_signalled, c, deadline);
    in_time = c->signals > 0 || world_now() < deadline;
    c->waiting--;
    if (c->signals > 0)
        c->signals--;
    WRAP(pthread_mutex_lock)(mutex);
    return in_time ? 0 : ETIMEDOUT;
}

int WRAP(pthread_cond_wait)(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return wait_until(condition, mutex, FIBER_FOREVER);
}

int WRAP(pthread_cond_timedwait)(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                 const struct timespec *end)
{
    const int64_t time = (int64_t)end->tv_sec * (int64_t)S + end->tv_nsec - world_jump;

    return wait_until(condition, mutex, time > 0 ? (uint64_t)time : 0);
}

int WRAP(sched_yield)(void)
{
    if (fiber_current()) {
        world_pass(US);
        fiber_yield();
    }
    return 0;
}

struct futex {
    const uint32_t *word;
    uint32_t value;
};

static bool has_changed(void *context)
{
    const struct futex *futex = context;

    return *futex->word != futex->value;
}

/*
 * libmli waits for a change of a word in memory. Waking needs no action, because each step reads
 * the word.
 */
static int futex_call(const uint32_t *word, int operation, uint32_t value)
{
    struct futex futex = {word, value};

    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
        (void)fiber_wait(has_changed, &futex, FIBER_FOREVER);
    return 0;
}

long WRAP(syscall)(long number, ...)
{
    va_list arguments;
    long a[6];

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_futex && fiber_current())
        return futex_call((const uint32_t *)a[0], (int)a[1], (uint32_t)a[2]);
    if (number == SYS_close) /* libuv */
        return close((int)a[0]);
    if (fiber_current())
        world_fail("syscall(%ld): a call without simulation", number);
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
