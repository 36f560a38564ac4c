/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles: any text is accepted or refused. An accepted profile must be the same after being
 * written and read again, and its controller must make descriptors for a move and for the move's
 * zeros.
 */
#include "target/controller/controller.h"
#include "target/cost/cost.h"
#include "target/profile/target_profile.h"
#include "tests/fuzz/fuzz.h"

enum { ENTRIES_MAX = 2000 };

static void check_again(const struct target_profile *profile)
{
    static struct target_profile again;
    struct fault fault;
    struct jsonw w;

    jsonw_init(&w);
    profile_write(&w, NULL, profile);
    FUZZ_ASSERT(jsonw_text(&w));
    FUZZ_ASSERT(profile_read(&again, w.data, w.length, &fault) == 0);
    FUZZ_ASSERT(memcmp(&again, profile, sizeof again) == 0);
    jsonw_finish(&w);
}

/* A transposed tile of 12 x 40 rows of 6 bytes, with zeros around it, at odd addresses. */
static struct mli_plan transposed_tile(uint64_t src, uint64_t dst)
{
    return (struct mli_plan){
        .bytes = 2880 + 300,
        .slabs = 1,
        .box = {.src = (const uint8_t *)(uintptr_t)(src + 1),
                .dst = (uint8_t *)(uintptr_t)(dst + 303),
                .run = 6,
                .loops = 2,
                .loop = {{12, 6, 500}, {40, 72, 10}}},
        .slab = {{.dst = (uint8_t *)(uintptr_t)dst, .run = 300, .loops = 0}},
    };
}

static void check_list(const struct target_profile *profile)
{
    const struct profile_memory *memory = &profile->memories[0];
    const struct mli_plan plan = transposed_tile(memory->base, memory->base + memory->size / 2);
    const struct list_count count = list_count(profile, &plan);
    const struct cost_memories memories = {memory, memory};
    const struct cost_channel channel = {&plan, count.descriptors, count.core, count.core_bytes};
    static struct descriptor_list list;
    static struct list_entry entry;
    struct move_cost cost;

    FUZZ_ASSERT(count.least <= count.descriptors);
    list_init(&list, profile, &plan, memory->base, memory->base);
    for (int i = 0; i < ENTRIES_MAX && list_next(&list, &entry); i++)
        FUZZ_ASSERT(entry.piece.box.run > 0);
    cost_of_move(&cost, profile, &memories, &channel, 1);
    (void)cost_ns(profile, cost.total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct target_profile profile;
    struct fault fault = {0};

    if (profile_read(&profile, (const char *)data, size, &fault) < 0) {
        fuzz_check_fault(&fault);
        return 0;
    }
    check_again(&profile);
    check_list(&profile);
    return 0;
}
