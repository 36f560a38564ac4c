/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by the test of exhaustion: takes all memory mappings that the kernel grants to a
 * process (vm.max_map_count), and leaves $MAPPINGS_LEFT of them.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void take(void)
{
    const char *text = getenv("MAPPINGS_LEFT");
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = (size_t)1 << 20;
    char *pages;
    size_t count = 0;

    if (!text)
        return;
    unsetenv("MAPPINGS_LEFT"); /* children keep their mappings */
    pages = mmap(NULL, most * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    /*
     * Each readable page is between pages without access. So the system has a mapping for this
     * page, and two mappings for the pages around it.
     */
    while (count < most / 2 && mprotect(pages + 2 * count * page, page, PROT_READ) == 0)
        count++;
    for (size_t left = strtoul(text, NULL, 10) / 2; left > 0 && count > 0; left--, count--)
        mprotect(pages + 2 * (count - 1) * page, page, PROT_NONE);
}
