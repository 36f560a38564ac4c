/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/file/regular.h"
#include "cli/term/cancel.h"
#include "proto/file/job_spec.h"
#include "proto/wire/xxh64.h"

uint64_t digest64(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

uint64_t digest_add(uint64_t set, const char *name)
{
    return set + digest64(name, strlen(name));
}

const char *digest_text(char out[CONTENT_DIGITS + 1], uint64_t digest)
{
    snprintf(out, CONTENT_DIGITS + 1, "%016" PRIx64, digest);
    return out;
}

void digest_write(struct jsonw *w, const char *key, uint64_t digest)
{
    char text[CONTENT_DIGITS + 1];

    jsonw_string(w, key, digest_text(text, digest));
}

int digest_read(const struct json *value, uint64_t *digest)
{
    const char *text;

    if (json_string(value, CONTENT_DIGITS, &text))
        return -1;
    if (strlen(text) != CONTENT_DIGITS || strspn(text, "0123456789abcdef") != CONTENT_DIGITS)
        return json_complain(value, "16 hexadecimal digits are required");
    *digest = strtoull(text, NULL, 16);
    return 0;
}

#define ROLE_TEXT(name, word, text) text,
static const char *const role_texts[] = {INPUT_ROLE_TABLE(ROLE_TEXT)};
#undef ROLE_TEXT

void fingerprint_finish(struct fingerprint *fingerprint)
{
    for (size_t i = 0; i < fingerprint->count; i++)
        free(fingerprint->files[i].name);
    free(fingerprint->files);
    *fingerprint = (struct fingerprint){0};
}

const char *input_role_text(enum input_role role)
{
    return role_texts[role];
}

enum {
    CHUNK_BYTES = 1 << 18,
    /* Coarsest granularity of file times (FAT). A file that changed within this period can change
       again while its timestamps stay the same. */
    SETTLED_S = 2
};

/* The checksum of the file that has this stamp. */
struct checksum {
    uint64_t stamp, sum;
};

struct contents {
    pthread_mutex_t lock;
    void *sums; /* tree of struct checksum */
};

static int compare_stamps(const void *a, const void *b)
{
    const struct checksum *x = a, *y = b;

    return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

struct contents *contents_create(void)
{
    struct contents *contents = calloc(1, sizeof(*contents));

    if (contents)
        pthread_mutex_init(&contents->lock, NULL);
    return contents;
}

void contents_destroy(struct contents *contents)
{
    if (!contents)
        return;
    pthread_mutex_destroy(&contents->lock);
    tdestroy(contents->sums, free);
    free(contents);
}

static bool recall(struct contents *contents, uint64_t stamp, uint64_t *sum)
{
    const struct checksum wanted = {.stamp = stamp};

    pthread_mutex_lock(&contents->lock);
    struct checksum *const *found = tfind(&wanted, &contents->sums, compare_stamps);
    if (found)
        *sum = (*found)->sum;
    pthread_mutex_unlock(&contents->lock);
    return found != NULL;
}

/* Does nothing if out of memory: the file is then read again later. */
static void remember(struct contents *contents, uint64_t stamp, uint64_t sum)
{
    struct checksum *added = malloc(sizeof(*added));

    if (!added)
        return;
    *added = (struct checksum){stamp, sum};
    pthread_mutex_lock(&contents->lock);
    struct checksum *const *node = tsearch(added, &contents->sums, compare_stamps);
    if (!node || *node != added)
        free(added);
    pthread_mutex_unlock(&contents->lock);
}

static uint64_t stamp_of(const struct stat *status)
{
    const uint64_t parts[] = {(uint64_t)status->st_dev,          (uint64_t)status->st_ino,
                              (uint64_t)status->st_size,         (uint64_t)status->st_mtim.tv_sec,
                              (uint64_t)status->st_mtim.tv_nsec, (uint64_t)status->st_ctim.tv_sec,
                              (uint64_t)status->st_ctim.tv_nsec};
    struct xxh64 x;

    xxh64_init(&x);
    xxh64_add(&x, parts, sizeof(parts));
    return xxh64_value(&x);
}

/* Returns whether the file was last changed so long before `now` that every later change will give
 * it other times. */
static bool is_settled(const struct stat *status, const struct timespec *now)
{
    return status->st_mtim.tv_sec + SETTLED_S < now->tv_sec &&
           status->st_ctim.tv_sec + SETTLED_S < now->tv_sec;
}

static int sum_bytes(int fd, uint64_t *sum)
{
    struct xxh64 x;
    char *chunk = malloc(CHUNK_BYTES);
    ssize_t got = chunk ? 1 : -1;

    xxh64_init(&x);
    while (got > 0) {
        got = cancel_requested() ? -1 : read(fd, chunk, CHUNK_BYTES);
        if (got > 0)
            xxh64_add(&x, chunk, (size_t)got);
        else if (got < 0 && errno == EINTR && !cancel_requested())
            got = 1;
    }
    free(chunk);
    *sum = xxh64_value(&x);
    return got < 0 ? -1 : 0;
}

static void read_open(struct contents *contents, int fd, struct content *content)
{
    struct stat before, after;
    struct timespec now;
    uint64_t sum;

    strcpy(content->word, CONTENT_UNREADABLE);
    if (fstat(fd, &before) || !S_ISREG(before.st_mode))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    if (sum_bytes(fd, &sum) || fstat(fd, &after))
        return;
    uint64_t stamp = stamp_of(&before);
    if (stamp != stamp_of(&after)) {
        strcpy(content->word, CONTENT_CHANGED);
        return;
    }
    digest_text(content->word, sum);
    if (!is_settled(&before, &now))
        return;
    digest_text(content->stamp, stamp);
    remember(contents, stamp, sum);
}

static bool look(const char *path, struct stat *status, struct content *content)
{
    *content = (struct content){.word = CONTENT_UNREADABLE};
    if (stat(path, status) == 0)
        return S_ISREG(status->st_mode);
    if (errno == ENOENT || errno == ENOTDIR)
        strcpy(content->word, CONTENT_MISSING);
    return false;
}

void contents_find(struct contents *contents, const char *path, struct content *content)
{
    struct stat status;
    uint64_t sum;

    if (!look(path, &status, content))
        return;
    uint64_t stamp = stamp_of(&status);
    if (recall(contents, stamp, &sum)) {
        digest_text(content->word, sum);
        digest_text(content->stamp, stamp);
        return;
    }
    int fd = regular_open(path, O_RDONLY, &status);
    if (fd < 0)
        return;
    read_open(contents, fd, content);
    close(fd);
}

bool contents_same(struct contents *contents, const char *path, const struct content *then,
                   struct content *now)
{
    struct stat status;
    char stamp[CONTENT_DIGITS + 1];

    if (*then->stamp && look(path, &status, now)) {
        digest_text(stamp, stamp_of(&status));
        if (strcmp(stamp, then->stamp) == 0)
            return true;
    }
    contents_find(contents, path, now);
    return strcmp(then->word, CONTENT_CHANGED) != 0 && strcmp(then->word, now->word) == 0;
}

bool contents_stamp(const struct stat *status, char out[CONTENT_DIGITS + 1])
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    digest_text(out, stamp_of(status));
    return is_settled(status, &now);
}
