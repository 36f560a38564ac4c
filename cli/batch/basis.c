/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/basis.h"

#include <stdlib.h>
#include <string.h>

#include "cli/batch/digest.h"
#include "proto/bounds.h"

#define ROLE_WORD(name, word, text) word,
static const char *const role_words[] = {BASIS_ROLE_TABLE(ROLE_WORD) NULL};
#undef ROLE_WORD
#define ROLE_TEXT(name, word, text) text,
static const char *const role_texts[] = {BASIS_ROLE_TABLE(ROLE_TEXT)};
#undef ROLE_TEXT

void basis_finish(struct basis *basis)
{
    for (size_t i = 0; i < basis->count; i++)
        free(basis->files[i].name);
    free(basis->files);
    *basis = (struct basis){0};
}

const char *basis_role_text(enum basis_role role)
{
    return role_texts[role];
}

void basis_write(struct jsonw *w, const struct basis *basis)
{
    if (!basis->known)
        return;
    jsonw_object_begin(w, "basis");
    digest_write(w, "program", basis->setup.program);
    digest_write(w, "service", basis->setup.service);
    digest_write(w, "options", basis->setup.options);
    jsonw_array_begin(w, "files");
    for (size_t i = 0; i < basis->count; i++) {
        const struct basis_file *file = &basis->files[i];
        jsonw_object_begin(w, NULL);
        jsonw_string(w, "role", role_words[file->role]);
        jsonw_string(w, "file", file->name);
        jsonw_string(w, "content", file->content.word);
        if (*file->content.stamp)
            jsonw_string(w, "stamp", file->content.stamp);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_object_end(w);
}

static int read_word(const struct json *object, const char *key, char out[BASIS_DIGITS + 1])
{
    struct json value = json_member(object, key);
    const char *text;
    if (json_string(&value, BASIS_DIGITS, &text))
        return -1;
    strcpy(out, text);
    return 0;
}

static int read_file(const struct json *value, struct basis_file *file)
{
    static const char *const keys[] = {"role", "file", "content", "stamp", NULL};
    struct json role = json_member(value, "role"), name = json_member(value, "file"),
                stamp = json_member(value, "stamp");
    const char *text;
    size_t index = 0;
    if (json_object(value, keys) || json_choice(&role, role_words, &index) ||
        json_string(&name, JOB_PATH_MAX, &text) ||
        read_word(value, "content", file->content.word) ||
        (json_present(&stamp) && read_word(value, "stamp", file->content.stamp)))
        return -1;
    file->role = (enum basis_role)index;
    file->name = strdup(text);
    return file->name ? 0 : fault_set(value->fault, FAULT_INTERNAL, NULL, "out of memory");
}

static int read_files(const struct json *value, struct basis *basis)
{
    struct json files = json_member(value, "files"), item = {0};
    size_t count;
    if (json_array(&files, &count))
        return -1;
    basis->files = calloc(count + 1, sizeof(*basis->files));
    if (!basis->files)
        return fault_set(value->fault, FAULT_INTERNAL, NULL, "out of memory");
    while (json_next(&files, &item)) {
        if (read_file(&item, &basis->files[basis->count]))
            return -1;
        basis->count++;
    }
    return 0;
}

static int read_number(const struct json *value, const char *key, uint64_t *out)
{
    struct json member = json_member(value, key);
    return digest_read(&member, out);
}

int basis_read(const struct json *object, struct basis *basis)
{
    static const char *const keys[] = {"program", "service", "options", "files", NULL};
    struct json value = json_member(object, "basis");
    struct setup *setup = &basis->setup;
    *basis = (struct basis){0};
    if (!json_present(&value))
        return 0;
    basis->known = true;
    if (json_object(&value, keys) || read_number(&value, "program", &setup->program) ||
        read_number(&value, "service", &setup->service) ||
        read_number(&value, "options", &setup->options) || read_files(&value, basis)) {
        basis_finish(basis);
        return -1;
    }
    return 0;
}
