/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/fiber.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum {
    FIBERS_MAX = 256,
    GUARD_BYTES = 4096,
    STACK_BYTES = 512 * 1024,
    SPARE_STACKS = 64,
    /*
     * Bytes of thread-local variables that are saved for each fiber. libmli's large stage buffer
     * is not saved, because it is empty between moves. Because of its alignment, it comes after
     * all other thread-local variables, which take a few hundred bytes.
     */
    LOCALS_MAX = 1024
};

struct fiber {
    ucontext_t context;
    unsigned char *stack;
    void *thread_locals; /* copy of the program's thread-local variables while the fiber does not
                            run */
    void *fake_stack;    /* the fiber's fake stack, for the address sanitizer */
    struct process *process;
    void (*run)(void *argument);
    void *argument;
    /* condition that the fiber waits for; null: only the deadline ends its wait */
    bool (*ready)(void *context);
    void *ready_context;
    uint64_t deadline; /* 0: the fiber waits for nothing */
    unsigned number;
    int error; /* errno */
    bool in_time, ended;
};

static struct {
    struct fiber *all[FIBERS_MAX];
    unsigned count, started;
    struct fiber *current;
    ucontext_t scheduler;
    void *scheduler_fake_stack;
    const void *scheduler_stack;
    size_t scheduler_stack_size;
    unsigned char *spare[SPARE_STACKS]; /* stacks of ended fibers, to be used again */
    unsigned spares;
    unsigned char *locals; /* the program's thread-local variables */
    size_t local_bytes;    /* size of `locals` in bytes */
    void *first_locals;    /* values of `locals` before the first fiber ran */
} fibers;

static const char *base;

const char *program_base(void)
{
    return base;
}

static int find_thread_locals(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    base = (const char *)info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            fibers.locals = info->dlpi_tls_data;
            fibers.local_bytes = info->dlpi_phdr[i].p_memsz;
            if (fibers.local_bytes > LOCALS_MAX)
                fibers.local_bytes = LOCALS_MAX;
        }
    }
    return 1; /* the first entry is the program; the variables of its libraries are not copied */
}

static void *take(size_t bytes)
{
    void *block = real_calloc(1, bytes);

    if (!block)
        abort();
    return block;
}

static void copy_locals(void *to, const void *from)
{
    memcpy(to, from, fibers.local_bytes);
}

static void init(void)
{
    if (fibers.first_locals)
        return;
    dl_iterate_phdr(find_thread_locals, NULL);
    fibers.first_locals = take(fibers.local_bytes + 1);
    copy_locals(fibers.first_locals, fibers.locals);
}

static unsigned char *take_stack(void)
{
    unsigned char *stack;

    if (fibers.spares > 0)
        return fibers.spare[--fibers.spares];
    stack = real_mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        abort();
    mprotect(stack, GUARD_BYTES, PROT_NONE);
    return stack;
}

static void give_stack_back(unsigned char *stack)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(stack + GUARD_BYTES, STACK_BYTES - GUARD_BYTES);
#endif
    if (fibers.spares < SPARE_STACKS)
        fibers.spare[fibers.spares++] = stack;
    else
        real_munmap(stack, STACK_BYTES);
}

static void switch_to_scheduler(struct fiber *fiber)
{
    fiber->error = errno;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(fiber->ended ? NULL : &fiber->fake_stack, fibers.scheduler_stack,
                                   fibers.scheduler_stack_size);
#endif
    swapcontext(&fiber->context, &fibers.scheduler);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &fibers.scheduler_stack,
                                    &fibers.scheduler_stack_size);
#endif
    errno = fiber->error;
}

static void enter(void)
{
    struct fiber *fiber = fibers.current;

#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, &fibers.scheduler_stack, &fibers.scheduler_stack_size);
#endif
    fiber->run(fiber->argument);
    fiber->ended = true;
    switch_to_scheduler(fiber);
    abort(); /* an ended fiber never runs again */
}

struct fiber *fiber_start(struct process *process, void (*run)(void *argument), void *argument)
{
    struct fiber *fiber;

    init();
    if (fibers.count == FIBERS_MAX)
        abort();
    fiber = take(sizeof *fiber);
    fiber->stack = take_stack();
    fiber->thread_locals = take(fibers.local_bytes + 1);
    copy_locals(fiber->thread_locals, fibers.first_locals);
    fiber->process = process;
    fiber->run = run;
    fiber->argument = argument;
    fiber->number = ++fibers.started;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack + GUARD_BYTES;
    fiber->context.uc_stack.ss_size = STACK_BYTES - GUARD_BYTES;
    makecontext(&fiber->context, enter, 0);
    fibers.all[fibers.count++] = fiber;
    return fiber;
}

struct fiber *fiber_current(void)
{
    return fibers.current;
}

struct process *fiber_process(const struct fiber *fiber)
{
    return fiber->process;
}

unsigned fiber_number(const struct fiber *fiber)
{
    return fiber->number;
}

struct fiber *fiber_find(unsigned number)
{
    for (unsigned i = 0; i < fibers.count; i++) {
        if (fibers.all[i]->number == number && !fibers.all[i]->ended)
            return fibers.all[i];
    }
    return NULL;
}

bool fiber_wait(bool (*ready)(void *context), void *context, uint64_t deadline)
{
    struct fiber *fiber = fibers.current;

    fiber->ready = ready;
    fiber->ready_context = context;
    fiber->deadline = deadline;
    switch_to_scheduler(fiber);
    return fiber->in_time;
}

void fiber_yield(void)
{
    (void)fiber_wait(NULL, NULL, 0);
}

void fiber_sleep(uint64_t ns)
{
    (void)fiber_wait(NULL, NULL, world_now() + ns);
}

static void discard(unsigned index)
{
    struct fiber *fiber = fibers.all[index];

    fibers.all[index] = fibers.all[--fibers.count];
    give_stack_back(fiber->stack);
    real_free(fiber->thread_locals);
    real_free(fiber);
}

void fiber_end_all(const struct process *process)
{
    for (unsigned i = fibers.count; i-- > 0;) {
        if (fibers.all[i]->process == process && fibers.all[i] != fibers.current)
            fibers.all[i]->ended = true;
    }
}

unsigned fiber_count(const struct process *process)
{
    unsigned count = 0;

    for (unsigned i = 0; i < fibers.count; i++)
        count += fibers.all[i]->process == process && !fibers.all[i]->ended;
    return count;
}

static void run(struct fiber *fiber)
{
    fibers.current = fiber;
    copy_locals(fibers.locals, fiber->thread_locals);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&fibers.scheduler_fake_stack, fiber->stack + GUARD_BYTES,
                                   STACK_BYTES - GUARD_BYTES);
#endif
    swapcontext(&fibers.scheduler, &fiber->context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fibers.scheduler_fake_stack, NULL, NULL);
#endif
    copy_locals(fiber->thread_locals, fibers.locals);
    fibers.current = NULL;
}

static bool can_run(struct fiber *fiber)
{
    fiber->in_time = fiber->ready && fiber->ready(fiber->ready_context);
    return fiber->in_time || fiber->deadline <= world_now();
}

static void discard_ended(void)
{
    for (unsigned i = fibers.count; i-- > 0;) {
        if (fibers.all[i]->ended)
            discard(i);
    }
}

/* Collects the fibers that can run, and returns their number. */
static unsigned collect(struct fiber *able[FIBERS_MAX], uint64_t *next)
{
    unsigned count = 0;

    *next = FIBER_FOREVER;
    for (unsigned i = 0; i < fibers.count; i++) {
        if (can_run(fibers.all[i]))
            able[count++] = fibers.all[i];
        else if (fibers.all[i]->deadline < *next)
            *next = fibers.all[i]->deadline;
    }
    return count;
}

bool fiber_step(void)
{
    struct fiber *able[FIBERS_MAX], *chosen;
    unsigned count;
    uint64_t next;

    discard_ended();
    count = collect(able, &next);
    if (count == 0 && next != FIBER_FOREVER) {
        world_set_now(next);
        count = collect(able, &next);
    }
    if (count == 0)
        return false;
    chosen = able[world_below(count)];
    world_note(chosen->number);
    run(chosen);
    return true;
}
