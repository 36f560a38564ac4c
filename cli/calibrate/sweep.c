/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selftest/draw.h"

enum {
    BATCH = 250,
    LARGE_BYTES = 1000 * 1000,
    LONG_RUN = 64,
    GROWTH = 4096,
    ROUNDS_MOST = 4,
    LEFT_OUT_MOST = 4
};
#define NS_LEAST 1e-3
#define EQUAL    0.02 /* relative difference of two times that are regarded as equal */
#define DISTURBED                                                                                  \
    0.05 /* relative difference of the two shortest times of a move that is left out */

/* A batch: indices of moves, and their shortest times. */
struct batch {
    size_t count;
    uint64_t index[BATCH];
    struct mli_plan plan[BATCH];
    double best[BATCH], second[BATCH];
    uint8_t kind[BATCH], quiet[BATCH]; /* quiet: number of quiet measurements */
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/*
 * Returns whether a dense sweep leaves out a move: five of six copies of one run and half of the
 * moves of long runs, which are easy to predict, and two of three large moves, which take most of
 * the time.
 */
static bool is_left_out(const struct sweep_rules *rules, const struct mli_plan *plan,
                        uint64_t index)
{
    struct draw draw = draw_init(~rules->seed, index);
    const bool row = plan->box.run > 0 && plan->box.loops == 0 && !draw_once_in(&draw, 6);
    const bool rows = plan->box.run > LONG_RUN && plan->box.loops > 0 && draw_once_in(&draw, 2);
    const bool large = plan->bytes > LARGE_BYTES && !draw_once_in(&draw, 3);

    return rules->dense && (row || rows || large);
}

/* Chooses the next moves, from index *next on. */
static void choose(struct batch *batch, const struct measure *measure,
                   const struct sweep_rules *rules, size_t most, uint64_t *next)
{
    struct sweep_move move;

    batch->count = 0;
    while (batch->count < most) {
        const uint64_t index = (*next)++;

        sweep_move_draw(&move, rules->seed, index, rules->max_bytes);
        if (measure_plan(measure, &move, &batch->plan[batch->count]) < 0 ||
            is_left_out(rules, &batch->plan[batch->count], index))
            continue;
        batch->index[batch->count] = index;
        batch->kind[batch->count] = (uint8_t)move.kind;
        batch->quiet[batch->count] = 0;
        batch->best[batch->count] = batch->second[batch->count] = HUGE_VAL;
        batch->count++;
    }
}

static void shuffle(struct draw *draw, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i-- > 1;) {
        const size_t k = draw_below(draw, i + 1), other = order[i];

        order[i] = order[k];
        order[k] = other;
    }
}

static void note(struct batch *batch, size_t i, const struct measured_ns *time)
{
    const double ns = fmax(time->ns, NS_LEAST);

    batch->quiet[i] += time->quiet;
    if (ns < batch->best[i]) {
        batch->second[i] = batch->best[i];
        batch->best[i] = ns;
    } else if (ns < batch->second[i]) {
        batch->second[i] = ns;
    }
}

/* Returns whether a move needs no other round. */
static bool is_certain(const struct batch *batch, size_t i)
{
    return batch->quiet[i] > 0 && batch->second[i] < (1 + EQUAL) * batch->best[i];
}

/* Measures the batch. Returns 0, 1 if stopped, or -1 with the fault. */
static int measure_batch(struct batch *batch, struct measure *measure,
                         const struct sweep_rules *rules, struct fault *fault)
{
    struct draw draw = draw_init(rules->seed, ~batch->index[0]);
    size_t order[BATCH];
    struct sweep_move move;
    struct mli_plan plan;
    struct measured_ns time;

    for (uint32_t round = 0; round < ROUNDS_MOST; round++) {
        shuffle(&draw, order, batch->count);
        for (size_t k = 0; k < batch->count; k++) {
            const size_t i = order[k];

            if (rules->stop && rules->stop())
                return 1;
            if (is_certain(batch, i))
                continue;
            sweep_move_draw(&move, rules->seed, batch->index[i], rules->max_bytes);
            measure_plan(measure, &move, &plan);
            if (measure_move(measure, &move, &time, fault) < 0)
                return -1;
            note(batch, i, &time);
        }
    }
    return 0;
}

static int keep(struct sweep *sweep, const struct batch *batch, const struct sweep_rules *rules,
                struct fault *fault)
{
    if (sweep->count + batch->count > sweep->capacity) {
        const size_t capacity = sweep->capacity + sweep->capacity / 2 + GROWTH;
        struct measured_move *moves = realloc(sweep->moves, capacity * sizeof *moves);
        uint8_t *kinds;

        sweep->moves = moves ? moves : sweep->moves;
        kinds = moves ? realloc(sweep->kinds, capacity) : NULL;
        sweep->kinds = kinds ? kinds : sweep->kinds;
        if (!kinds)
            return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for measured moves");
        sweep->capacity = capacity;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (!rules->dense && batch->second[i] > (1 + DISTURBED) * batch->best[i]) {
            sweep->left_out++;
            continue;
        }
        sweep->moves[sweep->count] =
            (struct measured_move){batch->plan[i], batch->best[i] * rules->clock_hz / 1e9};
        sweep->kinds[sweep->count++] = batch->kind[i];
    }
    return 0;
}

/* Returns the median of the differences between the two best rounds. */
static double repeat_of(const struct batch *batch)
{
    double gap[BATCH];

    for (size_t i = 0; i < batch->count; i++)
        gap[i] = batch->second[i] / batch->best[i] - 1;
    qsort(gap, batch->count, sizeof *gap, compare);
    return gap[batch->count / 2];
}

/* Returns the done part of the sweep, 0 to 1. A sweep of many disturbed moves ends early. */
static double done(const struct sweep *sweep, const struct sweep_rules *rules, uint64_t ns)
{
    const double moves = fmax((double)sweep->count, (double)sweep->left_out / LEFT_OUT_MOST);
    const double by_count = rules->count ? moves / (double)rules->count : 0;
    const double by_time = rules->time_ns ? (double)ns / (double)rules->time_ns : 0;

    return fmin(fmax(by_count, by_time), 1);
}

int sweep_run(struct sweep *sweep, struct measure *measure, const struct sweep_rules *rules,
              struct fault *fault)
{
    const uint64_t begin = measure->now_ns();
    struct batch *batch = calloc(1, sizeof *batch);
    double repeats = 0, batches = 0;
    uint64_t next = 0;
    int result = 0;

    *sweep = (struct sweep){0};
    if (!batch)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for a batch of moves");
    while (result == 0 && done(sweep, rules, measure->now_ns() - begin) < 1) {
        const size_t left = rules->count ? rules->count - sweep->count : BATCH;

        if (rules->progress)
            rules->progress(rules->context, done(sweep, rules, measure->now_ns() - begin),
                            sweep->count);
        choose(batch, measure, rules, left < BATCH ? left : BATCH, &next);
        result = measure_batch(batch, measure, rules, fault);
        if (result == 0) {
            result = keep(sweep, batch, rules, fault);
            repeats += repeat_of(batch);
            batches++;
        }
    }
    sweep->repeat = batches > 0 ? repeats / batches : 0;
    sweep->stopped = result > 0;
    free(batch);
    return result < 0 ? -1 : 0;
}

void sweep_finish(struct sweep *sweep)
{
    free(sweep->moves);
    free(sweep->kinds);
    *sweep = (struct sweep){0};
}
