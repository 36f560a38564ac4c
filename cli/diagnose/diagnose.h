/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cause of a difference between a result and the wanted tensor, and the head of this folder:
 *
 *     cli/diagnose/compare.c
 *       -> differing.h    region, planes, first elements, a sample
 *       -> diagnose()     tries the hypotheses of hypothesis.h: a sentence
 *       -> diagnose_origins()    source coordinates of the first elements
 *
 * elements.h has elements by coordinate, map.h maps between coordinates.
 *
 * A diagnosis is only printed if all elements were checked. Constant data, too few elements and
 * noise give none. The time is linear in the size of the tensors, and memory does not depend on it.
 */
#pragma once

#include <stdint.h>

#include "cli/diagnose/differing.h"
#include "cli/diagnose/elements.h"
#include "cli/diagnose/hypothesis.h"
#include "mli_mov_api.h"
#include "proto/json/jsonw.h"

enum { DIAGNOSIS_TEXT_MAX = 400 };

struct diagnosis {
    const char *kind; /* name of the hypothesis; null: the cause is not known */
    uint64_t explained, differing;
    char text[DIAGNOSIS_TEXT_MAX];   /* "every value is ..."; empty: the cause is not known */
    char places[DIAGNOSIS_TEXT_MAX]; /* "they are at index 7, 15, ..."; empty: no pattern */
};

/* The move that made the result. */
struct diagnose_move {
    const struct elements *source; /* rank 0: unknown */
    const struct elements *before; /* output before the move; rank 0: it did not exist */
    const mli_mov_cfg_t *cfg; /* cfg of the job, with an entry for each dimension of the source and
                                 with neutral values filled in */
    const uint32_t *result_shape; /* shape that the move writes, offsets included */
};

struct diagnose_request {
    const struct elements *got, *wanted; /* tensors of one dtype and shape */
    const char *got_name,
        *wanted_name; /* names of the tensors in the diagnosis: null and "expected", "A" and "B" */
    const struct diagnose_move *move; /* null: unknown */
};

/** Finds the cause of a difference. Returns 0, or -1 if memory is out. */
int diagnose(const struct diagnose_request *request, const struct differing *differing,
             struct diagnosis *diagnosis);

/**
 * Sets the origin of each element in differing->first: the coordinate in the source from which its
 * value comes, if the move or the value determines it, and the coordinate of the wanted value.
 */
void diagnose_origins(const struct diagnose_request *request, struct differing *differing);

/** Writes a diagnosis as member "diagnosis"; nothing if there is none. */
void diagnosis_json(struct jsonw *w, const struct diagnosis *diagnosis);
