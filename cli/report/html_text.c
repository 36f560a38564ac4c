/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/html.h"

#include <stdlib.h>
#include <string.h>

#include "cli/term/print.h"
#include "proto/json/utf8.h"

static const char *html_rule(uint32_t code, char out[ESCAPED_MAX])
{
    (void)out;
    if (code == '\'')
        return "&#39;";
    return escaped_is_control(code) || utf8_is_format(code) || code >> 1 == 0x7fff
               ? "\xef\xbf\xbd"
               : escaped_markup(code);
}

static const char *lines_rule(uint32_t code, char out[ESCAPED_MAX])
{
    return code == '\n' || code == '\t' ? NULL : html_rule(code, out);
}

void html_text(struct textw *w, const char *text)
{
    escaped_write(w, text, html_rule);
}

void html_lines(struct textw *w, const char *text)
{
    escaped_write(w, text, lines_rule);
}

void html_short(struct textw *w, const char *text, size_t most)
{
    if (strlen(text) <= most) {
        html_text(w, text);
        return;
    }
    char *cut = strndup(text, utf8_cut(text, most));
    if (!cut) {
        w->failed = true;
        return;
    }
    html_text(w, cut);
    textw_printf(w, "...");
    free(cut);
}
