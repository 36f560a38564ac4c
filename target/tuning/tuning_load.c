/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tuning/tuning_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mli_helpers_api.h"

/* Returns whether the library uses an environment variable. */
static bool is_used(const char *name)
{
    const char *text = getenv(name), *ignored = mli_cpu_ignored(0);

    for (int i = 1; ignored && strcmp(ignored, name) != 0; i++)
        ignored = mli_cpu_ignored(i);
    return text && *text && !ignored;
}

/* Leaves the thresholds unchanged that MLI_STREAM_MIN has set. */
static void keep_environment(mli_tuning *tuning)
{
    mli_tuning now = {.size = sizeof now};

    if (!is_used("MLI_STREAM_MIN") || mli_tuning_get(&now) != MLI_STATUS_OK)
        return;
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (tuning_field_is_threshold(i))
            tuning_field_set(tuning, i, tuning_field_get(&now, i));
}

/*
 * A library that was built without tuning refuses mli_tuning_set(). This is no error if its
 * constants are these values.
 */
static int set(mli_tuning *tuning, struct fault *fault)
{
    mli_tuning now = {.size = sizeof now};

    keep_environment(tuning);
    if (mli_tuning_get(&now) == MLI_STATUS_OK && memcmp(tuning, &now, sizeof now) == 0)
        return 0;
    return mli_tuning_set(tuning) == MLI_STATUS_OK
               ? 0
               : fault_set(fault, FAULT_REFUSED, NULL, "the library refuses the tuning: %s",
                           mli_last_error());
}

static int use_defaults(const struct machine *machine, struct fault *fault)
{
    mli_tuning tuning = {.size = sizeof tuning};

    (void)mli_tuning_default(&tuning, &machine->caches);
    return set(&tuning, fault);
}

static void note_machine(char note[TUNING_NOTE_MAX], const char *path, const struct machine *of,
                         const struct machine *here)
{
    snprintf(note, TUNING_NOTE_MAX,
             "%s is ignored: it was measured on %s (caches of %" PRIu64 ", %" PRIu64 " and %" PRIu64
             " KiB), but this is %s (%" PRIu64 ", %" PRIu64 " and %" PRIu64
             " KiB); mlictl calibrate --kernels measures again",
             path, of->cpu, of->caches.l1d >> 10, of->caches.l2 >> 10, of->caches.l3 >> 10,
             here->cpu, here->caches.l1d >> 10, here->caches.l2 >> 10, here->caches.l3 >> 10);
}

static bool is_level(const struct tuning_file *file)
{
    return file->level[0] == '\0' || strcmp(file->level, mli_cpu_level()) == 0;
}

static void note_level(char note[TUNING_NOTE_MAX], const char *path, const char *level)
{
    snprintf(note, TUNING_NOTE_MAX,
             "%s is ignored: it was measured with the kernels %s, but these are %s; mlictl "
             "calibrate --kernels measures again",
             path, level, mli_cpu_level());
}

int tuning_load(const char *path, enum tuning_use *use, char note[TUNING_NOTE_MAX],
                struct fault *fault)
{
    struct tuning_file file;
    struct machine machine;

    note[0] = '\0';
    *use = TUNING_DEFAULTS;
    if (path && tuning_file_load(&file, path, fault) < 0)
        return -1;
    machine_read(&machine, "");
    if (path && machine_is(&file.machine, &machine) && is_level(&file)) {
        *use = TUNING_FILE;
        return set(&file.tuning, fault);
    }
    if (path) {
        *use = TUNING_IGNORED;
        if (machine_is(&file.machine, &machine))
            note_level(note, path, file.level);
        else
            note_machine(note, path, &file.machine, &machine);
    }
    return use_defaults(&machine, fault);
}

bool tuning_default_path(char path[TUNING_PATH_MAX])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length;

    if (config && config[0] == '/')
        length = snprintf(path, TUNING_PATH_MAX, "%s/mli/tuning.json", config);
    else if (home && home[0] == '/')
        length = snprintf(path, TUNING_PATH_MAX, "%s/.config/mli/tuning.json", home);
    else
        length = -1;
    return length > 0 && length < TUNING_PATH_MAX && access(path, R_OK) == 0;
}
