/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/depends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/digest.h"

/* Names, borrowed. */
struct names {
    const char **slots; /* open addressing; a power of 2 */
    size_t capacity;
};

static int names_init(struct names *names, size_t most)
{
    names->capacity = 16;
    while (names->capacity < 2 * most)
        names->capacity *= 2;
    names->slots = calloc(names->capacity, sizeof(*names->slots));
    return names->slots ? 0 : -1;
}

static const char **slot_of(const struct names *names, const char *name)
{
    size_t at = (size_t)digest64(name, strlen(name)) & (names->capacity - 1);
    while (names->slots[at] && strcmp(names->slots[at], name) != 0)
        at = (at + 1) & (names->capacity - 1);
    return &names->slots[at];
}

/* Returns whether it was not there. */
static bool names_add(struct names *names, const char *name)
{
    const char **slot = slot_of(names, name);
    bool fresh = !*slot;
    *slot = name;
    return fresh;
}

struct collector {
    struct basis *basis;
    struct names known; /* files that are noted, or that a job has written */
    size_t bytes;       /* of the names */
    size_t capacity;
};

static int grow(struct collector *collector)
{
    struct basis *basis = collector->basis;
    size_t capacity = collector->capacity ? 2 * collector->capacity : 4;
    struct basis_file *files = reallocarray(basis->files, capacity, sizeof(*files));
    if (!files)
        return -1;
    basis->files = files;
    collector->capacity = capacity;
    return 0;
}

static int note(struct collector *collector, enum basis_role role, const char *name)
{
    struct basis *basis = collector->basis;
    if (!name || !names_add(&collector->known, name))
        return 0;
    collector->bytes += strlen(name);
    if (basis->count == BASIS_FILES_MAX || collector->bytes > BASIS_NAMES_MAX ||
        (basis->count == collector->capacity && grow(collector)))
        return -1;
    struct basis_file *file = &basis->files[basis->count];
    *file = (struct basis_file){.role = role, .name = strdup(name)};
    basis->count += file->name != NULL;
    return file->name ? 0 : -1;
}

static int collect(struct collector *collector, const struct job_file *file)
{
    for (size_t i = 0; i < file->list.count; i++) {
        const struct job *job = &file->list.jobs[file->order[i]];
        if (note(collector, BASIS_SRC, job->src.file) ||
            (job->dst.update && note(collector, BASIS_DST, job->dst.file)) ||
            (job->expect.kind == EXPECT_FILE &&
             note(collector, BASIS_EXPECT, job->expect.golden.file)))
            return -1;
        names_add(&collector->known, job->dst.file);
        if (job->dst.params)
            names_add(&collector->known, job->dst.params);
    }
    return 0;
}

/* `directory` and a slash, or nothing. Heap; null: no memory. */
static char *join(const char *directory, int length, const char *name)
{
    char *path = NULL;
    if (name[0] == '/')
        length = 0;
    return asprintf(&path, "%.*s%s", length, directory, name) < 0 ? NULL : path;
}

static void look_at_all(struct basis *basis, const struct job_file *file, struct contents *contents,
                        bool again)
{
    for (size_t i = 0; i < basis->count; i++) {
        struct content *content = &basis->files[i].content, now = {.word = BASIS_CHANGED};
        char *path = job_file_path(file, basis->files[i].name);
        if (!again && path)
            contents_find(contents, path, content);
        else if (!path || !contents_same(contents, path, content, &now))
            *content = (struct content){.word = BASIS_CHANGED};
        free(path);
    }
}

void depends_begin(struct basis *basis, const struct job_file *file, struct contents *contents)
{
    struct collector collector = {.basis = basis};
    if (names_init(&collector.known, 4 * file->list.count) == 0)
        basis->known = collect(&collector, file) == 0;
    free(collector.known.slots);
    if (basis->known)
        look_at_all(basis, file, contents, false);
    else
        basis_finish(basis);
}

void depends_end(struct basis *basis, const struct job_file *file, struct contents *contents)
{
    look_at_all(basis, file, contents, true);
}

static const char *how_changed(const struct content *then, const struct content *now)
{
    if (strcmp(now->word, BASIS_MISSING) == 0)
        return "is missing now";
    return strcmp(then->word, BASIS_MISSING) == 0 ? "is there now" : "changed";
}

const struct basis_file *depends_changed(const struct basis *basis, const char *path,
                                         struct contents *contents, const char **how)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    for (size_t i = 0; i < basis->count; i++) {
        const struct basis_file *file = &basis->files[i];
        struct content now = {.word = BASIS_CHANGED};
        char *joined = join(path, length, file->name);
        bool same = joined && contents_same(contents, joined, &file->content, &now);
        free(joined);
        *how = how_changed(&file->content, &now);
        if (!same)
            return file;
    }
    return NULL;
}
