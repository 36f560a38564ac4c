/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/output.h"
#include "cli/term/print.h"
#include "proto/file/npy.h"

bool golden_would_help(const struct outcome *outcome)
{
    return outcome->verdict == VERDICT_MISMATCH || outcome->verdict == VERDICT_NO_GOLDEN;
}

/* Writes the elements of a raw output without gaps, row by row. */
static int write_elements(struct output *golden, const struct tensor_file *whole, uint64_t offset,
                          struct fault *fault)
{
    const struct npy_header *header = &whole->header;
    uint32_t at[MLI_MAX_RANK] = {0}, last = header->rank - 1;
    size_t item = header->item_size, row = header->shape[last] * item;
    uint8_t *packed = malloc(row);
    int status = 0;

    if (!packed)
        return fault_no_memory(fault);
    while (status == 0) {
        int64_t from = 0;

        for (uint32_t d = 0; d < last; d++)
            from += (int64_t)at[d] * whole->strides[d];
        for (uint32_t i = 0; i < header->shape[last]; i++)
            memcpy(packed + i * item,
                   whole->data + (from + (int64_t)i * whole->strides[last]) * (int64_t)item, item);
        status = output_write(golden, packed, row, offset, fault);
        offset += row;
        uint32_t d = last;
        while (d-- > 0 && ++at[d] == header->shape[d])
            at[d] = 0;
        if (d == UINT32_MAX)
            break;
    }
    free(packed);
    return status;
}

static int write_npy(struct output *golden, const struct tensor_file *whole, struct fault *fault)
{
    char bytes[NPY_FORMAT_SIZE];
    struct npy_header header = whole->header;

    header.fortran_order = false;
    if (npy_format(&header, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, NULL, "the .npy header is too long");
    if (output_write(golden, bytes, sizeof(bytes), 0, fault))
        return -1;
    return write_elements(golden, whole, sizeof(bytes), fault);
}

/* Writes the output in the format of the golden file: with or without a .npy header. */
static int write_content(struct output *golden, const struct resolved *r, struct fault *fault)
{
    enum file_format format = tensor_spec_format(&r->job->expect.golden);
    bool npy = format == FILE_FORMAT_NPY;
    struct tensor_file whole = r->whole;

    whole.fd = r->output.fd;
    if (format == whole.format)
        return output_copy(golden, whole.fd, (uint64_t)whole.stat.st_size, fault);
    if (tensor_file_map(&whole, fault))
        return -1;
    int status = npy ? write_npy(golden, &whole, fault)
                     : output_write(golden, whole.data, tensor_file_content(&whole), 0, fault);
    if (status == 0)
        status = tensor_file_check(&whole, fault);
    whole.fd = -1; /* whole.fd belongs to the output */
    tensor_file_close(&whole);
    return status;
}

/* Only a regular file is replaced, never the target of a symbolic link. */
static int check_place(const char *path, struct fault *fault)
{
    struct stat status;
    char shown[PRINT_PATH_MAX];

    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s cannot be written: it exists and is not a regular file",
                         print_path(shown, path));
    return 0;
}

static int write_file(const struct resolved *r, const char *path, bool fresh, struct fault *fault)
{
    struct output golden;
    int status = check_place(path, fault);

    if (status)
        return -1;
    if (output_init(&golden, path, NULL, fault) || write_content(&golden, r, fault) ||
        output_commit_synced(&golden, fresh, fault))
        status = -1;
    output_finish(&golden);
    return status;
}

int golden_write(const struct resolved *r, char **text, struct fault *fault)
{
    char *path = NULL, shown[PRINT_PATH_MAX];
    struct fault ignored;
    bool fresh = r->expect.fd < 0;

    *text = NULL;
    if (r->job->expect.kind != EXPECT_FILE) {
        *text = strdup("to accept the result, put the digest after \"got\" into the job file");
        return 0;
    }
    enum file_format format = tensor_spec_format(&r->job->expect.golden);
    if (file_format_is_archive(format))
        return fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "a golden tensor in a .%s file cannot be updated; give it a file of its own",
            file_format_word(format));
    if (asprintf(&path, "%s%s", r->expect_path, fresh ? "" : ".new") < 0)
        return fault_no_memory(fault);
    int status = write_file(r, path, fresh, fault);
    const char *done = "written to", *next = fresh ? "" : "; rename it to accept it";
    if (status && fresh && check_place(path, &ignored) == 0 && access(path, F_OK) == 0) {
        status = 0;
        done = "another case has just written";
        next = "; run again to compare";
    }
    if (status == 0 && asprintf(text, "%s %s%s", done, print_path(shown, path), next) < 0)
        *text = NULL;
    free(path);
    return status;
}
