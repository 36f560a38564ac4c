/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/profile/target_profile.h"

#include <string.h>

const char *const profile_reach_words[] = {"core", "dma", "host", NULL};
const char *const profile_controller_words[] = {"boxes", "zdma",    "bcm2835", "pdma",
                                                "pl330", "hexagon", "aie",     NULL};
const uint32_t profile_controller_loops[] = {[PROFILE_BOXES] = MLI_MAX_RANK,
                                             [PROFILE_ZDMA] = 0,
                                             [PROFILE_BCM2835] = 1,
                                             [PROFILE_PDMA] = 0,
                                             [PROFILE_PL330] = 1,
                                             [PROFILE_HEXAGON] = 1,
                                             [PROFILE_AIE] = 3};

#define COST(member, what)                                                                         \
    {                                                                                              \
#member, offsetof(struct profile_costs, member), what                                      \
    }
const struct profile_cost_member profile_cost_members[] = {
    COST(start, "from the call to the start of the first descriptor"),
    COST(descriptor, "for each descriptor"),
    COST(row, "for each row"),
    COST(burst, "for each burst"),
    COST(beat, "for each beat of the bus"),
    COST(finish, "from the last byte until the program sees the completion"),
    COST(conflict, "for each access to a busy bank"),
    COST(core_call, "for each memcpy by the core"),
    COST(core_beat, "for each beat of a memcpy by the core"),
    COST(kernel_vector, "for each vector that a permute kernel loads and stores"),
    COST(kernel_element, "for each element that a permute kernel gathers"),
    {0},
};
#undef COST

profile_cost profile_cost_of(const struct profile_costs *costs,
                             const struct profile_cost_member *member)
{
    profile_cost cost;

    memcpy(&cost, (const char *)costs + member->at, sizeof cost);
    return cost;
}

void profile_cost_set(struct profile_costs *costs, const struct profile_cost_member *member,
                      profile_cost cost)
{
    memcpy((char *)costs + member->at, &cost, sizeof cost);
}

const struct profile_memory *profile_memory_named(const struct target_profile *profile,
                                                  const char *name)
{
    for (uint32_t i = 0; i < profile->memory_count; i++)
        if (strcmp(profile->memories[i].name, name) == 0)
            return &profile->memories[i];
    return NULL;
}

const struct profile_memory *profile_memory_at(const struct target_profile *profile,
                                               uint64_t address)
{
    for (uint32_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memories[i];

        if (address >= memory->base && address - memory->base < memory->size)
            return memory;
    }
    return NULL;
}

const struct profile_memory *profile_dma_memory(const struct target_profile *profile,
                                                const struct profile_memory *but)
{
    const struct profile_memory *largest = NULL;

    for (uint32_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *memory = &profile->memories[i];

        if (memory != but && memory->reached_by & PROFILE_DMA &&
            (!largest || memory->size > largest->size))
            largest = memory;
    }
    return largest;
}

static bool is_at_or_below(const char *pointer, const char *parent)
{
    const size_t length = strlen(parent);

    return strncmp(pointer, parent, length) == 0 &&
           (pointer[length] == '\0' || pointer[length] == '/');
}

const struct profile_source *profile_source_of(const struct target_profile *profile,
                                               const char *pointer)
{
    const struct profile_source *best = NULL;

    for (uint32_t i = 0; i < profile->source_count; i++) {
        const struct profile_source *source = &profile->sources[i];

        if (is_at_or_below(pointer, source->pointer) &&
            (!best || strlen(source->pointer) > strlen(best->pointer)))
            best = source;
    }
    return best;
}

bool profile_is_assumed(const struct profile_source *source)
{
    return strncmp(source->text, "assumed", strlen("assumed")) == 0;
}
