/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hypotheses about the cause of a difference. A hypothesis proposes candidates; a candidate
 * predicts the values of the wrong tensor, element by element, from the right tensor, the source of
 * the move, or nothing. trial.c checks the predictions, first on a sample, then on all elements.
 *
 *     permuted.c  the dimensions in another order       relaid.c    that, written in the wanted
 * shape reversed.c  a dimension backwards                 shifted.c   an offset, padding on a wrong
 * side repeated.c  a row repeated or missing             slid.c      rows that slide: a wrong
 * stride fitted.c    any other map, found by values        stale.c     zeros, one value, former
 * values recoded.c   byte order, sign, saturation, ...     unmoved.c   the source as it was
 *
 * striped.c looks at the places of wrong elements only.
 *
 * To add a hypothesis, start here: write a file with a struct hypothesis, declare it below, list it
 * in all[] of diagnose.c, describe its name in mlictl-diff(1), and plant the mistake in
 * tests/unit/diagnose/test_diagnose.c.
 */
#ifndef CLI_DIAGNOSE_HYPOTHESIS_H
#define CLI_DIAGNOSE_HYPOTHESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/diagnose/differing.h"
#include "cli/diagnose/elements.h"
#include "cli/diagnose/map.h"
#include "cli/diagnose/phrase.h"
#include "mli_mov_api.h"

/* Two tensors that differ, and the source and the earlier output if a job made the result. */
struct subject {
    const struct elements *got, *wanted;
    const char *got_name, *wanted_name; /* "expected", or "A" and "B" */
    const struct elements *source;      /* null: unknown */
    const struct elements *before;      /* null: the output did not exist; else it has its shape */
    struct map move;                    /* from the output to the source, with a source */
    const mli_mov_cfg_t *cfg;           /* of the job, with a source */
    bool moved_as_planned; /* `got` has the values of `move`: then `wanted` is another move */
    const struct differing *differing;
    double bits; /* information of a value: -log2 of the chance that two values but 0 are equal */
};

struct hypothesis;

enum { CANDIDATE_NUMBERS = 6 };

struct candidate {
    const struct hypothesis *hypothesis;
    const struct elements *reference; /* of `map`: `wanted`, or the source */
    bool predicts_wanted;             /* predicts `wanted` instead of `got` */
    struct map map;
    int64_t number[CANDIDATE_NUMBERS]; /* meaning depends on the hypothesis */
    /* Region of the tensor in which the candidate predicts values; both coordinates included. */
    uint32_t low[MLI_MAX_RANK], high[MLI_MAX_RANK];
    uint32_t cost; /* bits of information that it took from the data when it was proposed */
};

/* The element for which a candidate predicts a value. */
struct element_at {
    const uint32_t *at;
    uint64_t index;  /* in C order */
    uint32_t wanted; /* its bits in `wanted` */
};

/* Proposed candidates; further ones are dropped when it is full. */
enum { PROPOSALS_MAX = 512 };

struct proposals {
    const struct subject *subject;
    struct candidate list[PROPOSALS_MAX];
    size_t count;
};

struct hypothesis {
    const char *name; /* the kind of the diagnosis in JSON */
    void (*propose)(const struct hypothesis *self, struct proposals *proposals);
    /** Computes the bits that the candidate predicts for the wrong tensor. Returns false if it
     * predicts nothing for this element. */
    bool (*predict)(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word);
    /** Adds the rest of a sentence that begins with "every value is". */
    void (*describe)(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase);
};

extern const struct hypothesis hypothesis_permuted, hypothesis_relaid, hypothesis_reversed,
    hypothesis_shifted, hypothesis_repeated, hypothesis_slid, hypothesis_fitted, hypothesis_stale,
    hypothesis_recoded, hypothesis_unmoved;

/**
 * Adds a candidate for all elements and returns it; the caller changes its map. With `source` the
 * reference is the source and the map is that of the move; else the reference is `wanted` and the
 * map the identity. When the list is full, returns a candidate that is dropped.
 */
struct candidate *proposals_add(struct proposals *proposals, const struct hypothesis *hypothesis,
                                bool source);

/** Returns whether the subject has a source: the number of the last reference. */
static inline int proposals_last_reference(const struct proposals *proposals)
{
    return proposals->subject->source ? 1 : 0;
}

/* A hypothesis that is a map has these functions (mapped.c). */
bool mapped_predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word);
void mapped_describe(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase);

/** Calls `use` with each permutation of the numbers below `rank` but the identity. */
void each_permutation(uint32_t rank, void (*use)(void *context, const uint8_t *order),
                      void *context);

/** Adds a sentence about the places of the wrong elements: "; all of them at ...". Adds nothing if
 * the places have no pattern. */
void striped_add(const struct subject *subject, struct phrase *phrase);

/* The result of a candidate's predictions (trial.c). */
struct tally {
    uint64_t differing;    /* elements that differ */
    uint64_t predicted;    /* of these, elements with a prediction */
    uint64_t explained;    /* of these, elements with the predicted value, */
    uint64_t informative;  /* which is not 0 */
    uint64_t contradicted; /* equal elements for which another value was predicted */
    uint64_t silent;       /* elements without a prediction */
};

/** Checks the predictions on the sample. Returns whether the candidate is worth a full check. */
bool trial_sample(const struct subject *subject, const struct candidate *candidate,
                  struct tally *tally);

/**
 * Checks the predictions on all elements. Returns whether the candidate explains the difference: at
 * least 99 % of the differing elements with a prediction, contradicts few equal elements, and
 * cannot be a coincidence. ^C ends the check.
 */
bool trial_whole(const struct subject *subject, const struct candidate *candidate,
                 struct tally *tally);

#endif /* CLI_DIAGNOSE_HYPOTHESIS_H */
