/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
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
    FIRST_CAPACITY = 256,
    /* Coarsest granularity of file times (FAT). A file that changed within this period can change
       again while its timestamps stay the same. */
    SETTLED_S = 2
};

/* A slot with the checksum of the file that has this stamp; stamp 0: the slot is empty. */
struct checksum {
    uint64_t stamp, sum;
};

struct contents {
    pthread_mutex_t lock;
    struct checksum *slots; /* size of the table (open addressing); a power of 2 */
    size_t capacity, count;
};

struct contents *contents_create(void)
{
    struct contents *contents = calloc(1, sizeof(*contents));
    struct checksum *slots = calloc(FIRST_CAPACITY, sizeof(*slots));

    if (!contents || !slots) {
        free(contents);
        free(slots);
        return NULL;
    }
    pthread_mutex_init(&contents->lock, NULL);
    contents->slots = slots;
    contents->capacity = FIRST_CAPACITY;
    return contents;
}

void contents_destroy(struct contents *contents)
{
    if (!contents)
        return;
    pthread_mutex_destroy(&contents->lock);
    free(contents->slots);
    free(contents);
}

/* Returns the slot of a stamp, or the empty slot where it belongs. */
static struct checksum *slot_of(struct checksum *slots, size_t capacity, uint64_t stamp)
{
    size_t at = (size_t)stamp & (capacity - 1);

    while (slots[at].stamp && slots[at].stamp != stamp)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool recall(struct contents *contents, uint64_t stamp, uint64_t *sum)
{
    pthread_mutex_lock(&contents->lock);
    const struct checksum *slot = slot_of(contents->slots, contents->capacity, stamp);
    bool found = slot->stamp != 0;
    *sum = slot->sum;
    pthread_mutex_unlock(&contents->lock);
    return found;
}

static bool grow(struct contents *contents)
{
    size_t capacity = 2 * contents->capacity;
    struct checksum *slots = calloc(capacity, sizeof(*slots));

    if (!slots)
        return false;
    for (size_t i = 0; i < contents->capacity; i++) {
        if (contents->slots[i].stamp)
            *slot_of(slots, capacity, contents->slots[i].stamp) = contents->slots[i];
    }
    free(contents->slots);
    contents->slots = slots;
    contents->capacity = capacity;
    return true;
}

/* Does nothing if out of memory: the file is then read again later. */
static void remember(struct contents *contents, uint64_t stamp, uint64_t sum)
{
    pthread_mutex_lock(&contents->lock);
    if (2 * contents->count < contents->capacity || grow(contents)) {
        struct checksum *slot = slot_of(contents->slots, contents->capacity, stamp);

        contents->count += slot->stamp == 0;
        *slot = (struct checksum){stamp, sum};
    }
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
    uint64_t stamp = xxh64_value(&x);
    return stamp ? stamp : 1;
}

/* Returns whether any change of the file after `now` will change its times. */
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
