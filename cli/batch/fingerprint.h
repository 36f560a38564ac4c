/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_FINGERPRINT_H
#define CLI_BATCH_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/*
 * A digest of 64 bits: which shard a case is in, which cases there are, whether a job file has
 * changed. mlictl-batch(1) defines it, so that others can compute it; it never changes.
 */
/** FNV-1a with the finaliser of MurmurHash3, whose every bit depends on every byte. */
uint64_t digest64(const void *bytes, size_t size);

/** The digest of a set of names, begun with 0, with one more. The order does not matter. */
uint64_t digest_add(uint64_t set, const char *name);

/** As 16 hexadecimal digits: the numbers of JSON have not so many. */
void digest_write(struct jsonw *w, const char *key, uint64_t digest);
/** Returns 0, or -1 with value's fault filled. */
int digest_read(const struct json *value, uint64_t *digest);

/*
 * The basis of a result: everything that it depends on besides the text of the job file. A state
 * file keeps it, and --resume takes a result over only if its basis is unchanged.
 *
 *     connector.c  program, service, options: equal for every case of a run
 *     resume.c     job file -> the files that its jobs read, with the checksums of their contents
 */
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

/*
 * Checksums of files. Thousands of cases read the same few files, so a checksum is kept and used
 * again as long as the inode, size and times of its file are unchanged. Any thread.
 */
struct contents;

/** Null: no memory. */
struct contents *contents_create(void);
void contents_destroy(struct contents *contents);

/** Finds the content of the file; reads the file if no checksum is kept. ^C ends the reading. */
void contents_find(struct contents *contents, const char *path, struct content *content);

/** Returns whether the content of the file is `then`; if not, *now becomes its content. */
bool contents_same(struct contents *contents, const char *path, const struct content *then,
                   struct content *now);

/**
 * Writes the stamp of a file. Returns false if the file changed so recently that its content may
 * still change without changing the stamp.
 */
bool contents_stamp(const struct stat *status, char out[BASIS_DIGITS + 1]);

#endif /* CLI_BATCH_FINGERPRINT_H */
