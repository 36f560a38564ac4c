/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/save_text.h"

#include "cli/file/output.h"

static int save(const struct textw *w, const char *path, const char *begin, const char *what,
                struct fault *fault)
{
    struct output output;
    int status = output_init(&output, path, NULL, fault);

    if (status == 0)
        status = output_check_begin(&output, begin, what, fault);
    if (status == 0)
        status = output_write(&output, w->data, w->length, 0, fault);
    if (status == 0)
        status = output_commit_synced(&output, false, fault);
    output_finish(&output);
    return status;
}

int save_text(struct textw *w, const char *path, const char *begin, const char *what,
              struct fault *fault)
{
    const int status = w->failed ? fault_no_memory(fault) : save(w, path, begin, what, fault);

    textw_finish(w);
    return status;
}
