/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses that a reader reads as numbers in a mixed radix: each axis of the writer is a
 * digit, with its dst_step as the weight and its sample as the value. The steps of the reader are
 * numbers in the same radix. If no sum of digits carries, each digit of an address that the reader
 * reads is an affine function of the reader's samples. Private to index_compose.c.
 */
#ifndef CLI_INDEX_DIGITS_H
#define CLI_INDEX_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/optimise/index_map.h"

/* Digits: the axes of the writer, and steps of the reader that no axis has. Each axis of the reader
 * is split into at most one part for each digit. */
enum { DIGITS_MAX = 2 * MLI_MAX_RANK, PARTS_MAX = MLI_MAX_RANK * DIGITS_MAX };

struct digit {
    uint64_t weight;   /* in bytes */
    uint64_t count;    /* values of the writer: [0, count) */
    uint64_t lo, hi;   /* values that come from the writer's source */
    uint64_t src_step; /* in bytes */
    int64_t first;     /* value of the address that the reader reads first */
    int64_t width;     /* the largest value is first + width */
};

/* A loop of the reader: an axis, or a factor of an axis. */
struct part {
    uint64_t count; /* at least 2 */
    uint64_t steps[DIGITS_MAX];
};

struct index_digits {
    struct digit digit[DIGITS_MAX]; /* by weight, largest first */
    size_t digits;
    struct part part[PARTS_MAX]; /* of each axis the inner parts first */
    size_t parts, first_part[MLI_MAX_RANK + 1];
};

/**
 * Finds the digits of what `reader` reads in the destination of `writer`. `joined`: joins digits
 * that follow one another without a gap in source and destination. Returns false if the elements
 * have no unique digits, or are not read in order.
 */
bool index_digits_find(struct index_digits *c, const struct index_map *reader,
                       const struct index_map *writer, bool joined);

#endif /* CLI_INDEX_DIGITS_H */
