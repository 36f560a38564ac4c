/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest program: it moves one tensor on the processor. */
#include "mli_mov_api.h"

static int8_t from[4][6], to[6][4];
static mli_mov_cfg_t cfg = {.sub_sample_step = {1, 1}, .perm_dim = {1, 0}};
static mli_tensor src = {.data = {.capacity = sizeof(from), .mem = {.pi8 = from[0]}},
                         .shape = {4, 6},
                         .rank = 2,
                         .el_type = MLI_EL_FX_8};
static mli_tensor dst = {.data = {.capacity = sizeof(to), .mem = {.pi8 = to[0]}}};

int main(void)
{
    return (int)mli_mov_tensor_sync(&src, &cfg, &dst);
}
