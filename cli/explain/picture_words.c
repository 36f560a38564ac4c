/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends to a buffer of PICTURE_WORDS_MAX bytes. Cuts what does not fit. */
__attribute__((format(printf, 2, 3))) static void add(char *out, const char *format, ...)
{
    size_t length = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + length, PICTURE_WORDS_MAX - length, format, args);
    va_end(args);
}

/* Appends an item of a list: a comma precedes all items but the first. */
#define ADD_ITEM(out, ...) (add(out, "%s", *(out) ? ", " : ""), add(out, __VA_ARGS__))

const char *picture_shape(char out[PICTURE_WORDS_MAX], uint32_t rank, const uint64_t *shape)
{
    snprintf(out, PICTURE_WORDS_MAX, "(");
    for (uint32_t d = 0; d < rank; d++)
        add(out, "%s%" PRIu64, d ? ", " : "", shape[d]);
    add(out, ")");
    return out;
}

const char *picture_side_shape(char out[PICTURE_WORDS_MAX], const struct explained_side *side)
{
    uint64_t shape[MLI_MAX_RANK];
    if (side->rank == 0)
        return strcpy(out, "raw bytes");
    for (uint32_t d = 0; d < side->rank; d++)
        shape[d] = side->shape[d];
    return picture_shape(out, side->rank, shape);
}

static void add_pad(const struct explained *e, char *what)
{
    for (uint32_t d = 0; d < e->move.rank; d++) {
        const mli_explained_axis *a = &e->move.axis[d];
        if (a->padded != a->extent)
            ADD_ITEM(what, "d%" PRIu32 " %" PRIu32 "+%" PRIu32 "+%" PRIu32, d, a->pad_pre,
                     a->extent, a->pad_post);
    }
}

static void add_crop(const struct explained *e, char *what)
{
    for (uint32_t d = 0; d < e->move.rank; d++) {
        const mli_explained_axis *a = &e->move.axis[d];
        if (a->size == a->padded)
            ADD_ITEM(what, ":");
        else
            ADD_ITEM(what, "%" PRIu64 ":%" PRIu64, a->offset, a->offset + a->size);
    }
}

static void add_subsample(const struct explained *e, char *what)
{
    for (uint32_t d = 0; d < e->move.rank; d++) {
        if (e->move.axis[d].step != 1)
            ADD_ITEM(what, "d%" PRIu32 " 1 of %" PRIu64, d, e->move.axis[d].step);
    }
}

static void add_permute(const struct explained *e, char *what)
{
    uint32_t from[MLI_MAX_RANK];
    for (uint32_t d = 0; d < e->move.rank; d++)
        from[e->move.axis[d].dst_dim] = d;
    for (uint32_t i = 0; i < e->move.rank; i++)
        ADD_ITEM(what, "d%" PRIu32, from[i]);
}

/* Returns whether the destination's tensor is packed: its strides leave no gaps. */
static bool is_packed(const struct explained *e, const uint64_t *strides)
{
    uint64_t packed = 1;
    for (uint32_t d = e->move.rank; d-- > 0; packed *= picture_extent(e, d)) {
        if (picture_extent(e, d) > 1 && strides[d] != packed)
            return false;
    }
    return true;
}

static void add_place(const struct explained *e, char *what)
{
    uint64_t at[MLI_MAX_RANK] = {0}, strides[MLI_MAX_RANK] = {0};
    bool moved = e->update;
    char text[PICTURE_WORDS_MAX];
    for (uint32_t d = 0; d < e->move.rank; d++) {
        const mli_explained_axis *a = &e->move.axis[d];
        at[a->dst_dim] = a->dst_offset;
        strides[a->dst_dim] = a->dst_stride;
        moved = moved || a->dst_offset > 0;
    }
    if (moved)
        ADD_ITEM(what, "at %s", picture_shape(text, e->move.rank, at));
    if (!is_packed(e, strides))
        ADD_ITEM(what, "strides %s", picture_shape(text, e->move.rank, strides));
}

void picture_steps(const struct explained *explained, struct picture_step *steps)
{
    static void (*const add_what[STEP_COUNT])(const struct explained *, char *) = {
        add_pad, add_crop, add_subsample, add_permute, add_place};
    for (int i = 0; i < STEP_COUNT; i++) {
        struct picture_step *step = &steps[i];
        uint64_t shape[MLI_MAX_RANK];
        *step = (struct picture_step){.name = explained_step_word((enum step)i)};
        /* explained_step_shape() ignores strides, so add_place() looks for gaps itself. */
        if (explained_step_shape(&explained->move, (enum step)i, shape) || i == STEP_PLACE)
            add_what[i](explained, step->what);
        step->neutral = step->what[0] == '\0';
        picture_shape(step->shape, explained->move.rank, shape);
    }
}

const char *picture_axis_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis)
{
    const mli_explained_axis *a = &picture->explained->move.axis[axis->source_dim];
    out[0] = '\0';
    if (side->is_dst) {
        add(out, "%" PRIu64, a->count);
        if (a->dst_offset > 0 || axis->extent > a->count)
            add(out, " at %" PRIu32, a->dst_offset);
        if (axis->extent > a->dst_offset + a->count)
            add(out, " of %" PRIu64, axis->extent);
    } else if (a->padded != a->extent) {
        add(out, "%" PRIu32 "+%" PRIu32 "+%" PRIu32, a->pad_pre, a->extent, a->pad_post);
    } else {
        add(out, "%" PRIu32, a->extent);
    }
    return out;
}

static bool is_padding(const struct picture_side *side, const struct picture_slot *slot)
{
    return !side->is_dst && slot->kind == SLOT_COORDINATE && !slot->real;
}

/* Returns the coordinate to show: for a source, counted without the padding. */
static uint64_t shown(const struct picture *picture, const struct picture_side *side,
                      const struct picture_axis *axis, uint64_t at)
{
    return side->is_dst ? at : at - picture->explained->move.axis[axis->source_dim].pad_pre;
}

const char *picture_plane_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                                const struct picture_side *side, size_t line, size_t plane)
{
    const size_t at[] = {line, plane};
    const uint32_t rank = picture->explained->move.rank;
    out[0] = '\0';
    for (uint32_t d = 0; rank > 2 && d < rank; d++) {
        enum picture_level level = side->level_of[d];
        if (level >= PICTURE_ROWS) {
            add(out, "%s:", d ? ", " : "[");
            continue;
        }
        const struct picture_axis *axis = &side->axis[level];
        const struct picture_slot *slot = &axis->slot[at[level]];
        if (slot->kind == SLOT_GAP || is_padding(side, slot)) {
            snprintf(out, PICTURE_WORDS_MAX, "%s", slot->kind == SLOT_GAP ? "gap" : "padding");
            return out;
        }
        add(out, "%s%" PRIu64, d ? ", " : "[", shown(picture, side, axis, slot->at));
    }
    if (*out)
        add(out, "]");
    return out;
}

const char *picture_tick_words(char out[PICTURE_TICK_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis,
                               size_t slot)
{
    const struct picture_slot *s = &axis->slot[slot];
    out[0] = '\0';
    if (s->kind == SLOT_COORDINATE && !is_padding(side, s))
        snprintf(out, PICTURE_TICK_MAX, "%" PRIu64, shown(picture, side, axis, s->at));
    return out;
}

enum { LETTERS = 52 };

bool picture_has_letters(const struct picture *picture)
{
    const mli_explanation *move = &picture->explained->move;
    uint64_t shown = 1;
    if (move->samples_read > LETTERS)
        return false;
    for (uint32_t d = 0; d < move->rank; d++)
        shown *= picture->scale[d].count;
    return shown == move->samples_read;
}

char picture_letter(const struct picture *picture, const uint64_t *sample)
{
    static const char letters[LETTERS + 1] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const mli_explanation *move = &picture->explained->move;
    uint64_t number = 0;
    if (picture_has_letters(picture)) {
        for (uint32_t d = 0; d < move->rank; d++)
            number = number * (move->axis[d].hi - move->axis[d].lo) + sample[d] - move->axis[d].lo;
    } else if (picture->followed_count > 0) {
        uint32_t d = picture->followed[0];
        number = picture_position(picture, d, sample[d], (uint32_t)picture->scale[d].count - 1);
    }
    return letters[number % LETTERS];
}

const char *picture_state_words(const struct picture *picture, enum picture_state state)
{
    static const char *const words[PICTURE_STATES] = {
#define PICTURE_WORDS(name, utf8, ascii, text) text,
        PICTURE_STATE_TABLE(PICTURE_WORDS)
#undef PICTURE_WORDS
    };
    bool is_there = picture_count(&picture->src, state) + picture_count(&picture->dst, state) > 0;
    return is_there ? words[state] : "";
}

bool picture_is_quantised(const struct picture *picture, const struct picture_axis *axis)
{
    return axis->dim >= 0 && axis->source_dim == picture->explained->src.quant_axis;
}
