/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/place.h"
#include "cli/term/cancel.h"
#include "proto/wire/chrome_trace.h"

static const char *const option_of[] = {
#define TILE_FILE_OPTION(name, option) [TILE_FILE_##name] = (option),
    TILE_FILE_TABLE(TILE_FILE_OPTION)
#undef TILE_FILE_OPTION
};

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

bool tile_outputs_on_stdout(const struct options *options)
{
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        if (is_stdout(options_get(options, option_of[i])))
            return true;
    }
    return false;
}

/* Refuses two outputs on standard output. */
static int check_stdout(const struct options *options, struct fault *fault)
{
    const char *first = NULL;

    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        if (!is_stdout(options_get(options, option_of[i])))
            continue;
        if (first || options_get(options, "json"))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--%s - cannot be combined with --%s%s: both write to standard output",
                             option_of[i], first ? first : "json", first ? " -" : "");
        first = option_of[i];
    }
    return 0;
}

/* A file that this program or the jobs read or write. */
struct use {
    const char *what, *path;
    bool written;
};

enum { USES_MAX = TILE_FILES_MAX + 5 };

/* Lists all files that the command line names. Returns their number. */
static size_t list_uses(const struct tile_request *r, struct use uses[USES_MAX])
{
    const struct use of_jobs[] = {{"IN", r->in, false},
                                  {"--with", r->second, false},
                                  {"--weights", r->weights, false},
                                  {"--expect", r->job.expect.golden.file, false},
                                  {"OUT", r->out, true}};
    static const char *const words[] = {
#define TILE_FILE_WORD(name, option) [TILE_FILE_##name] = "--" option,
        TILE_FILE_TABLE(TILE_FILE_WORD)
#undef TILE_FILE_WORD
    };
    size_t count = 0;

    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++) {
        if (of_jobs[i].path)
            uses[count++] = of_jobs[i];
    }
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        const char *path = options_get(r->options, option_of[i]);

        if (path && !is_stdout(path))
            uses[count++] = (struct use){words[i], path, true};
    }
    return count;
}

/*
 * Returns whether the name is the name of a tile's file, such as "in_3.npy" if the input has 4
 * tiles or more.
 */
static bool is_tile(const struct tile_result *result, const char *name)
{
    const struct tile_layer *layer = &result->request->layer;

    for (uint32_t i = 0; i < layer->operands; i++) {
        const char *word = tile_file_word(layer, i);
        const size_t length = strlen(word);
        char same[TILE_PATH_MAX];
        uint64_t number;

        if (strncmp(name, word, length) != 0 || name[length] != '_')
            continue;
        number = strtoull(name + length + 1, NULL, 10);
        snprintf(same, sizeof same, "%s_%" PRIu64 ".npy", word, number);
        if (strcmp(name, same) == 0 && number < tile_result_transfers(result, i))
            return true;
    }
    return false;
}

/* Refuses a file in the directory of --tiles that has the name of a tile's file. */
static int check_tiles(const struct tile_result *result, const struct use *use, struct fault *fault)
{
    const char *directory = result->request->directory;
    struct place place, inside;
    char path[TILE_PATH_MAX];

    if (!directory)
        return 0;
    tile_file_path(directory, "in", 0, path);
    if (!place_of(use->path, &place) || !place_of(path, &inside) || place.device != inside.device ||
        place.inode != inside.inode || !is_tile(result, place.name))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s %s: this is also the file of a tile in --tiles %s; give another name",
                     use->what, use->path, directory);
}

static int check_apart(const struct tile_result *result, struct fault *fault)
{
    struct use uses[USES_MAX];
    const size_t count = list_uses(result->request, uses);

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if ((uses[i].written || uses[k].written) && place_same_file(uses[i].path, uses[k].path))
                return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                                 "%s %s: this is also the file of %s; give another name",
                                 uses[i].what, uses[i].path, uses[k].what);
        }
        if (check_tiles(result, &uses[i], fault))
            return -1;
    }
    return 0;
}

/* Makes the directory of --tiles. */
static int make_directory(struct tile_outputs *outputs, struct fault *fault)
{
    const char *path = outputs->result->request->directory;
    struct stat now;

    if (!path)
        return 0;
    outputs->made = mkdir(path, 0777) == 0;
    if (outputs->made)
        return 0;
    if (errno == EEXIST && stat(path, &now) == 0)
        errno = S_ISDIR(now.st_mode) ? 0 : ENOTDIR;
    return errno ? fault_set(fault, exit_code_fault(errno, FAULT_INVALID_PARAMS), NULL,
                             "--tiles %s: %s", path, strerror(errno))
                 : 0;
}

/* Creates a file that has no name yet, if an existing file with its name may be replaced. */
static int create(struct tile_outputs *outputs, enum tile_file i, struct fault *fault)
{
    struct output *file = &outputs->file[i];
    const bool force = options_get(outputs->result->request->options, "force") != NULL;

    if (output_init(file, outputs->path[i], NULL, fault))
        return -1;
    switch (i) {
    case TILE_FILE_SVG:
    case TILE_FILE_TIMELINE:
        return output_check_markup(file, "a drawing", fault);
    case TILE_FILE_TRACE:
        return output_check_begin(file, CHROME_TRACE_BEGIN, "a trace of mli", fault);
    default:
        return output_check_fresh(file, force, fault);
    }
}

static int write_text(struct tile_outputs *outputs, enum tile_file i, struct fault *fault)
{
    struct textw *text = &outputs->text[i];

    switch (i) {
    case TILE_FILE_JOBS:
        return tile_file_jobs(text, outputs->result, outputs->path[i], fault);
    case TILE_FILE_STITCH:
        return tile_file_stitch(text, outputs->result, outputs->path[i], fault);
    case TILE_FILE_TIMELINE:
        return tile_timeline_draw(text, outputs->result, fault);
    case TILE_FILE_TRACE:
        return tile_timeline_trace(text, outputs->result, fault);
    default:
        tile_picture(text, outputs->result);
        return 0;
    }
}

/* Creates the files, and writes the texts into them. */
static int fill(struct tile_outputs *outputs, struct fault *fault)
{
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        outputs->at_fault = outputs->path[i];
        if (outputs->path[i] && !is_stdout(outputs->path[i]) && create(outputs, i, fault))
            return -1;
    }
    outputs->at_fault = NULL;
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        if (outputs->path[i] && write_text(outputs, i, fault))
            return -1;
    }
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        const struct textw *text = &outputs->text[i];

        outputs->at_fault = outputs->path[i];
        if (text->failed)
            return fault_no_memory(fault);
        if (outputs->file[i].fd >= 0 &&
            output_write(&outputs->file[i], text->data, text->length, 0, fault))
            return -1;
    }
    outputs->at_fault = NULL;
    return 0;
}

int tile_outputs_init(struct tile_outputs *outputs, const struct tile_result *result,
                      struct fault *fault)
{
    *outputs = (struct tile_outputs){.result = result};
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        outputs->path[i] = options_get(result->request->options, option_of[i]);
        outputs->file[i] = (struct output){.fd = -1, .directory = -1};
        textw_init(&outputs->text[i]);
    }
    /* Files may be in the directory of --tiles, so it is made first. */
    if (check_stdout(result->request->options, fault) || make_directory(outputs, fault) ||
        check_apart(result, fault))
        return -1;
    return fill(outputs, fault);
}

int tile_outputs_commit(struct tile_outputs *outputs, struct fault *fault)
{
    const bool force = options_get(outputs->result->request->options, "force") != NULL;

    if (cancel_requested())
        return cancel_fault(fault);
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        const bool fresh = !force && (i == TILE_FILE_JOBS || i == TILE_FILE_STITCH);

        outputs->at_fault = outputs->path[i];
        if (outputs->file[i].fd >= 0 && output_commit_synced(&outputs->file[i], fresh, fault))
            return -1;
        outputs->made = false; /* the directory of --tiles stays */
    }
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        if (is_stdout(outputs->path[i]))
            print_text(&outputs->text[i]);
    }
    return 0;
}

void tile_outputs_finish(struct tile_outputs *outputs)
{
    if (!outputs->result)
        return;
    for (size_t i = 0; i < TILE_FILES_MAX; i++) {
        output_finish(&outputs->file[i]);
        textw_finish(&outputs->text[i]);
    }
    if (outputs->made)
        rmdir(outputs->result->request->directory);
    *outputs = (struct tile_outputs){0};
}
