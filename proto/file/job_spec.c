/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "proto/file/job_spec.h"
#include "proto/file/npy.h"
#include "proto/wire/wire_limits.h"

static const char prefix[] = "sha256:";

enum { PREFIX_LENGTH = sizeof prefix - 1 };

/* Does not use isxdigit(), which depends on the locale. */
static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool sha256_from_text(const char *text, uint8_t digest[SHA256_SIZE])
{
    if (strlen(text) != SHA256_TEXT_SIZE - 1 || memcmp(text, prefix, PREFIX_LENGTH) != 0)
        return false;
    text += PREFIX_LENGTH;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        int high = value_of(text[2 * i]), low = value_of(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

const char *sha256_to_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *at = out + PREFIX_LENGTH;

    memcpy(out, prefix, PREFIX_LENGTH);
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        *at++ = digits[digest[i] >> 4];
        *at++ = digits[digest[i] & 15];
    }
    *at = '\0';
    return out;
}

const char *const tensor_spec_src_keys[] = {
    "file", "buffer", "format", "tensor", "offset", "memory", "dtype", TENSOR_DESC_KEYS, NULL};
const char *const tensor_spec_dst_keys[] = {
    "file",    "buffer", "update", "params",     "format",          "offset",    "memory", "shape",
    "strides", "axis",   "scale",  "zero_point", "scale_frac_bits", "frac_bits", NULL};

#define FORMAT_WORD(name, word) word,
const char *const file_format_words[] = {FILE_FORMAT_TABLE(FORMAT_WORD) NULL};
#undef FORMAT_WORD

const char *file_format_word(enum file_format format)
{
    return file_format_words[format - 1];
}

/* Returns the format with that word, or FILE_FORMAT_AUTO if no format has this word. */
static enum file_format file_format_from_word(const char *word)
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
    const char *dot = strcmp(file, "-") == 0 ? ".npy" : strrchr(file, '.');
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

static int read_text(const struct json *object, const char *key, size_t max, char **out)
{
    struct json value = json_member(object, key);

    return json_present(&value) ? json_string_copy(&value, max, out) : 0;
}

/* Reads the members that name a tensor in a file. */
static int read_names(struct tensor_spec *spec, const struct json *object)
{
    if (read_text(object, "file", JOB_PATH_MAX, &spec->file) < 0 ||
        read_text(object, "tensor", JOB_TENSOR_MAX, &spec->tensor) < 0)
        return -1;
    return read_format(spec, object);
}

int tensor_spec_read_place(struct tensor_spec *spec, const struct json *object)
{
    struct json buffer = json_member(object, "buffer");

    if (read_names(spec, object) < 0 ||
        (json_present(&buffer) && job_name_read(&buffer, &spec->buffer) < 0) ||
        optional_bool(object, "update", &spec->update) < 0 ||
        read_text(object, "params", JOB_PATH_MAX, &spec->params) < 0 ||
        memory_name_read(object, spec->memory) < 0)
        return -1;
    return optional_u64(object, "offset", &spec->offset);
}

static const char *const expect_keys[] = {"file",  "format",  "tensor", "digest",
                                          "error", "pointer", "params", NULL};

/* Refuses an object that has a member of `keys`; `why` is the message. */
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

/* Refuses the member "tensor" if the file is not an archive. */
static int tensor_spec_check_archive(const struct tensor_spec *spec, const struct json *object)
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
    } else if (member_require(object, "shape", no_header) < 0) {
        return -1;
    }
    if (read_dtype(src, object) < 0 || tensor_desc_read_file(&src->desc, object) < 0)
        return -1;
    /* A dtype implies an element type. */
    return tensor_spec_format(src) != FILE_FORMAT_RAW || src->dtype
               ? 0
               : member_require(object, "type", no_header);
}

/* Refuses an archive as dst. The fault is at "format" if that member is given, else at "file". */
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
    static const char *const of_whole[] = {"offset",          "axis",      "scale", "zero_point",
                                           "scale_frac_bits", "frac_bits", NULL};
    const char *const *quantisation = of_whole + 1;
    struct json shape = json_member(object, "shape");
    bool npy = tensor_spec_format(dst) == FILE_FORMAT_NPY;

    if (dst->buffer)
        return forbid(object, quantisation,
                      "a buffer holds elements only; give the parameters in the src that reads it");
    if (npy && dst->update)
        return forbid(object, in_npy_header, npy_says);
    if (!dst->update && !json_present(&shape) &&
        forbid(
            object, of_whole,
            "describes the tensor of which the job writes a part; allowed only with \"shape\" or "
            "\"update\": true") < 0)
        return -1;
    if (npy) {
        static const char *const layout[] = {"strides", "offset", NULL};
        return forbid(object, layout, "a .npy file is always packed, after its header");
    }
    return 0;
}

int tensor_spec_read_dst(struct tensor_spec *dst, const struct tensor_spec *src,
                         const struct json *object)
{
    if (json_object(object, tensor_spec_dst_keys) < 0 || tensor_spec_read_place(dst, object) < 0 ||
        check_holder(dst, object) < 0 || check_dst_format(dst, object) < 0 ||
        check_dst_members(dst, object) < 0 || tensor_desc_read_file(&dst->desc, object) < 0)
        return -1;
    return job_check_dst(&src->desc, &dst->desc, object);
}

#define STATUS_NAME(name, value, text) "MLI_STATUS_" #name,
#define FAULT_NAME(name, code, text)   #name,
static const char *const error_names[] = {MLI_STATUS_TABLE(STATUS_NAME) FAULT_TABLE(FAULT_NAME)
                                              NULL};

void expectation_finish(struct expectation *expect)
{
    tensor_spec_finish(&expect->golden);
    free(expect->pointer);
    *expect = (struct expectation){0};
}

static int read_digest(struct expectation *expect, const struct json *object)
{
    struct json value = json_member(object, "digest");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, PROTO_NAME_MAX, &text) < 0)
        return -1;
    if (!sha256_from_text(text, expect->digest))
        return json_complain(&value, "\"sha256:\" and %d hexadecimal digits are required",
                             2 * SHA256_SIZE);
    return 0;
}

static const char *find_error(const char *name)
{
    for (size_t i = 0; error_names[i]; i++) {
        if (strcmp(error_names[i], name) == 0)
            return error_names[i];
    }
    return NULL;
}

static int read_error(struct expectation *expect, const struct json *object)
{
    struct json value = json_member(object, "error");
    char status[PROTO_NAME_MAX + sizeof "MLI_STATUS_"];
    const char *given;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, PROTO_NAME_MAX, &given) < 0)
        return -1;
    expect->error = find_error(given);
    if (expect->error && strcmp(given, mli_status_name(MLI_STATUS_OK)) == 0)
        return json_complain(&value, "%s is not an error", given);
    if (expect->error)
        return 0;
    snprintf(status, sizeof status, "MLI_STATUS_%s", given);
    if (find_error(status))
        return json_complain(&value, "\"%s\" is unknown; did you mean \"%s\"?", given, status);
    return json_complain_choice(&value, given, error_names + 1); /* omit MLI_STATUS_OK */
}

/* Reads "pointer": the expected pointer of the fault, relative to the job. */
static int read_pointer(struct expectation *expect, const struct json *object)
{
    struct json value = json_member(object, "pointer");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, FAULT_POINTER_MAX - 1, &text) < 0)
        return -1;
    if (text[0] != '/')
        return json_complain(
            &value, "a JSON pointer relative to the job is required, such as \"/cfg/size\"");
    return json_string_copy(&value, FAULT_POINTER_MAX - 1, &expect->pointer);
}

/* Reads the expected parameters: the name of a file, or an object with the parameters. */
static int read_params(struct expectation *expect, const struct json *object)
{
    struct json params = json_member(object, "params");

    expect->has_params = json_present(&params);
    if (!expect->has_params)
        return 0;
    if (json_is_object(&params))
        return tensor_desc_read_params(&expect->golden.desc, &params);
    if (json_is_int(&params) || json_is_array(&params))
        return json_complain(&params,
                             "the name of a file or an object with parameters is required");
    return json_string_copy(&params, JOB_PATH_MAX, &expect->golden.params);
}

static int read_members(struct expectation *expect, const struct json *object)
{
    if (json_object(object, expect_keys) < 0 || read_names(&expect->golden, object) < 0 ||
        read_params(expect, object) < 0 || read_digest(expect, object) < 0 ||
        read_error(expect, object) < 0)
        return -1;
    return read_pointer(expect, object);
}

int expectation_check_members(const struct json *object)
{
    struct expectation scratch = {0};
    int status = json_present(object) ? read_members(&scratch, object) : 0;

    expectation_finish(&scratch);
    return status;
}

/* Requires exactly one of "file", "digest" and "error", and no member of another kind. */
static int find_kind(struct expectation *expect, const struct json *object)
{
    static const char *const kind_keys[] = {
        [EXPECT_FILE] = "file", [EXPECT_DIGEST] = "digest", [EXPECT_ERROR] = "error"};
    struct json format = json_member(object, "format"), tensor = json_member(object, "tensor");
    struct json pointer = json_member(object, "pointer"), params = json_member(object, "params");

    for (size_t kind = EXPECT_FILE; kind <= EXPECT_ERROR; kind++) {
        struct json member = json_member(object, kind_keys[kind]);

        if (!json_present(&member))
            continue;
        if (expect->kind != EXPECT_NOTHING)
            return json_complain(&member, "given beside \"%s\"; only one of the two is allowed",
                                 kind_keys[expect->kind]);
        expect->kind = (enum expectation_kind)kind;
    }
    if (expect->kind == EXPECT_NOTHING)
        return json_complain(object, "\"file\", \"digest\" or \"error\" is required");
    if (expect->kind != EXPECT_FILE && (json_present(&format) || json_present(&tensor)))
        return json_complain(json_present(&format) ? &format : &tensor,
                             "describes a golden file; allowed only with \"file\"");
    if (expect->kind == EXPECT_ERROR && json_present(&params))
        return json_complain(&params, "a job that fails has no result; allowed only with \"file\" "
                                      "or \"digest\"");
    if (expect->kind != EXPECT_ERROR && json_present(&pointer))
        return json_complain(&pointer, "is the place of an error; allowed only with \"error\"");
    return 0;
}

int expectation_read(struct expectation *expect, const struct json *object)
{
    if (!json_present(object))
        return 0;
    if (read_members(expect, object) < 0 || find_kind(expect, object) < 0)
        return -1;
    if (expect->kind != EXPECT_FILE)
        return 0;
    return tensor_spec_check_archive(&expect->golden, object);
}

void expectation_write_members(struct jsonw *w, const struct expectation *expect)
{
    char digest[SHA256_TEXT_SIZE];

    tensor_spec_write_place(w, &expect->golden);
    if (expect->has_params && !expect->golden.params) {
        jsonw_object_begin(w, "params");
        tensor_desc_write(w, &expect->golden.desc);
        jsonw_object_end(w);
    }
    if (expect->kind == EXPECT_DIGEST)
        jsonw_string(w, "digest", sha256_to_text(expect->digest, digest));
    else if (expect->kind == EXPECT_ERROR)
        jsonw_string(w, "error", expect->error);
    if (expect->pointer)
        jsonw_string(w, "pointer", expect->pointer);
}

void expectation_write(struct jsonw *w, const char *key, const struct expectation *expect)
{
    if (expect->kind == EXPECT_NOTHING)
        return;
    jsonw_object_begin(w, key);
    expectation_write_members(w, expect);
    jsonw_object_end(w);
}

const char *expectation_error_name(const struct fault *fault)
{
    return fault->code == FAULT_REFUSED ? mli_status_name(fault->status) : fault_name(fault->code);
}

bool expectation_names(const struct expectation *expect, const struct fault *fault)
{
    return strcmp(expect->error, fault_name(fault->code)) == 0 ||
           strcmp(expect->error, expectation_error_name(fault)) == 0;
}

bool expectation_points_at(const struct expectation *expect, const struct fault *fault)
{
    if (!expect->pointer)
        return true;
    return fault->has_pointer && strcmp(expect->pointer, fault->pointer) == 0;
}

void buffer_specs_finish(struct buffer_spec *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(buffers[i].name);
    free(buffers);
}

void buffer_specs_write(struct jsonw *w, const struct buffer_spec *buffers, size_t count)
{
    if (count == 0)
        return;
    jsonw_array_begin(w, "buffers");
    for (size_t i = 0; i < count; i++) {
        const struct buffer_spec *buffer = &buffers[i];
        char address[32];

        jsonw_object_begin(w, NULL);
        jsonw_string(w, "name", buffer->name);
        jsonw_uint(w, "bytes", buffer->bytes);
        if (buffer->memory[0] != '\0')
            jsonw_string(w, "memory", buffer->memory);
        if (buffer->has_address) {
            snprintf(address, sizeof address, "0x%" PRIx64, buffer->address);
            jsonw_string(w, "address", address);
        }
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static int read_bytes(struct buffer_spec *buffer, const struct json *object)
{
    struct json bytes = json_member(object, "bytes");
    int64_t number;

    if (json_int(&bytes, 1, MEMBER_MAX, &number) < 0)
        return -1;
    buffer->bytes = (uint64_t)number;
    return 0;
}

static int read_address(struct buffer_spec *buffer, const struct json *object)
{
    struct json address = json_member(object, "address");

    if (!json_present(&address))
        return 0;
    if (buffer->memory[0] == '\0')
        return json_complain(&address, "allowed only with \"memory\"");
    buffer->has_address = true;
    return address_read(&address, MEMBER_MAX, &buffer->address);
}

static int read_buffer(struct buffer_spec *buffer, const struct json *object)
{
    static const char *const keys[] = {"name", "bytes", "memory", "address", NULL};
    struct json name = json_member(object, "name");

    if (json_object(object, keys) < 0 ||
        member_require(object, "name", "jobs name the buffer") < 0 ||
        job_name_read(&name, &buffer->name) < 0 || read_bytes(buffer, object) < 0 ||
        memory_name_read(object, buffer->memory) < 0)
        return -1;
    return read_address(buffer, object);
}

int buffer_specs_read(const struct json *array, struct buffer_spec **buffers, size_t *count)
{
    struct json item = {0};
    size_t length;

    *buffers = NULL;
    *count = 0;
    if (!json_present(array))
        return 0;
    if (array_within(array, JOB_FILE_BUFFERS_MAX, &length) < 0)
        return -1;
    if (length == 0)
        return 0;
    *buffers = calloc(length, sizeof **buffers);
    if (!*buffers)
        return fault_set(array->fault, FAULT_INTERNAL, NULL, "no memory for %zu buffers", length);
    while (json_next(array, &item)) {
        if (read_buffer(&(*buffers)[(*count)++], &item) < 0)
            return -1;
    }
    return 0;
}
