/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/cost/measured_cost.h"

#include <math.h>

struct footprint_weights measured_weights(const struct measured_costs *costs, double footprint)
{
    const uint32_t last = costs->footprints - 1;
    uint32_t i = 0;

    if (footprint <= (double)costs->footprint[0])
        return (struct footprint_weights){0, 1, 0};
    if (footprint >= (double)costs->footprint[last])
        return (struct footprint_weights){last, 1, 0};
    while (footprint >= (double)costs->footprint[i + 1])
        i++;
    const double from = log((double)costs->footprint[i]);
    const double share = (log(footprint) - from) / (log((double)costs->footprint[i + 1]) - from);

    return (struct footprint_weights){i, 1 - share, share};
}

static double level_cost(const struct measured_class *class, const struct move_numbers *numbers,
                         const struct footprint_weights *weights, enum measured_level which)
{
    const profile_cost *cost = &class->level[which][weights->first];
    double cycles = weights->of_first * (double)cost[0];

    if (weights->of_second > 0)
        cycles += weights->of_second * (double)cost[1];
    return numbers->level[which] * cycles / (double)PROFILE_CYCLE;
}

static double figure_cost(const struct measured_class *class, const struct move_numbers *numbers,
                          enum measured_figure which)
{
    return numbers->figure[which] * (double)class->single[which] / (double)PROFILE_CYCLE;
}

void measured_formula(struct measured_time *time, const struct measured_costs *costs,
                      const struct move_numbers *n)
{
    const struct measured_class *own = &costs->class[n->class];
    const struct measured_class *class = own->present ? own : &costs->class[MOVE_CLASS_LONG_ROWS];
    const struct footprint_weights weights = measured_weights(costs, n->number[NUMBER_FOOTPRINT]);

    *time = (struct measured_time){.factor = 1, .class = n->class};
    time->start = figure_cost(class, n, MEASURED_START) + figure_cost(class, n, MEASURED_LOOP) +
                  figure_cost(class, n, MEASURED_SLAB);
    time->calls = figure_cost(class, n, MEASURED_PLANE) + figure_cost(class, n, MEASURED_CALL);
    time->rows = figure_cost(class, n, MEASURED_ROW) + figure_cost(class, n, MEASURED_STORE) +
                 figure_cost(class, n, MEASURED_ZERO_ROW) +
                 figure_cost(class, n, MEASURED_ZERO_STORE);
    time->read = level_cost(class, n, &weights, MEASURED_READ) +
                 level_cost(class, n, &weights, MEASURED_READ_LINES);
    time->written = level_cost(class, n, &weights, MEASURED_WRITTEN) +
                    level_cost(class, n, &weights, MEASURED_WRITTEN_LINES) +
                    level_cost(class, n, &weights, MEASURED_ZERO_LINES);
    time->total = time->start + time->calls + time->rows + time->read + time->written;
}

double measured_tree(const struct measured_costs *costs, uint32_t tree,
                     const struct move_numbers *numbers)
{
    const struct tree_node *node = &costs->node[costs->tree[tree]];

    while (node->number != TREE_END)
        node =
            &costs
                 ->node[numbers->number[node->number] < (double)node->value ? node->yes : node->no];
    return (double)node->value;
}

void measured_time(struct measured_time *time, const struct measured_costs *costs,
                   const struct mli_plan *plan)
{
    struct move_numbers numbers;
    double factor = 0;

    move_numbers(&numbers, plan);
    measured_formula(time, costs, &numbers);
    numbers.number[NUMBER_FORMULA] = time->total;
    for (uint32_t i = 0; i < costs->trees; i++)
        factor += measured_tree(costs, i, &numbers);
    time->factor = exp(factor);
    time->start *= time->factor;
    time->calls *= time->factor;
    time->rows *= time->factor;
    time->read *= time->factor;
    time->written *= time->factor;
    time->total *= time->factor;
}
