/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The best figures known of other libraries for the listed cases, in times of memcpy: the best of
 * embARC MLI, oneDNN, XNNPACK, FBGEMM, HPTT, libxsmm, OpenCV, numpy, torch and a loop over rows,
 * each measured where it is at its best. From a Sapphire Rapids with AVX-512.
 */
#ifndef BENCH_KNOWN_H
#define BENCH_KNOWN_H

#include <stdint.h>

/* Returns the known figure; 0 if no figure is known: figures exist for 384 KiB and 128 MiB. */
double known_best(int number, uint32_t elem, uint32_t kib);

#endif
