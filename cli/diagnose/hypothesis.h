/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hypotheses about the cause of a difference. A hypothesis proposes candidates; a candidate
 * predicts the values of the wrong tensor, element by element, from the right tensor, the source of
 * the move, or nothing. diagnose.c checks the predictions: on a sample, then on all elements.
 *
 * To add a hypothesis, start here: write its functions in hypothesis.c, list it in hypotheses[]
 * there, describe its name in mlictl-diff(1), and plant the mistake in
 * tests/unit/diagnose/test_diagnose.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/diagnose/differing.h"
#include "cli/diagnose/elements.h"
#include "cli/diagnose/map.h"
#include "cli/term/phrase.h"
#include "mli_mov_api.h"

/*
 * Two tensors that differ; if a job made the result, also its source and the output before the
 * job.
 */
struct subject {
    const struct elements *got, *wanted;
    const char *got_name, *wanted_name; /* names, such as "A" and "B" */
    const struct elements *source;      /* null: unknown */
    const struct elements *before;      /* output before the job; null: it did not exist */
    struct map move;          /* map from the output to the source; only if `source` is known */
    const mli_mov_cfg_t *cfg; /* cfg of the job; only if `source` is known */
    bool moved_as_planned; /* true: `got` is the correct result of `move`, so `wanted` is the result
                              of another move */
    const struct differing *differing;
    double bits; /* bits of information of a value: -log2 of the chance that two values other than 0
                    are equal */
};

struct hypothesis;

enum { CANDIDATE_NUMBERS = 6 };

struct candidate {
    const struct hypothesis *hypothesis;
    const struct elements *reference; /* the tensor whose values the candidate predicts with */
    bool predicts_wanted;             /* true: predicts the values of `wanted` instead of `got` */
    struct map map;
    int64_t number[CANDIDATE_NUMBERS]; /* meaning depends on the hypothesis */
    /*
     * The region in which the candidate predicts values, from coordinate `low` to `high`,
     * included.
     */
    uint32_t low[MLI_MAX_RANK], high[MLI_MAX_RANK];
    uint32_t cost; /* bits of information that the hypothesis took from the data to propose the
                      candidate */
};

/* The list of proposed candidates; a full list drops further candidates. */
enum { PROPOSALS_MAX = 512 };

struct proposals {
    const struct subject *subject;
    const struct hypothesis *hypothesis; /* the hypothesis that adds candidates now */
    struct candidate list[PROPOSALS_MAX];
    size_t count;
};

/* The element for which a candidate predicts a value. */
struct element_at {
    const uint32_t *at;
    uint64_t index;  /* index of the element in C order */
    uint32_t wanted; /* bits of the element in `wanted` */
};

struct hypothesis {
    const char *name; /* the kind of the diagnosis in JSON */
    void (*propose)(struct proposals *proposals);
    /** Computes the bits that the candidate predicts for the wrong tensor. Returns false if it
     * predicts nothing for this element. */
    bool (*predict)(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word);
    /** Adds the rest of a sentence that begins with "every value is". */
    void (*describe)(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase);
    bool has_rivals;    /* true: two of its candidates may explain the same elements */
    bool zero_is_value; /* true: a zero that is predicted and found is evidence, as other values */
};

/* All hypotheses. If two of them explain equally many elements, the first one is the diagnosis. */
enum { HYPOTHESES = 10 };
extern const struct hypothesis hypotheses[HYPOTHESES];

/** Adds a sentence about the coordinates of the wrong elements: "; all of them at ...". Adds
 * nothing if they have no pattern. */
void striped_add(const struct subject *subject, struct phrase *phrase);

/* The coordinates of several values in a tensor, which one pass over the tensor finds. */
enum { LOOKUP_MAX = 64 };

struct lookup {
    uint32_t count;
    struct {
        uint32_t word;
        uint64_t times;
        uint32_t at[MLI_MAX_RANK]; /* coordinate of the first element with these bits */
    } value[LOOKUP_MAX];
};

/** Adds the bits of a value and returns its index; LOOKUP_MAX: there is no room. */
uint32_t lookup_add(struct lookup *lookup, uint32_t word);

/** Finds where in `elements` the values are that were added to the lookup. */
void lookup_run(struct lookup *lookup, const struct elements *elements);

/** Returns whether the tensor has exactly one element with these bits. */
bool lookup_unique(const struct lookup *lookup, uint32_t index);
