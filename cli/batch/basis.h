/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The basis of a result: everything that it depends on besides the text of the job file. A state
 * file keeps it, and --resume takes a result over only if its basis is unchanged.
 *
 *     setup.c     program, service, options: equal for every case of a run
 *     depends.c   job file -> the files that its jobs read, with the checksums of their contents
 */
#ifndef CLI_BATCH_BASIS_H
#define CLI_BATCH_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

enum {
    BASIS_DIGITS = 16,
    BASIS_FILES_MAX = 2048,       /* of one case: a line of a state file has its limits */
    BASIS_NAMES_MAX = 512 * 1024, /* bytes of their names */
};

/* X(name, word, text): the role of a file in a job; the word in a state file, the text in messages.
 */
#define BASIS_ROLE_TABLE(X)                                                                        \
    X(SRC, "src", "source")                                                                        \
    X(DST, "dst", "updated file")                                                                  \
    X(EXPECT, "expect", "golden file")

enum basis_role {
#define BASIS_ENUM(name, word, text) BASIS_##name,
    BASIS_ROLE_TABLE(BASIS_ENUM)
#undef BASIS_ENUM
};

/* The content of a file. Equal words mean equal contents, except BASIS_CHANGED. */
struct content {
    char word[BASIS_DIGITS + 1];  /* XXH64 of the content in hexadecimal, or a word below */
    char stamp[BASIS_DIGITS + 1]; /* checksum of inode, size and times; empty: the times are too
                                   * recent to prove anything */
};

#define BASIS_MISSING    "missing"    /* there is no such file */
#define BASIS_UNREADABLE "unreadable" /* it is no regular file, or cannot be opened or read */
#define BASIS_CHANGED    "changed"    /* it changed while the case ran */

struct basis_file {
    enum basis_role role;
    char *name; /* as the job file has it */
    struct content content;
};

struct setup {
    uint64_t program; /* the build of mlictl */
    uint64_t service; /* engine and channels, or the daemon */
    uint64_t options; /* further options that a result depends on */
};

struct basis {
    bool known; /* false: not noted; the case runs again */
    struct setup setup;
    struct basis_file *files;
    size_t count;
};

void basis_finish(struct basis *basis);

/** Returns the name of the role for messages: "golden file". */
const char *basis_role_text(enum basis_role role);

/** Writes the basis as member "basis"; writes nothing if it is not known. */
void basis_write(struct jsonw *w, const struct basis *basis);
/** The reverse, of the object that has the member. Returns 0, or -1 with the fault filled. */
int basis_read(const struct json *object, struct basis *basis);

#endif /* CLI_BATCH_BASIS_H */
