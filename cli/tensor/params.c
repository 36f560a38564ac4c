/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/params.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/text.h"
#include "cli/term/print.h"
#include "proto/file/job_file.h"
#include "proto/file/job_spec.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

static int parse(struct tensor_desc *desc, const struct text *text, struct fault *fault)
{
    struct json root;

    if (json_file_parse(text->bytes, text->length, &job_file_limits, &root, fault))
        return -1;
    const int status = tensor_desc_read_params(desc, &root);
    json_free(&root);
    return status;
}

int params_load(struct tensor_desc *desc, const char *path, int fd, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];
    struct text text = {0};
    int status;

    *desc = (struct tensor_desc){0};
    if (fd < 0)
        status = text_load(&text, path, JOB_FILE_BYTES_MAX, true, fault);
    else if (lseek(fd, 0, SEEK_SET) < 0)
        status = fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    else
        status = text_read(&text, fd, JOB_FILE_BYTES_MAX, fault);
    if (status == 0)
        status = parse(desc, &text, fault);
    text_finish(&text);
    if (status) {
        json_file_name(fault, print_path(shown, path));
        fault->has_pointer = false; /* it points into the file of parameters */
        fault->line = fault->column = 0;
    }
    return status;
}

char *params_text(const struct tensor_desc *desc)
{
    struct tensor_desc only = *desc; /* copies pointers: the arrays are borrowed */
    struct jsonw w;

    only.rank = only.stride_count = 0;
    only.has_strides = false;
    jsonw_init_object(&w);
    tensor_desc_write(&w, &only);
    jsonw_object_end(&w);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    char *copy = text ? strdup(text) : NULL;
    jsonw_finish(&w);
    return copy;
}
