/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests interrupts at each instruction of the code that starts transfers, as on a board with one
 * processor. The test executes one instruction at a time. A signal after every 13th instruction
 * simulates the interrupt, which completes transfers and starts others. In the interrupt, time
 * passes for the mock device, the handler completes a transfer, and the callbacks start a tiny
 * transfer and then a transfer on the device. The interrupted code makes the same calls. In each
 * run, another instruction is the first one that is interrupted.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/ports.h"
#include "mli_engine.h"
#include "tests/support/unit.h"
#include "tests/unit/port/moves.h"

enum { TINY = 16, PERIOD = 13, LONG = 300, FEW_STEPS = 10 };
#define TRAP_BIT 0x100

/* DEVICE and DEVICE_TINY are started in interrupts, MAIN and MAIN_TINY by the main program. */
enum { DEVICE, DEVICE_TINY, MAIN, MAIN_TINY, TRANSFERS };

static struct move moves[TRANSFERS];
static mli_mov_handle_t handles[TRANSFERS];
static volatile uint32_t dones[TRANSFERS], starts[TRANSFERS];
static volatile uint32_t steps, interrupts, phase;
/* limit on restarts of DEVICE: the number of interrupts of the run */
static volatile uint32_t allowed;

static void start(int which)
{
    starts[which]++;
    if (mli_mov_start(&handles[which], NULL, NULL, NULL) != MLI_STATUS_OK)
        abort();
}

/* The end of a device transfer starts a tiny one, whose end starts the next device transfer. */
static void on_done(int32_t which)
{
    dones[which]++;
    if (which == DEVICE)
        start(DEVICE_TINY);
    else if (which == DEVICE_TINY && starts[DEVICE] <= allowed)
        start(DEVICE);
    else if (which == MAIN)
        start(MAIN_TINY);
}

static void run_device(void)
{
    for (uint32_t i = 0; i < TRANSFERS; i++)
        (void)mock_device_run(i, 1);
}

#if defined(__x86_64__)
static void step_on(void)
{
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_BIT) : "memory", "cc");
}

static void step_off(void)
{
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~TRAP_BIT) : "memory", "cc");
}

#else
static void step_on(void)
{
}

static void step_off(void)
{
}

#endif

static void on_step(int number)
{
    (void)number;
    if (steps++ % PERIOD != phase)
        return;
    interrupts++;
    allowed++;
    run_device();
    run_device(); /* a transfer that the callback has started */
}

static void run_interrupted(uint32_t first)
{
    for (int i = 0; i < TRANSFERS; i++) {
        dones[i] = 0;
        starts[i] = 0;
        memset(moves[i].out, 0, moves[i].out_bytes);
    }
    allowed = 0;
    start(DEVICE); /* the transfer ends when the device runs */
    phase = first;
    steps = 0;
    step_on();
    start(MAIN_TINY);
    start(MAIN);
    (void)mli_mov_isdone(&handles[MAIN]);
    step_off();
    allowed = 0;
}

/* Lets the device run until nothing changes, then checks that no transfer was lost. */
static void assert_complete(uint32_t first)
{
    for (int i = 0; i < LONG; i++)
        run_device();
    for (int i = 0; i < TRANSFERS; i++) {
        if (dones[i] != starts[i] || (starts[i] > 0 && !mli_mov_isdone(&handles[i])) ||
            (starts[i] > 0 && !move_is_right(&moves[i])))
            fail_msg("first interrupt after %u instructions: transfer %d was started %u times and "
                     "ended %u times",
                     (unsigned)first, i, (unsigned)starts[i], (unsigned)dones[i]);
    }
    assert_int_equal(starts[MAIN_TINY], 2);
}

static void open_all(const char *engine)
{
    moves_engine(engine, TRANSFERS);
    for (int i = 0; i < TRANSFERS; i++) {
        const bool tiny = i == DEVICE_TINY || i == MAIN_TINY;

        move_init_rows(&moves[i], tiny ? 2 : 3, tiny ? TINY / 2 : TINY);
        move_prepare(&moves[i], 1, &handles[i]);
        assert_ok(mli_mov_registercallback(&handles[i], on_done, i));
    }
}

static void close_all(void)
{
    for (int i = 0; i < TRANSFERS; i++) {
        assert_ok(mli_mov_synchronise(&handles[i]));
        assert_ok(mli_mov_release_handle(&handles[i]));
        move_finish(&moves[i]);
    }
    moves_engine_away();
}

static void interrupt_each_instruction(const char *engine)
{
    open_all(engine);
    interrupts = 0;
    for (uint32_t first = 0; first < PERIOD; first++) {
        run_interrupted(first);
        assert_complete(first);
    }
    close_all();
    print_message("%s: %u interrupts\n", engine, (unsigned)interrupts);
    if (interrupts < FEW_STEPS)
        skip(); /* the processor does not execute single steps: under valgrind, or on another
                   architecture */
}

static void test_interrupts(void **state)
{
    (void)state;
    interrupt_each_instruction("mock:interrupt=2,tiny=16");
}

static void test_pieces_of_the_processor(void **state)
{
    (void)state;
    interrupt_each_instruction("mock:interrupt=2,tiny=16,unit=4,loops=0,worth=100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupts),
        cmocka_unit_test(test_pieces_of_the_processor),
    };
    const struct sigaction action = {.sa_handler = on_step};

    sigaction(SIGTRAP, &action, NULL);
    ports_add();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
