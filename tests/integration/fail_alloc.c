/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into mlictl by the tests: allocation number $FAIL_AT fails, once. When the program
 * ends, the number of allocations is written to the file $FAIL_COUNT.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_ulong count;
static unsigned long fail_at;
static const char *count_file;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAIL_AT");
    fail_at = text ? strtoul(text, NULL, 10) : 0;
    count_file = getenv("FAIL_COUNT");
    count = 0;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%lu\n", (unsigned long)count);
    int fd = count_file ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd >= 0 && write(fd, text, (size_t)length) != length)
        abort();
    if (fd >= 0)
        close(fd);
}

static int fails(void)
{
    if (atomic_fetch_add(&count, 1) + 1 != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails() ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t number, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(number, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return fails() ? NULL : __libc_realloc(old, bytes);
}
