/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_cases.h"

#include <string.h>

/* known.c lists figures for the cases in this order. */
static const struct bench_case listed[CASE_LISTED] = {
    {.name = "transpose, odd", .rank = 2, .shape = {0, 387}, .perm = {1, 0}, .odd = true},
    {.name = "transpose, powers of two", .rank = 2, .shape = {0, 512}, .perm = {1, 0}},
    {.name = "[M,16] -> [16,M]", .rank = 2, .shape = {0, 16}, .perm = {1, 0}},
    {.name = "[M,3] -> [3,M]", .rank = 2, .shape = {0, 3}, .perm = {1, 0}},
    {.name = "HWC -> CHW, C=3", .rank = 3, .shape = {0, 224, 3}, .perm = {2, 0, 1}},
    {.name = "HWC -> CHW, C=32", .rank = 3, .shape = {0, 56, 32}, .perm = {2, 0, 1}},
    {.name = "HWC -> CHW, C=64", .rank = 3, .shape = {0, 28, 64}, .perm = {2, 0, 1}},
    {.name = "CHW -> HWC, C=3", .rank = 3, .shape = {3, 0, 224}, .perm = {1, 2, 0}},
    {.name = "CHW -> HWC, C=32", .rank = 3, .shape = {32, 0, 56}, .perm = {1, 2, 0}},
    {.name = "NHWC -> NCHW (0,3,1,2)", .rank = 4, .shape = {2, 0, 28, 32}, .perm = {0, 3, 1, 2}},
    {.name = "reverse rank 4 (3,2,1,0)", .rank = 4, .shape = {8, 12, 0, 20}, .perm = {3, 2, 1, 0}},
    {.name = "(0,2,1,3), inner 64", .rank = 4, .shape = {2, 0, 8, 64}, .perm = {0, 2, 1, 3}},
    {.name = "(1,0,3,2)", .rank = 4, .shape = {4, 0, 24, 40}, .perm = {1, 0, 3, 2}},
    {.name = "copy", .rank = 1, .shape = {0}},
    {.name = "slice half H,W of CHW", .rank = 3, .shape = {0, 56, 56}, .half = {0, 1, 1}},
    {.name = "slice half H,W of HWC", .rank = 3, .shape = {0, 56, 32}, .half = {1, 1, 0}},
    {.name = "rows of 17 of 64", .rank = 2, .shape = {0, 64}, .size = {0, 17}},
    {.name = "subsample 2 on H,W of CHW", .rank = 3, .shape = {0, 56, 56}, .step = {1, 2, 2}},
    {.name = "subsample 2 on H,W of HWC", .rank = 3, .shape = {0, 56, 32}, .step = {2, 2, 1}},
    {.name = "subsample 3 innermost", .rank = 2, .shape = {0, 1023}, .step = {1, 3}},
    {.name = "pad 1 around H,W of CHW",
     .rank = 3,
     .shape = {0, 28, 28},
     .pre = {0, 1, 1},
     .post = {0, 1, 1}},
    {.name = "pad 1 around H,W of HWC, C=32",
     .rank = 3,
     .shape = {0, 28, 32},
     .pre = {1, 1, 0},
     .post = {1, 1, 0}},
    {.name = "pad 1 around H,W of HWC, C=3",
     .rank = 3,
     .shape = {0, 112, 3},
     .pre = {1, 1, 0},
     .post = {1, 1, 0}},
    {.name = "concat at a channel offset", .rank = 3, .shape = {0, 28, 28}, .dst_at = {16, 0, 0}},
    {.name = "concat at a W offset", .rank = 3, .shape = {0, 28, 28}, .dst_at = {0, 0, 28}},
    {.name = "pad, crop, step 2, HWC -> CHW",
     .rank = 3,
     .shape = {0, 56, 32},
     .size = {0, 57, 0},
     .perm = {2, 0, 1},
     .step = {2, 2, 1},
     .pre = {1, 1, 0},
     .post = {1, 1, 0}},
};

void cases_list(struct case_list *list)
{
    memcpy(list->at, listed, sizeof(listed));
    list->count = CASE_LISTED;
    for (int i = 0; i < CASE_LISTED; i++)
        list->at[i].like = i;
}
