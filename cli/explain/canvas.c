/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/canvas.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json/utf8.h"

void canvas_init(struct canvas *canvas, int width, int height)
{
    *canvas = (struct canvas){.width = width, .height = height};
    canvas->cell = calloc((size_t)width * (size_t)height, sizeof(canvas->cell[0]));
    canvas->failed = !canvas->cell;
}

void canvas_finish(struct canvas *canvas)
{
    free(canvas->cell);
    *canvas = (struct canvas){0};
}

static struct canvas_cell *cell_at(const struct canvas *canvas, int x, int y)
{
    return &canvas->cell[(size_t)y * (size_t)canvas->width + (size_t)x];
}

void canvas_put(struct canvas *canvas, int x, int y, unsigned role, const char *text)
{
    size_t left = strlen(text);
    if (canvas->failed || y < 0 || y >= canvas->height)
        return;
    for (; left > 0 && x < canvas->width; x++) {
        size_t length = utf8_char(text, left);
        if (x >= 0 && length > 0) {
            struct canvas_cell *cell = cell_at(canvas, x, y);
            memcpy(cell->glyph, text, length);
            cell->glyph[length] = '\0';
            cell->role = (unsigned char)role;
        }
        length = length ? length : 1;
        text += length;
        left -= length;
    }
}

static bool is_blank(const struct canvas_cell *cell)
{
    return !cell->glyph[0] || strcmp(cell->glyph, " ") == 0;
}

static void begin_role(struct textw *w, unsigned role)
{
    if (role >= CANVAS_PALETTE)
        textw_printf(w, "\033[38;5;%um", role);
    else if (role != CANVAS_PLAIN)
        textw_printf(w, "%s", colour_begin(stdout, (enum colour_role)role));
}

static void write_line(struct textw *w, const struct canvas *canvas, int y)
{
    unsigned role = CANVAS_PLAIN;
    int end = canvas->width;
    while (end > 0 && is_blank(cell_at(canvas, end - 1, y)))
        end--;
    for (int x = 0; x < end; x++) {
        const struct canvas_cell *cell = cell_at(canvas, x, y);
        unsigned next = is_blank(cell) ? CANVAS_PLAIN : cell->role;
        if (next != role && role != CANVAS_PLAIN)
            textw_printf(w, "%s", colour_end(stdout));
        if (next != role)
            begin_role(w, next);
        role = next;
        textw_printf(w, "%s", is_blank(cell) ? " " : cell->glyph);
    }
    textw_printf(w, "%s\n", role != CANVAS_PLAIN ? colour_end(stdout) : "");
}

void canvas_write(struct textw *w, const struct canvas *canvas)
{
    w->failed = w->failed || canvas->failed;
    for (int y = 0; !w->failed && y < canvas->height; y++)
        write_line(w, canvas, y);
}

int canvas_text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80; /* the first byte of a character */
    return width;
}
