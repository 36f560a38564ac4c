/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/explain/markup.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

enum { DEPTH_MAX = 16 };

/* Checks that the text between tags has no special characters except in known entities. */
static const char *check_text(const char *at)
{
    for (; *at && *at != '<'; at++) {
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
        assert_int_not_equal(*at, '>');
        if (*at == '&')
            assert_true(strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
                        strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&quot;", 6) == 0);
    }
    return at;
}

void markup_check(const char *svg)
{
    const char *at;
    char open[DEPTH_MAX][16];
    size_t depth = 0;
    for (at = check_text(strchr(svg, '\n')); *at; at = check_text(at)) {
        const char *end = strchr(at, '>');
        char name[16] = "";
        assert_non_null(end);
        sscanf(at + 1 + (at[1] == '/'), "%15[a-zA-Z]", name);
        assert_true(*name);
        size_t quotes = 0;
        for (const char *c = at; c < end; c++)
            quotes += *c == '"';
        assert_int_equal(quotes % 2, 0);
        if (at[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < DEPTH_MAX);
            snprintf(open[depth++], sizeof(open[0]), "%s", name);
        }
        at = end + 1;
    }
    assert_int_equal(depth, 0);
}
