/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases whose shapes are similar to the listed shapes. */
#include <stdio.h>
#include <string.h>

#include "bench/moves/bench_cases.h"

#define EACH(type, item, ...)                                                                      \
    for (const type *item = (const type[]){__VA_ARGS__, 0}; *item != 0; item++)

/* Appends a copy of the listed case `name` with another name. The caller changes the copy. */
static struct bench_case *add(struct case_list *list, const char *like, const char *change)
{
    struct bench_case *c = &list->at[list->count];
    int i = 0;

    while (i < CASE_LISTED - 1 && strcmp(list->at[i].name, like) != 0)
        i++;
    *c = list->at[i];
    c->like = i;
    snprintf(c->name, sizeof(c->name), "%s", change);
    list->count++;
    return c;
}

__attribute__((format(printf, 3, 0))) static struct bench_case *
add_number(struct case_list *list, const char *like, const char *format, uint32_t number)
{
    char name[CASE_NAME];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name, sizeof(name), format, number);
#pragma GCC diagnostic pop
    return add(list, like, name);
}

static void channels(struct case_list *l)
{
    EACH(uint32_t, c, 1, 2, 4, 5, 7, 8, 12, 16, 24, 48, 96, 100)
    {
        const char *to = *c <= 8 ? "HWC -> CHW, C=3" : "HWC -> CHW, C=32";
        const char *from = *c <= 8 ? "CHW -> HWC, C=3" : "CHW -> HWC, C=32";

        add_number(l, to, "HWC -> CHW, C=%u", *c)->shape[2] = *c;
        add_number(l, from, "CHW -> HWC, C=%u", *c)->shape[0] = *c;
    }
}

static void transposes(struct case_list *l)
{
    EACH(uint32_t, n, 63, 129, 1000, 4097)
    add_number(l, "transpose, odd", "transpose, M x %u", *n)->shape[1] = *n;
    EACH(uint32_t, n, 64, 128, 1024, 4096)
    add_number(l, "transpose, powers of two", "transpose, M x %u", *n)->shape[1] = *n;
    EACH(uint32_t, n, 2, 4, 5, 8)
    add_number(l, "[M,3] -> [3,M]", "[M,%u]", *n)->shape[1] = *n;
    EACH(uint32_t, n, 15, 17, 31, 33)
    add_number(l, "[M,16] -> [16,M]", "[M,%u]", *n)->shape[1] = *n;
}

static void dims_of_one(struct case_list *l)
{
    struct bench_case *c = add(l, "transpose, odd", "transpose with a dim of 1 between");

    c->rank = 3;
    memcpy(c->shape, (const uint32_t[]){0, 1, 387, 0}, sizeof(c->shape));
    memcpy(c->perm, (const uint8_t[]){2, 1, 0, 0}, sizeof(c->perm));
    add(l, "NHWC -> NCHW (0,3,1,2)", "NHWC -> NCHW, N=1")->shape[0] = 1;
    add(l, "NHWC -> NCHW (0,3,1,2)", "NHWC -> NCHW, W=1")->shape[2] = 1;
    add(l, "(0,2,1,3), inner 64", "(0,2,1,3), B=1")->shape[0] = 1;
    add(l, "copy", "copy of rank 4, dims of 1")->rank = 4;
    memcpy(l->at[l->count - 1].shape, (const uint32_t[]){1, 0, 1, 64}, sizeof(c->shape));
}

static void unaligned(struct case_list *l)
{
    static const char *const of[] = {"copy",
                                     "transpose, odd",
                                     "HWC -> CHW, C=32",
                                     "CHW -> HWC, C=3",
                                     "subsample 2 on H,W of CHW",
                                     "rows of 17 of 64",
                                     "pad 1 around H,W of CHW"};
    static const uint8_t skews[][2] = {{1, 0}, {0, 1}, {3, 3}};

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        for (size_t s = 0; s < sizeof(skews) / sizeof(skews[0]); s++) {
            char name[CASE_NAME];

            snprintf(name, sizeof(name), "%.19s, bases +%u, +%u", of[i], skews[s][0], skews[s][1]);
            struct bench_case *c = add(l, of[i], name);

            c->src_skew = skews[s][0];
            c->dst_skew = skews[s][1];
        }
    }
}

static void pitches(struct case_list *l)
{
    add(l, "transpose, odd", "transpose, odd, pitch +13")->more[1] = 13;
    add(l, "HWC -> CHW, C=32", "HWC -> CHW, C=32 of 40")->more[2] = 8;
    add(l, "HWC -> CHW, C=3", "HWC -> CHW, C=3 of 4")->more[2] = 1;
    add(l, "CHW -> HWC, C=32", "CHW -> HWC, W=56 of 64")->more[2] = 8;
    add(l, "(0,2,1,3), inner 64", "(0,2,1,3), inner 64 of 80")->more[3] = 16;
    add(l, "slice half H,W of HWC", "slice of HWC, C=32 of 48")->more[2] = 16;
    add(l, "subsample 2 on H,W of CHW", "subsample 2 of CHW, W=56 of 61")->more[2] = 5;
}

/* Tiles of an image with three channels: short rows that do not follow one another. */
static void tiles(struct case_list *l)
{
    EACH(uint32_t, n, 8, 18, 34, 58, 66)
    {
        add_number(l, "HWC -> CHW, C=3", "HWC -> CHW, C=3, W=%u of 224", *n)->size[1] = *n;
        struct bench_case *c = add_number(l, "CHW -> HWC, C=3", "CHW -> HWC, C=3, W=%u", *n);

        c->shape[2] = *n;
        c->more[2] = 6;
    }
}

/* Permutes that exchange the first and the third dimension of an array of pixels. */
static void pixels(struct case_list *l)
{
    EACH(uint32_t, n, 3, 16, 32, 64, 128)
    {
        struct bench_case *c = add_number(l, "(0,2,1,3), inner 64", "(2,1,0,3), inner %u", *n);

        memcpy(c->shape, (const uint32_t[]){0, 64, 64, *n}, sizeof(c->shape));
        memcpy(c->perm, (const uint8_t[]){2, 1, 0, 3}, sizeof(c->perm));
    }
}

static void steps_and_rows(struct case_list *l)
{
    EACH(uint32_t, n, 2, 4, 5, 7, 8, 16, 17)
    {
        struct bench_case *c = add_number(l, "subsample 3 innermost", "subsample %u innermost", *n);

        c->step[1] = *n;
        c->shape[1] = 341 * *n;
    }
    EACH(uint32_t, n, 3, 5, 8, 31, 33, 48, 65, 100)
    {
        const uint32_t pitch = *n < 64 ? 64 : 128;
        struct bench_case *c = add_number(
            l, "rows of 17 of 64", pitch == 64 ? "rows of %u of 64" : "rows of %u of 128", *n);

        c->shape[1] = pitch;
        c->size[1] = *n;
    }
}

static void pad_by(struct bench_case *c, uint32_t n)
{
    for (int d = 0; d < CASE_RANK; d++) {
        c->pre[d] = c->pre[d] ? (uint8_t)n : 0;
        c->post[d] = c->post[d] ? (uint8_t)n : 0;
    }
}

static void paddings(struct case_list *l)
{
    EACH(uint32_t, n, 2, 3)
    {
        pad_by(add_number(l, "pad 1 around H,W of CHW", "pad %u of CHW", *n), *n);
        pad_by(add_number(l, "pad 1 around H,W of HWC, C=32", "pad %u of HWC, C=32", *n), *n);
        pad_by(add_number(l, "pad 1 around H,W of HWC, C=3", "pad %u of HWC, C=3", *n), *n);
    }
    struct bench_case *c = add(l, "pad 1 around H,W of CHW", "pad 1 left of CHW");

    c->pre[1] = c->post[1] = c->post[2] = 0;
    c = add(l, "pad 1 around H,W of HWC, C=32", "pad 1 left of HWC, C=32");
    c->pre[0] = c->post[0] = c->post[1] = 0;
}

static void widths(struct case_list *l)
{
    EACH(uint32_t, n, 7, 14, 30, 56, 57, 112)
    {
        struct bench_case *c = add_number(l, "pad 1 around H,W of CHW", "pad 1 of CHW, W=%u", *n);

        c->shape[1] = c->shape[2] = *n;
    }
    EACH(uint32_t, n, 7, 14, 28, 30, 57, 112)
    {
        struct bench_case *c = add_number(l, "slice half H,W of CHW", "slice of CHW, W=%u", *n);

        c->shape[1] = c->shape[2] = *n;
        c = add_number(l, "subsample 2 on H,W of CHW", "subsample 2 of CHW, W=%u", *n);
        c->shape[1] = c->shape[2] = *n;
    }
}

static void concats(struct case_list *l)
{
    EACH(uint32_t, n, 1, 7, 30)
    add_number(l, "concat at a W offset", "concat at W %u", *n)->dst_at[2] = *n;
    add(l, "concat at a W offset", "concat before W 28")->dst_at[2] = 0;
    l->at[l->count - 1].dst_more[2] = 28;
    EACH(uint32_t, n, 1, 3)
    add_number(l, "concat at a channel offset", "concat at channel %u", *n)->dst_at[0] = *n;
    struct bench_case *c = add(l, "concat at a W offset", "concat at channel 32 of HWC");

    memcpy(c->shape, (const uint32_t[]){0, 28, 32, 0}, sizeof(c->shape));
    c->dst_at[2] = 32;
}

void cases_add_neighbours(struct case_list *list)
{
    channels(list);
    transposes(list);
    dims_of_one(list);
    unaligned(list);
    pitches(list);
    tiles(list);
    pixels(list);
    steps_and_rows(list);
    paddings(list);
    widths(list);
    concats(list);
}
