/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/any_tuning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/selftest/draw.h"

/* Returns a legal value between `least` and `most`. */
static uint64_t any_value(struct draw *draw, uint64_t least, uint64_t most, uint64_t multiple,
                          uint64_t otherwise)
{
    const uint64_t first = (least + multiple - 1) / multiple, last = most / multiple;

    switch (draw_below(draw, 8)) {
    case 0:
    case 1:
        return first * multiple;
    case 2:
    case 3:
        return last * multiple;
    case 4:
    case 5:
        return otherwise;
    default:
        return (first + draw_next(draw) % (last - first + 1)) * multiple;
    }
}

static uint64_t any_threshold(struct draw *draw)
{
    const uint32_t which = draw_below(draw, 10);

    return which < 7 ? 0 : which < 8 ? draw_magnitude(draw, UINT32_MAX) : UINT64_MAX;
}

/* Lowers the number of rows on the stage until they fit. */
static void fit_stage(mli_tuning *tuning)
{
    const uint64_t most =
        MLI_TUNING_STAGE_ROOM / (tuning->stage_width + MLI_TUNING_STAGE_EDGES) / 16 * 16;

    if (tuning->stage_rows > most)
        tuning->stage_rows = most;
}

mli_tuning any_tuning(uint64_t seed, uint64_t index)
{
    struct draw draw = draw_init(~seed, index);
    mli_tuning tuning = {.size = sizeof(tuning)};

    (void)mli_tuning_default(&tuning, NULL);
#define ANY(name, least, most, multiple)                                                           \
    tuning.name = (most) == UINT64_MAX                                                             \
                      ? any_threshold(&draw)                                                       \
                      : any_value(&draw, (least), (most), (multiple), tuning.name);
    MLI_TUNING_TABLE(ANY)
#undef ANY
    fit_stage(&tuning);
    return tuning;
}

void any_tuning_print(const mli_tuning *tuning)
{
    mli_tuning defaults = {.size = sizeof(defaults)};

    (void)mli_tuning_default(&defaults, NULL);
    printf("  tuning:");
#define PRINT(name, least, most, multiple)                                                         \
    if (tuning->name != defaults.name)                                                             \
        printf(" %s=%" PRIu64, #name, tuning->name);
    MLI_TUNING_TABLE(PRINT)
#undef PRINT
    printf("\n");
}
