/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/diagnose/differing.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"

const char *differing_place(char out[DIFFERING_TEXT_MAX], uint32_t rank, const uint32_t *at)
{
    print_shape(out, rank, at);
    out[0] = '[';
    out[strlen(out) - 1] = ']';
    return out;
}

static void add_region(struct phrase *phrase, const struct differing *differing)
{
    phrase_add(phrase, "%s [", differing->fills_region ? "all of" : "in");
    for (uint32_t d = 0; d < differing->rank; d++) {
        phrase_add(phrase, "%s%" PRIu32, d ? ", " : "", differing->low[d]);
        if (differing->high[d] > differing->low[d])
            phrase_add(phrase, ":%" PRIu64, (uint64_t)differing->high[d] + 1);
    }
    phrase_add(phrase, "]");
}

static void add_largest(struct phrase *phrase, const struct differing *differing)
{
    char at[DIFFERING_TEXT_MAX];

    if (!differing->has_largest)
        return;
    differing_place(at, differing->rank, differing->largest_at);
    if (differing->dtype->kind != 'f') {
        phrase_add(phrase, "; the largest difference is %.0f at %s", differing->largest, at);
        return;
    }
    phrase_add(phrase, "; the largest difference is %.6g at %s (%" PRIu64 " ulp",
               differing->largest, at, differing->ulps);
    if (differing->relative > 0)
        phrase_add(phrase, ", %.3g of the value", differing->relative);
    phrase_add(phrase, ")");
}

const char *differing_summary(const struct differing *differing, uint64_t elements,
                              char out[DIFFERING_TEXT_MAX])
{
    struct phrase phrase = phrase_init(out, DIFFERING_TEXT_MAX);

    phrase_add(&phrase, "%.3g %% of the elements, ",
               100 * (double)differing->count / (double)elements);
    add_region(&phrase, differing);
    add_largest(&phrase, differing);
    return out;
}

/* Writes "[0, 1:4, :, :]". */
static void add_run(struct phrase *phrase, const struct differing *differing,
                    const struct differing_run *run)
{
    phrase_add(phrase, "[");
    for (uint32_t d = 0; d < differing->leading; d++)
        phrase_add(phrase, "%s%" PRIu32, d ? ", " : "", run->at[d]);
    if (run->planes > 1)
        phrase_add(phrase, ":%" PRIu64, (uint64_t)run->at[differing->leading - 1] + run->planes);
    for (uint32_t d = differing->leading; d < differing->rank; d++)
        phrase_add(phrase, ", :");
    phrase_add(phrase, "] %" PRIu64 "%s", run->each, run->planes > 1 ? " each" : "");
}

const char *differing_planes(const struct differing *differing, char out[DIFFERING_TEXT_MAX])
{
    struct phrase phrase = phrase_init(out, DIFFERING_TEXT_MAX);

    if (differing->leading == 0)
        return out;
    phrase_add(&phrase, "%" PRIu64 " of %" PRIu64 " %s%s differ: ", differing->planes_differ,
               differing->planes, differing->rank > 2 ? "plane" : "row",
               print_s(differing->planes));
    for (uint32_t i = 0; i < differing->run_count; i++) {
        phrase_add(&phrase, "%s", i ? ", " : "");
        add_run(&phrase, differing, &differing->runs[i]);
    }
    if (differing->runs_cut)
        phrase_add(&phrase, ", ...");
    return out;
}

static void json_region(struct jsonw *w, const struct differing *differing)
{
    jsonw_array_begin(w, "region");
    for (uint32_t d = 0; d < differing->rank; d++) {
        jsonw_array_begin(w, NULL);
        jsonw_uint(w, NULL, differing->low[d]);
        jsonw_uint(w, NULL, (uint64_t)differing->high[d] + 1);
        jsonw_array_end(w);
    }
    jsonw_array_end(w);
}

/* Floats are strings, as the values of differing elements are. */
static void json_float(struct jsonw *w, const char *key, double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.6g", value);
    jsonw_string(w, key, text);
}

static void json_largest(struct jsonw *w, const struct differing *differing)
{
    if (!differing->has_largest)
        return;
    jsonw_object_begin(w, "largest");
    print_json_shape(w, "at", differing->rank, differing->largest_at);
    if (differing->dtype->kind != 'f') {
        jsonw_uint(w, "difference", (uint64_t)differing->largest);
    } else {
        json_float(w, "difference", differing->largest);
        if (differing->relative > 0)
            json_float(w, "relative", differing->relative);
        jsonw_uint(w, "ulps", differing->ulps);
    }
    jsonw_object_end(w);
}

static void json_planes(struct jsonw *w, const struct differing *differing)
{
    if (differing->leading == 0)
        return;
    jsonw_object_begin(w, "planes");
    jsonw_uint(w, "differ", differing->planes_differ);
    jsonw_uint(w, "all", differing->planes);
    jsonw_array_begin(w, "runs");
    for (uint32_t i = 0; i < differing->run_count; i++) {
        jsonw_object_begin(w, NULL);
        print_json_shape(w, "at", differing->leading, differing->runs[i].at);
        jsonw_uint(w, "planes", differing->runs[i].planes);
        jsonw_uint(w, "each", differing->runs[i].each);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_object_end(w);
}

void differing_json(struct jsonw *w, const struct differing *differing)
{
    json_region(w, differing);
    json_largest(w, differing);
    json_planes(w, differing);
    jsonw_array_begin(w, "first");
    for (uint32_t i = 0; i < differing->first_count; i++) {
        const struct differing_element *element = &differing->first[i];

        jsonw_object_begin(w, NULL);
        print_json_shape(w, "at", differing->rank, element->at);
        dtype_json(w, "a", differing->dtype, element->a);
        dtype_json(w, "b", differing->dtype, element->b);
        if (*element->origin)
            jsonw_string(w, "origin", element->origin);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

void differing_init(struct differing *differing, const struct elements *a, uint32_t first_max)
{
    *differing = (struct differing){
        .dtype = a->dtype,
        .rank = a->rank,
        .leading = a->rank > 2 ? a->rank - 2 : a->rank > 1,
        .planes = 1,
        .first_max = first_max < DIFFERING_FIRST_MAX ? first_max : DIFFERING_FIRST_MAX};
    for (uint32_t d = 0; d < differing->leading; d++)
        differing->planes *= a->shape[d];
}

/* Maps the bits of a float to an integer that increases with the number. */
static uint64_t ordinal(const struct elements *elements, const uint32_t *at)
{
    const uint64_t sign = UINT64_C(1) << (elements->dtype->size * 8 - 1);
    uint64_t word = 0;

    memcpy(&word, elements_at(elements, at), elements->dtype->size);
    word = le64toh(word);
    return word & sign ? -(word & ~sign) : word;
}

static uint64_t ulps_between(const struct elements *a, const struct elements *b, const uint32_t *at)
{
    const uint64_t from = ordinal(a, at), to = ordinal(b, at);

    return (int64_t)from < (int64_t)to ? to - from : from - to;
}

static void note_largest(struct differing *differing, const struct elements *a,
                         const struct elements *b, const uint32_t *at)
{
    const char kind = a->dtype->kind;

    if (!strchr("iuf", kind) || (kind != 'f' && a->dtype->size > 4))
        return; /* a double is too short for the differences of 64-bit integers */
    const double x = dtype_number(a->dtype, elements_at(a, at));
    const double y = dtype_number(b->dtype, elements_at(b, at));
    const double largest = x == y ? 0 : fabs(x - y);
    if (isnan(largest) || (differing->has_largest && largest <= differing->largest))
        return;
    differing->has_largest = true;
    differing->largest = largest;
    memcpy(differing->largest_at, at, a->rank * sizeof(*at));
    if (kind != 'f')
        return;
    differing->relative = y != 0 && !isinf(y) ? largest / fabs(y) : 0;
    differing->ulps = ulps_between(a, b, at);
}

static void note_first(struct differing *differing, const struct elements *a,
                       const struct elements *b, const uint32_t *at)
{
    if (differing->first_count == differing->first_max)
        return;
    struct differing_element *element = &differing->first[differing->first_count++];
    memcpy(element->at, at, a->rank * sizeof(*at));
    dtype_texts(a->dtype, elements_at(a, at), elements_at(b, at), element->a, element->b);
}

/* Keeps each differing element with equal chance: reservoir sampling with a fixed sequence. */
static void note_sample(struct differing *differing, const struct elements *a, const uint32_t *at)
{
    uint64_t place = differing->count;

    if (place >= DIFFERING_SAMPLE_MAX)
        place = (differing->count * UINT64_C(0x9e3779b97f4a7c15) >> 20) % (differing->count + 1);
    if (place >= DIFFERING_SAMPLE_MAX)
        return;
    differing->sample[place] = elements_index(a, at);
    if (differing->sample_count < DIFFERING_SAMPLE_MAX)
        differing->sample_count++;
}

static void note_region(struct differing *differing, const uint32_t *at)
{
    for (uint32_t d = 0; d < differing->rank; d++) {
        if (differing->count == 0 || at[d] < differing->low[d])
            differing->low[d] = at[d];
        if (differing->count == 0 || at[d] > differing->high[d])
            differing->high[d] = at[d];
    }
}

/* Returns whether the current plane belongs to the run: it has as many differing elements, and
 * directly follows the run's last plane. */
static bool continues(const struct differing *differing, const struct differing_run *run)
{
    const uint32_t last = differing->leading - 1;

    return run->each == differing->plane_count &&
           memcmp(run->at, differing->plane_at, last * sizeof(*run->at)) == 0 &&
           (uint64_t)run->at[last] + run->planes == differing->plane_at[last];
}

static void end_plane(struct differing *differing)
{
    struct differing_run *run = &differing->runs[differing->run_count];

    if (differing->leading == 0 || differing->plane_count == 0)
        return;
    differing->planes_differ++;
    if (differing->run_count > 0 && !differing->runs_cut && continues(differing, run - 1)) {
        run[-1].planes++;
    } else if (differing->run_count == DIFFERING_RUNS_MAX) {
        differing->runs_cut = true;
    } else {
        *run = (struct differing_run){.planes = 1, .each = differing->plane_count};
        memcpy(run->at, differing->plane_at, differing->leading * sizeof(*run->at));
        differing->run_count++;
    }
    differing->plane_count = 0;
}

void differing_add(struct differing *differing, const struct elements *a, const struct elements *b,
                   const uint32_t *at)
{
    if (memcmp(at, differing->plane_at, differing->leading * sizeof(*at)) != 0) {
        end_plane(differing);
        memcpy(differing->plane_at, at, differing->leading * sizeof(*at));
    }
    differing->plane_count++;
    note_region(differing, at);
    note_largest(differing, a, b, at);
    note_first(differing, a, b, at);
    note_sample(differing, a, at);
    differing->count++;
}

void differing_end(struct differing *differing)
{
    uint64_t volume = 1;

    end_plane(differing);
    for (uint32_t d = 0; d < differing->rank; d++)
        volume *= (uint64_t)differing->high[d] - differing->low[d] + 1;
    differing->fills_region = differing->count == volume;
}
