/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report is a file that the driver creates and that processes map and share, so that it is
 * complete however a process ends. torture_report.py reads it; the two structures must match.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/torture/preload.h"

enum { FRAMES = 24, MODULE = 104, NAME = 32, STACKS = 16384, OPEN_MAX_LISTED = 16, OPEN_NAME = 96 };

struct report {
    atomic_uint process;
    uint32_t kinds;
    atomic_ulong count[16];
    atomic_ulong failed; /* number of the failed call; 0: no call failed */
    char name[NAME];
    int32_t error;
    uint32_t frame_count;
    struct frame {
        uint64_t offset;
        char module[MODULE];
    } frames[FRAMES];
    uint32_t ended;      /* 1: exit() was called */
    uint32_t open_count; /* number of descriptors that are open at exit, except for the standard
                            streams */
    char open[OPEN_MAX_LISTED][OPEN_NAME];
    uint64_t stacks[KIND_COUNT][STACKS];
};

/* A function of the leak sanitizer, if the program has one. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

static struct report *report;
static __thread bool busy;

bool report_busy(void)
{
    return busy;
}

bool report_open(const char *path)
{
    unsigned nobody = 0;
    void *stack[1];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return false;
    void *pages =
        (void *)syscall(SYS_mmap, NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (pages == MAP_FAILED)
        return false;
    report = pages;
    if (!atomic_compare_exchange_strong(&report->process, &nobody, (unsigned)getpid())) {
        report = NULL;
        return false;
    }
    report->kinds = KIND_COUNT;
    busy = true;
    if (__lsan_disable)
        __lsan_disable();
    backtrace(stack, 1); /* the first call of backtrace() allocates memory that is never freed */
    if (__lsan_enable)
        __lsan_enable();
    busy = false;
    return true;
}

unsigned long report_count(enum kind kind)
{
    return atomic_fetch_add(&report->count[kind], 1) + 1;
}

/*
 * Returns an address as the module's symbol table has it; for a program that is not relocated, this
 * is the absolute address.
 */
static uint64_t address_in(const Dl_info *module, const void *address)
{
    const ElfW(Ehdr) *header = module->dli_fbase;

    return (uintptr_t)address - (header->e_type == ET_EXEC ? 0 : (uintptr_t)header);
}

/* Returns the stack without the frames of this library and of the sanitizer's backtrace(). */
static int caller_stack(void *stack[FRAMES], struct frame frames[FRAMES])
{
    int depth = backtrace(stack, FRAMES), kept = 0;
    bool outside = false;
    Dl_info own, info;

    dladdr((void *)caller_stack, &own);
    for (int i = 0; i < depth; i++) {
        if (!dladdr(stack[i], &info))
            continue;
        outside = outside || (i > 0 && info.dli_fbase != own.dli_fbase);
        if (!outside)
            continue;
        frames[kept].offset = address_in(&info, stack[i]);
        strncpy(frames[kept].module, info.dli_fname, MODULE - 1);
        kept++;
    }
    return kept;
}

void report_failure(enum kind kind, unsigned long number, const char *name, int error)
{
    void *stack[FRAMES];

    (void)kind;
    busy = true;
    report->frame_count = (uint32_t)caller_stack(stack, report->frames);
    strncpy(report->name, name, NAME - 1);
    report->error = error;
    report->failed = number;
    busy = false;
}

void report_stack(enum kind kind, unsigned long number)
{
    void *stack[FRAMES];
    static __thread struct frame frames[FRAMES];
    uint64_t hash = 0;

    if (number > STACKS)
        return;
    busy = true;
    int depth = caller_stack(stack, frames);
    for (int i = 0; i < depth; i++)
        hash = (hash ^ frames[i].offset) * 0x100000001b3U;
    report->stacks[kind][number - 1] = hash;
    busy = false;
}

/*
 * Lists the descriptors that are still open at exit. This is the last destructor that runs in the
 * process.
 */
__attribute__((destructor)) static void end(void)
{
    char path[64], name[OPEN_NAME];

    if (!report || report->process != (unsigned)getpid())
        return;
    busy = true;
    for (int fd = 3; fd < 256; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ssize_t length = syscall(SYS_readlink, path, name, sizeof(name) - 1);
        if (length < 0)
            continue;
        if (report->open_count < OPEN_MAX_LISTED)
            memcpy(report->open[report->open_count], name, (size_t)length);
        report->open_count++;
    }
    report->ended = 1;
    busy = false;
}
