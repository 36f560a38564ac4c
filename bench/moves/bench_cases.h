/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured cases: the listed ones, and their neighbours, which show whether a kind of move is
 * fast or only the listed shape.
 *
 * To add a case: a row in bench_cases.c and its figures in known.c. To add a neighbour:
 * neighbours.c.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <stdbool.h>
#include <stdint.h>

enum { CASE_RANK = 4, CASE_LISTED = 26, CASE_MAX = 256, CASE_NAME = 48 };

/* Indexed by source dimension, but for dst_*. Where all of perm is 0, nothing is permuted. */
struct bench_case {
    char name[CASE_NAME];
    int like; /* number of the listed case that it is near to, or its own number */
    uint32_t rank;
    uint32_t shape[CASE_RANK]; /* the 0 grows until the destination has the size wanted */
    uint8_t perm[CASE_RANK];
    bool odd;                     /* the growing extent stays odd */
    bool half[CASE_RANK];         /* the window is the middle half */
    uint32_t size[CASE_RANK];     /* of the window; 0: all */
    uint32_t step[CASE_RANK];     /* 0: 1 */
    uint8_t pre[CASE_RANK];       /* zeros before */
    uint8_t post[CASE_RANK];      /* and behind */
    uint32_t more[CASE_RANK];     /* the source's pitch is larger than its shape by this */
    uint32_t dst_at[CASE_RANK];   /* first coordinate written */
    uint32_t dst_more[CASE_RANK]; /* coordinates of the destination behind those written */
    uint8_t src_skew, dst_skew;   /* bytes off a cache line's beginning */
};

/* All cases: CASE_LISTED, then the neighbours if they are wanted. */
struct case_list {
    struct bench_case at[CASE_MAX];
    int count;
};

/* Fills in the listed cases. */
void cases_list(struct case_list *list);

/* Appends the neighbours of the listed cases. */
void cases_add_neighbours(struct case_list *list);

#endif
