/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/escaped.h"

#include <string.h>

#include "proto/json/utf8.h"

bool escaped_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

const char *escaped_plain(uint32_t code, char out[ESCAPED_MAX])
{
    (void)out;
    return escaped_is_control(code) ? "?" : NULL;
}

void escaped_write(struct textw *w, const char *text, escaped_rule rule)
{
    const char *end = text + strlen(text), *plain = text;
    while (text < end) {
        char out[ESCAPED_MAX];
        size_t size = utf8_char(text, (size_t)(end - text));
        const char *instead = rule(size ? utf8_decode(text, size) : ESCAPED_BAD, out);
        if (size == 0 && !instead)
            instead = "\xef\xbf\xbd";
        if (size == 0)
            size = 1;
        if (instead) {
            textw_printf(w, "%.*s%s", (int)(text - plain), plain, instead);
            plain = text + size;
        }
        text += size;
    }
    textw_printf(w, "%s", plain);
}
