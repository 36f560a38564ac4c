/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/property/property_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/scale.h"

static bool number(const char *text, uint64_t *to)
{
    char *end;

    *to = strtoull(text, &end, 0);
    return *text != '\0' && *end == '\0';
}

static bool parse(struct options *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const bool engine = !strcmp(argv[i], "--engine");
        uint64_t *to = !strcmp(argv[i], "--seed")       ? &options->seed
                       : !strcmp(argv[i], "--count")    ? &options->count
                       : !strcmp(argv[i], "--permutes") ? &options->permutes
                       : !strcmp(argv[i], "--only")     ? &options->only
                       : !strcmp(argv[i], "--large")    ? &options->large
                       : !strcmp(argv[i], "--tunings")  ? &options->tunings
                                                        : NULL;

        if ((!to && !engine) || i + 1 == argc || (to && !number(argv[i + 1], to)))
            return false;
        if (engine)
            options->engine = argv[i + 1];
        options->only_one |= to == &options->only;
    }
    return options->large <= 100;
}

bool options_parse(struct options *options, int argc, char **argv)
{
    options->seed = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    if (!parse(options, argc, argv)) {
        fprintf(stderr,
                "usage: %s [--seed N] [--count N] [--permutes N] [--only INDEX] [--large PERCENT]\n"
                "       [--engine SPEC] [--tunings 1]\n",
                argv[0]);
        return false;
    }
    options->count = scaled(options->count);
    options->permutes = scaled(options->permutes);
    printf("seed %" PRIu64 "\n", options->seed);
    return true;
}
