/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements are in place, but each value was changed: byte order, sign, saturation, scale. */
#include <inttypes.h>

#include "cli/diagnose/hypothesis.h"

enum { CODE = 0, AMOUNT, SCALE_MAX = 8, MODES = 3 };

enum code {
    BYTES,
    HALVES,
    SIGN,
    SATURATED_S,
    SATURATED_U,
    CUT_S,
    CUT_U,
    NEGATED,
    ADDED,
    TIMES,
    BY
};

/* Returns the number that the bits of an integer element stand for. */
static int64_t number_of(const struct dtype *dtype, uint32_t word)
{
    if (dtype->kind != 'i')
        return word;
    return dtype->size == 1 ? (int8_t)word : dtype->size == 2 ? (int16_t)word : (int32_t)word;
}

/* Returns the low `bits` bits as a number with or without a sign. */
static int64_t cut(int64_t number, int64_t bits, bool is_signed)
{
    const int64_t low = number & (((int64_t)1 << bits) - 1);

    return is_signed && low >> (bits - 1) ? low - ((int64_t)1 << bits) : low;
}

static int64_t saturate(int64_t number, int64_t bits, bool is_signed)
{
    const int64_t most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t least = is_signed ? -most - 1 : 0;

    return number < least ? least : number > most ? most : number;
}

static int64_t recode_number(enum code code, int64_t number, int64_t amount)
{
    switch (code) {
    case SATURATED_S:
    case SATURATED_U:
        return saturate(number, amount, code == SATURATED_S);
    case CUT_S:
    case CUT_U:
        return cut(number, amount, code == CUT_S);
    case NEGATED:
        return -number;
    case ADDED:
        return number + amount;
    case TIMES:
        return number * ((int64_t)1 << amount);
    case BY:
        return number >> amount;
    default:
        return number;
    }
}

static bool predict(const struct subject *subject, const struct candidate *candidate,
                    const struct element_at *element, uint32_t *word)
{
    const struct dtype *dtype = subject->wanted->dtype;
    const enum code code = (enum code)candidate->number[CODE];
    const uint32_t bits = dtype->size * 8, wanted = element->wanted;

    if (code == BYTES)
        *word = __builtin_bswap32(wanted) >> (32 - bits);
    else if (code == HALVES)
        *word = wanted << 16 | wanted >> 16;
    else if (code == SIGN)
        *word = wanted ^ UINT32_C(1) << (bits - 1);
    else
        *word = (uint32_t)recode_number(code, number_of(dtype, wanted), candidate->number[AMOUNT]) &
                (UINT32_MAX >> (32 - bits));
    return true;
}

static struct candidate *propose_code(const struct hypothesis *self, struct proposals *proposals,
                                      enum code code, int64_t amount)
{
    struct candidate *candidate = proposals_add(proposals, self, false);

    candidate->number[CODE] = code;
    candidate->number[AMOUNT] = amount;
    return candidate;
}

static void propose_integers(const struct hypothesis *self, struct proposals *proposals)
{
    const struct subject *subject = proposals->subject;
    const struct dtype *dtype = subject->wanted->dtype;
    const struct differing *differing = subject->differing;

    for (int64_t bits = 4; bits < (int64_t)dtype->size * 8; bits *= 2) {
        for (enum code code = SATURATED_S; code <= CUT_U; code++)
            propose_code(self, proposals, code, bits);
    }
    propose_code(self, proposals, NEGATED, 0);
    for (int64_t scale = 1; scale <= SCALE_MAX; scale++) {
        propose_code(self, proposals, TIMES, scale);
        propose_code(self, proposals, BY, scale);
    }
    for (uint32_t i = 0; i < MODES && i < differing->sample_count; i++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(subject->got, differing->sample[i * (differing->sample_count / MODES)], at);
        const int64_t got = number_of(dtype, elements_word(subject->got, at));
        const int64_t wanted = number_of(dtype, elements_word(subject->wanted, at));
        propose_code(self, proposals, ADDED, got - wanted)->cost = dtype->size * 8;
    }
}

static void propose(const struct hypothesis *self, struct proposals *proposals)
{
    const struct dtype *dtype = proposals->subject->wanted->dtype;

    if (dtype->size > 1)
        propose_code(self, proposals, BYTES, 0);
    if (dtype->size == 4)
        propose_code(self, proposals, HALVES, 0);
    if (dtype->kind != 'b')
        propose_code(self, proposals, SIGN, 0);
    if (dtype->kind == 'i' || dtype->kind == 'u')
        propose_integers(self, proposals);
}

static void describe(const struct subject *subject, const struct candidate *candidate,
                     struct phrase *phrase)
{
    static const char *const formats[] = {
        [BYTES] = "the wanted value with its bytes reversed: wrong byte order?",
        [HALVES] = "the wanted value with its 16-bit halves exchanged: wrong byte order?",
        [SIGN] = "the wanted value with its sign bit inverted: ",
        [SATURATED_S] = "the wanted value, saturated to int",
        [SATURATED_U] = "the wanted value, saturated to uint",
        [CUT_S] = "the wanted value, cut to int",
        [CUT_U] = "the wanted value, cut to uint",
        [NEGATED] = "the wanted value, negated",
        [ADDED] = "the wanted value ",
        [TIMES] = "the wanted value times ",
        [BY] = "the wanted value divided by "};
    const struct dtype *dtype = subject->wanted->dtype;
    const enum code code = (enum code)candidate->number[CODE];
    const int64_t amount = candidate->number[AMOUNT];

    phrase_add(phrase, "%s", formats[code]);
    if (code == SIGN && dtype->kind == 'f')
        phrase_add(phrase, "negated?");
    else if (code == SIGN)
        phrase_add(phrase,
                   "%" PRIu64 " too much or too little, int%" PRIu32 " against uint%" PRIu32 "?",
                   UINT64_C(1) << (dtype->size * 8 - 1), dtype->size * 8, dtype->size * 8);
    else if (code >= SATURATED_S && code <= CUT_U)
        phrase_add(phrase, "%" PRId64, amount);
    else if (code == ADDED)
        phrase_add(phrase, "%c %" PRId64 ": wrong zero_point?", amount < 0 ? '-' : '+',
                   amount < 0 ? -amount : amount);
    else if (code == TIMES || code == BY)
        phrase_add(phrase, "%" PRId64 ": wrong frac_bits or scale?", (int64_t)1 << amount);
}

const struct hypothesis hypothesis_recoded = {
    .name = "recoded", .propose = propose, .predict = predict, .describe = describe};
