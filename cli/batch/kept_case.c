/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/kept.h"
#include "cli/file/output.h"
#include "cli/file/regular.h"
#include "cli/file/storage.h"
#include "cli/job/job_buffers.h"
#include "cli/report/fingerprint.h"
#include "cli/term/escaped.h"
#include "proto/json/utf8.h"

void evidence_init(struct evidence *evidence)
{
    static const struct evidence_file none = {.fd = -1};

    *evidence = (struct evidence){.source = none, .golden = none, .before = none, .given = -1};
}

static int duplicate(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Duplicates the descriptor of an open file. The descriptor of an archive may refer to a copy of
 * one tensor, so archives are opened again later. */
static int file_of(const struct tensor_file *file)
{
    return file_format_is_archive(file->format) ? -1 : duplicate(file->fd);
}

/* Duplicates the descriptor of a file that the job reads or would have read. */
static void take_input(struct evidence_file *file, const char *path, const struct tensor_file *open,
                       const struct produced *produced)
{
    const struct tensor_file *found;

    if (!path || produced_find(produced, path, &found))
        return;
    file->path = strdup(path);
    file->fd = found ? duplicate(found->fd) : file_of(open);
}

/* Duplicates the descriptor of a buffer, of which the kept case gets the bytes. */
static void take_buffer(struct evidence_file *file, const struct job_buffers *buffers, size_t index)
{
    file->path = strdup("a buffer");
    file->fd = job_buffers_open(buffers, index);
}

void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct job_buffers *buffers,
                   const struct outcome *outcome)
{
    evidence->job = resolved->job;
    evidence->src_buffer = resolved->src_buffer;
    evidence->dst_buffer = resolved->dst_buffer;
    take_input(&evidence->source, resolved->src_path, &resolved->src, produced);
    if (resolved->src_buffer)
        take_buffer(&evidence->source, buffers, resolved->job->src.buffer_index);
    take_input(&evidence->golden, resolved->expect_path, &resolved->expect, produced);
    /* The tensor before an update becomes the output file of the kept job, which updates it. */
    evidence->before.fd = duplicate(resolved->before.fd);
    if (resolved->dst_buffer)
        take_buffer(&evidence->before, buffers, resolved->job->dst.buffer_index);
    if (outcome->moved)
        evidence->given = duplicate(resolved->output.fd);
}

static void finish(struct evidence_file *file)
{
    free(file->path);
    if (file->fd >= 0)
        close(file->fd);
}

void evidence_finish(struct evidence *evidence)
{
    finish(&evidence->source);
    finish(&evidence->golden);
    finish(&evidence->before);
    if (evidence->given >= 0)
        close(evidence->given);
    evidence_init(evidence);
}

/* Size of a buffer for the name of a file in a kept case, such as "source.safetensors". */
enum { FILE_NAME_MAX = 32 };

/* Cases share files of this size or more by hard links. */
enum { LINKED_BYTES_MIN = 1 << 20 };

struct keeper {
    const struct keeping *keeping;
    const char *place; /* the directory of the case */
    int fd;            /* descriptor of the directory `place` */
    bool fresh;        /* fail if a file exists, instead of replacing it */
    struct fault *fault;
};

/*
 * Returns the length of the character at `at` if a place can have it unchanged. Returns 0 for
 * control characters and bytes that are not UTF-8: a user could not read or type the place.
 */
static size_t plain_bytes(const char *at)
{
    size_t size = utf8_char(at, strlen(at));

    return size > 0 && !escaped_is_control(utf8_decode(at, size)) ? size : 0;
}

/*
 * Replaces by "%" and two digits: dots in parts of a name that have only dots and a leading slash,
 * which would lead out of the directory; bytes for which plain_bytes() is 0; "%" itself; and the
 * dot of a leading ".kept", because the list and the pool have these names.
 */
char *kept_place(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    char *place = malloc(length + 2 + 3 * strlen(name) + 1);

    if (!place)
        return NULL;
    char *out = stpcpy(place, directory);
    bool begins = true; /* `c` is at the beginning of a part of the name */
    bool reserved = strncmp(name, ".kept", strlen(".kept")) == 0;
    *out++ = '/';
    for (const char *c = name; *c;) {
        bool dots = begins && strspn(c, ".") == strcspn(c, "/");
        size_t plain = plain_bytes(c);

        begins = *c == '/';
        if (*c == '%' || (c == name && (*c == '/' || reserved)) || (dots && *c == '.') ||
            plain == 0) {
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

    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s cannot be created: %s",
                     print_path(shown, path), strerror(error));
}

/* Creates a directory if it does not exist. Returns 0 or an errno. */
static int make_directory(const char *path, bool sync)
{
    char *parent = NULL;

    if (mkdir(path, 0777))
        return errno == EEXIST ? 0 : errno;
    if (!sync)
        return 0;
    if (asprintf(&parent, "%s/..", path) < 0)
        return ENOMEM;
    int error = storage_sync_names_of(parent, -1);
    free(parent);
    return error;
}

/* Creates the directory of --keep and its parents. */
static int make_directories(const struct keeping *keeping, struct fault *fault)
{
    const char *directory = keeping->directory;
    char *path = strdup(directory);
    int error = path ? 0 : ENOMEM;

    for (char *at = path; error == 0 && *at;) {
        at += 1 + strcspn(at + 1, "/");
        char end = *at;
        *at = '\0';
        error = make_directory(path, keeping->sync);
        *at = end;
    }
    free(path);
    return error ? complain(directory, error, fault) : 0;
}

static const char *ending_of(const struct tensor_spec *ref)
{
    return file_format_word(tensor_spec_format(ref));
}

/* Saves an open file, or `bytes` if fd < 0, as the file `name`. */
static int save(const struct keeper *keeper, const char *name, int fd, const char *bytes,
                size_t size)
{
    struct output output;
    struct stat status;
    char *path = NULL;

    if (asprintf(&path, "%s/%s", keeper->place, name) < 0)
        return fault_no_memory(keeper->fault);
    int result = output_init_at(&output, keeper->fd, path, keeper->fault);
    if (result == 0 && fd < 0)
        result = output_write(&output, bytes, size, 0, keeper->fault);
    else if (result == 0 && fstat(fd, &status))
        result = complain(path, errno, keeper->fault);
    else if (result == 0)
        result = output_copy_data(&output, fd, (uint64_t)status.st_size, keeper->fault);
    if (result == 0 && keeper->keeping->sync)
        result = output_sync(&output, keeper->fault);
    if (result == 0)
        result = output_commit(&output, keeper->fresh, keeper->fault);
    output_finish(&output);
    free(path);
    return result;
}

/* Links the copy in the pool as `name`; creates the copy if no other thread has done so. */
static bool link_copy(const struct keeper *keeper, int pool, const char *stamp, const char *name,
                      int fd)
{
    const struct keeper of_pool = {.keeping = keeper->keeping,
                                   .place = KEPT_POOL,
                                   .fd = pool,
                                   .fresh = true,
                                   .fault = keeper->fault};

    if (linkat(pool, stamp, keeper->fd, name, 0) == 0)
        return true;
    if (errno != ENOENT)
        return false;
    (void)save(&of_pool, stamp, fd, NULL, 0);
    return linkat(pool, stamp, keeper->fd, name, 0) == 0;
}

/*
 * Saves a large file that has not changed recently as a hard link to its copy in the pool, because
 * thousands of cases may read it. Returns false if the caller must make a copy.
 */
static bool save_link(const struct keeper *keeper, const char *name, int fd)
{
    struct stat status;
    char stamp[CONTENT_DIGITS + 1];

    if (fstat(fd, &status) || status.st_size < LINKED_BYTES_MIN || !contents_stamp(&status, stamp))
        return false;
    int pool = kept_open_pool(keeper->keeping->directory, true);
    bool done = pool >= 0 && link_copy(keeper, pool, stamp, name, fd);
    if (pool >= 0)
        close(pool);
    return done;
}

/* Saves a file that the job reads. Omits a file that cannot be opened, so that the kept job fails
 * as the original did. */
static int save_input(const struct keeper *keeper, const struct evidence_file *file,
                      struct tensor_spec *ref, char name[FILE_NAME_MAX], const char *called)
{
    if (!file->path)
        return fault_no_memory(keeper->fault);
    struct stat looked;
    int fd = file->fd, opened = -1, status = 0;
    if (fd < 0)
        fd = opened = regular_open(file->path, O_RDONLY, &looked);
    snprintf(name, FILE_NAME_MAX, "%s.%s", called, ending_of(ref));
    ref->file = name;
    if (fd >= 0 && !save_link(keeper, name, fd))
        status = save(keeper, name, fd, NULL, 0);
    if (opened >= 0)
        close(opened);
    return status;
}

static int save_job(const struct keeper *keeper, const struct job_spec *job)
{
    struct jsonw w;

    jsonw_init_lines(&w, 1);
    job_file_write(&w, NULL, job);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    int status =
        text ? save(keeper, "job.json", -1, text, w.length) : fault_no_memory(keeper->fault);
    jsonw_finish(&w);
    return status;
}

/* Turns a tensor in a buffer into a tensor in a raw file with the bytes of the buffer. */
static void leave_buffer(struct tensor_spec *spec, const struct buffer_spec *buffer)
{
    if (!buffer)
        return;
    spec->buffer = NULL;
    memcpy(spec->memory, buffer->memory, sizeof(spec->memory));
}

static int keep_files(const struct keeper *keeper, const struct evidence *evidence)
{
    static char params[] = "params.json";
    char source[FILE_NAME_MAX], golden[FILE_NAME_MAX], out[FILE_NAME_MAX], given[FILE_NAME_MAX];
    struct job_spec job = *evidence->job; /* borrows the members that are not replaced */

    snprintf(out, sizeof(out), "out.%s", ending_of(&job.dst));
    snprintf(given, sizeof(given), "given.%s", ending_of(&job.dst));
    leave_buffer(&job.src, evidence->src_buffer);
    leave_buffer(&job.dst, evidence->dst_buffer);
    job.dst.update |= evidence->dst_buffer != NULL;
    job.dst.file = out;
    job.after = NULL;
    job.after_count = 0;
    if (job.dst.params)
        job.dst.params = params;
    if (save_input(keeper, &evidence->source, &job.src, source, "source"))
        return -1;
    if (job.expect.kind == EXPECT_FILE &&
        save_input(keeper, &evidence->golden, &job.expect.golden, golden, "golden"))
        return -1;
    if (evidence->before.fd >= 0 && save(keeper, out, evidence->before.fd, NULL, 0))
        return -1;
    if (evidence->given >= 0 && save(keeper, given, evidence->given, NULL, 0))
        return -1;
    return save_job(keeper, &job);
}

/* Returns the path of the result, such as "batch-failed/a/given.npy". Heap; NULL if there is no
 * result or no memory. */
static char *given_path(const char *place, const struct evidence *evidence)
{
    char *path = NULL;

    if (evidence->given < 0 ||
        asprintf(&path, "%s/given.%s", place, ending_of(&evidence->job->dst)) < 0)
        return NULL;
    return path;
}

static int sync_names(const struct keeper *keeper)
{
    int error = storage_sync_names(keeper->fd, -1);

    return error ? complain(keeper->place, error, keeper->fault) : 0;
}

/* Fills the directory of the case. Returns 0, or -1 after removing the directory. */
static int fill(struct keeper *keeper, const struct evidence *evidence)
{
    keeper->fd = kept_open(keeper->keeping, keeper->place, keeper->fault);
    if (keeper->fd < 0)
        return -1;
    kept_forget(keeper->fd);
    int status = keep_files(keeper, evidence);
    if (status == 0 && keeper->keeping->sync)
        status = sync_names(keeper);
    if (status)
        kept_forget(keeper->fd); /* the files are useless without job.json */
    close(keeper->fd);
    if (status)
        kept_abandon(keeper->keeping, keeper->place);
    return status;
}

int kept_save(const struct keeping *keeping, const char *name, const struct evidence *evidence,
              struct kept *kept, struct fault *fault)
{
    char *place = kept_place(keeping->directory, name);
    struct keeper keeper = {.keeping = keeping, .place = place, .fault = fault};

    *kept = (struct kept){0};
    if (!place)
        return fault_no_memory(fault);
    int status = make_directories(keeping, fault);
    if (status == 0)
        status = fill(&keeper, evidence);
    if (status == 0 && asprintf(&kept->job, "%s/job.json", place) < 0) {
        kept->job = NULL;
        status = fault_no_memory(fault);
    }
    if (status == 0)
        kept->given = given_path(place, evidence);
    free(place);
    return status;
}
