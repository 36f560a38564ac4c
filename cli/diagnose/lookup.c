/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/diagnose/lookup.h"

#include <string.h>

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

static void find(struct lookup *lookup, uint32_t word, const uint32_t *at)
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
            find(lookup, word, at);
    } while (elements_next(elements, at));
}

bool lookup_unique(const struct lookup *lookup, uint32_t index)
{
    return index < lookup->count && lookup->value[index].times == 1;
}
