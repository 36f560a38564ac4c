/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report_html/html_cells.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/textw.h"

enum {
    RUNS_BYTES_MAX = 24 << 10, /* run lengths, before base64 */
    BLOCKS_MAX = 1 << 12,      /* blocks of a plane */
    BLOCK_PLANES_MAX = 8,      /* planes with blocks */
    VALUES_MAX = 1024,         /* differing elements with values */
    WHOLE_MAX = 1024           /* elements of a tensor of which all values are written */
};

/* A growing buffer with a limit. */
struct bytes {
    uint8_t *data;
    size_t length, max;
    bool full;
};

static void put_byte(struct bytes *bytes, uint8_t byte)
{
    if (bytes->length == bytes->max)
        bytes->full = true;
    else
        bytes->data[bytes->length++] = byte;
}

/* Writes 7 bits in each byte, low bits first; all bytes but the last have the top bit. */
static void put_number(struct bytes *bytes, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(bytes, (uint8_t)(number | 0x80));
    put_byte(bytes, (uint8_t)number);
}

static void write_base64(struct jsonw *w, const char *key, const struct bytes *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(4 * ((bytes->length + 2) / 3) + 1), *out = text;

    if (!text) {
        w->failed = true;
        return;
    }
    for (size_t i = 0; i < bytes->length; i += 3) {
        const size_t left = bytes->length - i;
        const uint32_t word = (uint32_t)bytes->data[i] << 16 |
                              (left > 1 ? (uint32_t)bytes->data[i + 1] << 8 : 0) |
                              (left > 2 ? bytes->data[i + 2] : 0);

        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[word & 63] : '=';
    }
    *out = '\0';
    jsonw_string(w, key, text);
    free(text);
}

static bool differs(const struct elements *got, const struct elements *wanted, const uint32_t *at)
{
    return elements_word(got, at) != elements_word(wanted, at);
}

/* Collects the lengths of runs of equal and differing elements in turn; the first may be 0. */
static void collect_runs(struct bytes *bytes, const struct elements *got,
                         const struct elements *wanted)
{
    uint32_t at[MLI_MAX_RANK] = {0};
    uint64_t run = 0;
    bool different = false;

    do {
        if (differs(got, wanted, at) != different) {
            put_number(bytes, run);
            different = !different;
            run = 0;
        }
        run++;
    } while (!bytes->full && elements_next(got, at));
    put_number(bytes, run);
}

/* Square blocks of the last two dimensions. */
struct blocks {
    uint32_t size; /* elements along both sides */
    uint32_t rows, columns;
    uint64_t planes;
};

static struct blocks find_blocks(const struct elements *elements)
{
    const uint32_t rank = elements->rank;
    const uint32_t rows = rank > 1 ? elements->shape[rank - 2] : 1;
    const uint32_t columns = elements->shape[rank - 1];
    struct blocks blocks = {.size = 1, .planes = 1};

    do {
        blocks.size *= 2;
        blocks.rows = (rows - 1) / blocks.size + 1;
        blocks.columns = (columns - 1) / blocks.size + 1;
    } while ((uint64_t)blocks.rows * blocks.columns > BLOCKS_MAX && blocks.size < UINT32_MAX / 2);
    for (uint32_t d = 0; d + 2 < rank; d++)
        blocks.planes *= elements->shape[d];
    blocks.planes = blocks.planes < BLOCK_PLANES_MAX ? blocks.planes : BLOCK_PLANES_MAX;
    return blocks;
}

static void count_blocks(const struct blocks *blocks, uint32_t *counts, const struct elements *got,
                         const struct elements *wanted)
{
    const uint32_t rank = got->rank;
    uint64_t plane_elements = got->shape[rank - 1];
    uint32_t at[MLI_MAX_RANK] = {0};
    uint64_t index = 0;

    if (rank > 1)
        plane_elements *= got->shape[rank - 2];
    do {
        const uint64_t plane = index++ / plane_elements;
        const uint32_t row = rank > 1 ? at[rank - 2] / blocks->size : 0;

        if (plane == blocks->planes)
            return;
        counts[(plane * blocks->rows + row) * blocks->columns + at[rank - 1] / blocks->size] +=
            differs(got, wanted, at);
    } while (elements_next(got, at));
}

/* Writes for each block a byte: 0 for no difference, 255 if all elements differ. */
static void write_blocks(struct jsonw *w, const struct elements *got, const struct elements *wanted)
{
    const struct blocks blocks = find_blocks(got);
    const size_t count = (size_t)(blocks.planes * blocks.rows * blocks.columns);
    const double most = (double)blocks.size * (got->rank > 1 ? blocks.size : 1);
    uint32_t *counts = calloc(count, sizeof(*counts));
    struct bytes bytes = {.data = malloc(count), .max = count};

    if (counts && bytes.data) {
        count_blocks(&blocks, counts, got, wanted);
        for (size_t i = 0; i < count; i++) {
            const double part = (double)counts[i] / most;

            put_byte(&bytes, counts[i] ? (uint8_t)(1 + 254 * (part < 1 ? part : 1)) : 0);
        }
        jsonw_uint(w, "block", blocks.size);
        write_base64(w, "blocks", &bytes);
    } else {
        w->failed = true;
    }
    free(counts);
    free(bytes.data);
}

static void write_places(struct jsonw *w, const struct elements *got, const struct elements *wanted)
{
    struct bytes bytes = {.data = malloc(RUNS_BYTES_MAX), .max = RUNS_BYTES_MAX};

    if (!bytes.data) {
        w->failed = true;
        return;
    }
    collect_runs(&bytes, got, wanted);
    if (bytes.full)
        write_blocks(w, got, wanted);
    else
        write_base64(w, "runs", &bytes);
    free(bytes.data);
}

/* Writes values in C order: of all elements, or of the first differing ones. */
static void write_values(struct jsonw *w, const char *key, const struct elements *of,
                         const struct elements *got, const struct elements *wanted, bool all)
{
    uint32_t at[MLI_MAX_RANK] = {0};
    uint32_t count = 0;
    char text[DTYPE_TEXT_MAX];

    jsonw_array_begin(w, key);
    do {
        if (!all && !differs(got, wanted, at))
            continue;
        dtype_json(w, NULL, of->dtype, dtype_text(of->dtype, elements_at(of, at), text));
        count++;
    } while ((all || count < VALUES_MAX) && elements_next(got, at));
    jsonw_array_end(w);
}

void html_cells_write(struct jsonw *w, const struct elements *got, const struct elements *wanted)
{
    const bool all = elements_count(got) <= WHOLE_MAX;

    jsonw_object_begin(w, NULL);
    jsonw_array_begin(w, "shape");
    for (uint32_t d = 0; d < got->rank; d++)
        jsonw_uint(w, NULL, got->shape[d]);
    jsonw_array_end(w);
    write_places(w, got, wanted);
    jsonw_bool(w, "all", all);
    write_values(w, "got", got, got, wanted, all);
    write_values(w, "wanted", wanted, got, wanted, all);
    jsonw_object_end(w);
}
