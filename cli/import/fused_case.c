/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/fused_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/optimise/optimise.h"

static int save(struct import *import, struct import_node *root, struct import_output *output,
                const struct optimised *result, struct fault *fault)
{
    char name[IMPORT_NAME_MAX + 16];

    root->chain_jobs = result->before.jobs;
    root->fused_jobs = result->after.jobs;
    if (result->after.jobs >= result->before.jobs)
        return 0;
    import->fused++;
    snprintf(name, sizeof(name), "%s.fused.json", root->name);
    return import_output_text(output, name, result->text.data, result->text.length, fault);
}

int fused_case_write(struct import *import, struct import_node *root, struct import_output *output,
                     const struct jsonw *chain, struct fault *fault)
{
    const struct optimise_request request = {
        .intermediates = {.all = true}, .raw = true, .options = import->request->options};
    const struct text text = {.bytes = chain->data, .length = chain->length};
    struct optimised result;
    struct job_file file;
    char *path = NULL;
    int status;

    if (asprintf(&path, "%s/%s.fused.json", output->hidden, root->name) < 0)
        return fault_no_memory(fault);
    status = job_file_load_text(&file, path, &text, fault);
    if (status == 0) {
        status = optimise(&result, &file, &request, fault);
        if (status == 0)
            status = save(import, root, output, &result, fault);
        optimised_finish(&result);
        job_file_finish(&file);
    }
    free(path);
    return status;
}
