/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture_fit.h"

static bool try_planes(picture_fit_fn *fits, void *state, size_t edges, size_t most, size_t least)
{
    static const size_t planes[] = {8, 6, 5, 4, 3};
    for (size_t i = 0; i < sizeof(planes) / sizeof(planes[0]); i++) {
        for (size_t inner = most; inner >= least; inner--) {
            const struct picture_room room = {.level = {[PICTURE_LINES] = planes[i],
                                                        [PICTURE_PLANES] = planes[i],
                                                        [PICTURE_ROWS] = inner,
                                                        [PICTURE_COLUMNS] = inner},
                                              .edges = edges};
            if (fits(state, &room))
                return true;
        }
    }
    return false;
}

bool picture_fit(picture_fit_fn *fits, void *state, const struct picture_fit_range *range)
{
    static const size_t edges[] = {12, 8, 6, 5};
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]) && edges[i] >= range->edges; i++) {
        if (try_planes(fits, state, edges[i], range->most, range->least))
            return true;
    }
    return false;
}
