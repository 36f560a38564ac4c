/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selftest/failure.h"
#include "cli/term/print.h"

enum zone {
    ZONE_DST_WRITTEN = 0x00, /* bytes of dst that the move will overwrite */
    ZONE_DST_KEPT = 0x40,    /* other bytes of dst: beside the tensor, in gaps, before dst_offset */
    ZONE_SRC_KEPT = 0x80,    /* bytes of src beside the tensor, in gaps, or not sampled */
    ZONE_SRC_COPIED = 0xc0,
    ZONE_MASK = 0xc0
};

enum { PAGE = 4096, COUNTERS = 63 };

/* Returns the byte at offset `at` of a frame. */
static uint8_t image_byte(enum zone zone, size_t at, uint8_t salt)
{
    /* Fold all bits of the offset, so that bytes of different rows differ. */
    const size_t folded = at ^ (at >> 6) ^ (at >> 12) ^ (at >> 18) ^ (at >> 24) ^ salt;
    return (uint8_t)(zone | (1 + (folded & COUNTERS) % COUNTERS));
}

int images_init(struct images *images, uint64_t max_bytes)
{
    const size_t size = (size_t)(max_bytes + FRAME_GUARDS_MAX + PAGE - 1) / PAGE * PAGE;

    *images = (struct images){
        .src = aligned_alloc(PAGE, size),
        .src_image = aligned_alloc(PAGE, size),
        .dst = aligned_alloc(PAGE, size),
        .expected = aligned_alloc(PAGE, size),
    };
    images->attached[0] = (mli_mov_memory){.address = images->src, .size = size, .fd = -1};
    images->attached[1] = (mli_mov_memory){
        .address = images->dst, .size = size, .fd = -1, .flags = MLI_MOV_MEMORY_WRITE};
    if (images->src && images->src_image && images->dst && images->expected &&
        mli_mov_attach_memory(&images->attached[0]) == MLI_STATUS_OK &&
        mli_mov_attach_memory(&images->attached[1]) == MLI_STATUS_OK)
        return 0;
    images_finish(images);
    return -ENOMEM;
}

void images_finish(struct images *images)
{
    for (int i = 0; i < 2; i++)
        mli_mov_detach_memory(&images->attached[i]);
    free(images->src);
    free(images->src_image);
    free(images->dst);
    free(images->expected);
    *images = (struct images){NULL};
}

/* Computes the offsets of the element in both frames from its coordinate. */
static void element_locate(struct element *element, const struct move_case *c)
{
    int64_t src = 0, dst = 0;

    element->inside = true;
    for (uint32_t i = 0; i < c->move.src.rank; i++) {
        const uint32_t s = c->move.cfg.perm_dim[i];
        const int64_t at = (int64_t)c->move.cfg.offset[s] +
                           (int64_t)element->at[i] * c->move.cfg.sub_sample_step[s] -
                           c->move.cfg.padding_pre[s];
        if (at < 0 || at >= c->move.src.shape[s])
            element->inside = false;
        src += at * c->move.src_stride[s];
        dst += ((int64_t)element->at[i] + c->move.cfg.dst_offset[i]) * c->move.dst_stride[i];
    }
    element->src = element->inside ? c->src_frame.before + (size_t)src * c->move.element_size : 0;
    element->dst = c->dst_frame.before + (size_t)dst * c->move.element_size;
}

/* Set the first element, and the next one. element_next() returns false after the last element. */
static void element_first(struct element *element, const struct move_case *c)
{
    *element = (struct element){.at = {0}};
    element_locate(element, c);
}

static bool element_next(struct element *element, const struct move_case *c)
{
    uint32_t i = c->move.src.rank;

    while (i-- > 0) {
        if (++element->at[i] < c->move.count[i]) {
            element_locate(element, c);
            return true;
        }
        element->at[i] = 0;
    }
    return false;
}

static void fill(uint8_t *frame, size_t bytes, enum zone zone, uint8_t salt)
{
    for (size_t i = 0; i < bytes; i++)
        frame[i] = image_byte(zone, i, salt);
}

void images_fill(struct images *images, const struct move_case *c)
{
    struct element element;

    fill(images->src_image, c->src_frame.bytes, ZONE_SRC_KEPT, c->salt);
    fill(images->dst, c->dst_frame.bytes, ZONE_DST_KEPT, c->salt);
    memcpy(images->expected, images->dst, c->dst_frame.bytes);
    element_first(&element, c);
    do {
        for (uint32_t b = 0; b < c->move.element_size; b++) {
            uint8_t *from = &images->src_image[element.src + b];
            images->dst[element.dst + b] &= (uint8_t)~ZONE_MASK;
            if (element.inside)
                *from |= ZONE_SRC_COPIED;
            images->expected[element.dst + b] = element.inside ? *from : 0;
        }
    } while (element_next(&element, c));
    memcpy(images->src, images->src_image, c->src_frame.bytes);
}

void images_rearm(const struct images *images, const struct move_case *c)
{
    struct element element;

    element_first(&element, c);
    do {
        for (size_t at = element.dst; at < element.dst + c->move.element_size; at++)
            images->dst[at] = image_byte(ZONE_DST_WRITTEN, at, c->salt);
    } while (element_next(&element, c));
}

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
