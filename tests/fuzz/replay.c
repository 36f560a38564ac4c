/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls a fuzz target without libFuzzer: first with each given file and each file of the given
 * directories, then with random mutations of these files.
 *
 *     fuzz_json [-n mutations] [-s seed] file|directory ...
 *
 * Prints the seed, so that a run can be reproduced. If the target aborts, the last line names a
 * file with the input.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"

enum { INPUTS_MAX = 1024, INPUT_MAX = 64 * 1024, CRASH_PATH_MAX = 64 };

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input inputs[INPUTS_MAX];
static size_t input_count;

/* The current input, which the handler of SIGABRT writes to a file. */
static const uint8_t *current;
static size_t current_size;
static char crash_path[CRASH_PATH_MAX];

static void on_abort(int signal_number)
{
    FILE *file = fopen(crash_path, "wb");

    if (file) {
        fwrite(current, 1, current_size, file);
        fclose(file);
        fprintf(stderr, "input: %s\n", crash_path);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Copies the input to a heap block of the same size, so that sanitizers find reads beyond the end.
 */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    FUZZ_ASSERT(copy);
    memcpy(copy, bytes, size);
    current = copy;
    current_size = size;
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void add_file(const char *path)
{
    struct input *input = &inputs[input_count];

    FILE *file = fopen(path, "rb");

    if (!file || input_count == INPUTS_MAX) {
        fprintf(stderr, "%s: not readable, or more than %d inputs\n", path, INPUTS_MAX);
        exit(2);
    }
    input->bytes = malloc(INPUT_MAX);
    FUZZ_ASSERT(input->bytes);
    input->size = fread(input->bytes, 1, INPUT_MAX, file);
    fclose(file);
    input_count++;
}

static void add_path(const char *path)
{
    struct dirent **entries;
    /* sorted, so that equal seeds make equal runs */
    int count = scandir(path, &entries, NULL, alphasort);

    if (count < 0) {
        add_file(path);
        return;
    }
    for (int i = 0; i < count; i++) {
        char name[4096];

        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            add_file(name);
        free(entries[i]);
    }
    free(entries);
}

/* Returns a random byte; bytes that have a meaning in the formats are more frequent than others. */
static uint8_t random_byte(struct rng *rng)
{
    static const char interesting[] = "{}[]():,\"\\'-+.eE0123456789u \n\0\x7f\x80\xc0\xff";

    return rng_chance(rng, 50) ? (uint8_t)interesting[rng_below(rng, sizeof interesting - 1)]
                               : (uint8_t)rng_below(rng, 256);
}

/* Overwrites or inserts a piece of a random input. */
static size_t splice(struct rng *rng, uint8_t *bytes, size_t size)
{
    const struct input *other = &inputs[rng_below(rng, (uint32_t)input_count)];
    size_t from, length, at;

    if (other->size == 0)
        return size;
    from = rng_below(rng, (uint32_t)other->size);
    length = 1 + rng_below(rng, (uint32_t)(other->size - from));
    at = rng_below(rng, (uint32_t)size + 1);
    if (rng_chance(rng, 50)) {
        if (length > INPUT_MAX - size)
            return size;
        memmove(bytes + at + length, bytes + at, size - at);
        memcpy(bytes + at, other->bytes + from, length);
        return size + length;
    }
    if (length > size - at)
        length = size - at;
    memcpy(bytes + at, other->bytes + from, length);
    return size;
}

static size_t mutate_once(struct rng *rng, uint8_t *bytes, size_t size)
{
    size_t at = rng_below(rng, (uint32_t)size + 1), length;

    switch (rng_below(rng, 5)) {
    case 0: /* change */
        if (at < size)
            bytes[at] = random_byte(rng);
        return size;
    case 1: /* insert */
        if (size == INPUT_MAX)
            return size;
        memmove(bytes + at + 1, bytes + at, size - at);
        bytes[at] = random_byte(rng);
        return size + 1;
    case 2: /* delete */
        length = at < size ? 1 + rng_below(rng, (uint32_t)(size - at < 8 ? size - at : 8)) : 0;
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length;
    case 3: /* truncates the input, rarely */
        return rng_chance(rng, 20) ? at : size;
    default:
        return splice(rng, bytes, size);
    }
}

static void run_mutations(uint64_t seed, long count)
{
    static uint8_t bytes[INPUT_MAX];

    for (long i = 0; i < count; i++) {
        struct rng rng = rng_for_case(seed, (uint64_t)i);
        const struct input *input = &inputs[rng_below(&rng, (uint32_t)input_count)];
        size_t size = input->size;

        memcpy(bytes, input->bytes, size);
        for (uint32_t n = rng_between(&rng, 1, 6); n > 0; n--)
            size = mutate_once(&rng, bytes, size);
        run(bytes, size);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = (uint64_t)time(NULL);
    long mutations = 0;
    int option;

    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            mutations = strtol(optarg, NULL, 0);
        else if (option == 's')
            seed = strtoull(optarg, NULL, 0);
        else
            return 2;
    }
    for (int i = optind; i < argc; i++)
        add_path(argv[i]);
    if (input_count == 0) {
        fprintf(stderr, "usage: %s [-n mutations] [-s seed] file|directory ...\n", argv[0]);
        return 2;
    }
    snprintf(crash_path, sizeof crash_path, "crash-%ld", (long)getpid());
    signal(SIGABRT, on_abort);
    mutations = (long)scaled((uint64_t)mutations);
    printf("%zu inputs, %ld mutations, seed %llu\n", input_count, mutations,
           (unsigned long long)seed);
    fflush(stdout);
    for (size_t i = 0; i < input_count; i++)
        run(inputs[i].bytes, inputs[i].size);
    run_mutations(seed, mutations);
    for (size_t i = 0; i < input_count; i++)
        free(inputs[i].bytes);
    return 0;
}
