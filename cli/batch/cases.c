/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/cases.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/text.h"
#include "cli/report/fingerprint.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "proto/file/file_limits.h"

static const char ending[] = ".json";

bool case_is_job_file(const char *path)
{
    size_t length = strlen(path), wanted = sizeof(ending) - 1;

    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

/* Returns the name of a case: "./a/./b.json" -> "a/./b". Heap; NULL if out of memory. */
static char *name_of(const char *called)
{
    while (called[0] == '.' && called[1] == '/') {
        called += 2;
        called += strspn(called, "/");
    }
    size_t length = strlen(called);
    return strndup(called, case_is_job_file(called) ? length - (sizeof(ending) - 1) : length);
}

static int grow(struct cases *cases)
{
    size_t capacity = cases->capacity ? 2 * cases->capacity : 64;
    struct batch_case *list = reallocarray(cases->list, capacity, sizeof(*list));

    if (!list)
        return -1;
    cases->list = list;
    cases->capacity = capacity;
    return 0;
}

static void drop(struct batch_case *batch_case)
{
    free(batch_case->name);
    free(batch_case->file);
    free(batch_case->rerun_reason);
}

int cases_add(struct cases *cases, const char *called, const char *file, const void *text,
              size_t length, struct fault *fault)
{
    struct batch_case added = {.name = name_of(called), .file = strdup(file), .read = text != NULL};

    if (!added.name || !added.file || (cases->count == cases->capacity && grow(cases))) {
        drop(&added);
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    }
    if (text)
        added.digest = digest64(text, length);
    cases->list[cases->count++] = added;
    return 0;
}

/* Manifests. */

static const char blanks[] = " \t\r";

struct manifest {
    struct cases *cases;
    const char *shown; /* path of the manifest in messages */
    int prefix;        /* length of the directory in `path`, with the slash */
    const char *path;
    size_t line;
    struct fault *fault;
};

static int refuse(const struct manifest *manifest, const char *why)
{
    return fault_set(manifest->fault, FAULT_INVALID_PARAMS, NULL, "%s:%zu: %s", manifest->shown,
                     manifest->line, why);
}

/* Returns the length of the line up to a comment: a # at the beginning or after a blank. */
static size_t before_comment(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '#' && (i == 0 || strchr(blanks, line[i - 1])))
            return i;
    }
    return length;
}

static int add_entry(const struct manifest *manifest, const char *entry)
{
    struct stat status;
    char *file = NULL;
    int prefix = entry[0] == '/' ? 0 : manifest->prefix;

    if (asprintf(&file, "%.*s%s", prefix, manifest->path, entry) < 0)
        return fault_set(manifest->fault, FAULT_INTERNAL, NULL, "out of memory");
    int result = stat(file, &status) == 0 && S_ISDIR(status.st_mode)
                     ? cases_add_directory(manifest->cases, file, manifest->fault)
                     : cases_add(manifest->cases, entry, file, NULL, 0, manifest->fault);
    free(file);
    return result;
}

static int take_line(const struct manifest *manifest, const char *line, size_t length)
{
    if (memchr(line, '\0', length))
        return refuse(manifest, "the line has a zero byte, so the file is not a manifest; names of "
                                "job files end in .json");
    length = before_comment(line, length);
    while (length > 0 && strchr(blanks, line[length - 1]))
        length--;
    while (length > 0 && strchr(blanks, *line)) {
        line++;
        length--;
    }
    if (length == 0)
        return 0;
    if (length >= PATH_MAX)
        return refuse(manifest, "the path is longer than 4095 bytes");
    char *entry = strndup(line, length);
    int status = entry ? add_entry(manifest, entry)
                       : fault_set(manifest->fault, FAULT_INTERNAL, NULL, "out of memory");
    free(entry);
    return status;
}

static int take_lines(struct manifest *manifest, const struct text *text)
{
    const char *line = text->bytes;
    size_t left = text->length;

    while (left > 0) {
        const char *newline = memchr(line, '\n', left);
        size_t length = newline ? (size_t)(newline - line) : left;

        manifest->line++;
        if (cancel_requested())
            return cancel_fault(manifest->fault);
        if (take_line(manifest, line, length))
            return -1;
        length += newline != NULL;
        line += length;
        left -= length;
    }
    return 0;
}

static int add_manifest(struct cases *cases, const char *path, struct fault *fault)
{
    struct text text = {0};
    struct fault why;
    char shown[PRINT_PATH_MAX];
    bool standard_input = strcmp(path, "-") == 0;
    const char *slash = strrchr(path, '/');
    struct manifest manifest = {.cases = cases,
                                .shown = standard_input ? "stdin" : print_path(shown, path),
                                .path = path,
                                .prefix = slash ? (int)(slash - path) + 1 : 0,
                                .fault = fault};
    int status = standard_input ? text_read(&text, STDIN_FILENO, JOB_FILE_BYTES_MAX, &why)
                                : text_load(&text, path, JOB_FILE_BYTES_MAX, false, &why);

    if (status)
        fault_set(fault, why.code, NULL, "%s: %s", manifest.shown, why.text);
    else
        status = take_lines(&manifest, &text);
    text_finish(&text);
    return status;
}

int cases_add_path(struct cases *cases, const char *path, struct fault *fault)
{
    struct stat status;
    char shown[PRINT_PATH_MAX];

    if (strcmp(path, "-") == 0)
        return add_manifest(cases, path, fault);
    if (stat(path, &status))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", print_path(shown, path),
                         strerror(errno));
    if (S_ISDIR(status.st_mode))
        return cases_add_directory(cases, path, fault);
    if (case_is_job_file(path))
        return cases_add(cases, path, path, NULL, 0, fault);
    return add_manifest(cases, path, fault);
}

static int compare(const void *a, const void *b)
{
    const struct batch_case *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->file, y->file);
}

static int refuse_duplicate(const struct batch_case *one, const struct batch_case *other,
                            struct fault *fault)
{
    char name[PRINT_PATH_MAX], shown[2][PRINT_PATH_MAX];

    print_path(name, one->name);
    print_path(shown[0], one->file);
    if (strcmp(one->file, other->file) == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "case %s is given twice: %s", name,
                         shown[0]);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "two cases have the name %s: %s and %s; give the directory above both, or a "
                     "manifest",
                     name, shown[0], print_path(shown[1], other->file));
}

int cases_sort(struct cases *cases, struct fault *fault)
{
    if (cases->count > 0)
        qsort(cases->list, cases->count, sizeof(*cases->list), compare);
    for (size_t i = 1; i < cases->count; i++) {
        const struct batch_case *one = &cases->list[i - 1], *other = &cases->list[i];

        if (strcmp(one->name, other->name) == 0)
            return refuse_duplicate(one, other, fault);
    }
    return 0;
}

void cases_retain(struct cases *cases, bool (*stays)(const void *context, const char *name),
                  const void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < cases->count; i++) {
        if (stays(context, cases->list[i].name))
            cases->list[kept++] = cases->list[i];
        else
            drop(&cases->list[i]);
    }
    cases->count = kept;
}

uint64_t case_digest(struct batch_case *batch_case)
{
    struct text text = {0};
    struct fault fault;

    if (!batch_case->read) {
        batch_case->read = true;
        if (text_load(&text, batch_case->file, JOB_FILE_BYTES_MAX, true, &fault) == 0)
            batch_case->digest = digest64(text.bytes, text.length);
        text_finish(&text);
    }
    return batch_case->digest;
}

void cases_finish(struct cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        drop(&cases->list[i]);
    free(cases->list);
    *cases = (struct cases){0};
}

int cases_check_filter(const struct options *options)
{
    const char *pattern;

    for (size_t at = 0; (pattern = options_next(options, "filter", &at));) {
        if (pattern[*pattern == '!'])
            continue;
        print_error("--filter: the pattern is empty; give one as in 'conv/*'");
        return -1;
    }
    return 0;
}

bool cases_filter_selects(const struct options *options, const char *name)
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
