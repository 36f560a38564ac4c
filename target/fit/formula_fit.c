/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target/controller/controller.h"
#include "target/cost/cost.h"

enum { PASSES = 8, GROUPS = 10 };

static void cost_of_plan(struct move_cost *cost, const struct target_profile *profile,
                         const struct profile_memory *memory, const struct mli_plan *plan)
{
    const struct list_count count = list_count(profile, plan);
    const struct cost_channel channel = {plan, count.descriptors, count.core, count.core_bytes};
    const struct cost_memories memories = {memory, memory};

    cost_of_move(cost, profile, &memories, &channel, 1);
}

double formula_cycles(const struct target_profile *profile, const struct profile_memory *memory,
                      const struct mli_plan *plan)
{
    struct move_cost cost;

    cost_of_plan(&cost, profile, memory, plan);
    return (double)cost.total / (double)PROFILE_CYCLE;
}

/*
 * Sets the factors of the figures, and returns the rest of the cost. Only the longer one of
 * reading and writing counts; the current figures of the profile decide which side is longer.
 */
static double set_factors(double factor[FORMULA_FIGURES], const struct target_profile *profile,
                          const struct profile_memory *memory, const struct mli_plan *plan)
{
    const struct traffic *side;
    struct move_cost cost;
    double rest;

    cost_of_plan(&cost, profile, memory, plan);
    side = cost.part[COST_READ] > cost.part[COST_WRITTEN] ? &cost.read : &cost.written;
    factor[FORMULA_START] = 1;
    factor[FORMULA_DESCRIPTOR] = (double)cost.descriptors;
    factor[FORMULA_ROW] = cost.descriptors > 0 ? (double)cost.written.rows : 0;
    factor[FORMULA_BURST] = cost.descriptors > 0 ? (double)side->bursts : 0;
    factor[FORMULA_BEAT] = cost.descriptors > 0 ? (double)side->beats : 0;
    rest = (double)cost.total;
    for (int i = 0; i < FORMULA_FIGURES; i++)
        rest -= factor[i] * (double)profile_cost_of(&profile->costs, &profile_cost_members[i]);
    return rest / (double)PROFILE_CYCLE;
}

/*
 * Fits the figures to all moves except those of group `without`. If `without` is GROUPS, to all
 * moves.
 */
static void fit_group(const double *factors, const double *values, size_t count, size_t without,
                      double *space, double figure[FORMULA_FIGURES])
{
    double *kept = space + count;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (i % GROUPS == without)
            continue;
        memcpy(kept + used * FORMULA_FIGURES, factors + i * FORMULA_FIGURES,
               FORMULA_FIGURES * sizeof *kept);
        space[used++] = values[i];
    }
    relative_fit(&(struct relative_fit){FORMULA_FIGURES, used, kept, space}, figure);
}

static void keep_figures(struct profile_costs *costs, const double figure[FORMULA_FIGURES])
{
    for (int i = 0; i < FORMULA_FIGURES; i++)
        profile_cost_set(costs, &profile_cost_members[i],
                         profile_cost_rounded(figure[i], FIT_CYCLES_MAX));
    costs->finish = 0;
}

int formula_fit(struct target_profile *profile, const struct profile_memory *memory,
                const struct measured_move *moves, size_t count, double error[FORMULA_FIGURES])
{
    double *factors = calloc(count + 1, FORMULA_FIGURES * sizeof *factors);
    double *values = calloc(count + 1, sizeof *values);
    double *space = calloc(count + 1, (FORMULA_FIGURES + 1) * sizeof *space);
    double figure[FORMULA_FIGURES], other[FORMULA_FIGURES];
    const bool short_of_memory = !factors || !values || !space;

    if (profile->costs.burst == 0 && profile->costs.beat == 0)
        profile->costs.beat = PROFILE_CYCLE; /* to find the longer side */
    for (int pass = 0; !short_of_memory && pass < PASSES; pass++) {
        for (size_t i = 0; i < count; i++) {
            const double rest =
                set_factors(factors + i * FORMULA_FIGURES, profile, memory, &moves[i].plan);

            values[i] = fmax(moves[i].cycles - rest, moves[i].cycles / 100);
        }
        fit_group(factors, values, count, GROUPS, space, figure);
        keep_figures(&profile->costs, figure);
    }
    memset(error, 0, FORMULA_FIGURES * sizeof *error);
    for (size_t group = 0; !short_of_memory && group < GROUPS; group++) {
        fit_group(factors, values, count, group, space, other);
        for (size_t i = 0; i < FORMULA_FIGURES; i++)
            error[i] += (other[i] - figure[i]) * (other[i] - figure[i]) * (GROUPS - 1) / GROUPS;
    }
    for (size_t i = 0; i < FORMULA_FIGURES; i++)
        error[i] = sqrt(error[i]);
    free(factors);
    free(values);
    free(space);
    return short_of_memory ? -1 : 0;
}
