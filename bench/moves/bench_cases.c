/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench/moves/bench_cases.h"

enum { L2_KIB = 384, DRAM_KIB = 131072 };

/* Rows in the order of the cases below; columns for elements of 1, 2 and 4 bytes. */
static const struct {
    double l2[3], dram[3];
} known[CASE_LISTED] = {
    {{3.85, 2.28, 1.17}, {5.68, 4.36, 1.48}}, /* transpose, odd */
    {{3.98, 2.18, 1.89}, {7.5, 4.7, 1.54}},   /* transpose, powers of two */
    {{6.96, 5.10, 1.95}, {2.36, 1.88, 1.41}}, /* [M,16] */
    {{9.9, 5.2, 2.1}, {4.7, 2.1, 1.75}},      /* [M,3] */
    {{2.36, 2.99, 2.12}, {1.45, 1.43, 1.48}}, /* HWC -> CHW, C=3 */
    {{2.30, 1.54, 1.37}, {2.33, 1.96, 1.40}}, /* HWC -> CHW, C=32 */
    {{2.68, 1.60, 1.43}, {2.16, 2.39, 1.72}}, /* HWC -> CHW, C=64 */
    {{2.09, 2.05, 1.96}, {0.99, 0.97, 0.91}}, /* CHW -> HWC, C=3 */
    {{2.09, 1.51, 1.36}, {3.09, 1.84, 1.22}}, /* CHW -> HWC, C=32 */
    {{2.23, 1.77, 1.37}, {2.38, 1.80, 1.39}}, /* NHWC -> NCHW */
    {{6.3, 4.9, 1.84}, {6.2, 3.9, 3.8}},      /* reverse rank 4 */
    {{1.45, 1.24, 1.18}, {2.6, 2.0, 1.7}},    /* (0,2,1,3) */
    {{3.4, 2.8, 1.8}, {4.0, 2.4, 1.7}},       /* (1,0,3,2) */
    {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}},       /* copy */
    {{2.9, 1.6, 1.3}, {1.3, 1.27, 1.17}},     /* slice of CHW */
    {{1.13, 1.13, 1.02}, {0.9, 0.9, 0.9}},    /* slice of HWC */
    {{4.1, 2.1, 2.05}, {3.1, 2.7, 2.55}},     /* rows of 17 of 64 */
    {{10.2, 4.9, 2.5}, {3.9, 3.5, 2.7}},      /* subsample 2 of CHW */
    {{2.6, 1.39, 1.14}, {2.3, 1.66, 1.43}},   /* subsample 2 of HWC */
    {{9.7, 4.8, 2.3}, {3.1, 2.7, 2.5}},       /* subsample 3 innermost */
    {{4.2, 3.8, 2.8}, {1.8, 1.8, 1.8}},       /* pad CHW */
    {{1.27, 1.15, 1.11}, {1.55, 1.55, 1.55}}, /* pad HWC, C=32 */
    {{1.33, 1.32, 1.30}, {1.55, 1.55, 1.55}}, /* pad HWC, C=3 */
    {{1.0, 1.0, 1.0}, {0.96, 0.96, 0.96}},    /* concat at a channel offset */
    {{3.1, 1.9, 1.3}, {1.5, 1.4, 1.3}},       /* concat at a W offset */
    {{6.3, 5.4, 3.2}, {2.4, 2.3, 1.7}},       /* pad, crop, step 2, HWC -> CHW */
};

double known_best(int number, uint32_t elem, uint32_t kib)
{
    const int column = elem == 1 ? 0 : elem == 2 ? 1 : 2;

    if (number >= CASE_LISTED || (kib != L2_KIB && kib != DRAM_KIB))
        return 0;
    return kib == L2_KIB ? known[number].l2[column] : known[number].dram[column];
}

/* The table of known figures has the cases in this order. */
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
