/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svgw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/json/utf8.h"

enum { TEXT_MAX = 512 };

void svgw_begin(struct textw *w, int width, int height)
{
    textw_printf(w,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                 "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
                 "sans-serif\">\n",
                 width, height, width, height);
}

void svgw_end(struct textw *w)
{
    textw_printf(w, "</svg>\n");
}

void svgw_group_end(struct textw *w)
{
    textw_printf(w, "</g>\n");
}

void svgw_box(struct textw *w, struct svgw_box box, const char *attributes)
{
    textw_printf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s/>\n", box.x, box.y,
                 box.width, box.height, attributes);
}

void svgw_line(struct textw *w, int x1, int y1, int x2, int y2, const char *attributes)
{
    textw_printf(w, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" %s/>\n", x1, y1, x2, y2,
                 attributes);
}

void svgw_circle(struct textw *w, int x, int y, int radius, const char *fill)
{
    textw_printf(w, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\"/>\n", x, y, radius, fill);
}

/* Returns whether XML 1.0 forbids the character: bad UTF-8, controls, U+FFFE and U+FFFF. */
static bool is_refused(const char *text, size_t length)
{
    return length == 0 || (length == 1 && (unsigned char)*text < ' ') ||
           (length == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (unsigned char)text[2] >= 0xbe);
}

static void put_escaped(struct textw *w, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t length = utf8_char(text, left);
        if (is_refused(text, length)) {
            textw_printf(w, "\xef\xbf\xbd");
            length = length ? length : 1;
        } else if (*text == '<') {
            textw_printf(w, "&lt;");
        } else if (*text == '>') {
            textw_printf(w, "&gt;");
        } else if (*text == '&') {
            textw_printf(w, "&amp;");
        } else if (*text == '"') {
            textw_printf(w, "&quot;");
        } else {
            textw_printf(w, "%.*s", (int)length, text);
        }
        text += length;
        left -= length;
    }
}

/* Formats a text; cuts it between characters. */
static void put_formatted(char text[TEXT_MAX], const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void put_formatted(char text[TEXT_MAX], const char *format, va_list args)
{
    if (vsnprintf(text, TEXT_MAX, format, args) < 0)
        text[0] = '\0';
    text[utf8_cut(text, strlen(text))] = '\0';
}

void svgw_titled_box(struct textw *w, struct svgw_box box, const char *attributes,
                     const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    put_formatted(text, format, args);
    va_end(args);
    textw_printf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" %s><title>", box.x, box.y,
                 box.width, box.height, attributes);
    put_escaped(w, text);
    textw_printf(w, "</title></rect>\n");
}

void svgw_text(struct textw *w, int x, int y, const struct svgw_font *font, const char *format, ...)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    put_formatted(text, format, args);
    va_end(args);
    textw_printf(w, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\"", x, y,
                 font->size, anchors[font->anchor], font->fill);
    if (font->bold)
        textw_printf(w, " font-weight=\"bold\"");
    if (font->upwards)
        textw_printf(w, " transform=\"rotate(-90 %d %d)\"", x, y);
    textw_printf(w, ">");
    put_escaped(w, text);
    textw_printf(w, "</text>\n");
}

int svgw_text_width(const char *text, int size)
{
    int width = 0;
    for (const char *c = text; *c; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80) /* inside a character of several bytes */
            continue;
        width += strchr(" .,:;()[]'|ijlIft", *c) ? 38 : strchr("mwMW%@+=<>", *c) ? 90 : 64;
    }
    return (width * size + 99) / 100;
}
