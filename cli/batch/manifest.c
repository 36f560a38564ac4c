/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/manifest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/text.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "proto/file/file_limits.h"

static const char blanks[] = " \t\r";

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

static int add_entry(const struct manifest *manifest, const char *entry)
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
    int status = entry ? add_entry(manifest, entry) : fault_no_memory(manifest->fault);
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

int manifest_add(struct cases *cases, const char *path, struct fault *fault)
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
