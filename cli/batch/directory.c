/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/batch/cases.h"
#include "cli/file/text.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "proto/file/file_limits.h"
#include "proto/file/job_file.h"
#include "proto/json/json.h"

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

    if (json_parse(text, length, &job_file_limits, &root, &fault))
        return true;
    bool found = has_member_of_job(&root);
    while (!found && json_is_array(&root) && json_next(&root, &item))
        found = has_member_of_job(&item);
    json_free(&root);
    return found;
}

struct place_id {
    dev_t device;
    ino_t inode;
};

struct walk {
    struct cases *cases;
    size_t root;   /* length of the path prefix that is left out of case names */
    void *visited; /* tree of struct place_id */
    struct fault *fault;
};

static int no_memory(const struct walk *walk)
{
    return fault_no_memory(walk->fault);
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
        return no_memory(walk);
    *id = (struct place_id){status->st_dev, status->st_ino};
    struct place_id **node = tsearch(id, &walk->visited, compare_ids);
    *fresh = node && *node == id;
    if (!*fresh)
        free(id);
    return node ? 0 : no_memory(walk);
}

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    const char *slash = strcmp(directory, "/") == 0 ? "" : "/";

    if (strcmp(directory, ".") == 0)
        return strdup(name);
    return asprintf(&path, "%s%s%s", directory, slash, name) < 0 ? NULL : path;
}

static int add(struct walk *walk, const char *path, const struct text *text)
{
    return cases_add(walk->cases, path + walk->root, path, text ? text->bytes : NULL,
                     text ? text->length : 0, walk->fault);
}

static int add_file(struct walk *walk, const char *path)
{
    struct text text = {0};
    struct fault why;
    int status = 0;

    if (text_load(&text, path, JOB_FILE_BYTES_MAX, true, &why))
        status = add(walk, path, NULL);
    else if (cases_is_job_text(text.bytes, text.length))
        status = add(walk, path, &text);
    text_finish(&text);
    return status;
}

static int skip_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_directory(struct walk *walk, const char *directory, bool below);

static int add_entry(struct walk *walk, const char *path, const struct dirent *entry)
{
    struct stat status;
    bool fresh = false;
    bool job_file = case_is_job_file(entry->d_name);

    if (entry->d_type == DT_REG)
        return job_file ? add_file(walk, path) : 0;
    int lost = stat(path, &status);
    if (lost && entry->d_type == DT_DIR)
        return add(walk, path, NULL);
    if (lost || !S_ISDIR(status.st_mode))
        return job_file ? add_file(walk, path) : 0;
    if (visit(walk, &status, &fresh))
        return -1;
    return fresh ? read_directory(walk, path, true) : 0;
}

/* Reads all names first, so only one directory is open at any depth. */
static int read_directory(struct walk *walk, const char *directory, bool below)
{
    struct dirent **entries;
    char shown[PRINT_PATH_MAX];
    int count = scandir(directory, &entries, skip_hidden, by_bytes);

    if (count < 0 && errno == ENOMEM)
        return no_memory(walk);
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
            status = path ? add_entry(walk, path, entries[i]) : no_memory(walk);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Returns the directory without trailing slashes. Heap; NULL if out of memory. */
static char *trim(const char *directory)
{
    size_t length = strlen(directory);

    while (length > 1 && directory[length - 1] == '/')
        length--;
    return strndup(directory, length);
}

int cases_add_directory(struct cases *cases, const char *directory, struct fault *fault)
{
    struct walk walk = {.cases = cases, .fault = fault};
    struct stat except, own;
    bool fresh;
    int status = 0;
    char *root = trim(directory);

    if (!root)
        return no_memory(&walk);
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
