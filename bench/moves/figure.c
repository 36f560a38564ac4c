/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/figure.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct figure figure_of(double *values, int count)
{
    if (count == 0)
        return (struct figure){0};
    qsort(values, (size_t)count, sizeof(*values), by_value);
    const double upper = values[count / 2], lower = values[(count - 1) / 2];

    return (struct figure){values[0], (lower + upper) / 2, values[count - 1], count};
}

void mean_add(struct mean *m, double value)
{
    m->logs += log(value);
    m->count++;
}

double mean_value(const struct mean *m)
{
    return m->count ? exp(m->logs / m->count) : 0;
}
