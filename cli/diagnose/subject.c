/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/diagnose/subject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/map.h"

enum { SAMPLE = 256 };

/* Sets the map from the output to the source. Returns false if a coordinate is too large. */
static bool set_map(struct map *map, const struct elements *source, const mli_mov_cfg_t *cfg)
{
    *map = map_identity(source->rank);
    map->outside = MAP_ZERO;
    for (uint32_t i = 0; i < source->rank; i++) {
        const uint32_t d = cfg->perm_dim[i];
        int64_t skipped;

        if (__builtin_mul_overflow((int64_t)cfg->sub_sample_step[d], (int64_t)cfg->dst_offset[i],
                                   &skipped))
            return false;
        map->axis[d] = (uint8_t)i;
        map->step[d] = cfg->sub_sample_step[d];
        map->first[d] = (int64_t)cfg->offset[d] - cfg->padding_pre[d] - skipped;
    }
    return true;
}

/* Returns whether the move writes the element at `at`. */
static bool is_written(const struct diagnose_move *move, const uint32_t *at)
{
    for (uint32_t i = 0; i < move->source->rank; i++) {
        if (at[i] < move->cfg->dst_offset[i] || at[i] >= move->result_shape[i])
            return false;
    }
    return true;
}

bool subject_moves(const struct subject *subject, const struct diagnose_move *move,
                   const uint32_t *at, uint32_t *word)
{
    return is_written(move, at) && map_word(&subject->move, subject->source, at, word);
}

/* Returns whether nearly all sampled differing elements of the result are as the move makes them.
 */
static bool is_as_planned(const struct subject *subject, const struct diagnose_move *move)
{
    const struct differing *differing = subject->differing;
    uint32_t right = 0;

    for (uint32_t i = 0; i < differing->sample_count; i++) {
        uint32_t at[MLI_MAX_RANK], word;

        elements_place(subject->got, differing->sample[i], at);
        right += subject_moves(subject, move, at, &word) && word == elements_word(subject->got, at);
    }
    return (uint64_t)right * 100 >= (uint64_t)differing->sample_count * 99;
}

static int compare_words(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Estimates the information of a value from the number of equal pairs in a sample of `wanted`.
 * Leaves out zeros: they are often those of a padding, and no evidence. */
static double find_bits(const struct subject *subject)
{
    const uint64_t count = elements_count(subject->wanted);
    uint32_t words[SAMPLE], taken = 0, at[MLI_MAX_RANK];
    uint64_t equal = 0;

    for (uint32_t i = 0; i < SAMPLE && i < count; i++) {
        elements_place(subject->wanted, elements_sample(count, SAMPLE, i), at);
        words[taken] = elements_word(subject->wanted, at);
        taken += words[taken] != 0;
    }
    qsort(words, taken, sizeof(words[0]), compare_words);
    for (uint32_t i = 0, run = 0; i < taken; i++) {
        run = i > 0 && words[i] == words[i - 1] ? run + 1 : 0;
        equal += run;
    }
    if (taken < 2)
        return 0;
    const double pairs = (double)taken * (taken - 1) / 2;
    const double bits = -log2(((double)equal + 1) / (pairs + 1));
    return fmin(bits, log2((double)count));
}

void subject_init(struct subject *subject, const struct diagnose_request *request,
                  const struct differing *differing)
{
    const struct diagnose_move *move = request->move;

    *subject = (struct subject){.got = request->got,
                                .wanted = request->wanted,
                                .got_name = request->got_name,
                                .wanted_name = request->wanted_name,
                                .differing = differing};
    subject->bits = find_bits(subject);
    if (!move)
        return;
    subject->before = move->before && move->before->rank > 0 ? move->before : NULL;
    if (!move->source || move->source->rank != request->got->rank ||
        move->source->dtype != request->got->dtype ||
        !set_map(&subject->move, move->source, move->cfg))
        return;
    subject->source = move->source;
    subject->cfg = move->cfg;
    subject->moved_as_planned = is_as_planned(subject, move);
}
