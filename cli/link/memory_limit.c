/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/memory_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4608, GROUPS_SIZE = 16384, LINE_SIZE = 4096 };

/* One hierarchy of control groups: version 2, or the memory controller of version 1. */
struct hierarchy {
    const char *directory; /* directory below the root */
    const char *file;
};

static const struct hierarchy unified = {"", "memory.max"};
static const struct hierarchy legacy = {"/memory", "memory.limit_in_bytes"};

/* Lowers *limit to the number in a file. If the file is missing or has the word "max", *limit is
 * unchanged. */
static void lower(uint64_t *limit, const char *path)
{
    char text[32] = "", *end;
    FILE *file = fopen(path, "re");

    if (!file)
        return;
    if (!fgets(text, sizeof(text), file))
        text[0] = '\0';
    fclose(file);
    uint64_t number = strtoull(text, &end, 10);
    if (end > text && number < *limit)
        *limit = number;
}

/* The limits of a group and of all groups that contain it, the hierarchy's root included. */
static void lower_to_group(uint64_t *limit, const char *root, const struct hierarchy *hierarchy,
                           const char *group)
{
    char name[LINE_SIZE], path[PATH_SIZE];

    snprintf(name, sizeof(name), "%s", group);
    for (;;) {
        char *slash = strrchr(name, '/');
        bool last = !slash || strcmp(name, "/") == 0;
        snprintf(path, sizeof(path), "%s%s%s/%s", root, hierarchy->directory, last ? "" : name,
                 hierarchy->file);
        lower(limit, path);
        if (last)
            return;
        *slash = '\0';
    }
}

/* Returns whether a comma-separated list of controllers contains "memory". */
static bool controls_memory(const char *list, size_t length)
{
    static const char word[] = "memory";

    while (length > 0) {
        size_t size = strcspn(list, ",:");
        if (size == sizeof(word) - 1 && strncmp(list, word, size) == 0)
            return true;
        size += size < length;
        list += size;
        length -= size;
    }
    return false;
}

uint64_t memory_limit_of(uint64_t physical, const char *groups, const char *root)
{
    uint64_t limit = physical;

    /* Each line: NUMBER:CONTROLLERS:GROUP; version 2 has the number 0 and no controllers. */
    for (const char *line = groups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char group[LINE_SIZE];
        const char *controllers = strchr(line, ':');
        const char *name = controllers ? strchr(controllers + 1, ':') : NULL;
        size_t length = name ? strcspn(name + 1, "\n") : 0;
        if (!name || length == 0 || length >= sizeof(group))
            continue;
        memcpy(group, name + 1, length);
        group[length] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            lower_to_group(&limit, root, &unified, group);
        else if (controls_memory(controllers + 1, (size_t)(name - controllers - 1)))
            lower_to_group(&limit, root, &legacy, group);
    }
    return limit;
}

uint64_t memory_limit(void)
{
    char groups[GROUPS_SIZE] = "";
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t physical = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (file) {
        groups[fread(groups, 1, sizeof(groups) - 1, file)] = '\0';
        fclose(file);
    }
    return memory_limit_of(physical, groups, "/sys/fs/cgroup");
}
