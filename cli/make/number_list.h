/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with commas between them, one for each dimension: "2,0,1", and "0,1:2" for two sides. */
#ifndef CLI_NUMBER_LIST_H
#define CLI_NUMBER_LIST_H

#include <stdint.h>

#include "cli/options.h"
#include "mli_types.h"

struct number_list {
    uint32_t count; /* 0: the option was not given */
    int64_t first[MLI_MAX_RANK];
    int64_t second[MLI_MAX_RANK]; /* behind a colon; as `first` where there is none */
};

/* What an option's numbers may be. */
struct number_rule {
    const char *option; /* without the dashes */
    int64_t min, max;
    bool two_sided;      /* "1:2" is possible */
    const char *example; /* for messages */
};

/** Returns 0, or -1 after saying on stderr what is wrong. */
int number_list_parse(const struct options *options, const struct number_rule *rule,
                      struct number_list *list);

#endif /* CLI_NUMBER_LIST_H */
