/* SPDX-License-Identifier: BSD-3-Clause */
/* Summaries of samples. */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

struct figure {
    double least, median, most;
    int count;
};

/* Sorts the values and returns their figure: least, median, most. */
struct figure figure_of(double *values, int count);

/* The geometric mean of the values that were added; 0 without values. */
struct mean {
    double logs;
    int count;
};

void mean_add(struct mean *m, double value);
double mean_value(const struct mean *m);

#endif
