/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands a tuning to the library: that of a file, or the defaults for the caches of this machine. */
#ifndef TARGET_TUNING_LOAD_H
#define TARGET_TUNING_LOAD_H

#include "target/tuning/tuning_file.h"

enum { TUNING_PATH_MAX = 4096, TUNING_NOTE_MAX = 2 * TUNING_PATH_MAX };

/** The origin of the tuning. */
enum tuning_use {
    TUNING_DEFAULTS, /* no file: the defaults for the caches of this machine */
    TUNING_FILE,     /* the values of the file */
    TUNING_IGNORED   /* a file of another machine or level of kernels: the defaults */
};

/**
 * Makes the tuning of a file the tuning of the process. Without a file (path null), and with a file
 * of another processor, other caches or another level of kernels, uses the defaults for the caches
 * of this machine. The environment variable MLI_STREAM_MIN, if set, keeps its effect on the
 * thresholds of streaming.
 *
 * @param use  out: what was done
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

#endif /* TARGET_TUNING_LOAD_H */
