/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/cases.h"
#include "cli/file/text.h"
#include "cli/report/fingerprint.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "proto/file/job_file.h"
#include "proto/file/job_spec.h"
#include "proto/grow.h"
#include "proto/json/json.h"

static const char ending[] = ".json";

struct walk {
    struct cases *cases;
    bool flat;     /* add all files of one directory, and read no subdirectories */
    size_t root;   /* length of the path prefix that case names omit */
    void *visited; /* tree of struct place_id, the files found so far */
    struct fault *fault;
};

struct place_id {
    dev_t device;
    ino_t inode;
};

static const char blanks[] = " \t\r";

/* Returns whether the path ends in ".json". */
static bool case_is_job_file(const char *path)
{
    size_t length = strlen(path), wanted = sizeof(ending) - 1;

    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

/* Returns a case's name, "a/./b" for "./a/./b.json", on the heap; or NULL if out of memory. */
static char *name_of(const char *called)
{
    while (called[0] == '.' && called[1] == '/') {
        called += 2;
        called += strspn(called, "/");
    }
    size_t length = strlen(called);
    return strndup(called, case_is_job_file(called) ? length - (sizeof(ending) - 1) : length);
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
    if (list_grow(&cases->list, cases->count, &cases->capacity, sizeof(*cases->list)))
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

/* Directories: adds their job files, and those of subdirectories. */

/* Returns the directory without trailing slashes, on the heap; or NULL if out of memory. */
static char *trim(const char *directory)
{
    size_t length = strlen(directory);

    while (length > 1 && directory[length - 1] == '/')
        length--;
    return strndup(directory, length);
}

static int compare_ids(const void *a, const void *b)
{
    const struct place_id *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

/* Adds a directory to the visited directories; *fresh becomes true if it was not visited before.
 * Returns 0 or -1. */
static int visit(struct walk *walk, const struct stat *status, bool *fresh)
{
    struct place_id *id = malloc(sizeof(*id));

    if (!id)
        return fault_no_memory(walk->fault);
    *id = (struct place_id){status->st_dev, status->st_ino};
    struct place_id **node = tsearch(id, &walk->visited, compare_ids);
    *fresh = node && *node == id;
    if (!*fresh)
        free(id);
    return node ? 0 : fault_no_memory(walk->fault);
}

static int skip_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add(struct walk *walk, const char *path, const struct text *text)
{
    return cases_add(walk->cases, path + walk->root, path, text ? text->bytes : NULL,
                     text ? text->length : 0, walk->fault);
}

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    const char *slash = strcmp(directory, "/") == 0 ? "" : "/";

    if (strcmp(directory, ".") == 0)
        return strdup(name);
    return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}

static bool has_member_of_job(const struct json *value)
{
    static const char *const keys[] = {"op", "src", "dst", "jobs", "defaults"};

    for (size_t i = 0; json_is_object(value) && i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct json member = json_member(value, keys[i]);

        if (json_present(&member))
            return true;
    }
    return false;
}

bool cases_is_job_text(const char *text, size_t length)
{
    struct fault fault;
    struct json root, item = {0};
    struct json_limits limits = job_file_limits;

    limits.any_number = true;
    if (json_parse(text, length, &limits, &root, &fault))
        return true;
    bool found = has_member_of_job(&root);
    while (!found && json_is_array(&root) && json_next(&root, &item))
        found = has_member_of_job(&item);
    json_free(&root);
    return found;
}

static int add_other(const struct walk *walk, const char *path)
{
    struct cases *others = walk->flat ? walk->cases : walk->cases->others;

    return others ? cases_add(others, path, path, NULL, 0, walk->fault) : 0;
}

static int add_file(struct walk *walk, const char *path)
{
    struct text text = {0};
    struct fault why;
    int status;

    if (walk->flat || !case_is_job_file(path))
        return add_other(walk, path);
    if (text_load(&text, path, JOB_FILE_BYTES_MAX, true, &why))
        status = add(walk, path, NULL);
    else if (cases_is_job_text(text.bytes, text.length))
        status = add(walk, path, &text);
    else
        status = add_other(walk, path);
    text_finish(&text);
    return status;
}

/* Returns whether mlictl batch has kept failed cases in a directory: see cli/batch/kept.h. */
static bool has_kept(const char *directory)
{
    char *list = join(directory, ".kept");
    const bool found = list && access(list, F_OK) == 0;

    free(list);
    return found;
}

static int read_directory(struct walk *walk, const char *directory, bool below);

static int add_entry(struct walk *walk, const char *path, const struct dirent *entry)
{
    struct stat status;
    bool fresh = false;

    if (entry->d_type == DT_REG)
        return add_file(walk, path);
    int lost = stat(path, &status);
    if (lost && entry->d_type == DT_DIR)
        return add(walk, path, NULL);
    if (lost || !S_ISDIR(status.st_mode))
        return add_file(walk, path);
    if (walk->flat)
        return 0;
    if (visit(walk, &status, &fresh))
        return -1;
    return fresh && !has_kept(path) ? read_directory(walk, path, true) : 0;
}

/* Reads all names first, so only one directory is open at any depth. */
static int read_directory(struct walk *walk, const char *directory, bool below)
{
    struct dirent **entries;
    char shown[PRINT_PATH_MAX];
    int count = scandir(directory, &entries, skip_hidden, by_bytes);

    if (count < 0 && errno == ENOMEM)
        return fault_no_memory(walk->fault);
    if (count < 0 && below)
        return add(walk, directory, NULL);
    if (count < 0)
        return fault_set(walk->fault, FAULT_INVALID_PARAMS, NULL, "%s: %s",
                         print_path(shown, directory), strerror(errno));
    int status = 0;
    for (int i = 0; i < count; i++) {
        char *path = status ? NULL : join(directory, entries[i]->d_name);

        if (status == 0 && cancel_requested())
            status = cancel_fault(walk->fault);
        else if (status == 0)
            status = path ? add_entry(walk, path, entries[i]) : fault_no_memory(walk->fault);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/*
 * Adds every *.json below `directory` that cases_is_job_text() accepts, named by its path below
 * `directory`. Adds unreadable files and subdirectories too, as cases that fail. Follows links, but
 * reads no directory twice, and none with kept cases below `directory`. Returns 0, or -1 if
 * `directory` itself cannot be read, on ^C, or if out of memory.
 */
static int cases_add_directory(struct cases *cases, const char *directory, struct fault *fault)
{
    struct walk walk = {.cases = cases, .fault = fault};
    struct stat except, own;
    bool fresh;
    int status = 0;
    char *root = trim(directory);

    if (!root)
        return fault_no_memory(fault);
    if (strcmp(root, ".") != 0)
        walk.root = strlen(root) + (strcmp(root, "/") != 0);
    if (cases->except && stat(cases->except, &except) == 0)
        status = visit(&walk, &except, &fresh);
    if (status == 0 && stat(root, &own) == 0)
        status = visit(&walk, &own, &fresh);
    if (status == 0)
        status = read_directory(&walk, root, false);
    tdestroy(walk.visited, free);
    free(root);
    return status;
}

int cases_add_files(struct cases *cases, const char *directory, struct fault *fault)
{
    struct walk walk = {.cases = cases, .flat = true, .fault = fault};

    return read_directory(&walk, directory, true);
}

/* Manifests: lists of cases, one path on each line. */

int manifest_refuse(const struct manifest *manifest, const char *why)
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

static int add_line_entry(const struct manifest *manifest, const char *entry)
{
    struct stat status;
    char *file = NULL;
    int prefix = entry[0] == '/' ? 0 : manifest->prefix;

    if (asprintf(&file, "%.*s%s", prefix, manifest->path, entry) < 0)
        return fault_no_memory(manifest->fault);
    int result = stat(file, &status) == 0 && S_ISDIR(status.st_mode)
                     ? cases_add_directory(manifest->cases, file, manifest->fault)
                     : cases_add(manifest->cases, entry, file, NULL, 0, manifest->fault);
    free(file);
    return result;
}

int manifest_take_line(const struct manifest *manifest, const char *line, size_t length)
{
    if (memchr(line, '\0', length))
        return manifest_refuse(manifest,
                               "the line has a zero byte, so the file is not a manifest; names of "
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
        return manifest_refuse(manifest, "the path is longer than 4095 bytes");
    char *entry = strndup(line, length);
    int status = entry ? add_line_entry(manifest, entry) : fault_no_memory(manifest->fault);
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
        if (manifest_take_line(manifest, line, length))
            return -1;
        length += newline != NULL;
        line += length;
        left -= length;
    }
    return 0;
}

/* Adds the cases of the manifest `path`; "-" is standard input. Returns 0, or -1. */
static int manifest_add(struct cases *cases, const char *path, struct fault *fault)
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

/* All cases. */

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
        else if (!cases->left_out || cases_append(cases->left_out, cases->list[i]))
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
        return print_refusal("--filter: the pattern is empty; give one such as 'conv/*'");
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

static bool is_selected(const void *context, const char *name)
{
    return cases_filter_selects(context, name);
}

int cases_find(struct cases *cases, const struct options *options, size_t first,
               struct fault *fault)
{
    for (size_t i = first; i < options->argument_count; i++) {
        if (cases_add_path(cases, options->arguments[i], fault))
            return -1;
    }
    if (cases_sort(cases, fault))
        return -1;
    const size_t found = cases->count;
    cases_retain(cases, is_selected, options);
    if (cases->count > 0)
        return 0;
    return fault_set(
        fault, FAULT_INVALID_PARAMS, NULL,
        found ? "--filter selects none of %zu cases" : "the given paths contain no cases", found);
}
