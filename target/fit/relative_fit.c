/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/fit/fit.h"

#include <math.h>
#include <string.h>

enum { PASSES = 5, ROUNDS = 200, EXACT_ROUNDS = 4 };
#define LARGE_ERROR 0.1  /* relative errors above this one reduce the weight of a sample */
#define RIDGE       1e-6 /* relative increase of the diagonal, for factors that are similar */
#define CONVERGED   1e-8
#define SLACK       1.1 /* an unknown may explain a tenth more than a measured value */

/* The normal equations of the weighted samples. */
struct equations {
    size_t count;
    double matrix[RELATIVE_FIT_MAX][RELATIVE_FIT_MAX], right[RELATIVE_FIT_MAX];
    double most[RELATIVE_FIT_MAX]; /* upper bounds of the unknowns */
};

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_sample(struct equations *e, const double *factor, double value, double weight)
{
    const double scale = weight / (value * value);

    for (size_t i = 0; i < e->count; i++) {
        if (factor[i] == 0)
            continue;
        e->right[i] += scale * factor[i] * value;
        for (size_t k = 0; k < e->count; k++)
            e->matrix[i][k] += scale * factor[i] * factor[k];
    }
}

/*
 * Bounds each unknown: alone, it may explain each value at most once. Without bounds, noise would
 * give absurd unknowns to factors that are small in all samples.
 */
static void set_bounds(struct equations *e, const struct relative_fit *fit)
{
    for (size_t i = 0; i < e->count; i++)
        e->most[i] = HUGE_VAL;
    for (size_t i = 0; i < fit->samples; i++) {
        const double *factor = fit->factors + i * fit->unknowns;

        for (size_t k = 0; k < e->count; k++)
            if (factor[k] > 0)
                e->most[k] = fmin(e->most[k], SLACK * fit->values[i] / factor[k]);
    }
}

/*
 * An attempt: unknowns, the gradient at these values, and the unknowns that are between their
 * bounds.
 */
struct attempt {
    double unknown[RELATIVE_FIT_MAX], gradient[RELATIVE_FIT_MAX];
    size_t free[RELATIVE_FIT_MAX], count; /* indices of the free unknowns */
};

static void set_gradient(struct attempt *a, const struct equations *e)
{
    for (size_t i = 0; i < e->count; i++)
        a->gradient[i] = dot(e->matrix[i], a->unknown, e->count) - e->right[i];
}

/*
 * Minimises over one unknown after another, within their bounds. This is slow if factors are
 * similar.
 */
static void descend(struct attempt *a, const struct equations *e)
{
    for (int round = 0; round < ROUNDS; round++) {
        double largest = 0;

        for (size_t i = 0; i < e->count; i++) {
            const double diagonal = e->matrix[i][i] * (1 + RIDGE);
            double change = diagonal > 0 ? -a->gradient[i] / diagonal : 0;

            change = fmin(fmax(change, -a->unknown[i]), e->most[i] - a->unknown[i]);
            if (change == 0)
                continue;
            a->unknown[i] += change;
            largest = fmax(largest, fabs(change) * sqrt(diagonal));
            for (size_t k = 0; k < e->count; k++)
                a->gradient[k] += change * e->matrix[i][k];
        }
        if (largest < CONVERGED)
            return;
    }
}

static void find_free(struct attempt *a, const struct equations *e)
{
    a->count = 0;
    for (size_t i = 0; i < e->count; i++)
        if (e->matrix[i][i] > 0 && a->unknown[i] > 0 && a->unknown[i] < e->most[i])
            a->free[a->count++] = i;
}

/* Sets step[] to the difference to the minimum over the free unknowns. Returns false on a singular
 * matrix. */
static bool find_step(const struct attempt *a, const struct equations *e, double *step)
{
    double factor[RELATIVE_FIT_MAX][RELATIVE_FIT_MAX]; /* lower triangle, by Cholesky */

    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k <= i; k++) {
            const double value = e->matrix[a->free[i]][a->free[k]] * (i == k ? 1 + RIDGE : 1) -
                                 dot(factor[i], factor[k], k);

            if (i == k && !(value > 0))
                return false;
            factor[i][k] = i == k ? sqrt(value) : value / factor[k][k];
        }
        step[i] = (-a->gradient[a->free[i]] - dot(factor[i], step, i)) / factor[i][i];
    }
    for (size_t i = a->count; i-- > 0;) {
        for (size_t k = i + 1; k < a->count; k++)
            step[i] -= factor[k][i] * step[k];
        step[i] /= factor[i][i];
    }
    return true;
}

/*
 * Adds the step to the unknowns, up to the first bound. Returns whether the whole step was
 * possible.
 */
static bool go(struct attempt *a, const struct equations *e, const double *step)
{
    double share = 1;
    size_t first = a->count;

    for (size_t i = 0; i < a->count; i++) {
        const double room =
            step[i] < 0 ? -a->unknown[a->free[i]] : e->most[a->free[i]] - a->unknown[a->free[i]];

        if (step[i] != 0 && room / step[i] < share) {
            share = room / step[i];
            first = i;
        }
    }
    for (size_t i = 0; i < a->count; i++) {
        double *unknown = &a->unknown[a->free[i]];

        *unknown = fmin(fmax(*unknown + share * step[i], 0), e->most[a->free[i]]);
        if (i == first)
            *unknown = step[i] < 0 ? 0 : e->most[a->free[i]];
    }
    set_gradient(a, e);
    return first == a->count;
}

/*
 * Minimises: first descends, then steps to the exact minimum over the unknowns between their
 * bounds.
 */
static void solve(const struct equations *e, double *unknown)
{
    struct attempt a = {.count = 0};
    double step[RELATIVE_FIT_MAX];

    for (size_t i = 0; i < e->count; i++)
        a.unknown[i] = fmin(unknown[i], e->most[i]);
    set_gradient(&a, e);
    for (int round = 0; round < EXACT_ROUNDS; round++) {
        bool whole = false;

        descend(&a, e);
        for (size_t i = 0; i < e->count && !whole; i++) {
            find_free(&a, e);
            if (!find_step(&a, e, step))
                break;
            whole = go(&a, e, step);
        }
    }
    for (size_t i = 0; i < e->count; i++)
        unknown[i] = a.unknown[i];
}

void relative_fit(const struct relative_fit *fit, double *unknown)
{
    struct equations e;

    memset(unknown, 0, fit->unknowns * sizeof *unknown);
    for (int pass = 0; pass < PASSES; pass++) {
        memset(&e, 0, sizeof e);
        e.count = fit->unknowns;
        set_bounds(&e, fit);
        for (size_t i = 0; i < fit->samples; i++) {
            const double *factor = fit->factors + i * fit->unknowns;
            const double error = fabs(dot(factor, unknown, fit->unknowns) / fit->values[i] - 1);

            add_sample(&e, factor, fit->values[i],
                       pass > 0 && error > LARGE_ERROR ? LARGE_ERROR / error : 1);
        }
        solve(&e, unknown);
    }
}
