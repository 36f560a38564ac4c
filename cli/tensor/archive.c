/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/regular.h"
#include "cli/model/model.h"
#include "cli/tensor/archive.h"
#include "cli/tensor/npz.h"
#include "proto/file/safetensors.h"

enum {
    ARCHIVES_KEPT = 4,         /* maximum number of unused archives in the cache */
    ARCHIVE_MEMBERS_KEPT = 32, /* maximum number of unpacked members of an archive in the cache */
    ARCHIVE_BYTES_KEPT =
        256 * 1024 *
        1024 /* limit on the total size of cached members; larger members are not cached */
};

struct archive {
    struct archive *older; /* the next archive in the cache: it was used before this one */
    unsigned users;
    struct stat stat;
    enum file_format format;
    struct tensor_list list;
    struct npz *npz;      /* null unless the format is .npz */
    struct model model;   /* of .onnx, .tflite and .pb: the parsed model, which is never changed */
    size_t *constants;    /* model: index of the tensor of each entry in the list; else null */
    pthread_mutex_t lock; /* protects `npz`, shapes and types in `list`, and the members below */
    int *unpacked;        /* descriptor of each entry's unpacked member, or -1 */
    uint64_t bytes;       /* total size of the unpacked members */
    unsigned count;       /* number of unpacked members */
    size_t kept[ARCHIVE_MEMBERS_KEPT]; /* indices of the cached members */
};

/* Returns the dtype of .npy files for the elements of a tensor, or null. */
static const struct dtype *find_dtype(const struct model_tensor *tensor)
{
    const struct model_dtype *dtype = tensor->dtype;
    const bool bits = dtype && (dtype->id == MODEL_BFLOAT16 || dtype->id == MODEL_FLOAT8);
    const char *name = !bits ? dtype ? dtype->name : "" : dtype->size == 1 ? "uint8" : "uint16";

    for (size_t i = 0; dtype_words[i]; i++) {
        if (strcmp(dtype_words[i], name) == 0)
            return dtype_at(i);
    }
    return NULL;
}

static int judge(struct tensor_entry *entry, const struct model_tensor *tensor)
{
    const struct dtype *dtype = find_dtype(tensor);
    struct fault why;

    if (tensor->refusal) {
        fault_set(&why, FAULT_INVALID_PARAMS, NULL, "%s", tensor->refusal);
    } else if (tensor->place == MODEL_OUTSIDE) {
        fault_set(&why, FAULT_INVALID_PARAMS, NULL,
                  "its elements are in another file: name that file, as \"file\": \"%.128s\", "
                  "\"format\": \"raw\", \"offset\": %" PRIu64,
                  tensor->location, tensor->offset);
    } else if (!dtype) {
        fault_set(&why, FAULT_INVALID_PARAMS, NULL, "elements of dtype %s cannot be moved",
                  entry->dtype);
    } else {
        return tensor_entry_judge(entry, dtype->kind, dtype->size);
    }
    return tensor_entry_refuse(entry, &why);
}

/* Adds the constant with index `index` in the model to the list. */
static int add(struct archive *archive, size_t index, struct fault *fault)
{
    const struct model_tensor *tensor = &archive->model.tensors[index];
    struct tensor_entry *entry = tensor_list_add(&archive->list, tensor->name);
    uint64_t shape[MODEL_RANK_MAX];

    if (!entry)
        return fault_no_memory(fault);
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = tensor->dims[d].extent > 0 ? (uint64_t)tensor->dims[d].extent : 0;
    if (tensor_entry_set_shape(entry, shape, tensor->rank))
        return fault_no_memory(fault);
    snprintf(entry->dtype, sizeof(entry->dtype), "%s", tensor->dtype ? tensor->dtype->name : "?");
    entry->place = tensor->place == MODEL_IN_FILE ? tensor->offset : 0;
    entry->bytes = tensor->place == MODEL_OUTSIDE ? 0 : tensor->bytes;
    archive->constants[archive->list.count - 1] = index;
    return judge(entry, tensor) ? fault_no_memory(fault) : 0;
}

static int list_constants(struct archive *archive, struct fault *fault)
{
    const struct model *model = &archive->model;

    archive->constants = calloc(model->tensor_count + 1, sizeof(*archive->constants));
    if (!archive->constants)
        return fault_no_memory(fault);
    for (size_t i = 0; i < model->tensor_count; i++) {
        if ((model->tensors[i].place != MODEL_NOWHERE || model->tensors[i].refusal) &&
            add(archive, i, fault))
            return -1;
    }
    return tensor_list_sort(&archive->list, fault);
}

/* Reads a model, and lists its constants. */
static int read_model(struct archive *archive, int fd, struct fault *fault)
{
    const uint64_t size = (uint64_t)archive->stat.st_size;
    struct file_map map;
    int error, result;

    if (size == 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is empty");
    error = file_map_init(&map, fd, 0, size);
    if (error)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(-error));
    result = model_read(&archive->model, archive->format, map.pages, size, fault);
    if (file_map_is_broken(&map))
        result = fault_set(fault, FAULT_IO_ERROR, NULL,
                           "it shrank while it was read, or its storage failed");
    file_map_finish(&map);
    archive->model.bytes = NULL;
    return result < 0 ? -1 : list_constants(archive, fault);
}

/*
 * Sets *fd to -1 if the elements of entry `index` are in the file of the model, else to a new
 * descriptor of a file in memory with the decoded elements from byte 0 on. Returns 0, or -1 with
 * the fault.
 */
static int extract_constant(const struct archive *archive, size_t index, int *fd,
                            struct fault *fault)
{
    const struct model_tensor *tensor = &archive->model.tensors[archive->constants[index]];

    *fd = -1;
    if (tensor->place != MODEL_IN_MEMORY)
        return 0;
    *fd = memory_file_create(fault);
    if (*fd < 0)
        return -1;
    if (memory_file_write(*fd, tensor->memory, (size_t)tensor->bytes, fault) == 0)
        return 0;
    close(*fd);
    *fd = -1;
    return -1;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct archive *newest;

static bool same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Returns whether the archive was read from this file, and the file has not changed since. */
static bool is_of(const struct archive *archive, const struct stat *now, enum file_format format)
{
    const struct stat *then = &archive->stat;
    return archive->format == format && then->st_dev == now->st_dev &&
           then->st_ino == now->st_ino && then->st_size == now->st_size &&
           same_time(&then->st_mtim, &now->st_mtim) && same_time(&then->st_ctim, &now->st_ctim);
}

static void forget_unpacked(struct archive *archive)
{
    for (unsigned i = 0; i < archive->count; i++) {
        close(archive->unpacked[archive->kept[i]]);
        archive->unpacked[archive->kept[i]] = -1;
    }
    archive->bytes = 0;
    archive->count = 0;
}

static void destroy(struct archive *archive)
{
    forget_unpacked(archive);
    free(archive->unpacked);
    npz_close(archive->npz);
    model_finish(&archive->model);
    free(archive->constants);
    tensor_list_finish(&archive->list);
    pthread_mutex_destroy(&archive->lock);
    free(archive);
}

static int read_at(int fd, void *buffer, size_t size, off_t offset, struct fault *fault)
{
    const ssize_t got = read_bytes(fd, buffer, size, offset);

    if (got == (ssize_t)size)
        return 0;
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s",
                     got < 0 ? strerror(errno) : "it shrank while it was read");
}

static int read_safetensors(struct archive *archive, int fd, struct fault *fault)
{
    uint64_t size = (uint64_t)archive->stat.st_size;
    unsigned char prefix[SAFETENSORS_PREFIX];
    size_t length;
    if (size >= sizeof(prefix) && read_at(fd, prefix, sizeof(prefix), 0, fault))
        return -1;
    if (safetensors_length(prefix, size, &length, fault))
        return -1;
    char *text = malloc(length + 1);
    if (!text)
        return fault_no_memory(fault);
    int result = read_at(fd, text, length, sizeof(prefix), fault);
    if (result == 0)
        result = safetensors_parse(text, length, size, &archive->list, fault);
    free(text);
    return result;
}

static int read_npz(struct archive *archive, int fd, struct fault *fault)
{
    archive->npz = npz_open(fd, (uint64_t)archive->stat.st_size, &archive->list, fault);
    if (!archive->npz)
        return -1;
    archive->unpacked = calloc(archive->list.count + 1, sizeof(*archive->unpacked));
    if (!archive->unpacked)
        return fault_no_memory(fault);
    for (size_t i = 0; i < archive->list.count; i++)
        archive->unpacked[i] = -1;
    return 0;
}

static int read_archive(struct archive *archive, int fd, struct fault *fault)
{
    switch (archive->format) {
    case FILE_FORMAT_NPZ:
        return read_npz(archive, fd, fault);
    case FILE_FORMAT_SAFETENSORS:
        return read_safetensors(archive, fd, fault);
    default:
        return read_model(archive, fd, fault);
    }
}

static struct archive *create(int fd, const struct stat *stat, enum file_format format,
                              struct fault *fault)
{
    struct archive *archive = calloc(1, sizeof(*archive));
    if (!archive) {
        fault_no_memory(fault);
        return NULL;
    }
    archive->stat = *stat;
    archive->format = format;
    archive->users = 1;
    pthread_mutex_init(&archive->lock, NULL);
    if (read_archive(archive, fd, fault) == 0)
        return archive;
    destroy(archive);
    return NULL;
}

/* Moves the archive to the front of the cache, so that the cache drops it last. */
static void put_first(struct archive *archive)
{
    struct archive **link = &newest;
    while (*link && *link != archive)
        link = &(*link)->older;
    if (*link)
        *link = archive->older;
    archive->older = newest;
    newest = archive;
}

static struct archive *find(const struct stat *stat, enum file_format format)
{
    for (struct archive *archive = newest; archive; archive = archive->older) {
        if (is_of(archive, stat, format))
            return archive;
    }
    return NULL;
}

struct archive *archive_acquire(int fd, const struct stat *stat, enum file_format format,
                                struct fault *fault)
{
    pthread_mutex_lock(&lock);
    struct archive *archive = find(stat, format);
    if (archive) {
        archive->users++;
        put_first(archive);
    }
    pthread_mutex_unlock(&lock);
    if (archive)
        return archive;
    archive = create(fd, stat, format, fault);
    if (!archive)
        return NULL;
    pthread_mutex_lock(&lock);
    put_first(archive);
    pthread_mutex_unlock(&lock);
    return archive;
}

void archive_release(struct archive *archive)
{
    unsigned kept = 0;
    if (!archive)
        return;
    pthread_mutex_lock(&lock);
    archive->users--;
    for (struct archive **link = &newest; *link;) {
        struct archive *at = *link;
        if (at->users > 0 || ++kept <= ARCHIVES_KEPT) {
            link = &at->older;
        } else {
            *link = at->older;
            destroy(at);
        }
    }
    pthread_mutex_unlock(&lock);
}

const struct tensor_list *archive_list(const struct archive *archive)
{
    return &archive->list;
}

int archive_outline(struct archive *archive, struct tensor_entry *entry, struct fault *fault)
{
    int result = 0;
    pthread_mutex_lock(&archive->lock);
    if (!entry->dtype[0])
        result = npz_outline(archive->npz, entry, fault);
    pthread_mutex_unlock(&archive->lock);
    return result;
}

/* Puts a duplicate of the descriptor into the cache; first empties a full cache. */
static void keep(struct archive *archive, size_t index, int fd, uint64_t bytes)
{
    if (bytes > ARCHIVE_BYTES_KEPT)
        return;
    if (archive->bytes + bytes > ARCHIVE_BYTES_KEPT || archive->count == ARCHIVE_MEMBERS_KEPT)
        forget_unpacked(archive);
    archive->unpacked[index] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (archive->unpacked[index] < 0)
        return;
    archive->kept[archive->count++] = index;
    archive->bytes += bytes;
}

static int unpack(struct archive *archive, const struct tensor_entry *entry, struct fault *fault)
{
    size_t index = (size_t)(entry - archive->list.entries);
    int fd = archive->unpacked[index];
    if (fd >= 0) {
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return fd >= 0 ? fd : fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    }
    fd = npz_extract(archive->npz, entry, fault);
    if (fd >= 0)
        keep(archive, index, fd, entry->header.data_offset + entry->bytes);
    return fd;
}

int archive_unpack(struct archive *archive, const struct tensor_entry *entry, int *fd,
                   struct fault *fault)
{
    *fd = -1;
    if (archive->constants) /* `constants` never changes after create(), so no lock is needed */
        return extract_constant(archive, (size_t)(entry - archive->list.entries), fd, fault);
    if (archive->format != FILE_FORMAT_NPZ)
        return 0;
    pthread_mutex_lock(&archive->lock);
    *fd = unpack(archive, entry, fault);
    pthread_mutex_unlock(&archive->lock);
    return *fd < 0 ? -1 : 0;
}
