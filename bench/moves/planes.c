/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/planes.h"

#include <string.h>

enum { NONE = CASE_RANK };

static uint32_t with_stride_one(const struct box *b, const int64_t *stride)
{
    uint32_t i = 0;

    while (i < b->rank && stride[i] != 1)
        i++;
    return i < b->rank ? i : NONE;
}

/* Returns the longest dimension except `but`. It is the second dimension of a plane. */
static uint32_t longest_but(const struct box *b, uint32_t but)
{
    uint32_t best = NONE;

    for (uint32_t i = 0; i < b->rank; i++) {
        if (i != but && (best == NONE || b->count[i] > b->count[best]))
            best = i;
    }
    return best;
}

static void set_outer(struct planes *p, const struct box *b, uint32_t row, uint32_t column)
{
    int n = 0;

    p->outer[0] = p->outer[1] = 1;
    for (uint32_t i = 0; i < b->rank; i++) {
        if (i == row || i == column)
            continue;
        if (n == 2) { /* a third outer dimension: not supported */
            p->outer[0] = 0;
            return;
        }
        p->outer[n] = b->count[i];
        p->outer_from[n] = b->from[i];
        p->outer_to[n++] = b->to[i];
    }
}

bool planes_init(struct planes *p, const struct job *j)
{
    struct box b;

    memset(p, 0, sizeof(*p));
    job_box(j, &b);
    p->border_count = job_borders(j, p->borders);
    p->elem = j->elem;
    p->src = b.src;
    p->dst = b.dst;
    const uint32_t column = with_stride_one(&b, b.to), source = with_stride_one(&b, b.from);

    if (column == NONE || source == NONE)
        return false;
    p->transposed = column != source;
    const uint32_t row = p->transposed ? source : longest_but(&b, column);

    p->columns = b.count[column];
    p->rows = row == NONE ? 1 : b.count[row];
    p->to = row == NONE ? (int64_t)p->columns : b.to[row];
    p->from = p->transposed ? b.from[column] : row == NONE ? (int64_t)p->columns : b.from[row];
    set_outer(p, &b, row, column);
    return p->outer[0] > 0;
}

static void clear(const struct box *b, uint32_t dim, uint8_t *at, uint32_t elem)
{
    const int64_t to = b->to[dim] * elem;
    size_t piece = elem;

    /* Finds whether the dimensions from `dim` on are contiguous in the destination. */
    for (uint32_t i = b->rank; i-- > dim; piece *= b->count[i]) {
        if (b->count[i] > 1 && b->to[i] * elem != (int64_t)piece)
            break;
        if (i == dim) {
            memset(at, 0, piece * b->count[i]);
            return;
        }
    }
    for (size_t c = 0; c < b->count[dim]; c++) {
        if (dim + 1 < b->rank && dim + 1 < CASE_RANK)
            clear(b, dim + 1, at + (int64_t)c * to, elem);
        else
            memset(at + (int64_t)c * to, 0, elem);
    }
}

void boxes_clear(const struct box *boxes, int count, uint32_t elem)
{
    for (int i = 0; i < count; i++)
        clear(&boxes[i], 0, boxes[i].dst, elem);
}

void planes_clear(const struct planes *p)
{
    boxes_clear(p->borders, p->border_count, p->elem);
}
