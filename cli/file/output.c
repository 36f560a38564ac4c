/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/place.h"
#include "cli/term/cancel.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"

enum {
    COPY_BYTES = 1 << 18, /* size of the buffer of a copy that the system cannot make itself */
    COPY_RANGE = 64 << 20 /* bytes per system call: limits the delay of ^C */
};

/* Sets a fault: "dst.file: out.npy: cannot be created: Permission denied" for pointer /dst/file. */
static int refuse(const struct output *output, enum fault_code code, const char *what,
                  const char *why, struct fault *fault)
{
    char member[32], shown[PRINT_PATH_MAX];
    snprintf(member, sizeof(member), "%s", output->pointer ? output->pointer + 1 : "");
    for (char *slash = strchr(member, '/'); slash; slash = strchr(slash, '/'))
        *slash = '.';
    return fault_set(fault, code, output->pointer, "%s%s%s: %s: %s", member, *member ? ": " : "",
                     print_path(shown, output->path), what, why);
}

/* Sets a fault for an errno: lack of storage fails the job, other errors make it invalid. */
static int complain(const struct output *output, int error, const char *what, struct fault *fault)
{
    return refuse(output, exit_code_fault(error, FAULT_INVALID_PARAMS), what, strerror(error),
                  fault);
}

/* Resolves the links of the path. Refuses an existing file that is not regular, and the path of a
 * descriptor: a new file would replace the file to which the output is redirected. */
static int find_target(struct output *output, struct fault *fault)
{
    struct stat now;
    if (place_is_descriptor(output->path))
        return refuse(output, FAULT_INVALID_PARAMS, "cannot be replaced",
                      "a descriptor of the process; - is standard output", fault);
    if (stat(output->path, &now) == 0) {
        if (!S_ISREG(now.st_mode))
            return refuse(output, FAULT_INVALID_PARAMS, "cannot be replaced", "not a regular file",
                          fault);
        output->mode = now.st_mode & 0777;
        output->target = realpath(output->path, NULL);
    } else if (errno != ENOENT) {
        return complain(output, errno, "cannot be looked up", fault);
    }
    if (!output->target)
        output->target = place_follow(output->path);
    if (!output->target)
        return complain(output, errno, "cannot be looked up", fault);
    char *slash = strrchr(output->target, '/');
    output->name = slash ? slash + 1 : output->target;
    if (!*output->name)
        return complain(output, EISDIR, "cannot be created", fault);
    if (strlen(output->name) > NAME_MAX)
        return complain(output, ENAMETOOLONG, "cannot be created", fault);
    return 0;
}

static int open_directory(struct output *output)
{
    int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    if (output->name == output->target)
        return open_path(".", flags);
    if (output->name == output->target + 1)
        return open_path("/", flags);
    output->name[-1] = '\0';
    int fd = open_path(output->target, flags);
    output->name[-1] = '/';
    return fd;
}

static void choose_hidden(struct output *output)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        number = (uint64_t)getpid();
    snprintf(output->hidden, sizeof(output->hidden), ".mlictl-%016" PRIx64, number);
}

/* Creates the file under a random hidden name, for file systems without O_TMPFILE. */
static int open_hidden(struct output *output)
{
    choose_hidden(output);
    int fd =
        open_at(output->directory, output->hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        output->hidden[0] = '\0';
    return fd;
}

static int keep_mode(struct output *output, struct fault *fault)
{
    if (output->mode >= 0 && fchmod(output->fd, (mode_t)output->mode))
        return complain(output, errno, "cannot take over permissions", fault);
    return 0;
}

/* Sets the fault of a directory that cannot be opened. */
static int complain_directory(struct output *output, int error, struct fault *fault)
{
    if (error != ENOENT || output->name == output->target)
        return complain(output, error, "its directory cannot be opened", fault);
    char what[PRINT_PATH_MAX + 32], shown[PRINT_PATH_MAX];
    output->name[-1] = '\0';
    snprintf(what, sizeof(what), "the directory %s must exist", print_path(shown, output->target));
    output->name[-1] = '/';
    return complain(output, error, what, fault);
}

static bool has_proc(void)
{
    return access("/proc/self/fd", X_OK) == 0;
}

static void empty(struct output *output, const char *path, const char *pointer)
{
    *output =
        (struct output){.path = path, .pointer = pointer, .mode = -1, .directory = -1, .fd = -1};
}

int output_init_memory(struct output *output, const char *path, const char *pointer,
                       struct fault *fault)
{
    empty(output, path, pointer);
    if (find_target(output, fault))
        return -1;
    int directory = open_directory(output);
    if (directory < 0)
        return complain_directory(output, errno, fault);
    close(directory);
    output->fd = memfd_create("mlictl", MFD_CLOEXEC);
    return output->fd < 0 ? complain(output, errno, "cannot be created in memory", fault) : 0;
}

static int begin_standard(struct output *output, struct fault *fault)
{
    if (isatty(STDOUT_FILENO))
        return refuse(output, FAULT_INVALID_PARAMS, "standard output is a terminal",
                      "give a file, or write to a pipe", fault);
    output->standard = true;
    output->fd = memfd_create("mlictl", MFD_CLOEXEC);
    return output->fd < 0 ? complain(output, errno, "cannot be created in memory", fault) : 0;
}

/* Writes a complete output in memory to standard output. */
static int pour(const struct output *output, struct fault *fault)
{
    char bytes[16 * 1024];

    for (off_t at = 0;;) {
        const ssize_t got = read_bytes(output->fd, bytes, sizeof(bytes), at);
        if (got <= 0)
            return got < 0 ? complain(output, errno, "cannot be read", fault) : 0;
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(STDOUT_FILENO, bytes + done, (size_t)(got - done));
            if (cancel_requested())
                return cancel_fault(fault);
            if (put < 0 && errno != EINTR)
                return complain(output, errno, "cannot be written", fault);
            put = put < 0 ? 0 : put;
        }
        at += got;
    }
}

int output_take(struct output *output)
{
    int fd = output->fd;
    output->fd = -1;
    return fd;
}

/* Creates the file without its name, in output->directory. */
static int create(struct output *output, struct fault *fault)
{
    if (has_proc())
        output->fd = open_at(output->directory, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
    bool unknown = output->fd < 0 && (!has_proc() || errno == EOPNOTSUPP || errno == EISDIR ||
                                      errno == EINVAL || errno == ENOENT);
    if (unknown)
        output->fd = open_hidden(output);
    if (output->fd < 0)
        return complain(output, errno, "cannot be created", fault);
    return keep_mode(output, fault);
}

int output_init(struct output *output, const char *path, const char *pointer, struct fault *fault)
{
    empty(output, path, pointer);
    if (strcmp(path, "-") == 0)
        return begin_standard(output, fault);
    if (find_target(output, fault))
        return -1;
    output->directory = open_directory(output);
    if (output->directory < 0)
        return complain_directory(output, errno, fault);
    return create(output, fault);
}

int output_init_at(struct output *output, int directory, const char *path, struct fault *fault)
{
    empty(output, path, NULL);
    output->target = strdup(path);
    output->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    if (!output->target || output->directory < 0)
        return complain(output, errno, "cannot be created", fault);
    char *slash = strrchr(output->target, '/');
    output->name = slash ? slash + 1 : output->target;
    return create(output, fault);
}

int output_check_fresh(const struct output *output, bool replace, struct fault *fault)
{
    if (replace || output->mode < 0)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, output->pointer, "%s exists; --force replaces it",
                     output->path);
}

int output_check_begin(const struct output *output, const char *begin, const char *what,
                       struct fault *fault)
{
    const size_t length = strlen(begin);
    char found[OUTPUT_BEGIN_MAX], shown[PRINT_PATH_MAX];
    int fd = output->mode < 0 ? -1 : open_path(output->target, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    size_t size = 0;
    ssize_t got;
    while (size < length &&
           ((got = read(fd, found + size, length - size)) > 0 || (got < 0 && errno == EINTR)))
        size += got > 0 ? (size_t)got : 0;
    close(fd);
    if (size == 0 || (size == length && memcmp(found, begin, length) == 0))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, output->pointer,
                     "%s exists and is not %s; only an empty file or %s is replaced",
                     print_path(shown, output->path), what, what);
}

int output_check_markup(const struct output *output, const char *what, struct fault *fault)
{
    return output_check_begin(output, "<", what, fault);
}

int output_reserve(struct output *output, uint64_t size, struct fault *fault)
{
    int error;
    do {
        error = fallocate(output->fd, 0, 0, (off_t)size) ? errno : 0;
    } while (error == EINTR && !cancel_requested());
    if (error == EINTR)
        return cancel_fault(fault);
    if (error == EOPNOTSUPP || error == ENOSYS)
        error = set_size(output->fd, (off_t)size) ? errno : 0;
    if (error) {
        char bytes[PRINT_TEXT_MAX], what[PRINT_TEXT_MAX + 16];
        snprintf(what, sizeof(what), "%s needed", print_bytes(bytes, size));
        return complain(output, error, what, fault);
    }
    return 0;
}

/* Copies `from` through memory, from `done` on. Returns 0 or -errno; -ENODATA: the file shrank. */
static int copy_bytes(int from, int to, uint64_t done, uint64_t size)
{
    char *buffer = malloc(COPY_BYTES);
    if (!buffer)
        return -ENOMEM;
    int result = 0;
    while (done < size && !result && !cancel_requested()) {
        size_t want = size - done < COPY_BYTES ? (size_t)(size - done) : COPY_BYTES;
        ssize_t got = pread(from, buffer, want, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        ssize_t put = got > 0 ? pwrite(to, buffer, (size_t)got, (off_t)done) : got;
        if (put < 0 && errno != EINTR)
            result = -errno;
        else if (put == 0)
            result = -ENODATA;
        else if (put > 0)
            done += (uint64_t)put;
    }
    free(buffer);
    return result;
}

static int copy_range(int from, int to, uint64_t begin, uint64_t size)
{
    loff_t in = (loff_t)begin, out = (loff_t)begin;
    while ((uint64_t)in < size && !cancel_requested()) {
        uint64_t left = size - (uint64_t)in;
        ssize_t got =
            copy_file_range(from, &in, to, &out, left < COPY_RANGE ? (size_t)left : COPY_RANGE, 0);
        if (got > 0 || (got < 0 && errno == EINTR))
            continue;
        bool cannot =
            got == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        return cannot ? copy_bytes(from, to, (uint64_t)in, size) : -errno;
    }
    return 0;
}

/* Copies the file without its holes; shares storage if the file system supports it. */
static int copy_data(int from, int to, uint64_t size)
{
    bool shared = ioctl(to, FICLONE, from) == 0;
    int result = set_size(to, (off_t)size) ? -errno : 0;
    if (shared)
        return result;
    for (uint64_t done = 0; done < size && !result && !cancel_requested();) {
        off_t data = lseek(from, (off_t)done, SEEK_DATA);
        if (data < 0 && errno == ENXIO) /* no data follows `done`: a hole, or the end of the file */
            return lseek(from, 0, SEEK_END) < (off_t)size ? -ENODATA : 0;
        off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
        uint64_t begin = data < 0 ? done : (uint64_t)data;
        uint64_t end = hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole;
        if (begin < end)
            result = copy_range(from, to, begin, end);
        done = end;
    }
    return result;
}

/* Sets the fault for the result of a copy. Returns 0 or -1. */
static int copied(const struct output *output, int error, struct fault *fault)
{
    if (cancel_requested())
        return cancel_fault(fault);
    if (error)
        return error == -ENODATA ? refuse(output, FAULT_IO_ERROR, "cannot be copied",
                                          "the source file shrank during the copy", fault)
                                 : complain(output, -error, "cannot be copied", fault);
    return 0;
}

int output_copy(struct output *output, int from, uint64_t size, struct fault *fault)
{
    if (output->directory < 0)
        return output_copy_data(output, from, size, fault);
    return copied(output, copy_range(from, output->fd, 0, size), fault);
}

int output_copy_data(struct output *output, int from, uint64_t size, struct fault *fault)
{
    return copied(output, copy_data(from, output->fd, size), fault);
}

int output_write(struct output *output, const void *bytes, size_t size, uint64_t offset,
                 struct fault *fault)
{
    for (size_t done = 0; done < size;) {
        ssize_t put =
            pwrite(output->fd, (const char *)bytes + done, size - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return complain(output, put < 0 ? errno : EIO, "cannot be written", fault);
        done += (size_t)put;
    }
    return 0;
}

static int link_as(const struct output *output, const char *name)
{
    char self[40];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, self, output->directory, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Links or renames the file to its name. output->hidden stays set while the hidden name exists. */
static int take_place(struct output *output, bool fresh)
{
    if (!output->hidden[0]) {
        int error = link_as(output, output->name);
        if (error != -EEXIST || fresh)
            return error;
        /* linkat() cannot replace a file: link under a hidden name, then rename. */
        choose_hidden(output);
        error = link_as(output, output->hidden);
        if (error) {
            output->hidden[0] = '\0';
            return error;
        }
    } else if (fresh && faccessat(output->directory, output->name, F_OK, 0) == 0) {
        return -EEXIST;
    }
    if (renameat(output->directory, output->hidden, output->directory, output->name))
        return -errno;
    output->hidden[0] = '\0';
    return 0;
}

static void remove_hidden(struct output *output)
{
    if (output->hidden[0])
        unlinkat(output->directory, output->hidden, 0);
    output->hidden[0] = '\0';
}

/*
 * Network file systems report at close() that written bytes are lost, for example because the disk
 * is full: close a duplicate before the file gets its name. Returns 0 or an errno.
 */
static int write_back(const struct output *output)
{
    int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return errno;
    return close(copy) && errno != EINTR ? errno : 0;
}

int output_commit(struct output *output, bool fresh, struct fault *fault)
{
    sigset_t old;
    if (output->directory < 0)
        return output->standard ? pour(output, fault) : 0;
    int lost = write_back(output);
    if (lost)
        return complain(output, lost, "cannot be written", fault);
    cancel_hold(&old);
    int error = take_place(output, fresh);
    remove_hidden(output);
    cancel_admit(&old);
    return error ? complain(output, -error, "cannot be put in place", fault) : 0;
}

static int synced(const struct output *output, int error, struct fault *fault)
{
    return error ? complain(output, error, "cannot be synced to storage", fault) : 0;
}

int output_sync(struct output *output, struct fault *fault)
{
    return synced(output, storage_sync(output->fd), fault);
}

int output_commit_synced(struct output *output, bool fresh, struct fault *fault)
{
    if (output->directory < 0)
        return 0;
    if (output_sync(output, fault) || output_commit(output, fresh, fault))
        return -1;
    return synced(output, storage_sync_names(output->directory, output->fd), fault);
}

void output_finish(struct output *output)
{
    remove_hidden(output);
    close_open(output->fd);
    close_open(output->directory);
    free(output->target);
    *output = (struct output){.fd = -1, .directory = -1};
}

/* Writes a whole file. Replaces only a file that output_check_begin() accepts; with `begin` null,
 * none. */
static int save(const char *path, const void *bytes, size_t size, const char *begin,
                const char *what, struct fault *fault)
{
    struct output output;
    int status = output_init(&output, path, NULL, fault);

    if (status == 0)
        status = begin ? output_check_begin(&output, begin, what, fault)
                       : output_check_fresh(&output, false, fault);
    if (status == 0)
        status = output_write(&output, bytes, size, 0, fault);
    if (status == 0)
        status = output_commit_synced(&output, !begin, fault);
    output_finish(&output);
    return status;
}

int output_save(const char *path, const void *bytes, size_t size, bool replace, struct fault *fault)
{
    return bytes ? save(path, bytes, size, replace ? "" : NULL, NULL, fault)
                 : fault_no_memory(fault);
}

int output_save_text(struct textw *w, const char *path, const char *begin, const char *what,
                     struct fault *fault)
{
    int status = 0;

    if (w->failed)
        status = fault_no_memory(fault);
    else if (strcmp(path, "-") == 0)
        print_text(w);
    else
        status = save(path, w->data, w->length, begin, what, fault);
    textw_finish(w);
    return status;
}
