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

#include "cli/batch/manifest.h"
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
    struct batch_case **list = reallocarray(cases->list, capacity, sizeof(*list));

    if (!list)
        return -1;
    cases->list = list;
    cases->capacity = capacity;
    return 0;
}

static void drop(struct batch_case *batch_case)
{
    if (!batch_case)
        return;
    free(batch_case->name);
    free(batch_case->file);
    free(batch_case->rerun_reason);
    free(batch_case);
}

int cases_append(struct cases *cases, struct batch_case *batch_case)
{
    if (cases->count == cases->capacity && grow(cases))
        return -1;
    cases->list[cases->count++] = batch_case;
    return 0;
}

int cases_add(struct cases *cases, const char *called, const char *file, const void *text,
              size_t length, struct fault *fault)
{
    struct batch_case *added = calloc(1, sizeof(*added));

    if (added)
        *added = (struct batch_case){
            .name = name_of(called), .file = strdup(file), .read = text != NULL};
    if (added && text)
        added->digest = digest64(text, length);
    if (added && added->name && added->file && cases_append(cases, added) == 0)
        return 0;
    drop(added);
    return fault_no_memory(fault);
}

int cases_add_path(struct cases *cases, const char *path, struct fault *fault)
{
    struct stat status;
    char shown[PRINT_PATH_MAX];

    if (strcmp(path, "-") == 0)
        return manifest_add(cases, path, fault);
    if (stat(path, &status))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", print_path(shown, path),
                         strerror(errno));
    if (S_ISDIR(status.st_mode))
        return cases_add_directory(cases, path, fault);
    if (case_is_job_file(path))
        return cases_add(cases, path, path, NULL, 0, fault);
    return manifest_add(cases, path, fault);
}

static int compare(const void *a, const void *b)
{
    const struct batch_case *x = *(struct batch_case *const *)a,
                            *y = *(struct batch_case *const *)b;
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
        const struct batch_case *one = cases->list[i - 1], *other = cases->list[i];

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
        if (stays(context, cases->list[i]->name))
            cases->list[kept++] = cases->list[i];
        else
            drop(cases->list[i]);
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
        drop(cases->list[i]);
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
