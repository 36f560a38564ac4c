/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target/cost/measured_cost.h"
#include "target/fit/fit.h"

/*
 * The trees grow by gradient boosting: each tree corrects a part of the error that the trees
 * before it have left. A tree grows by replacing the end with the largest gain by a question,
 * until it has enough ends. Large errors count less, so that outliers do not bend the trees.
 */

struct tree_samples {
    size_t count;
    const float *numbers; /* the numbers of sample i are at numbers[i * MOVE_NUMBERS] */
    const float *errors;  /* by sample: logarithm of measured time / time by the formula */
};

enum {
    CLASS_LEAST = 20, /* minimum number of moves of a class */
    TREES = 100,
    ENDS = 60,     /* maximum number of ends of each tree */
    END_LEAST = 8, /* minimum number of samples of an end */
    UNKNOWNS = MEASURED_FIGURES + MEASURED_LEVELS * MEASURED_FOOTPRINTS_MAX,
};
_Static_assert((int)UNKNOWNS <= (int)RELATIVE_FIT_MAX, "RELATIVE_FIT_MAX");

static const uint64_t footprints[] = {UINT64_C(1) << 13, UINT64_C(1) << 15, UINT64_C(1) << 17,
                                      UINT64_C(1) << 19, UINT64_C(1) << 21, UINT64_C(1) << 23,
                                      UINT64_C(1) << 25, UINT64_C(1) << 27};
_Static_assert(sizeof footprints / sizeof *footprints == MEASURED_FOOTPRINTS_MAX, "footprints");

#define RATE 0.15 /* part of the error that a tree corrects */

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

static void keep_figures(struct measured_class *class, const double figure[UNKNOWNS])
{
    class->present = true;
    for (size_t i = 0; i < MEASURED_FIGURES; i++)
        class->single[i] = profile_cost_rounded(figure[i], FIT_CYCLES_MAX);
    figure += MEASURED_FIGURES;
    for (size_t i = 0; i < MEASURED_LEVELS; i++)
        for (size_t k = 0; k < MEASURED_FOOTPRINTS_MAX; k++)
            class->level[i][k] = profile_cost_rounded(*figure++, FIT_CYCLES_MAX);
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

/* The samples, sorted into bins by each number, and grouped by the ends of the current tree. */
struct growth {
    const struct tree_samples *samples;
    uint8_t *bins;   /* [number][sample] */
    float *cuts;     /* [number][bin]: the smallest number in the bin */
    float *rest;     /* [sample]: error that the trees before have left */
    uint32_t *order; /* indices of samples; the samples of each end are together */
    uint32_t *spare; /* for sorting */
};

enum { BINS = 250 };

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* Chooses the bins of a number so that they have about as many samples each. */
static void make_bins(struct growth *g, size_t number, float *sorted)
{
    const size_t count = g->samples->count;
    float *cut = g->cuts + number * BINS;
    size_t bins = 1;

    for (size_t i = 0; i < count; i++)
        sorted[i] = g->samples->numbers[i * MOVE_NUMBERS + number];
    qsort(sorted, count, sizeof *sorted, compare);
    cut[0] = -INFINITY;
    for (size_t i = 1; i < BINS; i++) {
        const float value = sorted[count * i / BINS];

        if (value > sorted[0] && value > cut[bins - 1])
            cut[bins++] = value;
    }
    for (size_t i = 0; i < count; i++) {
        const float value = g->samples->numbers[i * MOVE_NUMBERS + number];
        size_t low = 0, high = bins;

        while (high - low > 1) {
            const size_t middle = (low + high) / 2;

            if (value < cut[middle])
                high = middle;
            else
                low = middle;
        }
        g->bins[number * count + i] = (uint8_t)low;
    }
    while (bins < BINS)
        cut[bins++] = INFINITY;
}

static int growth_init(struct growth *g)
{
    const size_t count = g->samples->count;
    float *sorted = calloc(count, sizeof *sorted);

    g->bins = calloc(count, MOVE_NUMBERS * sizeof *g->bins);
    g->cuts = calloc(MOVE_NUMBERS, BINS * sizeof *g->cuts);
    g->rest = calloc(count, sizeof *g->rest);
    g->order = calloc(count, sizeof *g->order);
    g->spare = calloc(count, sizeof *g->spare);
    if (!sorted || !g->bins || !g->cuts || !g->rest || !g->order || !g->spare) {
        free(sorted);
        return -1;
    }
    for (size_t i = 0; i < MOVE_NUMBERS; i++)
        make_bins(g, i, sorted);
    for (size_t i = 0; i < count; i++) {
        g->rest[i] = g->samples->errors[i];
        g->order[i] = (uint32_t)i;
    }
    free(sorted);
    return 0;
}

/* An end of the current tree, with the best question to divide it. */
struct end {
    uint32_t begin, count; /* in growth.order */
    uint16_t node;
    double mean, gain;
    uint8_t number, bin; /* the question: is the number in a bin before `bin`? */
};

struct sums {
    double error[BINS], weight[BINS];
};
#define LARGE_ERROR 0.3 /* a logarithm; larger errors count like this error */

static void add_to_sums(struct sums *sums, const struct growth *g, const struct end *end,
                        size_t number)
{
    const uint8_t *bin = g->bins + number * g->samples->count;

    memset(sums, 0, sizeof *sums);
    for (uint32_t i = end->begin; i < end->begin + end->count; i++) {
        const uint32_t sample = g->order[i];
        const double error = (double)g->rest[sample];
        const double weight = fabs(error) > LARGE_ERROR ? LARGE_ERROR / fabs(error) : 1;

        sums->error[bin[sample]] += weight * error;
        sums->weight[bin[sample]] += weight;
    }
}

#define FEW 3.0 /* number of samples with an error of 0 that are added to each end */

/* Finds the best question about one number for an end. */
static void try_number(const struct growth *g, struct end *end, size_t number)
{
    const double least = (double)END_LEAST;
    double error = 0, weight = 0, all_errors = 0, all_weights = 0;
    struct sums sums;

    add_to_sums(&sums, g, end, number);
    for (size_t i = 0; i < BINS; i++) {
        all_errors += sums.error[i];
        all_weights += sums.weight[i];
    }
    end->mean = all_errors / (all_weights + FEW);
    for (size_t i = 1; i < BINS; i++) {
        error += sums.error[i - 1];
        weight += sums.weight[i - 1];
        const double other = all_errors - error, others = all_weights - weight;

        if (weight < least || others < least)
            continue;
        const double gain = error * error / (weight + 1) + other * other / (others + 1) -
                            all_errors * all_errors / (all_weights + 1);
        if (gain > end->gain) {
            end->gain = gain;
            end->number = (uint8_t)number;
            end->bin = (uint8_t)i;
        }
    }
}

static void find_question(const struct growth *g, struct end *end)
{
    end->gain = 0;
    for (size_t number = 0; number < MOVE_NUMBERS; number++)
        try_number(g, end, number);
}

/*
 * Groups the samples of an end by the answer to its question. Returns the number of samples with
 * the answer "yes".
 */
static uint32_t divide(struct growth *g, const struct end *end)
{
    const uint8_t *bin = g->bins + end->number * g->samples->count;
    uint32_t yes = 0, no = 0;

    for (uint32_t i = end->begin; i < end->begin + end->count; i++) {
        const uint32_t sample = g->order[i];

        if (bin[sample] < end->bin)
            g->order[end->begin + yes++] = sample;
        else
            g->spare[no++] = sample;
    }
    memcpy(g->order + end->begin + yes, g->spare, no * sizeof *g->order);
    return yes;
}

/* Replaces an end by its question, with two new ends. */
static void ask(struct growth *g, struct measured_costs *costs, struct end *end, struct end *other)
{
    struct tree_node *node = &costs->node[end->node];
    const uint32_t yes = divide(g, end);

    node->number = end->number;
    node->value = g->cuts[end->number * BINS + end->bin];
    node->yes = (uint16_t)costs->nodes++;
    node->no = (uint16_t)costs->nodes++;
    *other = (struct end){.begin = end->begin + yes, .count = end->count - yes, .node = node->no};
    *end = (struct end){.begin = end->begin, .count = yes, .node = node->yes};
    find_question(g, end);
    find_question(g, other);
}

/* Writes the factor of an end, and subtracts it from the errors of the end's samples. */
static void finish_end(struct growth *g, struct measured_costs *costs, const struct end *end)
{
    const float step = (float)(RATE * end->mean);

    costs->node[end->node] = (struct tree_node){.number = TREE_END, .value = step};
    for (uint32_t i = end->begin; i < end->begin + end->count; i++)
        g->rest[g->order[i]] -= step;
}

static void grow_tree(struct growth *g, struct measured_costs *costs)
{
    struct end ends[ENDS] = {
        {.count = (uint32_t)g->samples->count, .node = (uint16_t)costs->nodes}};
    uint32_t count = 1;

    costs->tree[costs->trees++] = (uint16_t)costs->nodes++;
    find_question(g, &ends[0]);
    while (count < ENDS) {
        uint32_t best = 0;

        for (uint32_t i = 1; i < count; i++)
            if (ends[i].gain > ends[best].gain)
                best = i;
        if (!(ends[best].gain > 0))
            break;
        ask(g, costs, &ends[best], &ends[count]);
        count++;
    }
    for (uint32_t i = 0; i < count; i++)
        finish_end(g, costs, &ends[i]);
}

static void growth_finish(struct growth *g)
{
    free(g->bins);
    free(g->cuts);
    free(g->rest);
    free(g->order);
    free(g->spare);
}

/*
 * Replaces the trees of `costs` by new ones. Grows fewer trees if there are too few samples or if
 * the array of nodes is full. Returns 0, or -1 if memory is short; then `costs` has no trees.
 */
static int tree_fit(struct measured_costs *costs, const struct tree_samples *samples)
{
    struct growth g = {.samples = samples};
    int result;

    costs->trees = costs->nodes = 0;
    if (samples->count < 2 * END_LEAST)
        return 0;
    result = growth_init(&g);
    for (uint32_t i = 0; result == 0 && i < TREES; i++) {
        if (costs->nodes + 2 * ENDS > MEASURED_NODES_MAX)
            break;
        grow_tree(&g, costs);
    }
    growth_finish(&g);
    return result;
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
        result = tree_fit(costs, &(struct tree_samples){count, values, errors});
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
