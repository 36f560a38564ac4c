/* SPDX-License-Identifier: BSD-3-Clause */
/* Few numbers for many. */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

struct figure {
    double least, median, most;
    int count;
};

/* Sorts the values. */
struct figure figure_of(double *values, int count);

/* The geometric mean grows with each value; 0 of none. */
struct mean {
    double logs;
    int count;
};

void mean_add(struct mean *m, double value);
double mean_value(const struct mean *m);

#endif
