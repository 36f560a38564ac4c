/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/filter.h"

#include <fnmatch.h>
#include <stddef.h>

#include "cli/term/print.h"

int filter_check(const struct options *options)
{
    const char *pattern;
    for (size_t at = 0; (pattern = options_next(options, "filter", &at));) {
        if (pattern[*pattern == '!'])
            continue;
        print_error("--filter: a pattern is needed, as in 'conv/*'");
        return -1;
    }
    return 0;
}

bool filter_selects(const struct options *options, const char *name)
{
    bool wanted = false, any = false;
    const char *pattern;
    for (size_t at = 0; (pattern = options_next(options, "filter", &at));) {
        bool excludes = *pattern == '!';
        bool matches = fnmatch(pattern + excludes, name, 0) == 0;
        if (excludes && matches)
            return false;
        any = any || !excludes;
        wanted = wanted || (!excludes && matches);
    }
    return wanted || !any;
}
