/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What people and programs read. Results go to stdout, as lines for people or as one JSON object
 * per line; complaints go to stderr in both cases.
 */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/exit_code.h"
#include "cli/term/colour.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"
#include "proto/json/textw.h"

/* How a command answers: --json and --quiet. */
struct print_style {
    bool json;
    bool quiet; /* no line for what went well */
};

enum { PRINT_LINE_MAX = 2048 };

/** "mlictl: ..." on stderr. */
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** "mlictl: FILE:LINE:COLUMN: /pointer: text" on stderr, without what is not known. */
void print_fault(const char *file, const struct fault *fault);

/** print_fault(), and with --json an object {file, exit, error} on stdout. Returns the code. */
enum exit_code print_failure(const struct print_style *style, const char *file,
                             const struct fault *fault);

/** The same of a file that the fault's text names already. */
enum exit_code print_file_failure(const struct print_style *style, const char *file,
                                  const struct fault *fault);

/** A line on stdout, unless --json or --quiet. */
void print_line(const struct print_style *style, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same of three parts, of which `word`, a text of our own, has a colour where there are any.
 */
void print_coloured(const struct print_style *style, const char *before, enum colour_role role,
                    const char *word, const char *after);

/** Writes the text and a newline to stdout and finishes `w`. */
void print_json(struct jsonw *w);

/** Writes the text to stdout at once, above a live line, and empties `w`. */
void print_text(struct textw *w);

/** Says on stderr that there is no memory for output. From then on print_flush() fails. */
void print_lost(void);

/** Notes why stdout could not be written, an errno; the first reason counts. */
void print_note_error(int error);

/** Flushes stdout. Returns 0, or -1 if any output was lost, after saying so on stderr. */
int print_flush(void);

/** A fault as member `key`: code, name, status, pointer, line, column, message. */
void print_json_fault(struct jsonw *w, const char *key, const struct fault *fault);
void print_json_shape(struct jsonw *w, const char *key, uint32_t rank, const uint32_t *shape);

/* Short texts for people; each returns `out`. */
enum { PRINT_TEXT_MAX = 64, PRINT_PATH_MAX = 132 };
/** A path as it fits into a message: the end of a very long one. */
const char *print_path(char out[PRINT_PATH_MAX], const char *path);
/** "(4, 6, 8)" */
const char *print_shape(char out[PRINT_TEXT_MAX], uint32_t rank, const uint32_t *shape);
/** "192 B", "1.5 KiB" */
const char *print_bytes(char out[PRINT_TEXT_MAX], uint64_t bytes);
/** What makes the word behind a number a plural: "s", or "". */
const char *print_s(uint64_t count);
/** "850 ns", "12.3 us", "4.56 s" */
const char *print_time(char out[PRINT_TEXT_MAX], uint64_t ns);
/** A time as people look back on it: "850 ms", "12.3 s", "2 min 5 s", "3 h 20 min", "5 d 4 h" */
const char *print_since(char out[PRINT_TEXT_MAX], uint64_t ms);

#endif /* CLI_PRINT_H */
