/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of all commands, and the head of this folder. Results go to stdout, as lines for people or
 * as one JSON object per line; error messages go to stderr in both cases. Control characters in
 * texts become '?'. Data flow:
 *
 *     print.c  -> lines and JSON, coloured, above the live line of terminal.c; names and texts,
 *                 escaped for other formats (JUnit, logs)
 *     grid.c   -> tables
 *     meter.c  -> the progress of one operation, as a live line
 *
 * To add a form of output that several commands need, start here. A colour role is added in
 * terminal.h, a short text such as print_bytes() below.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/term/exit_code.h"
#include "cli/term/terminal.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

/* The form of a command's output. */
struct print_style {
    bool json;  /* --json */
    bool quiet; /* --quiet: no lines, only errors */
};

enum { PRINT_LINE_MAX = 2048 };

/** Prints "mlictl: ..." to stderr. */
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print an error and return a value, so that callers can `return print_refusal(...)`: -1, or
 * EXIT_CODE_INVALID for a command line that is wrong. Macros, so that analyzers see the value. */
#define print_refusal(...) (print_error(__VA_ARGS__), -1)
#define print_invalid(...) (print_error(__VA_ARGS__), EXIT_CODE_INVALID)

enum { PRINT_PLACE_MAX = 2 * FAULT_POINTER_MAX };

/**
 * Writes to `out` what a line needs before `text`, to name the member at `pointer`. If the text
 * begins with the end of the member's name, as in "cfg.offset[1]: ...", this is the rest of the
 * name, "jobs[3]."; otherwise it is the whole name, "jobs[3].cfg.offset[1]: ". Empty for the root.
 */
void print_place(char out[PRINT_PLACE_MAX], const char *pointer, const char *text);

/** Prints "mlictl: FILE:LINE:COLUMN: PLACE: text" to stderr, without unknown parts, and without
 * FILE if the text names it after the place. */
void print_fault(const char *file, const struct fault *fault);

/** Prints a fault to stderr; --json adds {file, exit, error} on stdout. Returns the exit code. */
enum exit_code print_failure(const struct print_style *style, const char *file,
                             const struct fault *fault);

/** Like print_failure(), for a fault whose text names the file already. */
enum exit_code print_file_failure(const struct print_style *style, const char *file,
                                  const struct fault *fault);

/** Prints that memory is short. Returns EXIT_CODE_FAILED. */
enum exit_code print_no_memory(void);

/** Prints a line to stdout, unless --json or --quiet. */
void print_line(const struct print_style *style, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Like print_line(), for a line of three parts; prints `word` in a colour and without escaping. */
void print_coloured(const struct print_style *style, const char *before, enum colour_role role,
                    const char *word, const char *after);

/** Prints the JSON text and a newline to stdout and finishes `w`. */
void print_json(struct jsonw *w);
/** Ends the object that jsonw_init_object() began, and prints it as print_json() does. */
void print_object(struct jsonw *w);

/** Prints the text to stdout and flushes it; first hides the live line. Finishes `w`. */
void print_text(struct textw *w);

/** Reports on stderr that there is no memory for output. From then on, print_flush() fails. */
void print_lost(void);

/** Flushes stdout. Returns 0, or -1 after an error message if any output was lost. */
int print_flush(void);

/** Writes a fault as member `key`: code, name, status, pointer, line, column, message. */
void print_json_fault(struct jsonw *w, const char *key, const struct fault *fault);
/** Writes a shape as member `key`, an array. */
void print_json_shape(struct jsonw *w, const char *key, uint32_t rank, const uint32_t *shape);

/* Short texts for people; each function returns `out`. */
enum { PRINT_TEXT_MAX = 64, PRINT_PATH_MAX = 132 };
/** Writes a path, or "..." and the end of a path that is longer than size - 1 bytes. */
const char *print_path_end(char *out, size_t size, const char *path);
/** Writes a path for a message, or only the end of a very long path. */
const char *print_path(char out[PRINT_PATH_MAX], const char *path);
/** Writes a shape: "(4, 6, 8)". */
const char *print_shape(char out[PRINT_TEXT_MAX], uint32_t rank, const uint32_t *shape);
/** Writes a size: "192 B", "1.5 KiB". */
const char *print_bytes(char out[PRINT_TEXT_MAX], uint64_t bytes);
/** Returns the plural ending of a noun after a number: "s" or "". */
const char *print_s(uint64_t count);
/** Writes a duration: "850 ns", "12.3 us", "4.56 s". */
const char *print_time(char out[PRINT_TEXT_MAX], uint64_t ns);
/** Writes the time since an event: "850 ms", "12.3 s", "2 min 5 s", "3 h 20 min", "5 d 4 h". */
const char *print_since(char out[PRINT_TEXT_MAX], uint64_t ms);

/* Standard output and error that a cancel can interrupt, even if their readers do not read. */

/**
 * Replaces stdout and stderr by streams that wait for their readers only until a cancel. A reader
 * that does not make room within a second after the cancel gets no more output. Call it after
 * cancel_init(). Returns 0 or -errno.
 */
int streams_init(void);

/* Texts of any bytes (names, messages), escaped by the rules of an output format. */

enum { ESCAPED_MAX = 16 };

/**
 * Returns the replacement of a character, in static storage or in `out`, or null to write the
 * character unchanged.
 */
typedef const char *(*escaped_rule)(uint32_t code, char out[ESCAPED_MAX]);

/** Writes a text, with the characters that the rule replaces. */
void escaped_write(struct textw *w, const char *text, escaped_rule rule);

/** Returns whether a character is a control character: U+0000 to U+001F, U+007F to U+009F. */
bool escaped_is_control(uint32_t code);

/**
 * The rule of markup: characters that have a meaning in markup become entities; null for all
 * others.
 */
const char *escaped_markup(uint32_t code);

/** The rule of terminals and logs: control characters, even newlines, and format characters become
 *  '?'. */
const char *escaped_plain(uint32_t code, char out[ESCAPED_MAX]);

/* A table in text: each column is as wide as its widest cell. */
struct grid {
    const char *columns; /* alignment of each column: 'l' or 'r' */
    struct textw text;   /* all cells, each with a terminating zero */
    size_t cells;
};

/** Makes an empty grid. Borrows `columns`. */
void grid_init(struct grid *grid, const char *columns);
void grid_finish(struct grid *grid);

/**
 * Appends cells, which tabs separate, to the row; a full row ends. The text must be ASCII, and has
 * at most 1023 bytes.
 */
void grid_add(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Writes the rows with `indent` before each and finishes the grid. Out of memory: sets w->failed.
 */
void grid_write(struct grid *grid, const char *indent, struct textw *w);

/*
 * A live line (terminal.h) that shows the progress of one long operation, in bytes:
 *
 *     tile.json: 1.21 GiB of 3.00 GiB, 40 %, 1.31 GiB/s, 0:02 left
 *
 * The line appears on standard error after half a second. There is no line if standard error is not
 * a terminal, if standard output is a pipe, and with --json and --quiet. On a narrow terminal, the
 * label is cut ("long-na...: 1.21 GiB of 3.00 GiB, 40 %"), then the speed is left out.
 */
struct meter {
    const char *label; /* text at the start of the line; borrowed; null: no line is shown */
    uint64_t begin_ns, shown_ns;
};

/** Returns whether a meter shows a line in this style. */
bool meter_wanted(const struct print_style *style);

/** Starts the clock. `label` must stay valid until meter_end(). */
void meter_begin(struct meter *meter, const struct print_style *style, const char *label);

/** Updates the line, at most ten times a second. A call is cheap, so that it can be frequent. */
void meter_show(struct meter *meter, uint64_t done, uint64_t total);

/** Clears the line. */
void meter_end(struct meter *meter);
