/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch enqueue: adds cases to a queue. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/case_inputs.h"
#include "cli/batch/cases.h"
#include "cli/batch/queue_command.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"

enum { LEASE_S = 30, LEASE_MIN_S = 2, LEASE_MAX_S = 24 * 3600, MS_PER_S = 1000 };

/* Returns the rest of a path behind a directory, or NULL if the path is not below it. */
static const char *behind(const char *directory, const char *file)
{
    size_t length = strlen(directory);

    while (length > 0 && directory[length - 1] == '/')
        length--;
    if (strncmp(file, directory, length) != 0 || file[length] != '/')
        return NULL;
    return queue_path_is_below(file + length + 1) ? file + length + 1 : NULL;
}

/* Returns the path of a job file below the real directory of the root. Heap; NULL, with errno
 * ENOMEM if out of memory: it is not below the root. */
static char *find_below(const char *root, const char *file)
{
    char *directory = realpath(root, NULL);
    char *parent = directory ? strdup(file) : NULL, *real = NULL, *whole = NULL;
    char *slash = parent ? strrchr(parent, '/') : NULL;
    const char *name = slash ? file + (slash - parent) + 1 : file, *rest = NULL;

    if (slash)
        slash[slash == parent] = '\0';
    if (parent)
        real = realpath(slash ? parent : ".", NULL);
    if (real && asprintf(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0) {
        whole = NULL;
        errno = ENOMEM;
    }
    if (whole) {
        errno = 0;
        rest = behind(directory, whole);
    }
    char *below = rest ? strdup(rest) : NULL;
    const int error = errno;
    free(whole);
    free(real);
    free(parent);
    free(directory);
    errno = error;
    return below;
}

/* Returns the path of a job file below the root. Heap; NULL with the fault filled. */
static char *below(const char *root, const char *file, struct fault *fault)
{
    char shown[2][PRINT_PATH_MAX];
    const bool here = strcmp(root, ".") == 0;

    while (file[0] == '.' && file[1] == '/')
        file += 2 + strspn(file + 2, "/");
    const char *rest = !here ? behind(root, file) : queue_path_is_below(file) ? file : NULL;
    errno = 0;
    char *path = rest ? strdup(rest) : find_below(root, file);
    if (!path && errno == ENOMEM)
        fault_no_memory(fault);
    else if (!path)
        fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "%s is not below %s: give --root DIR, the directory that all machines see the cases in",
            print_path(shown[0], file), print_path(shown[1], root));
    return path;
}

static int make_items(const struct cases *cases, const char *root, struct queue_case *items,
                      struct fault *fault)
{
    struct contents *contents = contents_create();
    int status = contents ? 0 : fault_no_memory(fault);

    for (size_t i = 0; i < cases->count && status == 0; i++) {
        const struct batch_case *batch_case = cases->list[i];
        char *path = below(root, batch_case->file, fault);

        items[i].path = path;
        items[i].name = strdup(batch_case->name);
        if (cancel_requested())
            status = cancel_fault(fault);
        else if (!path)
            status = -1;
        else if (!items[i].name)
            status = fault_no_memory(fault);
        else
            status = case_inputs_read(batch_case->file, contents, &items[i].inputs, fault);
    }
    contents_destroy(contents);
    return status;
}

static bool is_selected(const void *context, const char *name)
{
    return cases_filter_selects(context, name);
}

static int find_cases(const struct options *options, struct cases *cases, struct fault *fault)
{
    for (size_t i = 1; i < options->argument_count; i++) {
        if (cases_add_path(cases, options->arguments[i], fault))
            return -1;
    }
    if (cases_sort(cases, fault))
        return -1;
    cases_retain(cases, is_selected, options);
    return cases->count ? 0
                        : fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                                    "the paths have no cases, or --filter selects none of them");
}

static void print_added(const struct print_style *style, const char *shown, size_t count,
                        const struct queue_added *added)
{
    struct jsonw w;

    print_line(style, "%s: %zu case%s: %" PRIu64 " added, %" PRIu64 " replaced, %" PRIu64 " known",
               shown, count, print_s(count), added->added, added->replaced, added->known);
    if (!style->json)
        return;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, "queue", shown);
    jsonw_uint(&w, "cases", count);
    jsonw_uint(&w, "added", added->added);
    jsonw_uint(&w, "replaced", added->replaced);
    jsonw_uint(&w, "known", added->known);
    jsonw_object_end(&w);
    print_json(&w);
}

static int enqueue(const struct options *options, const struct cases *cases, uint32_t lease_ms,
                   struct fault *fault)
{
    const struct print_style style = options_style(options);
    const char *root = options_get(options, "root");
    struct queue_case *items = calloc(cases->count + 1, sizeof(*items));
    char shown[sizeof(((struct queue_url *)0)->shown)];
    struct queue_added added;
    struct queue *queue = NULL;
    int status =
        items ? make_items(cases, root ? root : ".", items, fault) : fault_no_memory(fault);

    if (status == 0)
        status = queue_command_open(options, &queue, shown, fault);
    if (status == 0)
        status = queue_add(queue, items, cases->count, lease_ms,
                           options_get(options, "again") != NULL, &added, fault);
    if (status == 0)
        print_added(&style, shown, cases->count, &added);
    queue_close(queue);
    for (size_t i = 0; items && i < cases->count; i++)
        queue_case_finish(&items[i]);
    free(items);
    return status;
}

enum exit_code queue_enqueue(const struct options *options)
{
    static const char *const allowed[] = {"queue",  "password-file", "root", "lease", "reconnect",
                                          "filter", "again",         "json", "quiet", NULL};
    const struct print_style style = options_style(options);
    const char *keep = options_get(options, "keep");
    struct cases cases = {.except = keep ? keep : "batch-failed"};
    struct fault fault;
    uint64_t lease = LEASE_S;

    if (options_only(options, allowed, "batch enqueue") || cases_check_filter(options) ||
        options_uint(options, "lease", LEASE_MIN_S, LEASE_MAX_S, &lease))
        return EXIT_CODE_INVALID;
    if (options->argument_count < 2) {
        print_error("batch enqueue requires a PATH");
        return EXIT_CODE_INVALID;
    }
    enum exit_code code = EXIT_CODE_DONE;
    if (find_cases(options, &cases, &fault) ||
        enqueue(options, &cases, (uint32_t)lease * MS_PER_S, &fault))
        code = print_failure(&style, NULL, &fault);
    cases_finish(&cases);
    return code;
}
