/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/fit/measured_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target/cost/measured_cost.h"
#include "target/fit/relative_fit.h"
#include "target/fit/tree_fit.h"

enum {
    CLASS_LEAST = 20, /* fewest moves of a class */
    UNKNOWNS = MEASURED_FIGURES + MEASURED_LEVELS * MEASURED_FOOTPRINTS_MAX,
};
_Static_assert((int)UNKNOWNS <= (int)RELATIVE_FIT_MAX, "RELATIVE_FIT_MAX");

static const uint64_t footprints[] = {UINT64_C(1) << 13, UINT64_C(1) << 15, UINT64_C(1) << 17,
                                      UINT64_C(1) << 19, UINT64_C(1) << 21, UINT64_C(1) << 23,
                                      UINT64_C(1) << 25, UINT64_C(1) << 27};
_Static_assert(sizeof footprints / sizeof *footprints == MEASURED_FOOTPRINTS_MAX, "footprints");

static const struct tree_rules rules = {.trees = 100, .ends = 60, .least = 8, .rate = 0.15};

static void set_factors(double factor[UNKNOWNS], const struct measured_costs *costs,
                        const struct move_numbers *n)
{
    const struct footprint_weights weights = measured_weights(costs, n->number[NUMBER_FOOTPRINT]);
    double *level = factor + MEASURED_FIGURES;

    memset(factor, 0, UNKNOWNS * sizeof *factor);
    memcpy(factor, n->figure, sizeof n->figure);
    for (size_t i = 0; i < MEASURED_LEVELS; i++, level += MEASURED_FOOTPRINTS_MAX) {
        level[weights.first] = weights.of_first * n->level[i];
        if (weights.of_second > 0)
            level[weights.first + 1] = weights.of_second * n->level[i];
    }
}

static profile_cost to_cost(double cycles)
{
    return (profile_cost)llround(fmin(cycles, 1e8) * (double)PROFILE_CYCLE);
}

static void keep_figures(struct measured_class *class, const double figure[UNKNOWNS])
{
    class->present = true;
    for (size_t i = 0; i < MEASURED_FIGURES; i++)
        class->single[i] = to_cost(figure[i]);
    figure += MEASURED_FIGURES;
    for (size_t i = 0; i < MEASURED_LEVELS; i++)
        for (size_t k = 0; k < MEASURED_FOOTPRINTS_MAX; k++)
            class->level[i][k] = to_cost(*figure++);
}

/* Fits the figures of a class to its moves, or to all moves if it has too few and is required. */
static int fit_class(struct measured_costs *costs, enum move_class which,
                     const struct measured_move *moves, const struct move_numbers *numbers,
                     size_t count)
{
    double *factors, *values, figure[UNKNOWNS];
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        used += numbers[i].class == which;
    const bool all = used < CLASS_LEAST;
    if (all && which != MOVE_CLASS_LONG_ROWS)
        return 0;
    factors = calloc((all ? count : used) + 1, UNKNOWNS * sizeof *factors);
    values = calloc((all ? count : used) + 1, sizeof *values);
    used = 0;
    for (size_t i = 0; factors && values && i < count; i++) {
        if (!all && numbers[i].class != which)
            continue;
        set_factors(factors + used * UNKNOWNS, costs, &numbers[i]);
        values[used++] = moves[i].cycles;
    }
    const bool short_of_memory = !factors || !values;
    if (!short_of_memory) {
        relative_fit(&(struct relative_fit){UNKNOWNS, used, factors, values}, figure);
        keep_figures(&costs->class[which], figure);
    }
    free(factors);
    free(values);
    return short_of_memory ? -1 : 0;
}

/* Fits the trees to the errors of the formula. */
static int fit_trees(struct measured_costs *costs, const struct measured_move *moves,
                     struct move_numbers *numbers, size_t count)
{
    float *values = calloc(count + 1, MOVE_NUMBERS * sizeof *values);
    float *errors = calloc(count + 1, sizeof *errors);
    int result = -1;

    if (values && errors) {
        for (size_t i = 0; i < count; i++) {
            struct measured_time time;

            measured_formula(&time, costs, &numbers[i]);
            numbers[i].number[NUMBER_FORMULA] = time.total;
            for (size_t k = 0; k < MOVE_NUMBERS; k++)
                values[i * MOVE_NUMBERS + k] = (float)numbers[i].number[k];
            errors[i] = (float)log(moves[i].cycles / fmax(time.total, 1e-3));
        }
        result = tree_fit(costs, &(struct tree_samples){count, values, errors}, &rules);
    }
    free(values);
    free(errors);
    return result;
}

int measured_fit(struct measured_costs *costs, const struct measured_move *moves, size_t count)
{
    struct move_numbers *numbers = calloc(count + 1, sizeof *numbers);
    int result = numbers ? 0 : -1;

    memset(costs, 0, sizeof *costs);
    costs->present = true;
    costs->footprints = MEASURED_FOOTPRINTS_MAX;
    memcpy(costs->footprint, footprints, sizeof footprints);
    for (size_t i = 0; numbers && i < count; i++)
        move_numbers(&numbers[i], &moves[i].plan);
    for (enum move_class which = 0; result == 0 && which < MOVE_CLASSES; which++)
        result = fit_class(costs, which, moves, numbers, count);
    if (result == 0)
        result = fit_trees(costs, moves, numbers, count);
    free(numbers);
    return result;
}
