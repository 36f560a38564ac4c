/* SPDX-License-Identifier: BSD-3-Clause */
/* The places in the source from which the first differing elements come. */
#include "cli/diagnose/hypothesis.h"
#include "cli/diagnose/lookup.h"
#include "cli/diagnose/subject.h"

enum { LOOKED_UP_MAX = LOOKUP_MAX / 2 };

/* Writes "src[0, 1]". */
static void add_place(struct phrase *phrase, const struct subject *subject, const uint32_t *at)
{
    char place[DIFFERING_TEXT_MAX];

    phrase_add(phrase, "src%s", differing_place(place, subject->source->rank, at));
}

/* Adds the origin of a value that the move gives to the element at `at`. */
static void add_moved(struct phrase *phrase, const struct subject *subject, const uint32_t *at)
{
    uint32_t place[MLI_MAX_RANK];

    if (map_place(&subject->move, subject->source, at, place))
        add_place(phrase, subject, place);
    else
        phrase_add(phrase, "a zero of the padding");
}

/* Adds the origin of a value: that of the move if it gives this value, else its only place in the
 * source. Returns false if the origin is not known. */
static bool add_origin(struct phrase *phrase, const struct subject *subject,
                       const struct diagnose_move *move, const uint32_t *at, uint32_t word,
                       const struct lookup *lookup, uint32_t found)
{
    uint32_t moved;

    if (subject_moves(subject, move, at, &moved) && moved == word)
        add_moved(phrase, subject, at);
    else if (lookup_unique(lookup, found))
        add_place(phrase, subject, lookup->value[found].at);
    else
        return false;
    return true;
}

static void set_origin(struct differing_element *element, const struct subject *subject,
                       const struct diagnose_move *move, const struct lookup *lookup, uint32_t i)
{
    struct phrase phrase = phrase_init(element->origin, sizeof(element->origin));
    char text[DIFFERING_ORIGIN_MAX];
    struct phrase wanted = phrase_init(text, sizeof(text));

    phrase_add(&phrase, "from ");
    if (!add_origin(&phrase, subject, move, element->at, elements_word(subject->got, element->at),
                    lookup, 2 * i))
        phrase_init(element->origin, sizeof(element->origin));
    if (add_origin(&wanted, subject, move, element->at, elements_word(subject->wanted, element->at),
                   lookup, 2 * i + 1)) {
        phrase.length = *element->origin ? phrase.length : 0;
        phrase_add(&phrase, "%s%s", *element->origin ? ", not " : "not from ", text);
    }
}

void diagnose_origins(const struct diagnose_request *request, struct differing *differing)
{
    struct subject subject;
    struct lookup lookup = {0};
    const uint32_t count =
        differing->first_count < LOOKED_UP_MAX ? differing->first_count : LOOKED_UP_MAX;

    subject_init(&subject, request, differing);
    if (!subject.source)
        return;
    for (uint32_t i = 0; i < count; i++) {
        lookup_add(&lookup, elements_word(request->got, differing->first[i].at));
        lookup_add(&lookup, elements_word(request->wanted, differing->first[i].at));
    }
    lookup_run(&lookup, subject.source);
    for (uint32_t i = 0; i < count; i++)
        set_origin(&differing->first[i], &subject, request->move, &lookup, i);
}
