/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/import_output.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/output.h"
#include "cli/term/exit_code.h"

enum { NAME_BYTES = 256 };

static int complain(const char *path, int error, struct fault *fault)
{
    return fault_set(fault, exit_code_fault(error, FAULT_INVALID_PARAMS), NULL, "%s: %s", path,
                     strerror(error));
}

/* Closes a descriptor without changing errno. */
static void close_after(int fd)
{
    const int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), size = strlen(ending);

    return length > size && strcmp(name + length - size, ending) == 0;
}

/* Returns whether import, or a run of its jobs, writes files with this name. */
static bool is_own_name(const char *name)
{
    return strcmp(name, IMPORT_DATA) == 0 || strcmp(name, "cases.txt") == 0 ||
           ends_with(name, ".json") || ends_with(name, ".npy");
}

/*
 * Calls visit() for each entry of a directory, until visit() returns a value other than 0. Returns
 * this value, 0 after the last entry, or -1 with errno set.
 */
static int walk(int directory, int (*visit)(int directory, const char *name))
{
    const int fd = open_at(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    int result = 0;

    if (!list) {
        close_after(fd);
        return -1;
    }
    while (result == 0) {
        errno = 0;
        const struct dirent *entry = readdir(list);
        if (!entry) {
            result = errno ? -1 : 0;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = visit(directory, entry->d_name);
    }
    const int error = errno;
    closedir(list);
    errno = error;
    return result;
}

static int remove_file(int directory, const char *name)
{
    return unlinkat(directory, name, 0);
}

static int remove_entry(int directory, const char *name)
{
    int result, data;

    if (strcmp(name, IMPORT_DATA) != 0)
        return remove_file(directory, name);
    data = open_at(directory, IMPORT_DATA, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (data < 0)
        return -1;
    result = walk(data, remove_file);
    close_after(data);
    return result ? -1 : unlinkat(directory, IMPORT_DATA, AT_REMOVEDIR);
}

/* Removes a directory that import wrote. Returns 0, or -1 with errno set. */
static int remove_directory(const char *path)
{
    const int fd = open_path(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int result;

    if (fd < 0)
        return -1;
    result = walk(fd, remove_entry);
    close_after(fd);
    return result ? -1 : rmdir(path);
}

static int is_foreign(int directory, const char *name)
{
    (void)directory;
    return !is_own_name(name);
}

static int is_any(int directory, const char *name)
{
    (void)directory;
    (void)name;
    return 1;
}

/* Returns whether the directory has the list that import writes last, or -1 with errno set. */
static int has_list(int fd)
{
    char text[sizeof(IMPORT_LIST_BEGIN)] = "";
    const int list =
        open_at(fd, IMPORT_LIST_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    ssize_t got;

    if (list < 0)
        return errno == ENOENT ? 0 : -1;
    got = read_bytes(list, text, sizeof(text) - 1, 0);
    close_after(list);
    return got < 0 ? -1 : strcmp(text, IMPORT_LIST_BEGIN) == 0;
}

/* Checks the directory that exists at output->path. Returns 0, or -1 with the fault. */
static int check_directory(struct import_output *output, int fd, bool force, struct fault *fault)
{
    const int any = walk(fd, is_any), list = any > 0 ? has_list(fd) : 0;
    const int foreign = list > 0 && force ? walk(fd, is_foreign) : 0;

    if (any < 0 || list < 0 || foreign < 0)
        return complain(output->path, errno, fault);
    if (any == 0)
        return 0; /* rename() replaces an empty directory */
    if (list == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s exists, and import did not write it: give another directory",
                         output->path);
    if (!force)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s exists; --force replaces it",
                         output->path);
    if (foreign)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s has files that import did not write: remove them, or give another "
                         "directory",
                         output->path);
    output->replace = true;
    return 0;
}

static int check_place(struct import_output *output, bool force, struct fault *fault)
{
    const int fd = open_path(output->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result;

    if (fd < 0)
        return errno == ENOENT ? 0 : complain(output->path, errno, fault);
    result = check_directory(output, fd, force, fault);
    close(fd);
    return result;
}

static int make_hidden(struct import_output *output, struct fault *fault)
{
    const char *slash = strrchr(output->path, '/');
    const int before = slash ? (int)(slash - output->path + 1) : 0;

    for (unsigned i = 0; i < 100; i++) {
        free(output->hidden);
        if (asprintf(&output->hidden, "%.*s.%.200s.%ld-%u", before, output->path,
                     output->path + before, (long)getpid(), i) < 0) {
            output->hidden = NULL;
            return fault_no_memory(fault);
        }
        if (mkdir(output->hidden, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    const int error = errno;
    free(output->hidden); /* no directory was made under this name */
    output->hidden = NULL;
    if (error == ENOENT)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: the directory %.*s does not exist: create it first", output->path,
                         before, output->path);
    return complain(output->path, error, fault);
}

int import_output_init(struct import_output *output, const char *path, bool force,
                       struct fault *fault)
{
    size_t length = strlen(path);

    *output = (struct import_output){.fd = -1, .data = -1};
    while (length > 1 && path[length - 1] == '/')
        length--;
    output->path = strndup(path, length);
    if (!output->path)
        return fault_no_memory(fault);
    if (check_place(output, force, fault))
        return -1;
    if (make_hidden(output, fault))
        return -1;
    output->fd = open_path(output->hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->fd < 0 || mkdirat(output->fd, IMPORT_DATA, 0777))
        return complain(output->path, errno, fault);
    output->data = open_at(output->fd, IMPORT_DATA, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return output->data < 0 ? complain(output->path, errno, fault) : 0;
}

int import_output_text(struct import_output *output, const char *name, const char *text,
                       size_t length, struct fault *fault)
{
    struct output file;
    int result;

    result = output_init_at(&file, output->fd, name, fault) ||
                     output_write(&file, text, length, 0, fault) ||
                     output_commit(&file, true, fault)
                 ? -1
                 : 0;
    output_finish(&file);
    return result;
}

int import_output_tensor(struct import_output *output, const char *name, struct npy_header *header,
                         const uint8_t *elements, struct fault *fault)
{
    char path[NAME_BYTES], bytes[NPY_FORMAT_SIZE];
    struct output file;
    int result;

    snprintf(path, sizeof(path), "%s.npy", name);
    if (npy_format(header, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, NULL, "the .npy header is too long");
    result =
        output_init_at(&file, output->data, path, fault) ||
                output_reserve(&file, sizeof(bytes) + header->data_size, fault) ||
                output_write(&file, bytes, sizeof(bytes), 0, fault) ||
                output_write(&file, elements, (size_t)header->data_size, sizeof(bytes), fault) ||
                output_commit(&file, true, fault)
            ? -1
            : 0;
    output_finish(&file);
    return result;
}

int import_output_commit(struct import_output *output, struct fault *fault)
{
    if (!output->replace) {
        if (rename(output->hidden, output->path))
            return complain(output->path, errno, fault);
    } else if (renameat2(AT_FDCWD, output->hidden, AT_FDCWD, output->path, RENAME_EXCHANGE)) {
        return complain(output->path, errno, fault);
    } else if (remove_directory(output->hidden)) { /* now the path of the earlier directory */
        fault_set(fault, FAULT_IO_ERROR, NULL, "%s is complete, but %s cannot be removed: %s",
                  output->path, output->hidden, strerror(errno));
        return -1;
    }
    free(output->hidden);
    output->hidden = NULL;
    return 0;
}

void import_output_finish(struct import_output *output)
{
    if (output->data >= 0)
        close(output->data);
    if (output->fd >= 0)
        close(output->fd);
    if (output->hidden)
        remove_directory(output->hidden);
    free(output->hidden);
    free(output->path);
    *output = (struct import_output){.fd = -1, .data = -1};
}
