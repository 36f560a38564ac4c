/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests work items that an interrupt submits, as on a board where the completion of one transfer
 * starts the next. The test executes processor_run() one instruction at a time. A signal handler
 * stands for the interrupt: it runs once after each single instruction, and then after random pairs
 * of instructions.
 */
#define _GNU_SOURCE /* REG_EFL */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "libmli/src/dma/dma.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { PAIRS = 60, INTERRUPTS = 2 };
#define NEVER UINT32_MAX

/*
 * A cancelled work item, which moves nothing: so the test executes the queue's code in few
 * instructions.
 */
struct item {
    struct mli_work work; /* first */
    struct item *next;    /* done() submits this item next; null: none */
    int done;
};

static const struct mli_plan plan;
static struct item first, second, of_interrupt[INTERRUPTS];
static volatile uint32_t steps, interrupt_at[INTERRUPTS];

static void on_done(struct mli_work *work, const struct mli_work_end *end)
{
    struct item *item = (struct item *)(void *)work /* first member of struct item */;

    (void)end;
    item->done++;
    if (item->next)
        processor_run(&item->next->work);
}

static void reset(struct item *item, struct item *next)
{
    *item = (struct item){
        .work = {.plan = &plan, .done = on_done, .number = 1, .cancelled = 1},
        .next = next,
    };
}

#if defined(__x86_64__)
#define TRAP_FLAG 0x100

static void step_on(void)
{
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG) : "memory", "cc");
}

static void step_off(void)
{
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_FLAG) : "memory", "cc");
}

/* Ends the stepping of the interrupted code. */
static void leave_steps(ucontext_t *interrupted)
{
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}
#else
static void step_on(void)
{
}

static void step_off(void)
{
}

static void leave_steps(ucontext_t *interrupted)
{
    (void)interrupted;
}
#endif

static void on_step(int number, siginfo_t *info, void *interrupted)
{
    bool more = false;

    (void)number;
    (void)info;
    for (int i = 0; i < INTERRUPTS; i++) {
        if (steps == interrupt_at[i])
            processor_run(&of_interrupt[i].work);
        more |= interrupt_at[i] > steps && interrupt_at[i] != NEVER;
    }
    steps++;
    if (!more && interrupt_at[0] != NEVER)
        leave_steps(interrupted);
}

/* Returns the number of executed instructions, counted up to the last interrupt if there was one.
 */
static uint32_t run_interrupted(uint32_t at, uint32_t again_at)
{
    reset(&second, NULL);
    reset(&first, &second);
    for (int i = 0; i < INTERRUPTS; i++)
        reset(&of_interrupt[i], NULL);
    interrupt_at[0] = at;
    interrupt_at[1] = again_at;
    steps = 0;
    step_on();
    processor_run(&first.work);
    step_off();
    return steps;
}

static void assert_done(void)
{
    assert_int_equal(first.done, 1);
    assert_int_equal(second.done, 1);
    for (int i = 0; i < INTERRUPTS; i++)
        assert_int_equal(of_interrupt[i].done, interrupt_at[i] < steps);
}

/*
 * Returns whether this processor can execute single instructions: not under valgrind, nor on other
 * architectures.
 */
static bool can_step(void)
{
    return run_interrupted(NEVER, NEVER) > 10;
}

static void test_after_each_instruction(void **state)
{
    uint32_t executed;

    (void)state;
    if (!can_step())
        skip();
    executed = run_interrupted(NEVER, NEVER);
    for (uint32_t at = 0; at < executed; at++) {
        run_interrupted(at, NEVER);
        assert_done();
    }
    print_message("%u instructions\n", (unsigned)executed);
}

static void test_two_interrupts(void **state)
{
    struct rng rng = rng_for_case(20261122, 0);
    uint32_t executed;

    (void)state;
    if (!can_step())
        skip();
    executed = run_interrupted(NEVER, NEVER);
    for (int i = 0; i < PAIRS; i++) {
        const uint32_t at = rng_below(&rng, executed);

        run_interrupted(at, rng_below(&rng, executed));
        assert_done();
    }
}

/* Work items that one done() submits are moved in the order of their submission. */
static int order[3], moved;

static void note(struct mli_work *work, const struct mli_work_end *end)
{
    (void)end;
    order[moved++] = (int)(((struct item *)(void *)work) - of_interrupt);
}

static void submit_two(struct mli_work *work, const struct mli_work_end *end)
{
    (void)work;
    (void)end;
    processor_run(&of_interrupt[1].work);
    processor_run(&of_interrupt[0].work);
    assert_int_equal(moved, 0);
}

static void test_order(void **state)
{
    (void)state;
    reset(&first, NULL);
    first.work.done = submit_two;
    for (int i = 0; i < INTERRUPTS; i++) {
        reset(&of_interrupt[i], NULL);
        of_interrupt[i].work.done = note;
    }
    processor_run(&first.work);
    assert_int_equal(moved, 2);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_after_each_instruction),
        cmocka_unit_test(test_two_interrupts),
        cmocka_unit_test(test_order),
    };

    const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

    sigaction(SIGTRAP, &action, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
