/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fingerprint of a result: checksums of all inputs of the case. A state file keeps it, and
 * --resume reuses a result only if its fingerprint is unchanged. The fingerprint is made of
 *
 *     job_file    the text of the job file                        attempt.c
 *     setup       program, service, options: equal in one run     connector.c
 *     files       the files that the jobs read                    resume.c
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/**
 * Returns FNV-1a of the bytes with the finaliser of MurmurHash3. It decides the shard of a case,
 * and other programs compute it from mlictl-batch(1), so it never changes.
 */
uint64_t digest64(const void *bytes, size_t size);

/** Returns the digest of a set of names after adding a name. The digest of an empty set is 0. The
 * order of the names does not matter. */
uint64_t digest_add(uint64_t set, const char *name);

enum { CONTENT_DIGITS = 16 };
/** Writes a digest as hexadecimal digits. Returns `out`. */
const char *digest_text(char out[CONTENT_DIGITS + 1], uint64_t digest);
/** Writes a digest as a string of 16 hexadecimal digits, because JSON numbers lose digits above
 * 2^53. */
void digest_write(struct jsonw *w, const char *key, uint64_t digest);
/** Reads a digest. Returns 0, or -1 with value's fault filled. */
int digest_read(const struct json *value, uint64_t *digest);

enum {
    FINGERPRINT_FILES_MAX = 2048,       /* maximum number of files of a case */
    FINGERPRINT_NAMES_MAX = 512 * 1024, /* maximum bytes of the names of all files of a case */
};

/* X(name, word, text): the role of a file in a job, as a word in state files and as a text in
 * messages. */
#define INPUT_ROLE_TABLE(X)                                                                        \
    X(SRC, "src", "source")                                                                        \
    X(DST, "dst", "updated file")                                                                  \
    X(EXPECT, "expect", "golden file")

enum input_role {
#define INPUT_ENUM(name, word, text) INPUT_##name,
    INPUT_ROLE_TABLE(INPUT_ENUM)
#undef INPUT_ENUM
};

/* The content of a file. Equal `word`s mean equal contents, except CONTENT_CHANGED. */
struct content {
    char word[CONTENT_DIGITS + 1];  /* XXH64 of the content in hexadecimal, or a word below */
    char stamp[CONTENT_DIGITS + 1]; /* checksum of inode, size and times; empty if the file
                                     * changed too recently */
};

#define CONTENT_MISSING    "missing"    /* the file does not exist */
#define CONTENT_UNREADABLE "unreadable" /* not a regular file, or it cannot be opened or read */
#define CONTENT_CHANGED    "changed"    /* the file changed while the case ran */

struct input_file {
    enum input_role role;
    char *name; /* name of the file, as in the job file */
    struct content content;
};

struct run_setup {
    uint64_t program; /* digest of the build of mlictl */
    uint64_t service; /* digest of engine and channels, or of the daemon */
    uint64_t options; /* digest of the other options that can change a result */
};

struct fingerprint {
    uint64_t job_file; /* digest64() of the text of the job file; 0: it cannot be read */
    bool known;        /* false: setup and files are not known, so the case runs again */
    struct run_setup setup;
    struct input_file *files;
    size_t count;
};

void fingerprint_finish(struct fingerprint *fingerprint);

/** Returns the name of the role for messages, such as "golden file". */
const char *input_role_text(enum input_role role);

/*
 * Checksums of files. Cases share many input files, so each checksum is reused while inode, size
 * and times of the file are unchanged. Thread-safe.
 */
struct contents;

/** Returns an empty set of checksums, or NULL if out of memory. */
struct contents *contents_create(void);
void contents_destroy(struct contents *contents);

/** Sets *content; reads the file if its checksum is not known. ^C stops the reading. */
void contents_find(struct contents *contents, const char *path, struct content *content);

/** Returns whether the file's content is still `then`; if not, *now becomes the new content. */
bool contents_same(struct contents *contents, const char *path, const struct content *then,
                   struct content *now);

/**
 * Writes the stamp of a file. Returns false if the file changed so recently that its content may
 * still change without changing the stamp.
 */
bool contents_stamp(const struct stat *status, char out[CONTENT_DIGITS + 1]);
