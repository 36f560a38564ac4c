/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Manifests of mlictl batch: mlictl finds the same cases as a second reader, or refuses the text.
 * Input: the bytes of the manifest. Inputs that name directories are not run: they could list all
 * of the machine's files.
 */
#include <limits.h>
#include <sys/stat.h>

#include "cli/batch/cases.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_scratch.h"

enum { LINES_MAX = 512, MANIFEST_MAX = 1 << 16 };

static const char name_of_file[] = "manifest.txt";

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/*
 * Returns the entry of a manifest's line, without comment and blanks, in heap memory; an empty text
 * if the line has no entry.
 */
static char *entry_of(const char *line, size_t length)
{
    size_t end = 0, begin = 0;

    while (end < length && !(line[end] == '#' && (end == 0 || is_blank(line[end - 1]))))
        end++;
    while (end > 0 && is_blank(line[end - 1]))
        end--;
    while (begin < end && is_blank(line[begin]))
        begin++;
    return strndup(line + begin, end - begin);
}

static bool is_directory(const char *entry)
{
    struct stat status;
    char *path = NULL;
    bool found;

    FUZZ_ASSERT(asprintf(&path, "%s%s%s", entry[0] == '/' ? "" : scratch_directory(),
                         entry[0] == '/' ? "" : "/", entry) >= 0);
    found = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    return found;
}

/* Returns the name of a case: without leading "./" and without ".json". */
static void shorten(char *entry)
{
    char *from = entry;
    size_t length;

    while (from[0] == '.' && from[1] == '/')
        for (from += 2; *from == '/'; from++)
            ;
    memmove(entry, from, strlen(from) + 1);
    length = strlen(entry);
    if (length > 5 && strcmp(entry + length - 5, ".json") == 0)
        entry[length - 5] = '\0';
}

struct expected {
    char *entries[LINES_MAX];
    size_t count;
    bool refused, skipped;
};

static void expect_line(struct expected *expected, const char *line, size_t length)
{
    char *entry = entry_of(line, length);

    FUZZ_ASSERT(entry);
    if (memchr(line, '\0', length) || strlen(entry) >= PATH_MAX)
        expected->refused = true;
    else if (entry[0] && (is_directory(entry) || expected->count == LINES_MAX))
        expected->skipped = true;
    else if (entry[0])
        expected->entries[expected->count++] = entry;
    if (expected->count == 0 || expected->entries[expected->count - 1] != entry)
        free(entry);
}

static void expect(struct expected *expected, const char *text, size_t size)
{
    const char *end = text + size;

    *expected = (struct expected){.count = 0};
    while (text < end && !expected->refused && !expected->skipped) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));

        expect_line(expected, text, (size_t)((newline ? newline : end) - text));
        text = newline ? newline + 1 : end;
    }
}

static void check(const struct expected *expected)
{
    struct cases cases = {0};
    struct fault fault = {0};
    char path[SCRATCH_PATH_MAX];
    const int status = cases_add_path(&cases, scratch_path(path, name_of_file), &fault);

    FUZZ_ASSERT((status < 0) == expected->refused);
    if (status < 0)
        fuzz_check_fault(&fault);
    FUZZ_ASSERT(cases.count == expected->count);
    for (size_t i = 0; i < cases.count; i++) {
        const char *entry = expected->entries[i];
        const size_t prefix = entry[0] == '/' ? 0 : strlen(scratch_directory()) + 1;

        FUZZ_ASSERT(strcmp(cases.list[i]->file + prefix, entry) == 0);
        shorten(expected->entries[i]);
        FUZZ_ASSERT(strcmp(cases.list[i]->name, entry) == 0);
    }
    if (status == 0 && cases_sort(&cases, &fault) == 0) {
        for (size_t i = 1; i < cases.count; i++)
            FUZZ_ASSERT(strcmp(cases.list[i - 1]->name, cases.list[i]->name) < 0);
    }
    cases_finish(&cases);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct expected expected;

    if (size > MANIFEST_MAX)
        return 0;
    expect(&expected, (const char *)data, size);
    scratch_write(name_of_file, data, size);
    if (!expected.skipped)
        check(&expected);
    for (size_t i = 0; i < expected.count; i++)
        free(expected.entries[i]);
    return 0;
}
