/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests embARC 2.0's form of the functions with other orders of #include than test_compat.c: first
 * the headers whose functions mli_compat_embarc.h renames, then that header; or, with
 * LEAST_HEADERS, first MLI_EMBARC_COMPAT and then mli_mov_api.h.
 */
#ifdef LEAST_HEADERS
#define MLI_EMBARC_COMPAT
#include "mli_mov_api.h"
#ifndef PLATFORM
#error mli_mov_api.h includes mli_config.h
#endif
/* Calls a helper in embARC's form. */
int32_t compat_scale(const mli_tensor *tensor);
int32_t compat_scale(const mli_tensor *tensor)
{
    return mli_hlp_tensor_scale(tensor, 0);
}
#else
#include "mli_api.h"
#include "mli_compat_embarc.h"
#endif

#include "mli_api.h"
#include "tests/unit/libmli/compat_checks.h"

int main(void)
{
    return compat_run();
}
