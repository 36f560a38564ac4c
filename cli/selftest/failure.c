/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/term/print.h"

/* Lengths of wrong bytes to look for in the source: shorter runs occur in many places. */
enum { TRACE_MIN = 3, TRACE_MAX = 16 };

/* Finds the first difference of two frames, and counts the differences. */
static bool differ(struct mismatch *mismatch, const uint8_t *found, const uint8_t *expected,
                   size_t bytes)
{
    if (memcmp(found, expected, bytes) == 0)
        return false;
    mismatch->count = 0;
    for (size_t i = bytes; i-- > 0;) {
        if (found[i] == expected[i])
            continue;
        mismatch->count++;
        mismatch->at = i;
    }
    mismatch->found = found[mismatch->at];
    mismatch->expected = expected[mismatch->at];
    return true;
}

/* Finds the element of the destination that contains the byte, if any. */
static void find_element(struct mismatch *mismatch, const struct move_case *c)
{
    struct element element;

    element_first(&element, c);
    do {
        if (mismatch->at - element.dst < c->move.element_size) {
            mismatch->in_element = true;
            mismatch->byte = (uint32_t)(mismatch->at - element.dst);
            memcpy(mismatch->element, element.at, sizeof(mismatch->element));
            for (uint32_t i = 0; i < c->move.src.rank; i++)
                mismatch->element[i] += c->move.cfg.dst_offset[i];
            return;
        }
    } while (element_next(&element, c));
}

bool mismatch_find(struct mismatch *mismatch, const struct images *images,
                   const struct move_case *c)
{
    *mismatch = (struct mismatch){.in_src = true};
    if (differ(mismatch, images->src, images->src_image, c->src_frame.bytes))
        return true;
    mismatch->in_src = false;
    if (!differ(mismatch, images->dst, images->expected, c->dst_frame.bytes))
        return false;
    find_element(mismatch, c);
    return true;
}

static const char *zone_text(uint8_t byte)
{
    if (byte == 0)
        return "a cleared byte";
    switch (byte & ZONE_MASK) {
    case ZONE_DST_WRITTEN:
        return "a byte of the destination that must be overwritten";
    case ZONE_DST_KEPT:
        return "a byte of the destination that must stay";
    case ZONE_SRC_KEPT:
        return "a byte of the source outside the window";
    default:
        return "a byte of the source's window";
    }
}

static bool one_bit(unsigned bits)
{
    return bits && (bits & (bits - 1)) == 0;
}

/* Returns the value of the byte before the move. */
static uint8_t former(const struct mismatch *mismatch, const struct move_case *c)
{
    if (mismatch->in_src)
        return mismatch->expected;
    return image_byte(mismatch->in_element ? ZONE_DST_WRITTEN : ZONE_DST_KEPT, mismatch->at,
                      c->salt);
}

/*
 * Searches the source for the wrong bytes of the destination. Returns false if there are too few
 * bytes, or no match.
 */
static bool trace(const struct mismatch *mismatch, const struct images *images,
                  const struct move_case *c, size_t *where)
{
    const uint8_t *wrong = images->dst + mismatch->at;
    const uint8_t *right = images->expected + mismatch->at;
    const size_t left = c->dst_frame.bytes - mismatch->at;
    size_t length = 0;

    while (length < left && length < TRACE_MAX && wrong[length] != right[length] &&
           (wrong[length] & ZONE_SRC_KEPT))
        length++;
    if (mismatch->in_src || length < TRACE_MIN)
        return false;
    const uint8_t *found = memmem(images->src_image, c->src_frame.bytes, wrong, length);
    if (found)
        *where = (size_t)(found - images->src_image);
    return found != NULL;
}

static void place_text(const struct mismatch *mismatch, const struct move_case *c, char *out,
                       size_t size)
{
    const struct frame *frame = mismatch->in_src ? &c->src_frame : &c->dst_frame;
    char at[PRINT_TEXT_MAX];

    if (mismatch->in_element) {
        print_shape(at, c->move.src.rank, mismatch->element);
        at[0] = '[';
        at[strlen(at) - 1] = ']';
        snprintf(out, size, "destination, element %s, byte %u of %u", at, mismatch->byte,
                 c->move.element_size);
        return;
    }
    const bool within =
        mismatch->at >= frame->before && mismatch->at < frame->before + frame->tensor;
    snprintf(out, size, "%s, %s",
             mismatch->in_src ? "source, which must not change" : "destination, outside the region",
             within                         ? "within the tensor"
             : mismatch->at < frame->before ? "before the tensor"
                                            : "after the tensor");
}

const char *mismatch_text(const struct mismatch *mismatch, const struct images *images,
                          const struct move_case *c, char out[MISMATCH_TEXT_MAX])
{
    const struct frame *frame = mismatch->in_src ? &c->src_frame : &c->dst_frame;
    char place[PRINT_TEXT_MAX * 2], origin[PRINT_TEXT_MAX * 2];
    size_t where = 0;

    place_text(mismatch, c, place, sizeof(place));
    if (mismatch->found == former(mismatch, c) && !mismatch->in_src)
        snprintf(origin, sizeof(origin), "unchanged: not written");
    else if (mismatch->count == 1 && one_bit(mismatch->found ^ mismatch->expected))
        snprintf(origin, sizeof(origin), "one bit is flipped");
    else if (trace(mismatch, images, c, &where))
        snprintf(origin, sizeof(origin), "%s, byte %zd", zone_text(mismatch->found),
                 (ssize_t)where - (ssize_t)c->src_frame.before);
    else
        snprintf(origin, sizeof(origin), "%s", zone_text(mismatch->found));
    snprintf(out, MISMATCH_TEXT_MAX,
             "byte %zd of the %s: 0x%02x expected, 0x%02x found (%s); %zu byte%s wrong",
             (ssize_t)mismatch->at - (ssize_t)frame->before, place, mismatch->expected,
             mismatch->found, origin, mismatch->count, mismatch->count == 1 ? " is" : "s are");
    return out;
}

int failure_set(struct failure *failure, enum failure_kind kind, const char *format, ...)
{
    va_list args;

    if (failure->kind != FAILURE_none)
        return -1;
    failure->kind = kind;
    va_start(args, format);
    vsnprintf(failure->text, sizeof(failure->text), format, args);
    va_end(args);
    return -1;
}

const char *failure_kind_name(enum failure_kind kind)
{
    static const char *const names[] = {
#define FAILURE_NAME(name) #name,
        FAILURE_KINDS(FAILURE_NAME)
#undef FAILURE_NAME
    };

    return names[kind];
}
