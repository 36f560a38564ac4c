/* SPDX-License-Identifier: BSD-3-Clause */
/* Hypotheses that are maps: their predictions, and the member of the job that may be wrong. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/diagnose/hypothesis.h"

bool mapped_predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word)
{
    (void)subject;
    return map_word(&candidate->map, candidate->reference, element->at, word);
}

/* Returns whether the elements of `wanted` are 0 that a shift along a dimension pushes over its
 * edge. */
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

/* Adds a question about an offset that differs by `delta` source elements in a source dimension. */
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

/* Adds a question about the member of the job that makes the difference of two maps. */
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

void mapped_describe(const struct subject *subject, const struct candidate *candidate,
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
