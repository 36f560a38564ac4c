/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS_MAX = 4, SIDE_TEXT_MAX = 32 };

/* Returns the default rows and columns of a tensor. */
static struct picture_view default_view(const uint32_t *extent, uint32_t rank)
{
    struct picture_view view = {rank > 1 ? rank - 2 : 0, rank > 1 ? rank - 1 : 0};
    const uint32_t *last = extent + rank - 1;
    if (rank > 2 && *last <= CHANNELS_MAX && last[-1] > *last && last[-2] > *last) {
        view.rows--;
        view.columns--;
    }
    return view;
}

struct picture_views picture_views_default(const mli_explanation *move)
{
    uint32_t src[MLI_MAX_RANK] = {0}, dst[MLI_MAX_RANK] = {0};
    for (uint32_t d = 0; d < move->rank; d++) {
        src[d] = move->axis[d].extent;
        dst[move->axis[d].dst_dim] = move->axis[d].extent;
    }
    return (struct picture_views){default_view(src, move->rank), default_view(dst, move->rank)};
}

static int complain(const char *text, const char *why, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--view %.64s: %s", text, why);
}

/* Parses a dimension. Returns the rest of the text, or null if the tensor lacks the dimension. */
static const char *take_dimension(const char *text, uint32_t rank, uint32_t *dimension)
{
    char *end;
    size_t sign = *text == '-';
    if (text[sign] < '0' || text[sign] > '9')
        return NULL;
    long number = strtol(text, &end, 10);
    number += number < 0 || sign ? (long)rank : 0;
    if (number < 0 || number >= (long)rank)
        return NULL;
    *dimension = (uint32_t)number;
    return end;
}

static int parse_numbers(const char *all, const char *text, uint32_t rank,
                         struct picture_view *view, struct fault *fault)
{
    char why[96];
    const char *rest = take_dimension(text, rank, &view->rows);
    if (rest && *rest == ',')
        rest = take_dimension(rest + 1, rank, &view->columns);
    else
        rest = NULL;
    if (rest && *rest == '\0' && view->rows != view->columns)
        return 0;
    snprintf(why, sizeof(why),
             "two different dimensions from 0 to %" PRIu32
             " are required, for rows and columns, as in 0,1",
             rank - 1);
    return complain(all, why, fault);
}

/* Returns the index of a letter in a layout, in upper or lower case, or -1. */
static int find_letter(const char *layout, char upper)
{
    for (int i = 0; layout[i]; i++) {
        if ((layout[i] & ~0x20) == upper)
            return i;
    }
    return -1;
}

static int parse_layout(const char *all, const char *text, uint32_t rank, struct picture_view *view,
                        struct fault *fault)
{
    char why[96];
    int rows = find_letter(text, 'H'), columns = find_letter(text, 'W');
    if (strlen(text) != rank) {
        snprintf(why, sizeof(why),
                 "%.8s has %zu letters, but the tensor has %" PRIu32 " dimensions", text,
                 strlen(text), rank);
        return complain(all, why, fault);
    }
    if (rows < 0 || columns < 0)
        return complain(all, "a layout requires the letters H (rows) and W (columns), as in HWC",
                        fault);
    for (const char *letter = text; *letter; letter++) {
        if (find_letter(letter + 1, (char)(*letter & ~0x20)) < 0)
            continue;
        snprintf(why, sizeof(why), "%.8s has the letter %c twice", text, *letter & ~0x20);
        return complain(all, why, fault);
    }
    *view = (struct picture_view){(uint32_t)rows, (uint32_t)columns};
    return 0;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int parse_side(const char *all, const char *text, uint32_t rank, struct picture_view *view,
                      struct fault *fault)
{
    return is_letter(*text) ? parse_layout(all, text, rank, view, fault)
                            : parse_numbers(all, text, rank, view, fault);
}

/* Returns the destination dimensions that the source's rows and columns become. */
static struct picture_view follow(const mli_explanation *move, const struct picture_view *src)
{
    uint32_t a = move->axis[src->rows].dst_dim, b = move->axis[src->columns].dst_dim;
    return (struct picture_view){a < b ? a : b, a < b ? b : a};
}

int picture_views_parse(const char *text, const mli_explanation *move, struct picture_views *views,
                        struct fault *fault)
{
    char src[SIDE_TEXT_MAX];
    size_t length = strcspn(text, ":");
    if (move->rank < 2)
        return complain(text, "a tensor of one dimension has no rows; omit --view", fault);
    if (length >= sizeof(src))
        return complain(text, "dimensions (such as 0,1) or a layout (such as HWC) are required",
                        fault);
    memcpy(src, text, length);
    src[length] = '\0';
    if (parse_side(text, src, move->rank, &views->src, fault))
        return -1;
    if (text[length] == ':')
        return parse_side(text, text + length + 1, move->rank, &views->dst, fault);
    views->dst = follow(move, &views->src);
    return 0;
}
