/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/batch/digest.h"
#include "cli/batch/directory_walk.h"
#include "cli/batch/manifest.h"
#include "cli/file/text.h"
#include "cli/term/print.h"
#include "proto/bounds.h"

static const char ending[] = ".json";

bool case_is_job_file(const char *path)
{
    size_t length = strlen(path), wanted = sizeof(ending) - 1;
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

/* "./a/./b.json" -> "a/./b": only what stands in front is a matter of spelling. */
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
    free(batch_case->rerun);
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
        added.fingerprint = digest64(text, length);
    cases->list[cases->count++] = added;
    return 0;
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
        return walk_add(cases, path, fault);
    if (case_is_job_file(path))
        return cases_add(cases, path, path, NULL, 0, fault);
    return manifest_add(cases, path, fault);
}

static int compare(const void *a, const void *b)
{
    const struct batch_case *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->file, y->file);
}

static int refuse_twins(const struct batch_case *one, const struct batch_case *other,
                        struct fault *fault)
{
    char name[PRINT_PATH_MAX], shown[2][PRINT_PATH_MAX];
    print_path(name, one->name);
    print_path(shown[0], one->file);
    if (strcmp(one->file, other->file) == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the case %s is given twice: %s", name,
                         shown[0]);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "two cases are called %s: %s and %s; name their directories alone, or give a "
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
            return refuse_twins(one, other, fault);
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

uint64_t case_fingerprint(struct batch_case *batch_case)
{
    struct text text = {0};
    struct fault fault;
    if (!batch_case->read) {
        batch_case->read = true;
        if (text_load(&text, batch_case->file, JOB_FILE_BYTES_MAX, true, &fault) == 0)
            batch_case->fingerprint = digest64(text.bytes, text.length);
        text_finish(&text);
    }
    return batch_case->fingerprint;
}

void cases_finish(struct cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        drop(&cases->list[i]);
    free(cases->list);
    *cases = (struct cases){0};
}
