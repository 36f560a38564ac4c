/* SPDX-License-Identifier: BSD-3-Clause */
/* A row (an index of any dimension) is repeated or missing: later rows come late or early. */
#include <inttypes.h>

#include "cli/diagnose/hypothesis.h"

enum { SHIFT_MAX = 2, DIMENSION = 0, SHIFT, COPY };

/* `copy`: only the differing rows are copies of others; else all rows from the first one on moved.
 */
static void propose_rows(const struct hypothesis *self, struct proposals *proposals, uint32_t d,
                         int64_t shift, bool copy)
{
    const struct differing *differing = proposals->subject->differing;
    struct candidate *candidate = proposals_add(proposals, self, false);

    candidate->map.first[d] = shift;
    candidate->low[d] = differing->low[d];
    if (copy)
        candidate->high[d] = differing->high[d];
    candidate->number[DIMENSION] = d;
    candidate->number[SHIFT] = shift;
    candidate->number[COPY] = copy;
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;
    const struct differing *differing = subject->differing;

    for (uint32_t d = 0; d < subject->wanted->rank; d++) {
        const bool copy = differing->high[d] - differing->low[d] < SHIFT_MAX;

        for (int64_t shift = 1; shift <= SHIFT_MAX && shift < subject->wanted->shape[d]; shift++) {
            if (differing->low[d] > 0) {
                propose_rows(self, proposals, d, -shift, false);
                propose_rows(self, proposals, d, shift, false);
            }
            if (copy) {
                propose_rows(self, proposals, d, -shift, true);
                propose_rows(self, proposals, d, shift, true);
            }
        }
    }
}

static void describe(const struct subject *subject, const struct candidate *candidate,
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

const struct hypothesis hypothesis_repeated = {
    .name = "repeated", .propose = propose, .predict = mapped_predict, .describe = describe};
