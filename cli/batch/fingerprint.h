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
    CONTENT_DIGITS = 16,
    FINGERPRINT_FILES_MAX = 2048,       /* of one case: a line of a state file has its limits */
    FINGERPRINT_NAMES_MAX = 512 * 1024, /* bytes of their names */
};

/* X(name, word, text): the role of a file in a job; the word in a state file, the text in messages.
 */
#define INPUT_ROLE_TABLE(X)                                                                        \
    X(SRC, "src", "source")                                                                        \
    X(DST, "dst", "updated file")                                                                  \
    X(EXPECT, "expect", "golden file")

enum input_role {
#define INPUT_ENUM(name, word, text) INPUT_##name,
    INPUT_ROLE_TABLE(INPUT_ENUM)
#undef INPUT_ENUM
};

/* The content of a file. Equal words mean equal contents, except CONTENT_CHANGED. */
struct content {
    char word[CONTENT_DIGITS + 1];  /* XXH64 of the content in hexadecimal, or a word below */
    char stamp[CONTENT_DIGITS + 1]; /* checksum of inode, size and times; empty: the times are too
                                     * recent to prove anything */
};

#define CONTENT_MISSING    "missing"    /* there is no such file */
#define CONTENT_UNREADABLE "unreadable" /* it is no regular file, or cannot be opened or read */
#define CONTENT_CHANGED    "changed"    /* it changed while the case ran */

struct input_file {
    enum input_role role;
    char *name; /* as the job file has it */
    struct content content;
};

struct run_setup {
    uint64_t program; /* the build of mlictl */
    uint64_t service; /* engine and channels, or the daemon */
    uint64_t options; /* further options that a result depends on */
};

struct fingerprint {
    uint64_t job_file; /* digest64() of the text of the job file; 0: it could not be read */
    bool known;        /* false: not noted; the case runs again */
    struct run_setup setup;
    struct input_file *files;
    size_t count;
};

void fingerprint_finish(struct fingerprint *fingerprint);

/** Returns the name of the role for messages: "golden file". */
const char *input_role_text(enum input_role role);

/** Writes the basis as member "basis"; writes nothing if it is not known. */
void fingerprint_write(struct jsonw *w, const struct fingerprint *fingerprint);
/** The reverse, of the object that has the member. Returns 0, or -1 with the fault filled. */
int fingerprint_read(const struct json *object, struct fingerprint *fingerprint);

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
bool contents_stamp(const struct stat *status, char out[CONTENT_DIGITS + 1]);

#endif /* CLI_BATCH_FINGERPRINT_H */
