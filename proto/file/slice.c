/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/json/utf8.h"

struct scan {
    const char *text, *at;
    struct fault *fault;
};

#define complain(fault, ...) fault_set((fault), FAULT_INVALID_PARAMS, NULL, __VA_ARGS__)

/* Returns the position of the character at `at`, counted from 1. */
static size_t place_of(const struct scan *scan, const char *at)
{
    size_t place = 1;

    for (const char *c = scan->text; c < at; c++)
        place += ((unsigned char)*c & 0xc0) != 0x80;
    return place;
}

/* Complains that "character 5 is ']', where <what> is expected". */
static int complain_here(const struct scan *scan, const char *what)
{
    size_t size = utf8_char(scan->at, strlen(scan->at));

    if (!*scan->at)
        return complain(scan->fault, "the text ends where %s is expected", what);
    return complain(scan->fault, "character %zu is '%.*s', where %s is expected",
                    place_of(scan, scan->at), size ? (int)size : 1, scan->at, what);
}

static void skip_blanks(struct scan *scan)
{
    scan->at += strspn(scan->at, " \t");
}

static bool take(struct scan *scan, char c)
{
    skip_blanks(scan);
    if (*scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool take_ellipsis(struct scan *scan)
{
    skip_blanks(scan);
    if (strncmp(scan->at, "...", 3) != 0)
        return false;
    scan->at += 3;
    return true;
}

/* Parses an optional number. Returns 0 or -1. */
static int take_number(struct scan *scan, bool *has, int64_t *number)
{
    const char *begin;
    int64_t sign = 1, value = 0;

    skip_blanks(scan);
    begin = scan->at;
    if (*scan->at == '-' || *scan->at == '+')
        sign = *scan->at++ == '-' ? -1 : 1;
    *has = *scan->at >= '0' && *scan->at <= '9';
    if (!*has && scan->at > begin)
        return complain_here(scan, "a digit");
    for (; *scan->at >= '0' && *scan->at <= '9'; scan->at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, sign * (*scan->at - '0'), &value))
            return complain(scan->fault, "the number at character %zu does not fit into 64 bits",
                            place_of(scan, begin));
    }
    *number = value;
    return 0;
}

static int refuse_index(const struct scan *scan, uint32_t index, int64_t number)
{
    char stop[24] = "";

    if (number != -1) /* if it is -1, the last index, the message suggests "-1:" without a stop */
        snprintf(stop, sizeof stop, "%" PRId64, number < INT64_MAX ? number + 1 : number);
    return complain(scan->fault,
                    "entry %" PRIu32 " is the index %" PRId64
                    ", and a move does not drop dimensions; write %" PRId64 ":%s",
                    index + 1, number, number, stop);
}

static int take_entry(struct scan *scan, uint32_t index, struct slice_entry *entry)
{
    bool has_step = false;

    *entry = (struct slice_entry){.step = 1};
    if (take_number(scan, &entry->has_start, &entry->start) < 0)
        return -1;
    if (!take(scan, ':')) {
        bool ends = *scan->at == '\0' || *scan->at == ',';
        if (entry->has_start && ends)
            return refuse_index(scan, index, entry->start);
        return complain_here(scan, entry->has_start ? "':'" : "a number, ':' or '...'");
    }
    if (take_number(scan, &entry->has_stop, &entry->stop) < 0)
        return -1;
    if (take(scan, ':') && take_number(scan, &has_step, &entry->step) < 0)
        return -1;
    if (!has_step)
        entry->step = 1;
    if (entry->step < 1)
        return complain(scan->fault,
                        "entry %" PRIu32 ": step %" PRId64 " given; must be at least 1", index + 1,
                        entry->step);
    return 0;
}

/* Parses the text between two commas. Sets *seen to true if the text is "...". */
static int take_part(struct scan *scan, struct slice *slice, bool *seen)
{
    if (take_ellipsis(scan)) {
        if (*seen)
            return complain(scan->fault, "'...' is given twice, but allowed only once");
        *seen = true;
        slice->ellipsis = slice->count;
        return 0;
    }
    if (slice->count == TENSOR_RANK_MAX)
        return complain(scan->fault, "more than %d entries given", TENSOR_RANK_MAX);
    if (take_entry(scan, slice->count, &slice->entries[slice->count]) < 0)
        return -1;
    slice->count++;
    return 0;
}

int slice_parse(const char *text, struct slice *slice, struct fault *fault)
{
    struct scan scan = {.text = text, .at = text, .fault = fault};
    bool seen = false, goes_on = true;

    *slice = (struct slice){0};
    while (goes_on) {
        if (take_part(&scan, slice, &seen) < 0)
            return -1;
        goes_on = take(&scan, ',');
        skip_blanks(&scan);
        if (goes_on && !*scan.at)
            break; /* a comma may end the text, as in Python */
        if (!goes_on && *scan.at)
            return complain_here(&scan, "',' or the end");
    }
    if (!seen)
        slice->ellipsis = slice->count;
    return 0;
}

/* Counts a negative number from the end, and limits the number to 0 .. extent. */
static int64_t clip(bool given, int64_t number, int64_t otherwise, int64_t extent)
{
    if (!given)
        return otherwise;
    if (number < 0)
        number += extent;
    if (number < 0)
        return 0;
    return number < extent ? number : extent;
}

static int apply_entry(const struct slice_entry *entry, uint32_t dimension, int64_t extent,
                       struct slice_window *window, struct fault *fault)
{
    int64_t start = clip(entry->has_start, entry->start, 0, extent);
    int64_t stop = clip(entry->has_stop, entry->stop, extent, extent);

    if (start >= stop) {
        char from[24] = "", to[24] = "";
        if (entry->has_start)
            snprintf(from, sizeof(from), "%" PRId64, entry->start);
        if (entry->has_stop)
            snprintf(to, sizeof(to), "%" PRId64, entry->stop);
        return complain(fault,
                        "nothing is selected of dimension %" PRIu32 ": %s:%s given, of %" PRId64
                        " (padded) elements",
                        dimension, from, to, extent);
    }
    if (start > UINT32_MAX || stop - start > UINT32_MAX)
        return complain(fault, "the window in dimension %" PRIu32 " does not fit into 32 bits",
                        dimension);
    /* All steps larger than the window select only the first sample, so any large step gives the
       same result. */
    *window = (struct slice_window){
        .offset = (uint32_t)start,
        .size = (uint32_t)(stop - start),
        .step = (uint32_t)(entry->step < UINT32_MAX ? entry->step : UINT32_MAX)};
    return 0;
}

int slice_apply(const struct slice *slice, uint32_t rank, const int64_t *extents,
                struct slice_window windows[TENSOR_RANK_MAX], struct fault *fault)
{
    static const struct slice_entry whole = {.step = 1};
    uint32_t missing = rank - slice->count;

    if (slice->count > rank)
        return complain(fault,
                        "%" PRIu32 " entries given, but the source has %" PRIu32 " dimensions",
                        slice->count, rank);
    for (uint32_t d = 0; d < rank; d++) {
        const struct slice_entry *entry = &whole;

        if (d < slice->ellipsis)
            entry = &slice->entries[d];
        else if (d >= slice->ellipsis + missing)
            entry = &slice->entries[d - missing];
        if (apply_entry(entry, d, extents[d], &windows[d], fault) < 0)
            return -1;
    }
    return 0;
}
