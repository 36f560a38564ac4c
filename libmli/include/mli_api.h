/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli: the data movement, permute and helper functions of the embARC MLI API.
 *
 *   mli_types.h        tensors, configurations, statuses
 *   mli_mov_api.h      moves, synchronous and asynchronous, and the channel pool
 *   mli_kernels_api.h  permute kernels
 *   mli_helpers_api.h  helpers, error texts, target profile
 *
 * Not included: mli_explain.h (explains a move before it is made), mli_tuning.h (sizes of caches)
 * and mli_engine.h (drivers).
 *
 * Define MLI_EMBARC_COMPAT before including this header to get embARC 2.0's form of the functions
 * with other prototypes (mli_compat_embarc.h).
 */
#ifndef MLI_API_H
#define MLI_API_H

#include "mli_types.h"

#include "mli_helpers_api.h"
#include "mli_kernels_api.h"
#include "mli_mov_api.h"

#endif /* MLI_API_H */
