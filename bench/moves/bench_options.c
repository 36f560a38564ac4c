/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KIB_MIN = 16, KIB_MAX = 256 * 1024, ROUNDS_MAX = 1001 };

static const char help[] =
    "usage: bench-moves [OPTION]...\n"
    "\n"
    "Times moves as multiples of memcpy of the same destination bytes, beside other libraries "
    "that\n"
    "can do the same, and checks every byte. Ends with the goals that hold and those that do not.\n"
    "\n"
    "  --size KIB[,KIB...]  of the destination; default 16,384,8192,131072. From 64 MiB on caches\n"
    "                       are evicted before every sample\n"
    "  --case TEXT          only cases with TEXT in their names; repeatable\n"
    "  --elem 1,2,4         only these element sizes in bytes\n"
    "  --neighbours         shapes beside the listed cases too\n"
    "  --levels             the listed cases at each level of kernels too, and as element loops\n"
    "  --lines              what the cache lines of each move take alone, in the best of many\n"
    "                       orders: loaded and written, with nothing moved from one to the other\n"
    "  --tuning FILE        the library with the values of `mlictl calibrate --kernels -o FILE`,\n"
    "                       in turns with its defaults\n"
    "  --no-peers           only the library itself\n"
    "  --no-calls           without what a small call costs\n"
    "  --rounds N           samples of each cell; default: as many as its time allows\n"
    "  --quick              a tenth of the time, about; at 64 MiB and more without the peers\n"
    "                       that were far behind in smaller cells\n"
    "  --seed N             where buffers are placed and what is in them; default: the clock\n"
    "  --csv FILE           all figures, a line for each cell\n"
    "  --json FILE          the same as an array\n"
    "  --svg FILE           a plot: the library's move against the best peer\n"
    "  --spoil              makes a byte of every expectation wrong: all cells must be reported\n"
    "  --help               this\n"
    "\n"
    "examples:\n"
    "  bench-moves                                    all listed cases, about six minutes\n"
    "  bench-moves --quick --svg moves.svg            a first look\n"
    "  bench-moves --tuning t.json --no-peers         calibrated beside defaults\n"
    "  bench-moves --size 384 --case HWC --elem 1     twelve cells\n"
    "  bench-moves --neighbours --levels --csv all.csv\n"
    "\n"
    "exit status: 0 measured, even if a goal is missed; 1 wrong bytes or an error; 2 usage\n";

static const struct option names[] = {
    {"size", 1, NULL, 's'},       {"case", 1, NULL, 'c'},     {"elem", 1, NULL, 'e'},
    {"neighbours", 0, NULL, 'n'}, {"levels", 0, NULL, 'l'},   {"lines", 0, NULL, 'L'},
    {"no-peers", 0, NULL, 'P'},   {"no-calls", 0, NULL, 'C'}, {"rounds", 1, NULL, 'r'},
    {"quick", 0, NULL, 'q'},      {"seed", 1, NULL, 'S'},     {"csv", 1, NULL, 'v'},
    {"json", 1, NULL, 'j'},       {"tuning", 1, NULL, 't'},   {"svg", 1, NULL, 'g'},
    {"spoil", 0, NULL, 'x'},      {"help", 0, NULL, 'h'},     {NULL, 0, NULL, 0},
};

static int wrong(const char *what, const char *given, const char *expected)
{
    fprintf(stderr, "bench-moves: %s: \"%s\" given, %s expected; see --help\n", what, given,
            expected);
    return 2;
}

static bool number(const char *text, char **end, uint64_t least, uint64_t most, uint64_t *value)
{
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, end, 10);
    return errno == 0 && *end != text && *value >= least && *value <= most;
}

static bool whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;

    return number(text, &end, least, most, value) && *end == '\0';
}

/* Reads numbers with commas between them. */
static bool list(const char *text, uint64_t least, uint64_t most, uint32_t *values, int room,
                 int *count)
{
    for (*count = 0; *count < room;) {
        uint64_t value;
        char *end;

        if (!number(text, &end, least, most, &value))
            return false;
        values[(*count)++] = (uint32_t)value;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

static int take_number(struct options *o, int option, const char *text)
{
    uint64_t value;

    if (option == 'S')
        return whole(text, 0, UINT64_MAX, &o->seed) ? 0 : wrong("--seed", text, "a number");
    if (!whole(text, 1, ROUNDS_MAX, &value))
        return wrong("--rounds", text, "1 to 1001");
    o->rounds = (int)value;
    return 0;
}

static int take_list(struct options *o, int option, const char *text)
{
    if (option == 's')
        return list(text, KIB_MIN, KIB_MAX, o->kib, OPTIONS_SIZES, &o->kib_count)
                   ? 0
                   : wrong("--size", text, "up to 8 numbers of KiB, 16 to 262144,");
    if (!list(text, 1, 4, o->elem, OPTIONS_ELEMS, &o->elem_count))
        return wrong("--elem", text, "some of 1,2,4");
    for (int i = 0; i < o->elem_count; i++) {
        if (o->elem[i] == 3)
            return wrong("--elem", text, "some of 1,2,4");
    }
    return 0;
}

static int take(struct options *o, int option, const char *text)
{
    switch (option) {
    case 's':
    case 'e':
        return take_list(o, option, text);
    case 'r':
    case 'S':
        return take_number(o, option, text);
    case 'c':
        if (o->text_count == OPTIONS_CASES)
            return wrong("--case", text, "at most 16 of them");
        o->text[o->text_count++] = text;
        break;
    case 'n':
        o->neighbours = true;
        break;
    case 'l':
        o->levels = true;
        break;
    case 'L':
        o->lines = true;
        break;
    case 'P':
        o->peers = false;
        break;
    case 'C':
        o->calls = false;
        break;
    case 'q':
        o->quick = true;
        break;
    case 't':
        o->tuning = text;
        break;
    case 'x':
        o->spoil = true;
        break;
    default:
        *(option == 'v' ? &o->csv : option == 'j' ? &o->json : &o->svg) = text;
    }
    return 0;
}

int options_parse(struct options *o, int argc, char **argv)
{
    int option;

    *o = (struct options){.kib = {16, 384, 8192, 131072},
                          .kib_count = 4,
                          .elem = {1, 2, 4},
                          .elem_count = 3,
                          .peers = true,
                          .calls = true,
                          .seed = (uint64_t)time(NULL)};
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return 1;
        }
        if (option == '?') {
            fprintf(stderr, "bench-moves: see --help\n");
            return 2;
        }
        const int result = take(o, option, optarg);

        if (result)
            return result;
    }
    return optind == argc ? 0 : wrong("argument", argv[optind], "only options");
}
