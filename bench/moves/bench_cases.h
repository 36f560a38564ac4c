/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured cases: the listed ones, and their neighbours, which show whether a kind of move is
 * fast or only the listed shape.
 *
 * To add a case: a row in bench_cases.c and its figures there. To add a neighbour:
 * neighbours.c.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The best figures known of other libraries for the listed cases, as multiples of memcpy's time:
 * the best of embARC MLI, oneDNN, XNNPACK, FBGEMM, HPTT, libxsmm, OpenCV, numpy, torch and a loop
 * over rows, each measured in the setting in which it is fastest. Measured on a Sapphire Rapids
 * with AVX-512.
 */

/* Returns the best known figure of a case, or 0. Figures exist only for 384 KiB and 128 MiB. */
double known_best(int number, uint32_t elem, uint32_t kib);

enum { CASE_RANK = 4, CASE_LISTED = 26, CASE_MAX = 256, CASE_NAME = 48 };

/* A case. Arrays are indexed by source dimension, except dst_*. If all entries of perm are 0, the
 * move does not permute. */
struct bench_case {
    char name[CASE_NAME];
    int like; /* number of the listed case that this case resembles, or its own number */
    uint32_t rank;
    uint32_t shape[CASE_RANK]; /* shape of the source; 0: the extent is computed from the wanted
                                  size of the destination */
    uint8_t perm[CASE_RANK];
    bool odd;                     /* true: the computed extent is odd */
    bool half[CASE_RANK];         /* true: the window is the middle half of the dimension */
    uint32_t size[CASE_RANK];     /* size of the window; 0: the whole extent */
    uint32_t step[CASE_RANK];     /* step of the subsampling; 0 means 1 */
    uint8_t pre[CASE_RANK];       /* padding before the source, in samples */
    uint8_t post[CASE_RANK];      /* padding after the source, in samples */
    uint32_t more[CASE_RANK];     /* elements by which the source's pitch exceeds its extent */
    uint32_t dst_at[CASE_RANK];   /* first coordinate written in the destination */
    uint32_t dst_more[CASE_RANK]; /* number of coordinates of the destination after the written
                                     coordinates */
    uint8_t src_skew, dst_skew;   /* distance from the beginning of a cache line, in bytes */
};

/* All cases: first CASE_LISTED cases by name, then, by an option, cases of nearby shapes. */
struct case_list {
    struct bench_case at[CASE_MAX];
    int count;
};

/* Fills in the listed cases. */
void cases_list(struct case_list *list);

/* Appends variants of the listed cases (--neighbours). */
void cases_add_neighbours(struct case_list *list);

#endif /* BENCH_CASES_H */
