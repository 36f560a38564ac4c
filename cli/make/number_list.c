/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/make/number_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int complain(const struct number_rule *rule, const char *text)
{
    print_error("--%s %s: 1 to %d numbers from %" PRId64 " to %" PRId64 " are needed, as in %s",
                rule->option, text, MLI_MAX_RANK, rule->min, rule->max, rule->example);
    return -1;
}

/* One number; null where there is none, else what follows it. */
static const char *take_number(const char *text, const struct number_rule *rule, int64_t *number)
{
    size_t sign = rule->min < 0 && *text == '-';
    if (strspn(text + sign, "0123456789") == 0)
        return NULL;
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno || *number < rule->min || *number > rule->max ? NULL : end;
}

int number_list_parse(const struct options *options, const struct number_rule *rule,
                      struct number_list *list)
{
    const char *text = options_get(options, rule->option);
    *list = (struct number_list){0};
    if (!text)
        return 0;
    for (const char *rest = text;; rest++) {
        if (list->count == MLI_MAX_RANK)
            return complain(rule, text);
        uint32_t i = list->count++;
        rest = take_number(rest, rule, &list->first[i]);
        list->second[i] = list->first[i];
        if (rest && rule->two_sided && *rest == ':')
            rest = take_number(rest + 1, rule, &list->second[i]);
        if (rest && *rest == '\0')
            return 0;
        if (!rest || *rest != ',')
            return complain(rule, text);
    }
}
