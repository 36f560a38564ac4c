/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* declares dl_iterate_phdr() */
#include "proto/wire/build_id.h"

#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/wire/xxh64.h"

enum { NOTE_ALIGN = 4 };

static char text[BUILD_ID_SIZE];

static const unsigned char *address(const struct dl_phdr_info *object, const ElfW(Phdr) * segment)
{
    return (const unsigned char *)(object->dlpi_addr + segment->p_vaddr); /* NOLINT */
}

static size_t padded(size_t size)
{
    return (size + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
}

/* Adds the build ID of a note segment to the checksum. Returns false if it has no build ID. */
static bool add_note(struct xxh64 *x, const unsigned char *at, size_t size)
{
    ElfW(Nhdr) note;
    while (size >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        size_t name = padded(note.n_namesz), content = padded(note.n_descsz);
        if (name + content > size - sizeof(note))
            return false;
        at += sizeof(note);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
            memcmp(at, "GNU", sizeof("GNU")) == 0) {
            xxh64_add(x, at + name, note.n_descsz);
            return true;
        }
        at += name + content;
        size -= sizeof(note) + name + content;
    }
    return false;
}

static bool add_notes(struct xxh64 *x, const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE && add_note(x, address(object, segment), segment->p_memsz))
            return true;
    }
    return false;
}

/* Adds an object's code and constants, which relocation does not change, to the checksum. */
static void add_segments(struct xxh64 *x, const struct dl_phdr_info *object)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R)
            xxh64_add(x, address(object, segment), segment->p_filesz);
    }
}

/* Adds the program, which is the first object, and the libraries of libmli to the checksum. */
static int add_object(struct dl_phdr_info *object, size_t size, void *context)
{
    struct xxh64 *x = context;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;

    (void)size;
    if (x->total > 0 && strncmp(name, "libmli", strlen("libmli")) != 0)
        return 0;
    if (!add_notes(x, object))
        add_segments(x, object);
    return 0;
}

static void compute(void)
{
    struct xxh64 x;

    xxh64_init(&x);
    dl_iterate_phdr(add_object, &x);
    snprintf(text, sizeof(text), "%016" PRIx64, xxh64_value(&x));
}

const char *build_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compute);
    return text;
}
