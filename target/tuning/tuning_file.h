/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tuning files: the tuning of libmli's kernels (mli_tuning.h) that `mlictl calibrate --kernels` has
 * measured on a machine. mlid and mlictl read them. The data flow:
 *
 *     file -> tuning_file.c  checks the text, fills struct tuning_file
 *          -> tuning_load.c  compares the machine, hands the tuning to the library
 *
 * conf/tuning.schema.json is the schema. "values" has the members of MLI_TUNING_TABLE: to add a
 * member, start in libmli/src/exec/tuning.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_tuning.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

/* The machine that a tuning was measured on: its processor and the caches that Linux reports. */

enum { MACHINE_CPU_MAX = 128 };

struct machine {
    char cpu[MACHINE_CPU_MAX]; /* model of the processor; "unknown" if it is not reported */
    mli_caches caches;         /* bytes; 0: not reported */
};

/**
 * Reads the machine: the caches from sys/devices/system/cpu/cpu0 below `root` ("" for the running
 * system), the model from the processor itself or, on AArch64, from the same folder. Files that are
 * missing or have another form count as not reported.
 */
void machine_read(struct machine *machine, const char *root);

/** Returns whether two machines have equal processors and caches. */
bool machine_is(const struct machine *a, const struct machine *b);

/* A member of mli_tuning, without `size`. */
struct tuning_field {
    const char *name;
    size_t at; /* offset in mli_tuning */
    uint64_t least, most, multiple;
};

#define TUNING_FIELD_ONE(name, least, most, multiple) +1
enum { TUNING_FIELDS = 0 MLI_TUNING_TABLE(TUNING_FIELD_ONE), TUNING_FILE_MAX = 64 * 1024 };

extern const struct tuning_field tuning_fields[TUNING_FIELDS];

/** Read and write a member by its index. */
uint64_t tuning_field_get(const mli_tuning *tuning, size_t index);
void tuning_field_set(mli_tuning *tuning, size_t index, uint64_t value);

/** Returns the index of a member, or TUNING_FIELDS. */
size_t tuning_field_named(const char *name);

/** Returns whether the member is a threshold of streaming (stream_*_min). */
bool tuning_field_is_threshold(size_t index);

enum { TUNING_WORD_MAX = 32 };

struct tuning_file {
    struct machine machine;
    char level[TUNING_WORD_MAX];   /* mli_cpu_level() during the measurement */
    char library[TUNING_WORD_MAX]; /* mli_version() */
    char date[TUNING_WORD_MAX];    /* UTC, as in 2026-11-22T18:30:00Z */
    uint64_t seconds;              /* duration of the measurement in seconds */
    mli_tuning tuning;             /* values that the kernels use */
    mli_tuning defaults;           /* defaults of the machine */
    uint64_t gain[TUNING_FIELDS];  /* share of the default's time that is saved, in thousandths */
};

/**
 * Reads the text of a tuning file. Values that the file does not have are the defaults for its
 * caches. Returns 0, or -1 with *fault filled.
 */
int tuning_file_parse(struct tuning_file *file, const char *text, size_t length,
                      struct fault *fault);

/**
 * Reads a file in the way in which tuning_file_parse() reads a text; the message names the file.
 */
int tuning_file_load(struct tuning_file *file, const char *path, struct fault *fault);

/** Writes the object of a tuning file. */
void tuning_file_write(const struct tuning_file *file, struct jsonw *w, const char *key);

/* The tuning of the process: that of a file, or the defaults for the caches of this machine. */

enum { TUNING_PATH_MAX = 4096, TUNING_NOTE_MAX = 2 * TUNING_PATH_MAX };

/** The origin of the tuning. */
enum tuning_use {
    TUNING_DEFAULTS, /* no file: the defaults for the caches of this machine */
    TUNING_FILE,     /* the values of the file */
    TUNING_IGNORED   /* the defaults, because the file is for another machine or kernel level */
};

/**
 * Makes the tuning of a file the tuning of the process. Without a file (path null), and with a file
 * of another processor, other caches or another level of kernels, uses the defaults for the caches
 * of this machine. The environment variable MLI_STREAM_MIN, if set, keeps its effect on the
 * thresholds of streaming.
 *
 * @param use  out: the origin of the tuning
 * @param note out: one line for the user if a file was ignored, else empty
 *
 * Returns 0, or -1 with *fault filled: the file cannot be read or has bad values, or the library
 * refuses the tuning. Call it before transfers start; a library built without tuning keeps its
 * constants and refuses files.
 */
int tuning_load(const char *path, enum tuning_use *use, char note[TUNING_NOTE_MAX],
                struct fault *fault);

/**
 * Sets *path to mli/tuning.json in $XDG_CONFIG_HOME, or in .config of $HOME. Returns whether this
 * file exists.
 */
bool tuning_default_path(char path[TUNING_PATH_MAX]);
