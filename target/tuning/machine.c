/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tuning/machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define CPU    "sys/devices/system/cpu/cpu0"
#define CACHES CPU "/cache"

enum { INDICES = 8, PATH_ROOM = 4096, LINE_ROOM = 512, SIZE_DIGITS = 12 };

/* Removes spaces and control characters at both ends, and replaces other bytes that do not print.
 */
static void trim(char *text)
{
    size_t length = strlen(text), first = 0;

    while (length > 0 && (unsigned char)text[length - 1] <= ' ')
        text[--length] = '\0';
    while (text[first] != '\0' && (unsigned char)text[first] <= ' ')
        first++;
    memmove(text, text + first, length - first + 1);
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
}

/* Reads the first line of a file. Returns false without a line. */
static bool read_line(const char *path, char *line, size_t room)
{
    FILE *file = fopen(path, "re");
    bool read;

    if (!file)
        return false;
    read = fgets(line, (int)room, file) != NULL;
    fclose(file);
    if (read)
        trim(line);
    return read;
}

#if defined(__x86_64__) || defined(__i386__)

/* Writes the processor's name for itself. */
static void read_brand(char brand[MACHINE_CPU_MAX])
{
    unsigned words[12] = {0};

    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            return;
    memcpy(brand, words, sizeof words);
    brand[sizeof words] = '\0';
    trim(brand);
}

/*
 * Asks the processor, because a sandboxed service may see no /proc/cpuinfo. Some hypervisors give
 * all processors of a maker one name, so family and model are part of the text.
 */
static void read_cpu(struct machine *machine, const char *root)
{
    unsigned a = 0, b, c, d, family, model;
    char brand[MACHINE_CPU_MAX] = "";

    (void)root;
    read_brand(brand);
    if (!__get_cpuid(1, &a, &b, &c, &d))
        a = 0;
    family = a >> 8 & 15;
    model = a >> 4 & 15;
    if (family == 6 || family == 15)
        model += (a >> 16 & 15) << 4;
    if (family == 15)
        family += a >> 20 & 255;
    snprintf(machine->cpu, sizeof machine->cpu, "%.64s, family %u, model %u, stepping %u",
             *brand ? brand : "x86", family, model, a & 15);
}

#else

/* AArch64: the register with the numbers of implementer and part. */
static void read_cpu(struct machine *machine, const char *root)
{
    char path[PATH_ROOM], line[LINE_ROOM];

    snprintf(path, sizeof path, "%s/" CPU "/regs/identification/midr_el1", root);
    if (read_line(path, line, sizeof line))
        snprintf(machine->cpu, sizeof machine->cpu, "midr %.64s", line);
    else
        snprintf(machine->cpu, sizeof machine->cpu, "unknown");
}

#endif

/* Reads "48K", "2M" or bytes. Returns 0 for other text. */
static uint64_t size_of(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    uint64_t size;

    if (digits == 0 || digits > SIZE_DIGITS)
        return 0;
    size = strtoull(text, NULL, 10);
    if (strcmp(text + digits, "K") == 0)
        return size << 10;
    if (strcmp(text + digits, "M") == 0)
        return size << 20;
    return text[digits] == '\0' ? size : 0;
}

static bool read_attribute(const char *root, int index, const char *name, char *out, size_t room)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%s/" CACHES "/index%d/%s", root, index, name);
    return read_line(path, out, room);
}

static void read_cache(mli_caches *caches, const char *root, int index)
{
    char level[LINE_ROOM], type[LINE_ROOM], size[LINE_ROOM];

    if (!read_attribute(root, index, "level", level, sizeof level) ||
        !read_attribute(root, index, "type", type, sizeof type) ||
        strcmp(type, "Instruction") == 0 || !read_attribute(root, index, "size", size, sizeof size))
        return;
    if (strcmp(level, "1") == 0)
        caches->l1d = size_of(size);
    else if (strcmp(level, "2") == 0)
        caches->l2 = size_of(size);
    else if (strcmp(level, "3") == 0)
        caches->l3 = size_of(size);
}

void machine_read(struct machine *machine, const char *root)
{
    memset(machine, 0, sizeof *machine);
    read_cpu(machine, root);
    for (int i = 0; i < INDICES; i++)
        read_cache(&machine->caches, root, i);
}

bool machine_is(const struct machine *a, const struct machine *b)
{
    return strcmp(a->cpu, b->cpu) == 0 && a->caches.l1d == b->caches.l1d &&
           a->caches.l2 == b->caches.l2 && a->caches.l3 == b->caches.l3;
}
