/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/kernel_race.h"

#include <sys/resource.h>

#include "cli/term/clock_ns.h"

enum {
    SAMPLE_NS = 100 * 1000, /* duration of the shortest sample */
    REPEAT_MAX = 4096,
    TRIES = 3,            /* attempts to take a sample that no other program interrupts */
    WARM_IN_ONE = 1 << 20 /* bytes that one move brings into the caches; more take two moves */
};

/* Returns how often other programs have taken the processor from this thread. */
static long interruptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Moves until the caches are as this move leaves them. Returns 0, or -1 if a move is refused. */
static int warm_up(struct kernel_cell *cell)
{
    const int moves = cell->move.bytes > WARM_IN_ONE ? 2 : 1;

    for (int i = 0; i < moves; i++)
        if (kernel_move_run(&cell->move) < 0)
            return -1;
    return 0;
}

/* Moves as often as a sample needs. Returns the nanoseconds. */
static uint64_t sample(struct kernel_cell *cell)
{
    const uint64_t begin = clock_ns();

    for (uint32_t i = 0; i < cell->repeat; i++)
        (void)kernel_move_run(&cell->move);
    return clock_ns() - begin + 1;
}

/* Chooses the number of moves in a sample by the time of one. */
static int choose_repeat(struct kernel_cell *cell)
{
    uint64_t ns;

    if (warm_up(cell) < 0)
        return -1;
    cell->repeat = 1;
    ns = sample(cell);
    cell->repeat = ns >= SAMPLE_NS ? 1 : (uint32_t)(SAMPLE_NS / ns + 1);
    if (cell->repeat > REPEAT_MAX)
        cell->repeat = REPEAT_MAX;
    return 0;
}

/*
 * Takes a sample again if another program interrupts it. Returns the shortest time, or 0 if the
 * move is refused.
 */
static uint64_t undisturbed_sample(struct kernel_cell *cell)
{
    uint64_t least = 0;

    if (warm_up(cell) < 0)
        return 0;
    for (int i = 0; i < TRIES; i++) {
        const long before = interruptions();
        const uint64_t ns = sample(cell);

        if (least == 0 || ns < least)
            least = ns;
        if (interruptions() == before)
            break;
    }
    return least;
}

int kernel_cell_pass(struct kernel_cell *cell, const mli_tuning *variants,
                     struct kernel_memory *memory)
{
    const size_t first = kernel_memory_random(memory) % cell->variants;

    if (!kernel_move_place(&cell->move, memory) || (cell->repeat == 0 && choose_repeat(cell) < 0))
        return -1;
    for (size_t i = 0; i < cell->variants; i++) {
        const size_t v = (first + i) % cell->variants;
        uint64_t ns;

        if (mli_tuning_set(&variants[v]) != MLI_STATUS_OK)
            return -1;
        ns = undisturbed_sample(cell);
        if (ns == 0)
            return -1;
        if (cell->passes == 0 || ns < cell->least_ns[v])
            cell->least_ns[v] = ns;
    }
    cell->passes++;
    return 0;
}

bool kernel_cell_is_measured(const struct kernel_cell *cell)
{
    return cell->passes >= KERNEL_PASSES_MIN;
}

double kernel_cell_ratio(const struct kernel_cell *cell, size_t variant)
{
    return (double)cell->least_ns[variant] / (double)cell->least_ns[0];
}
