/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <string.h>

#include "cli/diagnose/hypothesis.h"

/*
 * Adds a candidate that predicts all elements, and returns it; the caller then changes its map. If
 * `source` is true, the candidate compares with the source of the move, and begins with the map of
 * the move. Otherwise it compares with `wanted`, and begins with the identity. If the list is full,
 * returns a candidate that is not in the list.
 */
static struct candidate *proposals_add(struct proposals *proposals, bool source)
{
    const struct subject *subject = proposals->subject;
    struct candidate *candidate = &proposals->list[proposals->count];

    if (proposals->count + 1 < PROPOSALS_MAX)
        proposals->count++;
    *candidate =
        (struct candidate){.hypothesis = proposals->hypothesis,
                           .reference = source ? subject->source : subject->wanted,
                           .predicts_wanted = source && subject->moved_as_planned,
                           .map = source ? subject->move : map_identity(subject->wanted->rank)};
    for (uint32_t d = 0; d < subject->got->rank; d++)
        candidate->high[d] = subject->got->shape[d] - 1;
    return candidate;
}

/*
 * Returns the number of references minus 1. Reference 0 is `wanted`; reference 1 is the source of
 * the move, if it is known.
 */
static int proposals_last_reference(const struct proposals *proposals)
{
    return proposals->subject->source ? 1 : 0;
}

enum { BUCKETS = 256 };

uint32_t lookup_add(struct lookup *lookup, uint32_t word)
{
    if (lookup->count == LOOKUP_MAX)
        return LOOKUP_MAX;
    lookup->value[lookup->count].word = word;
    lookup->value[lookup->count].times = 0;
    return lookup->count++;
}

/* Mixes all bits of a word into the number of a bucket. */
static uint32_t bucket_of(uint32_t word)
{
    return (word * UINT32_C(0x9e3779b1)) >> 24;
}

static void find_lookup(struct lookup *lookup, uint32_t word, const uint32_t *at)
{
    for (uint32_t i = 0; i < lookup->count; i++) {
        if (lookup->value[i].word != word)
            continue;
        if (lookup->value[i].times++ == 0)
            memcpy(lookup->value[i].at, at, sizeof(lookup->value[i].at));
    }
}

void lookup_run(struct lookup *lookup, const struct elements *elements)
{
    bool wanted[BUCKETS] = {false};
    uint32_t at[MLI_MAX_RANK] = {0};

    for (uint32_t i = 0; i < lookup->count; i++)
        wanted[bucket_of(lookup->value[i].word)] = true;
    do {
        const uint32_t word = elements_word(elements, at);

        if (wanted[bucket_of(word)])
            find_lookup(lookup, word, at);
    } while (elements_next(elements, at));
}

bool lookup_unique(const struct lookup *lookup, uint32_t index)
{
    return index < lookup->count && lookup->value[index].times == 1;
}

/* The functions of all hypotheses that predict by a map (map.h). */
static bool mapped_predict(const struct subject *subject, const struct candidate *candidate,
                           const struct element_at *element, uint32_t *word)
{
    (void)subject;
    return map_word(&candidate->map, candidate->reference, element->at, word);
}

/* Returns whether a shift along a dimension pushes only zeros over the edge of `wanted`. */
static bool pushes_zeros_out(const struct elements *wanted, uint32_t dimension, int64_t first)
{
    struct elements slab = *wanted;
    uint32_t at[MLI_MAX_RANK] = {0};
    const uint32_t lost = (uint32_t)(first < 0 ? -first : first);

    slab.shape[dimension] = lost;
    if (first < 0)
        slab.data += (int64_t)(wanted->shape[dimension] - lost) * wanted->strides[dimension] *
                     (int64_t)wanted->dtype->size;
    do {
        if (elements_word(&slab, at) != 0)
            return false;
    } while (elements_next(&slab, at));
    return true;
}

/* Adds a phrase such as ": wrong offset?", because the window seems to be displaced by `delta`
 * elements in source dimension `d`. */
static void ask_about_offset(const struct subject *subject, uint32_t d, int64_t delta,
                             struct phrase *phrase)
{
    const int64_t pre = subject->cfg->padding_pre[d], post = subject->cfg->padding_post[d];

    if (pre != post && (delta == pre - post || delta == post - pre))
        phrase_add(phrase,
                   ": wrong offset, or padding_pre[%" PRIu32 "] and padding_post[%" PRIu32
                   "] exchanged?",
                   d, d);
    else
        phrase_add(phrase, pre || post ? ": wrong offset or padding?" : ": wrong offset?");
}

static void ask_about_shift(const struct subject *subject, const struct candidate *candidate,
                            uint32_t d, struct phrase *phrase)
{
    const struct map *map = &candidate->map;

    if (candidate->reference == subject->source)
        ask_about_offset(subject, d, map->first[d] - subject->move.first[d], phrase);
    else if (map->outside == MAP_ZERO && pushes_zeros_out(subject->wanted, d, map->first[d]))
        phrase_add(phrase, ": zeros on the wrong side of dimension %" PRIu32 ", padding?", d);
    else
        phrase_add(phrase, ": wrong offset?");
}

static bool other_axis(const struct map *a, const struct map *b, uint32_t d, const uint32_t *shape)
{
    return a->axis[d] != b->axis[d] && (shape[a->axis[d]] > 1 || shape[b->axis[d]] > 1);
}

/*
 * Adds a phrase that asks whether a member of the job is wrong, such as "wrong perm_dim?". Finds
 * the member from the difference between two maps.
 */
static void ask(const struct subject *subject, const struct candidate *candidate,
                const struct map *right, struct phrase *phrase)
{
    const struct map *map = &candidate->map;
    const uint32_t *shape = subject->got->shape;

    for (uint32_t d = 0; d < map->rank; d++) {
        if (other_axis(map, right, d, shape)) {
            phrase_add(phrase, ": wrong perm_dim?");
            return;
        }
    }
    for (uint32_t d = 0; d < map->rank; d++) {
        if (map->step[d] == right->step[d] || shape[map->axis[d]] == 1)
            continue;
        if (map->step[d] == -right->step[d])
            phrase_add(phrase, ": dimension %" PRIu32 " reversed%s", d,
                       candidate->reference->shape[d] <= 4 ? ", the order of channels?" : "?");
        else
            phrase_add(phrase, ": wrong sub_sample_step?");
        return;
    }
    for (uint32_t d = 0; d < map->rank; d++) {
        if (map->first[d] != right->first[d]) {
            ask_about_shift(subject, candidate, d, phrase);
            return;
        }
    }
}

static void mapped_describe(const struct subject *subject, const struct candidate *candidate,
                            struct phrase *phrase)
{
    static const char *const edges[] = {[MAP_UNKNOWN] = "",
                                        [MAP_ZERO] = ", with zeros beyond the edge",
                                        [MAP_WRAP] = ", wrapped around",
                                        [MAP_EDGE] = ", with its edge repeated"};
    const bool of_source = candidate->reference == subject->source;
    const struct map own = map_identity(subject->wanted->rank);
    const struct map *right = of_source ? &subject->move : &own;
    const struct map *got = candidate->predicts_wanted ? right : &candidate->map;
    const struct map *wanted = candidate->predicts_wanted ? &candidate->map : right;
    const char *name = of_source ? "src" : subject->wanted_name;

    map_add(phrase, got, name, subject->got->shape);
    phrase_add(phrase, " where ");
    map_add(phrase, wanted, name, subject->got->shape);
    phrase_add(phrase, " was wanted");
    if (!of_source || candidate->map.outside != MAP_ZERO)
        phrase_add(phrase, "%s", edges[candidate->map.outside]);
    ask(subject, candidate, right, phrase);
}

/* The dimensions are in another order: a transpose, also inside planes. */

/*
 * Sets `order` to the next permutation of the numbers below `rank`, except the identity. *number,
 * 0 before the first call, is the number of the permutation. Returns false after the last one.
 */
static bool next_permutation(uint32_t rank, uint32_t *number, uint8_t order[MLI_MAX_RANK])
{
    /* Goes through all sequences of `rank` digits below `rank`; 0, 1, 2, 3 is the identity. */
    while (*number < 256) {
        uint32_t used = 0, same = 0, rest = (*number)++;

        for (uint32_t d = 0; d < rank; d++, rest /= MLI_MAX_RANK) {
            order[d] = (uint8_t)(rest % MLI_MAX_RANK);
            used |= 1u << order[d];
            same += order[d] == d;
        }
        if (rest == 0 && used == (1u << rank) - 1 && same < rank)
            return true;
    }
    return false;
}

/* Returns whether a tensor keeps its shape if its dimensions are reordered. */
static bool keeps_shape(const struct elements *elements, const uint8_t *order)
{
    for (uint32_t d = 0; d < elements->rank; d++) {
        if (elements->shape[order[d]] != elements->shape[d])
            return false;
    }
    return true;
}

static void propose_permuted(struct proposals *proposals)
{
    const struct elements *wanted = proposals->subject->wanted;
    uint8_t order[MLI_MAX_RANK] = {0};

    for (int source = proposals_last_reference(proposals); source >= 0; source--) {
        for (uint32_t number = 0; next_permutation(wanted->rank, &number, order);) {
            if (!source && !keeps_shape(wanted, order))
                continue;
            struct map *map = &proposals_add(proposals, source)->map;
            for (uint32_t d = 0; d < map->rank; d++)
                map->axis[d] = order[map->axis[d]];
        }
    }
}

/*
 * The dimensions are reordered, and the elements follow one another in the wanted shape: a
 * transposed tensor under a wrong shape.
 */

static void propose_relaid(struct proposals *proposals)
{
    const struct elements *wanted = proposals->subject->wanted;
    uint8_t order[MLI_MAX_RANK] = {0};

    for (uint32_t number = 0; next_permutation(wanted->rank, &number, order);) {
        if (keeps_shape(wanted, order)) /* the hypothesis "permuted" proposes this order */
            continue;
        struct candidate *candidate = proposals_add(proposals, false);
        for (uint32_t d = 0; d < wanted->rank; d++)
            candidate->number[d] = order[d];
    }
}

static bool predict_relaid(const struct subject *subject, const struct candidate *candidate,
                           const struct element_at *element, uint32_t *word)
{
    const struct elements *wanted = subject->wanted;
    uint32_t place[MLI_MAX_RANK];
    uint64_t index = element->index;

    for (uint32_t d = wanted->rank; d-- > 0;) {
        const uint32_t extent = wanted->shape[candidate->number[d]];

        place[candidate->number[d]] = (uint32_t)(index % extent);
        index /= extent;
    }
    *word = elements_word(wanted, place);
    return true;
}

static void describe_relaid(const struct subject *subject, const struct candidate *candidate,
                            struct phrase *phrase)
{
    const uint32_t rank = subject->wanted->rank;

    phrase_add(phrase, "that of %s in the order of dimensions ", subject->wanted_name);
    for (uint32_t d = 0; d < rank; d++)
        phrase_add(phrase, "%s%" PRId64, d ? ", " : "(", candidate->number[d]);
    phrase_add(phrase, "), read as if the shape were still ");
    for (uint32_t d = 0; d < rank; d++)
        phrase_add(phrase, "%s%" PRIu32, d ? ", " : "(", subject->wanted->shape[d]);
    phrase_add(phrase, "): wrong perm_dim or wrong layout?");
}

/* A dimension is backwards, or has another step. */

enum { STEP_MAX = 4 };

static void propose_reversal(struct proposals *proposals, bool source, uint32_t d)
{
    struct map *map = &proposals_add(proposals, source)->map;
    const uint32_t extent = proposals->subject->got->shape[map->axis[d]];
    int64_t last;

    if (__builtin_mul_overflow(map->step[d], (int64_t)extent - 1, &last) ||
        __builtin_add_overflow(map->first[d], last, &map->first[d]))
        return;
    map->step[d] = -map->step[d];
}

static void propose_steps(struct proposals *proposals, uint32_t d)
{
    for (int64_t step = 1; step <= STEP_MAX; step++)
        proposals_add(proposals, true)->map.step[d] = step;
}

static void propose_reversed(struct proposals *proposals)
{
    for (int source = proposals_last_reference(proposals); source >= 0; source--) {
        for (uint32_t d = 0; d < proposals->subject->wanted->rank; d++) {
            propose_reversal(proposals, source, d);
            if (source)
                propose_steps(proposals, d);
        }
    }
}

/* The tensor is shifted by a few elements along a dimension, for example by a wrong padding. */

enum { SHIFTED_SHIFT_MAX = 4 };

/*
 * Adds candidates with this map. If the reference is `wanted`, adds several, which differ in the
 * values that they expect beyond the edges of `wanted`.
 */
static void propose_map(struct proposals *proposals, bool source, const struct map *map,
                        uint32_t cost)
{
    static const enum map_outside of_wanted[] = {MAP_ZERO, MAP_WRAP, MAP_EDGE, MAP_UNKNOWN};

    for (size_t i = 0; i < (source ? 1 : sizeof(of_wanted) / sizeof(of_wanted[0])); i++) {
        struct candidate *candidate = proposals_add(proposals, source);

        candidate->map = *map;
        candidate->map.outside = source ? MAP_ZERO : of_wanted[i];
        candidate->cost = cost;
    }
}

static void propose_shift(struct proposals *proposals, bool source, uint32_t d, int64_t shift)
{
    struct map map =
        source ? proposals->subject->move : map_identity(proposals->subject->wanted->rank);

    map.first[d] += shift;
    propose_map(proposals, source, &map, 0);
}

static void propose_shifts(struct proposals *proposals, bool source, uint32_t d)
{
    const struct subject *subject = proposals->subject;
    const struct elements *reference = source ? subject->source : subject->wanted;

    for (int64_t shift = 1; shift <= SHIFTED_SHIFT_MAX && shift < reference->shape[d]; shift++) {
        propose_shift(proposals, source, d, shift);
        propose_shift(proposals, source, d, -shift);
    }
}

static void propose_shifted(struct proposals *proposals)
{
    for (int source = proposals_last_reference(proposals); source >= 0; source--) {
        for (uint32_t d = 0; d < proposals->subject->wanted->rank; d++)
            propose_shifts(proposals, source, d);
    }
}

/*
 * A row (an index of any dimension) is repeated or missing: the rows after it come one row too
 * late or too early.
 */

enum { REPEATED_SHIFT_MAX = 2, DIMENSION = 0, SHIFT, COPY };

/* `copy`: only the differing rows are wrong, as copies of other rows; else all rows from the first
 * differing row on are shifted. */
static void propose_rows(struct proposals *proposals, uint32_t d, int64_t shift, bool copy)
{
    const struct differing *differing = proposals->subject->differing;
    struct candidate *candidate = proposals_add(proposals, false);

    candidate->map.first[d] = shift;
    candidate->low[d] = differing->low[d];
    if (copy)
        candidate->high[d] = differing->high[d];
    candidate->number[DIMENSION] = d;
    candidate->number[SHIFT] = shift;
    candidate->number[COPY] = copy;
}

static void propose_repeated(struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;
    const struct differing *differing = subject->differing;

    for (uint32_t d = 0; d < subject->wanted->rank; d++) {
        const bool copy = differing->high[d] - differing->low[d] < REPEATED_SHIFT_MAX;

        for (int64_t shift = 1; shift <= REPEATED_SHIFT_MAX && shift < subject->wanted->shape[d];
             shift++) {
            if (differing->low[d] > 0) {
                propose_rows(proposals, d, -shift, false);
                propose_rows(proposals, d, shift, false);
            }
            if (copy) {
                propose_rows(proposals, d, -shift, true);
                propose_rows(proposals, d, shift, true);
            }
        }
    }
}

static void describe_repeated(const struct subject *subject, const struct candidate *candidate,
                              struct phrase *phrase)
{
    const uint32_t d = (uint32_t)candidate->number[DIMENSION];
    const struct map own = map_identity(subject->wanted->rank);
    const uint32_t *shape = subject->got->shape;
    const uint32_t low = candidate->low[d];
    const int64_t shift = candidate->number[SHIFT];

    map_add(phrase, &candidate->map, subject->wanted_name, shape);
    phrase_add(phrase, " where ");
    map_add(phrase, &own, subject->wanted_name, shape);
    phrase_add(phrase, " was wanted: ");
    if (candidate->number[COPY])
        phrase_add(phrase, "index %" PRIu32 " of dimension %" PRIu32 " repeats index %" PRId64, low,
                   d, low + shift);
    else if (shift < 0)
        phrase_add(phrase, "index %" PRId64 " of dimension %" PRIu32 " is repeated", low + shift,
                   d);
    else
        phrase_add(phrase, "index %" PRIu32 " of dimension %" PRIu32 " is missing", low, d);
}

/* Rows slide: a stride, or the address of the first element, is wrong by a few elements. */

enum { SLIDE_MAX = 8, FIRST = MLI_MAX_RANK, SLIDE };

/* Adds a candidate with the strides of packed elements; number[d] is the stride of dimension d. */
static struct candidate *propose_packed(struct proposals *proposals, int64_t slide)
{
    struct candidate *candidate = proposals_add(proposals, false);
    const struct elements *wanted = proposals->subject->wanted;
    int64_t stride = 1;

    for (uint32_t d = wanted->rank; d-- > 0; stride *= wanted->shape[d])
        candidate->number[d] = stride;
    candidate->number[SLIDE] = slide;
    return candidate;
}

static void propose_slid(struct proposals *proposals)
{
    const struct elements *wanted = proposals->subject->wanted;

    if (elements_count(wanted) > INT64_MAX / UINT32_MAX) /* predict_slid() would overflow */
        return;
    for (int64_t slide = -SLIDE_MAX; slide <= SLIDE_MAX; slide++) {
        if (slide == 0)
            continue;
        for (uint32_t d = 0; d + 1 < wanted->rank; d++) {
            if (wanted->shape[d] > 1)
                propose_packed(proposals, slide)->number[d] += slide;
        }
        if (wanted->rank > 1) /* with rank 1, a shift covers this case */
            propose_packed(proposals, slide)->number[FIRST] = slide;
    }
}

_Static_assert((int)SLIDE < (int)CANDIDATE_NUMBERS, "a candidate has all numbers");

static bool predict_slid(const struct subject *subject, const struct candidate *candidate,
                         const struct element_at *element, uint32_t *word)
{
    const struct elements *wanted = subject->wanted;
    const uint64_t count = elements_count(wanted);
    int64_t index = candidate->number[FIRST];
    uint32_t place[MLI_MAX_RANK];

    for (uint32_t d = 0; d < wanted->rank; d++)
        index += element->at[d] * candidate->number[d];
    if (index < 0 || (uint64_t)index >= count)
        return false;
    elements_place(wanted, (uint64_t)index, place);
    *word = elements_word(wanted, place);
    return true;
}

static void describe_slid(const struct subject *subject, const struct candidate *candidate,
                          struct phrase *phrase)
{
    const int64_t slide = candidate->number[SLIDE];
    int64_t stride = 1;

    for (uint32_t d = subject->wanted->rank; d-- > 0; stride *= subject->wanted->shape[d]) {
        if (candidate->number[d] == stride)
            continue;
        phrase_add(phrase,
                   "that of %s with a stride of %" PRId64 " instead of %" PRId64
                   " elements in dimension %" PRIu32 ": rows slide, wrong mem_stride?",
                   subject->wanted_name, candidate->number[d], stride, d);
        return;
    }
    phrase_add(phrase, "that of %s %" PRId64 " element%s %s: wrong address?", subject->wanted_name,
               slide < 0 ? -slide : slide, slide == 1 || slide == -1 ? "" : "s",
               slide < 0 ? "before it" : "after it");
}

/*
 * Finds any map between coordinates of the wrong tensor and of the reference. Takes an element of
 * the wrong tensor and its neighbours, and looks up their values in the reference: their places
 * there determine the map. The values must be rare in the reference.
 */

enum { BASES = 12, FITTED_COST = 8 };
#define FITTED_BITS_MIN 4.0

/* An element of the wrong tensor and one neighbour along each dimension. */
struct base {
    uint32_t at[MLI_MAX_RANK];
    uint32_t found;                   /* index of the element's value in lookup->value */
    uint32_t neighbour[MLI_MAX_RANK]; /* the same for its neighbour along each dimension */
    int side[MLI_MAX_RANK]; /* 1: the neighbour is after the element; -1: before; 0: there is no
                               neighbour */
};

static void look_around(struct base *base, const struct elements *wrong, uint64_t index,
                        struct lookup *lookup)
{
    elements_place(wrong, index, base->at);
    base->found = lookup_add(lookup, elements_word(wrong, base->at));
    for (uint32_t d = 0; d < wrong->rank; d++) {
        uint32_t next[MLI_MAX_RANK] = {base->at[0], base->at[1], base->at[2], base->at[3]};

        base->side[d] = wrong->shape[d] == 1 ? 0 : base->at[d] + 1 < wrong->shape[d] ? 1 : -1;
        if (base->side[d] == 0)
            continue;
        next[d] += (uint32_t)base->side[d];
        base->neighbour[d] = lookup_add(lookup, elements_word(wrong, next));
    }
}

/*
 * Sets the axis and step of the map that belong to dimension `a` of the wrong tensor: compares the
 * places that an element and its neighbour along `a` have in the reference. Returns false unless
 * these places differ in exactly one dimension.
 */
static bool follow(struct map *map, const struct base *base, const struct lookup *lookup,
                   uint32_t a)
{
    const uint32_t *here = lookup->value[base->found].at;
    const uint32_t *there = lookup->value[base->neighbour[a]].at;
    uint32_t moved = 0;

    for (uint32_t d = 0; d < map->rank; d++) {
        if (here[d] == there[d])
            continue;
        if (map->step[d] != 0)
            return false;
        map->axis[d] = (uint8_t)a;
        map->step[d] = ((int64_t)there[d] - here[d]) * base->side[a];
        moved++;
    }
    return moved == 1;
}

/*
 * Computes a map from the places that an element and its neighbours have in the reference. Returns
 * false if there is none.
 */
static bool fit(struct map *map, const struct base *base, const struct lookup *lookup)
{
    if (!lookup_unique(lookup, base->found))
        return false;
    for (uint32_t a = 0; a < map->rank; a++) {
        map->axis[a] = (uint8_t)a;
        map->step[a] = 0;
    }
    for (uint32_t a = 0; a < map->rank; a++) {
        if (base->side[a] != 0 &&
            (!lookup_unique(lookup, base->neighbour[a]) || !follow(map, base, lookup, a)))
            return false;
    }
    for (uint32_t d = 0; d < map->rank; d++)
        map->first[d] =
            lookup->value[base->found].at[d] - map->step[d] * (int64_t)base->at[map->axis[d]];
    return true;
}

static void propose_for(struct proposals *proposals, bool source)
{
    const struct subject *subject = proposals->subject;
    const struct differing *differing = subject->differing;
    const struct elements *wrong =
        source && subject->moved_as_planned ? subject->wanted : subject->got;
    struct lookup lookup = {0};
    struct base bases[BASES];
    uint32_t count = differing->sample_count < BASES ? differing->sample_count : BASES;

    for (uint32_t i = 0; i < count; i++)
        look_around(&bases[i], wrong, differing->sample[i * (differing->sample_count / count)],
                    &lookup);
    lookup_run(&lookup, source ? subject->source : subject->wanted);
    for (uint32_t i = 0; i < count; i++) {
        struct map map = map_identity(wrong->rank);

        if (fit(&map, &bases[i], &lookup))
            propose_map(proposals, source, &map, FITTED_COST);
    }
}

_Static_assert(BASES *(1 + MLI_MAX_RANK) <= (int)LOOKUP_MAX, "all values can be looked up");

static void propose_fitted(struct proposals *proposals)
{
    if (proposals->subject->bits < FITTED_BITS_MIN)
        return;
    for (int source = proposals_last_reference(proposals); source >= 0; source--)
        propose_for(proposals, source);
}

/* All wrong elements have one value: zeros, or the former bytes of memory that nobody wrote. */

enum { VALUE = 0, STALE_COST = 8 };

/*
 * Proposes nothing for bool: an element has one of two values only, so equal wrong elements are no
 * evidence.
 */
static void propose_stale(struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;
    uint32_t at[MLI_MAX_RANK];

    if (subject->got->dtype->kind == 'b')
        return;
    elements_place(subject->got, subject->differing->sample[0], at);
    struct candidate *candidate = proposals_add(proposals, false);
    candidate->number[VALUE] = elements_word(subject->got, at);
    memcpy(candidate->low, subject->differing->low, sizeof(candidate->low));
    memcpy(candidate->high, subject->differing->high, sizeof(candidate->high));
    candidate->cost = candidate->number[VALUE] ? STALE_COST : 0;
}

/* Predicts the value for differing elements only: equal elements may have other values. */
static bool predict_stale(const struct subject *subject, const struct candidate *candidate,
                          const struct element_at *element, uint32_t *word)
{
    *word = (uint32_t)candidate->number[VALUE];
    return elements_word(subject->got, element->at) != element->wanted;
}

static void describe_stale(const struct subject *subject, const struct candidate *candidate,
                           struct phrase *phrase)
{
    char text[DTYPE_TEXT_MAX];
    uint32_t at[MLI_MAX_RANK];

    elements_place(subject->got, subject->differing->sample[0], at);
    dtype_text(subject->got->dtype, elements_at(subject->got, at), text);
    phrase_add(phrase,
               candidate->number[VALUE] ? "%s: not written, former bytes of the memory?"
                                        : "%s: not written, or zeros written there?",
               text);
}

/* Elements are in place, but each value was changed: byte order, sign, saturation, scale. */

enum { CODE = 0, AMOUNT, SCALE_MAX = 8, MODES = 3 };

enum code {
    BYTES,
    HALVES,
    SIGN,
    SATURATED_S,
    SATURATED_U,
    CUT_S,
    CUT_U,
    NEGATED,
    ADDED,
    TIMES,
    BY
};

/* Returns the number that the bits of an integer element stand for. */
static int64_t number_of(const struct dtype *dtype, uint32_t word)
{
    if (dtype->kind != 'i')
        return word;
    return dtype->size == 1 ? (int8_t)word : dtype->size == 2 ? (int16_t)word : (int32_t)word;
}

/* Returns the low `bits` bits as a number with or without a sign. */
static int64_t cut(int64_t number, int64_t bits, bool is_signed)
{
    const int64_t low = number & (((int64_t)1 << bits) - 1);

    return is_signed && low >> (bits - 1) ? low - ((int64_t)1 << bits) : low;
}

static int64_t saturate(int64_t number, int64_t bits, bool is_signed)
{
    const int64_t most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t least = is_signed ? -most - 1 : 0;

    return number < least ? least : number > most ? most : number;
}

static int64_t recode_number(enum code code, int64_t number, int64_t amount)
{
    switch (code) {
    case SATURATED_S:
    case SATURATED_U:
        return saturate(number, amount, code == SATURATED_S);
    case CUT_S:
    case CUT_U:
        return cut(number, amount, code == CUT_S);
    case NEGATED:
        return -number;
    case ADDED:
        return number + amount;
    case TIMES:
        return number * ((int64_t)1 << amount);
    case BY:
        return number >> amount;
    default:
        return number;
    }
}

static bool predict_recoded(const struct subject *subject, const struct candidate *candidate,
                            const struct element_at *element, uint32_t *word)
{
    const struct dtype *dtype = subject->wanted->dtype;
    const enum code code = (enum code)candidate->number[CODE];
    const uint32_t bits = dtype->size * 8, wanted = element->wanted;

    if (code == BYTES)
        *word = __builtin_bswap32(wanted) >> (32 - bits);
    else if (code == HALVES)
        *word = wanted << 16 | wanted >> 16;
    else if (code == SIGN)
        *word = wanted ^ UINT32_C(1) << (bits - 1);
    else
        *word = (uint32_t)recode_number(code, number_of(dtype, wanted), candidate->number[AMOUNT]) &
                (UINT32_MAX >> (32 - bits));
    return true;
}

static struct candidate *propose_code(struct proposals *proposals, enum code code, int64_t amount)
{
    struct candidate *candidate = proposals_add(proposals, false);

    candidate->number[CODE] = code;
    candidate->number[AMOUNT] = amount;
    return candidate;
}

static void propose_integers(struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;
    const struct dtype *dtype = subject->wanted->dtype;
    const struct differing *differing = subject->differing;

    for (int64_t bits = 4; bits < (int64_t)dtype->size * 8; bits *= 2) {
        for (enum code code = SATURATED_S; code <= CUT_U; code++)
            propose_code(proposals, code, bits);
    }
    propose_code(proposals, NEGATED, 0);
    for (int64_t scale = 1; scale <= SCALE_MAX; scale++) {
        propose_code(proposals, TIMES, scale);
        propose_code(proposals, BY, scale);
    }
    for (uint32_t i = 0; i < MODES && i < differing->sample_count; i++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(subject->got, differing->sample[i * (differing->sample_count / MODES)], at);
        const int64_t got = number_of(dtype, elements_word(subject->got, at));
        const int64_t wanted = number_of(dtype, elements_word(subject->wanted, at));
        propose_code(proposals, ADDED, got - wanted)->cost = dtype->size * 8;
    }
}

static void propose_recoded(struct proposals *proposals)
{
    const struct dtype *dtype = proposals->subject->wanted->dtype;

    if (dtype->size > 1)
        propose_code(proposals, BYTES, 0);
    if (dtype->size == 4)
        propose_code(proposals, HALVES, 0);
    if (dtype->kind != 'b')
        propose_code(proposals, SIGN, 0);
    if (dtype->kind == 'i' || dtype->kind == 'u')
        propose_integers(proposals);
}

static void describe_recoded(const struct subject *subject, const struct candidate *candidate,
                             struct phrase *phrase)
{
    static const char *const formats[] = {
        [BYTES] = "the wanted value with its bytes reversed: wrong byte order?",
        [HALVES] = "the wanted value with its 16-bit halves exchanged: wrong byte order?",
        [SIGN] = "the wanted value with its sign bit inverted: ",
        [SATURATED_S] = "the wanted value, saturated to int",
        [SATURATED_U] = "the wanted value, saturated to uint",
        [CUT_S] = "the wanted value, cut to int",
        [CUT_U] = "the wanted value, cut to uint",
        [NEGATED] = "the wanted value, negated",
        [ADDED] = "the wanted value ",
        [TIMES] = "the wanted value times ",
        [BY] = "the wanted value divided by "};
    const struct dtype *dtype = subject->wanted->dtype;
    const enum code code = (enum code)candidate->number[CODE];
    const int64_t amount = candidate->number[AMOUNT];

    phrase_add(phrase, "%s", formats[code]);
    if (code == SIGN && dtype->kind == 'f')
        phrase_add(phrase, "negated?");
    else if (code == SIGN)
        phrase_add(phrase,
                   "%" PRIu64 " too high or too low: int%" PRIu32 " read as uint%" PRIu32
                   ", or the reverse?",
                   UINT64_C(1) << (dtype->size * 8 - 1), dtype->size * 8, dtype->size * 8);
    else if (code >= SATURATED_S && code <= CUT_U)
        phrase_add(phrase, "%" PRId64, amount);
    else if (code == ADDED)
        phrase_add(phrase, "%c %" PRId64 ": wrong zero_point?", amount < 0 ? '-' : '+',
                   amount < 0 ? -amount : amount);
    else if (code == TIMES || code == BY)
        phrase_add(phrase, "%" PRId64 ": wrong frac_bits or scale?", (int64_t)1 << amount);
}

/* Some elements are stale: the output has values from before the job, or values of the source in
 * their old places. */

enum { BEFORE = 0 };

static void propose_unmoved(struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;

    if (subject->before)
        proposals_add(proposals, false)->number[BEFORE] = true;
    if (subject->source && !subject->moved_as_planned)
        proposals_add(proposals, false)->number[BEFORE] = false;
}

static bool predict_unmoved(const struct subject *subject, const struct candidate *candidate,
                            const struct element_at *element, uint32_t *word)
{
    uint32_t place[MLI_MAX_RANK];

    if (candidate->number[BEFORE]) {
        *word = elements_word(subject->before, element->at);
        return elements_word(subject->got, element->at) !=
               element->wanted; /* makes no prediction for equal elements */
    }
    if (element->index >= elements_count(subject->source))
        return false;
    elements_place(subject->source, element->index, place);
    *word = elements_word(subject->source, place);
    return true;
}

static void describe_unmoved(const struct subject *subject, const struct candidate *candidate,
                             struct phrase *phrase)
{
    (void)subject;
    phrase_add(phrase, candidate->number[BEFORE]
                           ? "the value that the output had before the job: not written?"
                           : "that of src in the order of its elements: not moved, only copied?");
}

const struct hypothesis hypotheses[HYPOTHESES] = {
    {"permuted", propose_permuted, mapped_predict, mapped_describe, .has_rivals = true},
    {"reversed", propose_reversed, mapped_predict, mapped_describe},
    {"shifted", propose_shifted, mapped_predict, mapped_describe},
    {"repeated", propose_repeated, mapped_predict, describe_repeated},
    {"recoded", propose_recoded, predict_recoded, describe_recoded},
    {"relaid", propose_relaid, predict_relaid, describe_relaid},
    {"slid", propose_slid, predict_slid, describe_slid},
    {"fitted", propose_fitted, mapped_predict, mapped_describe},
    {"unmoved", propose_unmoved, predict_unmoved, describe_unmoved},
    {"stale", propose_stale, predict_stale, describe_stale, .zero_is_value = true},
};

/* Wrong elements repeat at a regular distance along a dimension, as at the boundaries of tiles. */

enum { PERIOD_MIN = 4, PERIOD_MAX = 64, STRIPES_MIN = 3, SHOWN = 3 };
#define STRIPED_BITS_MIN 20

/* A pattern of wrong elements: along dimension d, `width` coordinates of every `period` are wrong,
 * first those at `first`. */
struct stripes {
    uint32_t d, period, first, width;
};

/*
 * Finds the shortest circular run of remainders that contains the remainders of all samples.
 * Returns its width.
 */
static uint32_t narrow(const bool *used, uint32_t period, uint32_t *first)
{
    uint32_t gap = 0, gap_end = 0, run = 0;

    for (uint32_t i = 0; i < 2 * period; i++) {
        run = used[i % period] ? 0 : run + 1;
        if (run > gap && run < period) {
            gap = run;
            gap_end = i;
        }
    }
    *first = (gap_end + 1) % period;
    return period - gap;
}

static bool find_period(const struct subject *subject, uint32_t d, uint32_t period,
                        struct stripes *stripes)
{
    const struct differing *differing = subject->differing;
    bool used[PERIOD_MAX] = {false};

    for (uint32_t i = 0; i < differing->sample_count; i++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(subject->got, differing->sample[i], at);
        used[at[d] % period] = true;
    }
    stripes->d = d;
    stripes->period = period;
    stripes->width = narrow(used, period, &stripes->first);
    return stripes->width * 4 <= period;
}

/* Returns whether a coordinate is inside a stripe. */
static bool is_inside(const struct stripes *stripes, uint32_t coordinate)
{
    return (coordinate % stripes->period + stripes->period - stripes->first) % stripes->period <
           stripes->width;
}

static bool holds(const struct subject *subject, const struct stripes *stripes)
{
    uint32_t at[MLI_MAX_RANK] = {0};

    do {
        if (!is_inside(stripes, at[stripes->d]) &&
            elements_word(subject->got, at) != elements_word(subject->wanted, at))
            return false;
    } while (elements_next(subject->got, at));
    return true;
}

/* Returns whether it is unlikely that the sample is inside the stripes by accident. */
static bool is_evident(const struct subject *subject, const struct stripes *stripes)
{
    const struct differing *differing = subject->differing;
    uint32_t bits = 0;

    for (uint32_t ratio = stripes->period / stripes->width; ratio > 1; ratio /= 2)
        bits++;
    return (uint64_t)bits * differing->sample_count >= STRIPED_BITS_MIN + PERIOD_MAX / 8;
}

static bool find_striped(const struct subject *subject, struct stripes *stripes)
{
    const struct differing *differing = subject->differing;

    for (uint32_t d = 0; d < subject->got->rank; d++) {
        const uint32_t most = (differing->high[d] - differing->low[d]) / (STRIPES_MIN - 1);

        /* Try the longest period first: half of a period that fits would fit, too. */
        for (uint32_t period = most < PERIOD_MAX ? most : PERIOD_MAX; period >= PERIOD_MIN;
             period--) {
            if (find_period(subject, d, period, stripes) && is_evident(subject, stripes) &&
                holds(subject, stripes))
                return true;
        }
    }
    return false;
}

void striped_add(const struct subject *subject, struct phrase *phrase)
{
    struct stripes stripes;

    if (!find_striped(subject, &stripes))
        return;
    const uint32_t low = subject->differing->low[stripes.d];
    phrase_add(phrase, "they are at index ");
    for (uint32_t i = 0; i < SHOWN; i++)
        phrase_add(phrase, "%s%" PRIu32, i ? ", " : "", low + i * stripes.period);
    phrase_add(phrase, ", ... of dimension %" PRIu32 ", every %" PRIu32 " indices", stripes.d,
               stripes.period);
    if (stripes.width > 1)
        phrase_add(phrase, " (%" PRIu32 " wide)", stripes.width);
    phrase_add(phrase, ": the edges of tiles?");
}
