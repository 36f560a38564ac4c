/* SPDX-License-Identifier: BSD-3-Clause */
#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bounds.h"
#include "escaped.h"
#include "output.h"
#include "utf8.h"

/* Files of one case, by their name without the ending. */
enum { FILE_NAME_MAX = 32 };

struct keeper {
    const char *place;
    struct fault *fault;
};

static int out_of_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
}

/* Bytes at `at` that a place has as they are: none of a character that no terminal shows, or of
 * what is no text, so that the place can be told and typed.
 */
static size_t plain_bytes(const char *at)
{
    size_t size = utf8_char(at, strlen(at));
    return size > 0 && !escaped_is_control(utf8_decode(at, size)) ? size : 0;
}

/*
 * Names lead out of the directory with "..", or with a slash in front. Both are spelt otherwise, as
 * is what is not plain, and so is the percent sign that tells it.
 */
char *keep_place(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    char *place = malloc(length + 2 + 3 * strlen(name) + 1);
    if (!place)
        return NULL;
    char *out = stpcpy(place, directory);
    bool begins = true; /* a part of the name */
    *out++ = '/';
    for (const char *c = name; *c;) {
        bool dots = begins && strspn(c, ".") == strcspn(c, "/");
        size_t plain = plain_bytes(c);
        begins = *c == '/';
        if (*c == '%' || (c == name && *c == '/') || (dots && *c == '.') || plain == 0) {
            out += sprintf(out, "%%%02X", (unsigned char)*c++);
        } else {
            out = mempcpy(out, c, plain);
            c += plain;
        }
    }
    *out = '\0';
    return place;
}

static int complain(const char *path, int error, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s cannot be made: %s", print_path(shown, path),
                     strerror(error));
}

/* The directory and those above it. */
static int make_directories(char *place, struct fault *fault)
{
    int error = 0;
    for (char *at = place + 1; error == 0; at++) {
        char end = *at;
        if (end != '/' && end != '\0')
            continue;
        *at = '\0';
        if (mkdir(place, 0777) && errno != EEXIST)
            error = errno;
        *at = end;
        if (!end)
            break;
    }
    return error ? complain(place, error, fault) : 0;
}

static const char *ending_of(const struct tensor_ref *ref)
{
    return file_format_word(tensor_ref_format(ref));
}

/* What an earlier run kept here. */
static void forget(const struct keeper *keeper)
{
    static const char *const names[] = {
        "job.json",   "params.json", "given.npy",          "given.raw",         "out.npy",
        "out.raw",    "source.npy",  "source.raw",         "source.npz",        "golden.npy",
        "golden.raw", "golden.npz",  "source.safetensors", "golden.safetensors"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", keeper->place, names[i]) >= 0)
            unlink(path);
        free(path);
    }
}

/* A place without a job file says nothing; one that holds something else stays. */
static void abandon(const struct keeper *keeper)
{
    forget(keeper);
    rmdir(keeper->place);
}

/* An open file, or `bytes`, as the file `name`. */
static int save(const struct keeper *keeper, const char *name, int fd, const char *bytes,
                size_t size)
{
    struct output output;
    struct stat status;
    char *path = NULL;
    if (asprintf(&path, "%s/%s", keeper->place, name) < 0)
        return out_of_memory(keeper->fault);
    int result = output_init(&output, path, NULL, keeper->fault);
    if (result == 0 && fd < 0)
        result = output_write(&output, bytes, size, 0, keeper->fault);
    else if (result == 0 && fstat(fd, &status))
        result = complain(path, errno, keeper->fault);
    else if (result == 0)
        result = output_copy_data(&output, fd, (uint64_t)status.st_size, keeper->fault);
    if (result == 0)
        result = output_commit(&output, false, keeper->fault);
    output_finish(&output);
    free(path);
    return result;
}

/* In JSON, and within a job file's limits. */
static bool can_be_named(const char *path)
{
    size_t left = strlen(path), size;
    bool good = left <= JOB_PATH_MAX;
    for (; good && left > 0; left -= size, path += size) {
        size = utf8_char(path, left);
        good = size > 0;
    }
    return good;
}

/* Where the job file finds a tensor: where it lies, or beside it. */
static int place_input(const struct keeper *keeper, const struct exhibit *exhibit,
                       struct tensor_ref *ref, char name[FILE_NAME_MAX], const char *called)
{
    int fd = exhibit->fd, opened = -1;
    if (!exhibit->path)
        return out_of_memory(keeper->fault);
    if (fd < 0 && can_be_named(exhibit->path)) {
        ref->file = exhibit->path;
        return 0;
    }
    if (fd < 0)
        fd = opened = open(exhibit->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    snprintf(name, FILE_NAME_MAX, "%s.%s", called, ending_of(ref));
    ref->file = name;
    int status = fd < 0 ? 0 : save(keeper, name, fd, NULL, 0); /* not there: it fails again */
    if (opened >= 0)
        close(opened);
    return status;
}

static int save_job(const struct keeper *keeper, const struct job *job)
{
    struct jsonw w;
    jsonw_init_lines(&w, 1);
    job_file_write(&w, NULL, job);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    int status = text ? save(keeper, "job.json", -1, text, w.length) : out_of_memory(keeper->fault);
    jsonw_finish(&w);
    return status;
}

static int keep_files(const struct keeper *keeper, const struct evidence *evidence)
{
    static char params[] = "params.json";
    char source[FILE_NAME_MAX], golden[FILE_NAME_MAX], out[FILE_NAME_MAX], given[FILE_NAME_MAX];
    struct job job = *evidence->job; /* borrows all that is not replaced */
    snprintf(out, sizeof(out), "out.%s", ending_of(&job.dst));
    snprintf(given, sizeof(given), "given.%s", ending_of(&job.dst));
    job.dst.file = out;
    job.after = NULL;
    job.after_count = 0;
    if (job.dst.params)
        job.dst.params = params;
    if (place_input(keeper, &evidence->source, &job.src, source, "source"))
        return -1;
    if (job.expect.kind == EXPECT_FILE &&
        place_input(keeper, &evidence->golden, &job.expect.golden, golden, "golden"))
        return -1;
    if (evidence->before.fd >= 0 && save(keeper, out, evidence->before.fd, NULL, 0))
        return -1;
    if (evidence->given >= 0 && save(keeper, given, evidence->given, NULL, 0))
        return -1;
    return save_job(keeper, &job);
}

int keep_case(const char *directory, const char *name, const struct evidence *evidence, char **kept,
              struct fault *fault)
{
    char *place = keep_place(directory, name);
    const struct keeper keeper = {.place = place, .fault = fault};
    *kept = NULL;
    if (!place)
        return out_of_memory(fault);
    int status = make_directories(place, fault);
    if (status == 0) {
        forget(&keeper);
        status = keep_files(&keeper, evidence);
        if (status)
            abandon(&keeper);
    }
    if (status == 0 && asprintf(kept, "%s/job.json", place) < 0) {
        *kept = NULL;
        status = out_of_memory(fault);
    }
    free(place);
    return status;
}
