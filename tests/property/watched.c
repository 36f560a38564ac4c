/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/property/watched.h"
#include "tests/support/draw_fill.h"

#include <stdlib.h>
#include <string.h>

int watched_init(struct watched *w, size_t bytes)
{
    *w = (struct watched){0};
    if (guard_mem_init(&w->mem, bytes) != 0)
        return -1;
    w->image = malloc(w->mem.bytes);
    return w->image ? 0 : -1;
}

void watched_finish(struct watched *w)
{
    guard_mem_finish(&w->mem);
    free(w->image);
    w->image = NULL;
}

size_t watched_room(const struct watched *w)
{
    return w->mem.bytes - WATCHED_MARGIN;
}

void watched_place(struct watched *w, struct draw *draw, size_t bytes, size_t slide)
{
    w->right = draw_percent(draw, 50);
    if (w->right) {
        w->data = guard_mem_right(&w->mem, bytes);
        w->at = w->data - WATCHED_MARGIN;
        w->bytes = bytes + WATCHED_MARGIN;
    } else {
        w->data = w->mem.base + slide;
        w->at = w->mem.base;
        w->bytes = bytes + WATCHED_MARGIN;
    }
    watched_fill(w, draw);
}

void watched_fill(struct watched *w, struct draw *draw)
{
    draw_fill(draw, w->at, w->bytes);
    memcpy(w->image, w->at, w->bytes);
}

uint8_t *watched_image(const struct watched *w)
{
    return w->image + (w->data - w->at);
}

size_t watched_difference(const struct watched *w)
{
    size_t i = 0;

    if (memcmp(w->at, w->image, w->bytes) == 0)
        return WATCHED_SAME;
    while (w->at[i] == w->image[i])
        i++;
    return i - (size_t)(w->data - w->at);
}
