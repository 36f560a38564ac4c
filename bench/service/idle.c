/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/idle.h"

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Returns the number after `key` in a file of lines "key: number", or 0 if the key is missing. */
static unsigned long number_of(const char *path, const char *key)
{
    FILE *file = fopen(path, "r");
    char line[256];
    unsigned long number = 0;

    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtoul(line + strlen(key), NULL, 10);
    }
    if (file)
        fclose(file);
    return number;
}

unsigned long resident_kib(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    return number_of(path, "VmRSS:");
}

static unsigned long switches(pid_t pid)
{
    char folder[64], path[sizeof folder + NAME_MAX + sizeof "/status"];
    unsigned long sum = 0;
    DIR *tasks;

    snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
    tasks = opendir(folder);
    if (!tasks)
        err(1, "%s", folder);
    for (struct dirent *entry; (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/status", folder, entry->d_name);
        sum += number_of(path, "voluntary_ctxt_switches:");
    }
    closedir(tasks);
    return sum;
}

static double cpu_ms(pid_t pid)
{
    clockid_t clock;
    struct timespec t;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        errx(1, "no clock of process %d", (int)pid);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct idle idle_watch(pid_t pid, unsigned ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    const unsigned long before = switches(pid);
    const double cpu = cpu_ms(pid);

    nanosleep(&time, NULL);
    return (struct idle){resident_kib(pid), switches(pid) - before, cpu_ms(pid) - cpu};
}
