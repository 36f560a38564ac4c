/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/drivers/zdma/zdma_list.h"

enum {
    /* Fills copy from a block of zeros: only simple mode can write without a source. */
    ZEROS = 4096,
    /* From this size on, a start in simple mode is cheaper than elements of ZEROS bytes. */
    WRITE_ONLY_MIN = 16 * ZEROS,
    /* Words from the sources to the destinations of a linear list. */
    LINEAR_SIDE = ZDMA_LIST_MAX * ZDMA_LINEAR_WORDS
};

static _Alignas(64) const uint8_t zeros[ZEROS];

/* The controller reads words with the least significant byte first. */
static uint32_t word(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32((uint32_t)value);
#else
    return (uint32_t)value;
#endif
}

/* Returns the words from a source element to its destination element. */
static size_t other_side(const struct zdma_form *form)
{
    return form->linear ? (size_t)LINEAR_SIDE : (size_t)ZDMA_LINKED_WORDS;
}

/* Returns the words from an element to the next element of its side. */
static size_t step(const struct zdma_form *form)
{
    return form->linear ? (size_t)ZDMA_LINEAR_WORDS : 2 * (size_t)ZDMA_LINKED_WORDS;
}

const uint32_t *zdma_list_destinations(const struct zdma_list *list, const struct zdma_form *form)
{
    return list->words + other_side(form);
}

void zdma_rest_init(struct zdma_rest *rest, const struct mli_plan *plan,
                    const struct mli_channel_caps *caps)
{
    mli_legalise_init(&rest->legaliser, plan, caps);
    zdma_rest_next(rest);
}

void zdma_rest_next(struct zdma_rest *rest)
{
    rest->more = mli_legalise_next(&rest->legaliser, &rest->piece);
}

/* A copy may have the source address 0, where boards have memory. */
static bool is_fill(const struct mli_descriptor *piece)
{
    return piece->index > 0;
}

/* Sets two words to the address that the controller uses for a place in memory. */
static void put_address(uint32_t *words, const void *place)
{
    const uint64_t address = mli_bus_address(place);

    words[0] = word(address);
    words[1] = word(address >> 32);
}

static void put(uint32_t *element, const void *data, size_t size, uint32_t control)
{
    put_address(element, data);
    element[2] = word(size);
    element[3] = word(control);
}

/* Sets words 4 to 7 of a linked element. */
static void put_link(uint32_t *element, const uint32_t *next)
{
    put_address(element + 4, next);
    element[6] = 0;
    element[7] = 0;
}

/* Appends the first `bytes` bytes of a piece. */
static void append(struct zdma_list *list, const struct mli_descriptor *piece, size_t bytes,
                   const struct zdma_form *form)
{
    const uint32_t i = list->count++;
    const uint32_t control =
        (form->linear ? 0 : ZDMA_LINKED) | (form->coherent ? ZDMA_COHERENT : 0);
    uint32_t *src = list->words + i * step(form), *dst = src + other_side(form);

    put(src, is_fill(piece) ? zeros : piece->box.src, bytes, control);
    put(dst, piece->box.dst, bytes, control | ZDMA_INTR);
    if (!form->linear) {
        put_link(src, src + step(form));
        put_link(dst, dst + step(form));
    }
    list->place[i] = (struct zdma_place){piece->row, piece->index, (uint32_t)bytes};
    list->bytes += bytes;
}

/* Makes the last source element stop the channel. */
static void end(struct zdma_list *list, const struct zdma_form *form)
{
    uint32_t *src = list->words + (list->count - 1) * step(form);

    src[3] |= word(ZDMA_STOP);
    if (form->linear)
        return;
    for (size_t i = 4; i < ZDMA_LINKED_WORDS; i++) {
        src[i] = 0;
        src[other_side(form) + i] = 0;
    }
}

static bool is_for_write_only(const struct mli_descriptor *piece)
{
    return is_fill(piece) && piece->box.run >= WRITE_ONLY_MIN;
}

/* Makes a list of one fill, in write-only mode. */
static void fill_whole(struct zdma_list *list, struct zdma_rest *rest)
{
    const struct mli_descriptor *piece = &rest->piece;

    list->fill = piece->box.dst;
    list->bytes = piece->box.run;
    list->place[0] = (struct zdma_place){piece->row, piece->index, (uint32_t)piece->box.run};
    list->count = 1;
    zdma_rest_next(rest);
}

/* Appends as much of the next piece as one element can move. */
static void append_next(struct zdma_list *list, struct zdma_rest *rest,
                        const struct zdma_form *form)
{
    struct mli_descriptor *piece = &rest->piece;

    if (!is_fill(piece) || piece->box.run <= ZEROS) {
        append(list, piece, piece->box.run, form);
        zdma_rest_next(rest);
        return;
    }
    append(list, piece, ZEROS, form);
    piece->box.run -= ZEROS;
    piece->box.dst += ZEROS;
}

void zdma_list_fill(struct zdma_list *list, struct zdma_rest *rest, const struct zdma_form *form)
{
    list->count = 0;
    list->bytes = 0;
    list->fill = NULL;
    while (rest->more && !(rest->piece.flags & MLI_PIECE_CPU) && list->count < form->elements &&
           list->bytes < form->bytes) {
        if (!is_for_write_only(&rest->piece)) {
            append_next(list, rest, form);
            continue;
        }
        if (list->count == 0) {
            fill_whole(list, rest);
            return;
        }
        break;
    }
    if (list->count > 0)
        end(list, form);
}

void zdma_list_clean(const struct zdma_list *list, const struct zdma_form *form)
{
    const size_t bytes = list->count * step(form) * sizeof(*list->words);

    if (list->fill)
        return;
    mli_cache_clean(list->words, bytes);
    if (form->linear)
        mli_cache_clean(list->words + LINEAR_SIDE, bytes);
}

void zdma_zeros_clean(void)
{
    mli_cache_clean(zeros, sizeof(zeros));
}

size_t zdma_list_written(const struct zdma_list *list, uint32_t count)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        bytes += list->place[i].bytes;
    return bytes;
}
