/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/torture/preload.h"

enum mode { DORMANT, FAILS, SHAKES };

static _Atomic enum mode mode;
static enum kind failing;
static unsigned long fail_at;
static bool fails_on;
static uint64_t seed;
static atomic_ulong draws;

static const char *const names[] = {
#define KIND_NAME(name, error) #name,
    KIND_TABLE(KIND_NAME)
#undef KIND_NAME
};

static const int errors[] = {
#define KIND_ERROR(name, error) error,
    KIND_TABLE(KIND_ERROR)
#undef KIND_ERROR
};

/* Address ranges of this library and of the sanitizer's library: calls from there must not fail. */
static struct span {
    uintptr_t begin, end;
} own, sanitizer;

static bool is_in(const struct span *span, const void *address)
{
    return (uintptr_t)address >= span->begin && (uintptr_t)address < span->end;
}

static int find_span(struct dl_phdr_info *info, size_t size, void *context)
{
    struct span span = {UINTPTR_MAX, 0};

    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD)
            continue;
        span.begin = begin < span.begin ? begin : span.begin;
        span.end = begin + segment->p_memsz > span.end ? begin + segment->p_memsz : span.end;
    }
    if (is_in(&span, (const void *)(uintptr_t)find_span))
        own = span;
    else if (strstr(info->dlpi_name, "/libasan."))
        sanitizer = span;
    return 0;
}

/* Returns whether the sanitizer calls the wrapper: finds the caller by frame pointers. */
static bool is_of_sanitizer(void)
{
    void **frame = __builtin_frame_address(0);

    if (sanitizer.end == 0)
        return false;
    while (is_in(&own, frame[1]))
        frame = frame[0];
    return is_in(&sanitizer, frame[1]);
}

void *next_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort();
    return found;
}

static void parse_failure(const char *text)
{
    size_t length = strcspn(text, ":");

    for (failing = 0; failing < KIND_COUNT; failing++) {
        if (strlen(names[failing]) == length && strncmp(names[failing], text, length) == 0)
            break;
    }
    if (failing == KIND_COUNT || text[length] != ':')
        abort();
    char *end;
    fail_at = strtoul(text + length + 1, &end, 10);
    fails_on = strcmp(end, ":on") == 0;
}

/* Returns whether $TORTURE_PROGRAMS has the name of this program. */
static bool chosen(const char *programs)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length < 0)
        return false;
    path[length] = '\0';
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (const char *at = programs; *at; at += strcspn(at, ":"), at += *at == ':') {
        if (strcspn(at, ":") == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

static void sleep_in_child(void)
{
    mode = DORMANT;
}

__attribute__((constructor)) static void begin(void)
{
    const char *fail = getenv("TORTURE_FAIL"), *shake = getenv("TORTURE_SHAKE");
    const char *programs = getenv("TORTURE_PROGRAMS"), *report = getenv("TORTURE_REPORT");

    if (programs && !chosen(programs))
        return;
    dl_iterate_phdr(find_span, NULL);
    if (fail) {
        parse_failure(fail);
        if (!report || !report_open(report))
            return;
        pthread_atfork(NULL, NULL, sleep_in_child);
        mode = FAILS;
    } else if (shake) {
        seed = strtoull(shake, NULL, 10);
        mode = SHAKES;
    }
}

static int choose_failure(const char *name, unsigned kinds)
{
    int error = 0;

    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!(kinds & 1U << kind))
            continue;
        const unsigned long number = report_count(kind);
        if (fail_at == 0) {
            report_stack(kind, number);
        } else if (kind == failing && (number == fail_at || (fails_on && number > fail_at))) {
            error = errors[kind];
            if (number == fail_at)
                report_failure(kind, number, name, error);
        }
    }
    return error;
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27) * 0x94d049bb133111ebU;
    return value ^ value >> 31;
}

/* Returns EINTR for one call in 8, but never twice in a row, and a short count for two calls in 8.
 */
static int choose_at_random(unsigned kinds)
{
    static __thread bool interrupted;
    const unsigned dice = mix(seed + ++draws * 0x9e3779b97f4a7c15U) % 8;
    int choice = 0;

    if (dice == 0 && kinds & EINTR_ && !interrupted)
        choice = EINTR;
    else if (dice <= 2 && kinds & short_)
        choice = SHORT;
    interrupted = choice == EINTR;
    return choice;
}

int choose(const char *name, unsigned kinds)
{
    if (mode == DORMANT || report_busy())
        return 0;
    if (mode == SHAKES)
        return kinds & (EINTR_ | short_) ? choose_at_random(kinds) : 0;
    if (is_of_sanitizer())
        return 0;
    const int saved = errno, error = choose_failure(name, kinds);
    errno = saved;
    return error;
}
