/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic of a plan on a bus: rows, beats and bursts, counted exactly from the addresses of the
 * plan. Nothing is accessed.
 */
#ifndef TARGET_BUS_TRAFFIC_H
#define TARGET_BUS_TRAFFIC_H

#include <stdint.h>

#include "mli_plan.h"

/* The traffic on one side of a plan: reads of the source, or writes of the destination. */
struct traffic {
    uint64_t bytes;
    uint64_t rows;      /* contiguous runs */
    uint64_t beats;     /* aligned words of the bus that the rows touch */
    uint64_t bursts;    /* aligned blocks of the burst size that the rows touch */
    uint64_t conflicts; /* rows that begin in the bank of the row before */
};

/* The units in which traffic is counted. */
struct traffic_units {
    uint32_t bus_bytes, burst_bytes; /* powers of two; burst_bytes is a multiple of bus_bytes */
    uint64_t bank_cycle; /* bytes until the banks repeat: banks * bank_bytes; 0: no banks */
};

/** Adds the traffic of reading the copy box of a plan. */
void traffic_add_read(struct traffic *traffic, const struct mli_plan *plan,
                      const struct traffic_units *units);

/** Adds the traffic of writing the copy box and the zeros of a plan. */
void traffic_add_written(struct traffic *traffic, const struct mli_plan *plan,
                         const struct traffic_units *units);

#endif /* TARGET_BUS_TRAFFIC_H */
