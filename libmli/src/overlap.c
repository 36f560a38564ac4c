/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/overlap.h"

/*
 * Maximum number of nodes that the search visits, which takes about 10 us. Layouts that interleave
 * a little need a few nodes.
 */
enum { SEARCH_BUDGET = 2048, TERMS_MAX = 2 * MLI_MAX_RANK };

struct search {
    const struct lattice_term *term;
    uint32_t count;
    int64_t min[TERMS_MAX + 1], max[TERMS_MAX + 1]; /* least and largest sum of terms i and up */
    bool skip_origin; /* true: the solution x[i] == 0 for all i does not count */
    int budget;
};

void lattice_add(struct lattice *lattice, uint64_t stride, int64_t lo, int64_t hi)
{
    uint32_t at = lattice->count;

    if (lo == 0 && hi == 0)
        return;
    for (; at > 0 && lattice->term[at - 1].stride < (int64_t)stride; at--)
        lattice->term[at] = lattice->term[at - 1];
    lattice->term[at] = (struct lattice_term){(int64_t)stride, lo, hi};
    lattice->count++;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Returns whether some values of the terms i, i + 1, ... have a sum in [lo, hi]. */
static bool find(struct search *s, uint32_t i, int64_t lo, int64_t hi, bool moved)
{
    const struct lattice_term *t = &s->term[i];
    int64_t from, to;

    if (i == s->count)
        return lo <= 0 && 0 <= hi && (moved || !s->skip_origin);
    if (--s->budget < 0)
        return true;
    from = -floor_div(s->max[i + 1] - lo, t->stride);
    to = floor_div(hi - s->min[i + 1], t->stride);
    from = from > t->lo ? from : t->lo;
    to = to < t->hi ? to : t->hi;
    for (int64_t x = from; x <= to; x++) {
        if (find(s, i + 1, lo - x * t->stride, hi - x * t->stride, moved || x != 0))
            return true;
    }
    return false;
}

static bool search(const struct lattice *lattice, bool skip_origin, int64_t lo, int64_t hi)
{
    /* The sums of no terms, min[count] and max[count], are 0. */
    struct search s = {.term = lattice->term,
                       .count = lattice->count,
                       .skip_origin = skip_origin,
                       .budget = SEARCH_BUDGET};

    for (uint32_t i = s.count; i-- > 0;) {
        s.min[i] = s.min[i + 1] + s.term[i].lo * s.term[i].stride;
        s.max[i] = s.max[i + 1] + s.term[i].hi * s.term[i].stride;
    }
    return find(&s, 0, lo, hi, false);
}

/*
 * Adds up terms of equal stride: they act as one term, and the search time is exponential in the
 * number of terms.
 */
static void merge_terms(struct lattice *lattice)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < lattice->count; i++) {
        const struct lattice_term t = lattice->term[i];
        struct lattice_term *last = &lattice->term[count - (count > 0)];

        if (count > 0 && last->stride == t.stride) {
            last->lo += t.lo;
            last->hi += t.hi;
        } else {
            lattice->term[count++] = t;
        }
    }
    lattice->count = count;
}

bool lattice_reaches(struct lattice *lattice, int64_t from, int64_t to)
{
    merge_terms(lattice);
    return search(lattice, false, from, to);
}

bool lattice_meets_itself(struct lattice *lattice)
{
    int64_t reach = 0; /* largest sum of the terms with smaller strides */
    bool nested = true;

    for (uint32_t i = lattice->count; i-- > 0;) {
        struct lattice_term *t = &lattice->term[i];

        nested = nested && t->stride > reach;
        reach += t->hi * t->stride;
        t->lo = -t->hi; /* a difference of two coordinates is in [-hi, hi] */
    }
    return !nested && search(lattice, true, 0, 0);
}
