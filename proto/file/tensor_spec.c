/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/tensor_spec.h"

#include <stdlib.h>
#include <string.h>

#include "proto/file/file_limits.h"
#include "proto/json/members.h"
#include "proto/wire/job_common.h"
#include "proto/wire/job_ref.h"

const char *const tensor_spec_src_keys[] = {
    "file", "buffer", "format", "tensor", "offset", "memory", "dtype", TENSOR_DESC_KEYS, NULL};
const char *const tensor_spec_dst_keys[] = {
    "file",    "buffer", "update", "params",     "format",          "offset",    "memory", "shape",
    "strides", "axis",   "scale",  "zero_point", "scale_frac_bits", "frac_bits", NULL};

#define FORMAT_WORD(name, word) word,
const char *const file_format_words[] = {FILE_FORMAT_TABLE(FORMAT_WORD) NULL};
#undef FORMAT_WORD

#define DTYPE_WORD(name, ...) name,
static const char *const dtype_words[] = {DTYPE_TABLE(DTYPE_WORD) NULL};
#undef DTYPE_WORD

const char *file_format_word(enum file_format format)
{
    return file_format_words[format - 1];
}

enum file_format file_format_from_word(const char *word)
{
    for (unsigned i = 0; file_format_words[i]; i++) {
        if (strcmp(file_format_words[i], word) == 0)
            return (enum file_format)(i + 1);
    }
    return FILE_FORMAT_AUTO;
}

bool file_format_is_archive(enum file_format format)
{
    return format != FILE_FORMAT_AUTO && format != FILE_FORMAT_NPY && format != FILE_FORMAT_RAW;
}

bool file_format_is_in_place(enum file_format format)
{
    return file_format_is_archive(format) && format != FILE_FORMAT_NPZ;
}

enum file_format file_format_of_name(const char *file)
{
    const char *dot = strrchr(file, '.');
    enum file_format format = dot ? file_format_from_word(dot + 1) : FILE_FORMAT_AUTO;

    return format != FILE_FORMAT_AUTO ? format : FILE_FORMAT_RAW;
}

enum file_format tensor_spec_format(const struct tensor_spec *spec)
{
    if (spec->format != FILE_FORMAT_AUTO)
        return spec->format;
    return spec->file ? file_format_of_name(spec->file) : FILE_FORMAT_RAW;
}

void tensor_spec_finish(struct tensor_spec *spec)
{
    free(spec->file);
    free(spec->buffer);
    free(spec->tensor);
    free(spec->params);
    tensor_desc_finish(&spec->desc);
    *spec = (struct tensor_spec){0};
}

static int read_format(struct tensor_spec *spec, const struct json *object)
{
    struct json value = json_member(object, "format");
    size_t index;

    if (!json_present(&value))
        return 0;
    if (json_choice(&value, file_format_words, &index) < 0)
        return -1;
    spec->format = (enum file_format)(index + 1);
    return 0;
}

int tensor_spec_read_place(struct tensor_spec *spec, const struct json *object)
{
    struct json file = json_member(object, "file"), buffer = json_member(object, "buffer");
    struct json tensor = json_member(object, "tensor");
    struct json update = json_member(object, "update");
    struct json parameters = json_member(object, "params");

    if (json_present(&file) && json_string_copy(&file, JOB_PATH_MAX, &spec->file) < 0)
        return -1;
    if (json_present(&buffer) && job_name_read(&buffer, &spec->buffer) < 0)
        return -1;
    if (json_present(&tensor) && json_string_copy(&tensor, JOB_TENSOR_MAX, &spec->tensor) < 0)
        return -1;
    if (json_present(&update) && json_bool(&update, &spec->update) < 0)
        return -1;
    if (json_present(&parameters) && json_string_copy(&parameters, JOB_PATH_MAX, &spec->params) < 0)
        return -1;
    if (read_format(spec, object) < 0 || memory_name_read(object, spec->memory) < 0)
        return -1;
    return optional_u64(object, "offset", &spec->offset);
}

/* Refuses the members of `keys` with the message `why`. */
static int forbid(const struct json *object, const char *const *keys, const char *why)
{
    for (; *keys; keys++) {
        struct json member = json_member(object, *keys);

        if (json_present(&member))
            return json_complain(&member, "%s", why);
    }
    return 0;
}

/* Requires either "file" or "buffer"; with "buffer", refuses the members that describe a file. */
static int check_holder(const struct tensor_spec *spec, const struct json *object)
{
    static const char *const of_file[] = {"format", "tensor", "update", "params", NULL};
    static const char *const memory[] = {"memory", NULL};
    struct json buffer = json_member(object, "buffer");

    if (!spec->buffer)
        return member_require(object, "file", "the tensor's file or buffer is required");
    if (spec->file)
        return json_complain(&buffer, "given beside \"file\"; only one of the two is allowed");
    if (forbid(object, of_file, "describes a file; not allowed with \"buffer\"") < 0)
        return -1;
    return forbid(object, memory,
                  "the tensor is in the memory of its buffer; give \"memory\" in \"buffers\"");
}

static const char *const in_npy_header[] = {"shape", "strides", "offset", "dtype", NULL};
static const char *const npy_says = "stated in the header of the .npy file; remove it from the job";
static const char *const archive_says = "stated in the archive; remove it from the job";

int tensor_spec_check_archive(const struct tensor_spec *spec, const struct json *object)
{
    static const char *const tensor[] = {"tensor", NULL};

    return file_format_is_archive(tensor_spec_format(spec))
               ? 0
               : forbid(object, tensor,
                        "names a tensor of an archive or a model; this file holds a single tensor");
}

void tensor_spec_write_place(struct jsonw *w, const struct tensor_spec *spec)
{
    if (spec->file)
        jsonw_string(w, "file", spec->file);
    if (spec->buffer)
        jsonw_string(w, "buffer", spec->buffer);
    if (spec->format != FILE_FORMAT_AUTO)
        jsonw_string(w, "format", file_format_word(spec->format));
    if (spec->tensor)
        jsonw_string(w, "tensor", spec->tensor);
    if (spec->update)
        jsonw_bool(w, "update", true);
    if (spec->params)
        jsonw_string(w, "params", spec->params);
    if (spec->memory[0] != '\0')
        jsonw_string(w, "memory", spec->memory);
    if (spec->dtype)
        jsonw_string(w, "dtype", spec->dtype);
}

static int read_dtype(struct tensor_spec *src, const struct json *object)
{
    struct json value = json_member(object, "dtype");
    size_t index;

    if (!json_present(&value))
        return 0;
    if (json_choice(&value, dtype_words, &index) < 0)
        return -1;
    src->dtype = dtype_words[index];
    return 0;
}

int tensor_spec_read_src(struct tensor_spec *src, const struct json *object)
{
    const char *no_header = "a raw file has no header that states it";

    if (json_object(object, tensor_spec_src_keys) < 0 || tensor_spec_read_place(src, object) < 0 ||
        check_holder(src, object) < 0)
        return -1;
    if (src->buffer)
        no_header = "a buffer has no header that states it";
    if (tensor_spec_check_archive(src, object) < 0)
        return -1;
    if (tensor_spec_format(src) != FILE_FORMAT_RAW) {
        bool archive = file_format_is_archive(tensor_spec_format(src));

        if (forbid(object, in_npy_header, archive ? archive_says : npy_says) < 0)
            return -1;
    } else if (member_require(object, "shape", no_header) < 0 ||
               member_require(object, "type", no_header) < 0) {
        return -1;
    }
    if (read_dtype(src, object) < 0)
        return -1;
    return tensor_desc_read(&src->desc, object);
}

/* Refuses archives. The fault is at "format" if that member is given, else at "file". */
static int check_dst_format(const struct tensor_spec *dst, const struct json *object)
{
    struct json given = json_member(object, dst->format != FILE_FORMAT_AUTO ? "format" : "file");
    enum file_format format = tensor_spec_format(dst);

    if (!file_format_is_archive(format))
        return 0;
    return json_complain(&given, "a .%s file can be read, not written; write a .npy or a raw file",
                         file_format_word(format));
}

static int check_dst_members(const struct tensor_spec *dst, const struct json *object)
{
    static const char *const of_existing[] = {"shape",      "offset",          "axis",      "scale",
                                              "zero_point", "scale_frac_bits", "frac_bits", NULL};
    static const char *const quantisation[] = {"axis",      "scale",           "zero_point",
                                               "frac_bits", "scale_frac_bits", NULL};
    bool npy = tensor_spec_format(dst) == FILE_FORMAT_NPY;

    if (dst->buffer)
        return forbid(object, quantisation,
                      "a buffer holds elements only; give the parameters in the src that reads it");
    if (npy && dst->update)
        return forbid(object, in_npy_header, npy_says);
    if (!dst->update &&
        forbid(object, of_existing,
               "describes an existing tensor; allowed only with \"update\": true") < 0)
        return -1;
    if (npy) {
        static const char *const strides[] = {"strides", NULL};
        return forbid(object, strides, "a .npy file is always packed");
    }
    return 0;
}

int tensor_spec_read_dst(struct tensor_spec *dst, const struct tensor_spec *src,
                         const struct json *object)
{
    if (json_object(object, tensor_spec_dst_keys) < 0 || tensor_spec_read_place(dst, object) < 0 ||
        check_holder(dst, object) < 0 || check_dst_format(dst, object) < 0 ||
        check_dst_members(dst, object) < 0 || tensor_desc_read(&dst->desc, object) < 0)
        return -1;
    return job_check_dst(&src->desc, &dst->desc, object);
}
