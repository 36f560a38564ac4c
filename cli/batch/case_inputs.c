/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/case_inputs.h"

#include <string.h>

#include "cli/batch/resume.h"
#include "cli/file/text.h"
#include "cli/job/job_files.h"
#include "cli/term/print.h"
#include "proto/file/file_limits.h"
#include "proto/wire/xxh64.h"

uint64_t case_inputs_of(const struct fingerprint *fingerprint)
{
    struct xxh64 x;

    xxh64_init(&x);
    xxh64_add(&x, &fingerprint->job_file, sizeof(fingerprint->job_file));
    for (size_t i = 0; fingerprint->known && i < fingerprint->count; i++) {
        const struct input_file *file = &fingerprint->files[i];
        const char *role = input_role_text(file->role);

        xxh64_add(&x, role, strlen(role) + 1);
        xxh64_add(&x, file->name, strlen(file->name) + 1);
        xxh64_add(&x, file->content.word, strlen(file->content.word) + 1);
    }
    return xxh64_value(&x);
}

int case_inputs_read(const char *path, struct contents *contents, uint64_t *inputs,
                     struct fault *fault)
{
    struct fingerprint fingerprint = {.known = true};
    struct job_file file;
    struct text text = {0};
    struct fault ignored;
    char shown[PRINT_PATH_MAX];
    const int status = text_load(&text, path, JOB_FILE_BYTES_MAX, true, fault);

    if (status) {
        const struct fault why = *fault;

        fault_set(fault, why.code, NULL, "%s: %s", print_path(shown, path), why.text);
    } else {
        fingerprint.job_file = digest64(text.bytes, text.length);
        /* An invalid job file has no other inputs. */
        if (job_file_load_text(&file, path, &text, &ignored) == 0) {
            resume_note_inputs(&fingerprint, &file, contents);
            job_file_finish(&file);
        }
        *inputs = case_inputs_of(&fingerprint);
    }
    fingerprint_finish(&fingerprint);
    text_finish(&text);
    return status;
}
