/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file/regular.h"
#include "cli/job/outcome.h"
#include "cli/term/cancel.h"
#include "mli_helpers_api.h"
#include "proto/file/job_spec.h"

void outcome_finish(struct outcome *outcome)
{
    job_result_finish(&outcome->result);
    *outcome = (struct outcome){0};
}

void outcome_describe(struct outcome *outcome, const struct resolved *resolved)
{
    outcome->src = resolved->src.header;
    outcome->dst = resolved->whole.header;
    outcome->type = resolved->wire.src.desc.type;
    outcome->described = true;
}

/*
 * Writes a status and a JSON pointer, for example "MLI_STATUS_BAD_FUNC_CFG at /cfg/size"; the
 * pointer may be missing.
 */
enum { ERROR_TEXT_MAX = 64 + FAULT_POINTER_MAX };

static const char *error_text(char out[ERROR_TEXT_MAX], const char *name, const char *pointer)
{
    snprintf(out, ERROR_TEXT_MAX, "%s%s%s", name, pointer && *pointer ? " at " : "",
             pointer ? pointer : "");
    return out;
}

/* Returns whether a cancel or a lost daemon ended the job: neither can be the expected error. */
static bool is_disturbed(const struct fault *fault, bool lost)
{
    return lost || cancel_requested() || fault->code == FAULT_CANCELLED ||
           fault->code == FAULT_STREAM_ERROR;
}

static void complain_other(const struct expectation *expect, struct fault *fault)
{
    /* If the codes are equal, only the pointers can differ: print the fault's pointer. */
    bool named = expectation_names(expect, fault);
    const char *pointer = named && fault->has_pointer ? fault->pointer : NULL;
    char wanted[ERROR_TEXT_MAX], got[ERROR_TEXT_MAX];
    mli_status status = fault->status;
    error_text(wanted, expect->error, expect->pointer);
    error_text(got, expectation_error_name(fault), pointer);
    fault_set(fault, fault->code, named ? "/expect/pointer" : "/expect/error",
              "expect.%s: %s expected, got %s: %s", named ? "pointer" : "error", wanted, got,
              fault->text);
    fault->status = status;
}

void outcome_judge_failure(const struct job_spec *job, bool lost, struct outcome *outcome)
{
    const struct expectation *expect = &job->expect;
    struct fault *fault = &outcome->fault;

    outcome->verdict = VERDICT_REFUSED;
    outcome->exit = exit_code_of(fault);
    if (expect->kind != EXPECT_ERROR || is_disturbed(fault, lost))
        return;
    if (expectation_names(expect, fault) && expectation_points_at(expect, fault)) {
        outcome->verdict = VERDICT_REFUSED_AS_EXPECTED;
        outcome->exit = EXIT_CODE_DONE;
        return;
    }
    complain_other(expect, fault);
    outcome->exit = EXIT_CODE_FAILED;
}

int outcome_judge_success(const struct job_spec *job, struct outcome *outcome)
{
    char wanted[ERROR_TEXT_MAX];

    if (job->expect.kind != EXPECT_ERROR)
        return 0;
    outcome->verdict = VERDICT_NOT_REFUSED;
    outcome->exit = EXIT_CODE_FAILED;
    return fault_set(&outcome->fault, FAULT_INVALID_PARAMS, "/expect/error",
                     "expect.error: %s expected, but the job succeeded",
                     error_text(wanted, job->expect.error, job->expect.pointer));
}

/* Closes a copy of a tensor file without closing its descriptor, which has another owner. */
static void close_borrowed(struct tensor_file *file)
{
    file->fd = -1;
    tensor_file_close(file);
}

/* Compares all bytes of two raw files of equal size, also those between elements. */
static int compare_whole_files(const struct resolved *r, struct outcome *outcome)
{
    struct tensor_file output = r->whole, golden = r->expect;

    output.fd = r->output.fd;
    golden.map = NULL; /* r->expect owns the mapping */
    output.header.data_offset = golden.header.data_offset = 0;
    int status = compare_bytes(&output, &golden, tensor_file_content(&r->whole),
                               &outcome->difference, &outcome->fault);
    close_borrowed(&golden);
    close_borrowed(&output);
    return status;
}

/* Returns whether elements fill the whole file. */
static bool is_dense(const struct tensor_file *file, uint64_t elements)
{
    return elements * file->header.item_size == tensor_file_content(file);
}

/* Maps a tensor that the job has in a file, and describes its elements. Omits a file that is too
 * large for the address space: a diagnosis is possible without it. Returns 0 or -1. */
static int map_input(struct tensor_file *file, struct elements *elements, struct fault *fault)
{
    *elements = (struct elements){.rank = 0};
    if (file->fd < 0 || file->header.rank == 0)
        return 0;
    if (!file->map && tensor_file_map(file, fault))
        return fault->code == FAULT_LIMIT ? 0 : -1;
    *elements = compare_elements(file);
    return 0;
}

/* Finds the cause of a difference from the golden file. */
static int find_cause(struct resolved *r, const struct tensor_file *output,
                      struct difference *difference, struct fault *fault)
{
    static const struct compare_names names = {NULL, "expected"};
    struct elements source, before;
    const struct diagnose_move move = {.source = &source,
                                       .before = &before,
                                       .cfg = &r->wire.common.cfg,
                                       .result_shape = r->result.shape};

    /* The cfg on the wire may count from the window of a large source. */
    const bool known = r->wire.src.offset == r->src.header.data_offset;

    if (map_input(&r->src, &source, fault) || map_input(&r->before, &before, fault) ||
        compare_diagnose(output, &r->expect, &names, known ? &move : NULL, difference, fault))
        return -1;
    return tensor_file_check(&r->src, fault) || tensor_file_check(&r->before, fault) ? -1 : 0;
}

int outcome_find_difference(struct resolved *r, struct tensor_file *output,
                            struct difference *difference, struct fault *fault)
{
    if (compare_tensors(output, &r->expect, COMPARE_FIRST, difference, fault))
        return -1;
    return difference->kind == DIFFERENCE_VALUES ? find_cause(r, output, difference, fault) : 0;
}

static int compare_with_golden(struct resolved *r, struct outcome *outcome)
{
    struct difference *difference = &outcome->difference;
    struct tensor_file output = r->whole;

    output.fd = r->output.fd;
    int status = outcome_find_difference(r, &output, difference, &outcome->fault);
    close_borrowed(&output);
    if (status || difference->kind != DIFFERENCE_NONE || r->whole.format != FILE_FORMAT_RAW ||
        r->expect.format != FILE_FORMAT_RAW || is_dense(&r->whole, difference->elements))
        return status;
    return compare_whole_files(r, outcome);
}

/* Sets the verdict for a missing golden file, which the caller has allowed (without_golden in
 * produced.h). */
static int complain_missing(const char *pointer, const char *path, struct outcome *outcome)
{
    char shown[PRINT_PATH_MAX];

    outcome->verdict = VERDICT_NO_GOLDEN;
    outcome->exit = EXIT_CODE_FAILED;
    fault_set(&outcome->fault, FAULT_BAD_DESCRIPTOR, pointer,
              "expect.%s: %s: there is no such file", strrchr(pointer, '/') + 1,
              print_path(shown, path));
    return 0;
}

static int compare_digests(const struct resolved *r, struct outcome *outcome)
{
    const uint8_t *wanted = r->job->expect.digest;
    uint8_t got[SHA256_SIZE];

    if (regular_digest(r->output.fd, got, &outcome->fault))
        return -1;
    if (memcmp(got, wanted, SHA256_SIZE) != 0)
        difference_of_digests(got, wanted, &outcome->difference);
    return 0;
}

static void conclude(struct outcome *outcome)
{
    bool same = outcome->difference.kind == DIFFERENCE_NONE;

    outcome->verdict = same ? VERDICT_SAME : VERDICT_MISMATCH;
    outcome->exit = same ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

int outcome_judge_output(struct resolved *r, struct outcome *outcome)
{
    int status = 0;

    switch (r->job->expect.kind) {
    case EXPECT_NOTHING:
    case EXPECT_ERROR: /* outcome_judge_success() has refused the success */
        return 0;
    case EXPECT_FILE:
        if (r->expect.fd < 0)
            return complain_missing("/expect/file", r->expect_path, outcome);
        status = compare_with_golden(r, outcome);
        break;
    case EXPECT_DIGEST:
        status = compare_digests(r, outcome);
        break;
    }
    if (status) { /* some bytes could not be read: drop the incomplete difference */
        outcome->difference = (struct difference){0};
        return status;
    }
    if (outcome->difference.kind == DIFFERENCE_NONE && r->has_wanted)
        compare_params(&outcome->result.dst, &r->wanted, &outcome->difference);
    else if (outcome->difference.kind == DIFFERENCE_NONE && r->wanted_path)
        return complain_missing("/expect/params", r->wanted_path, outcome);
    conclude(outcome);
    return 0;
}

void outcome_judge_plan(const struct resolved *resolved, struct outcome *outcome)
{
    if (resolved->job->expect.kind != EXPECT_FILE)
        return;
    compare_outlines(&resolved->whole, &resolved->expect, &outcome->difference);
    if (outcome->difference.kind != DIFFERENCE_NONE)
        conclude(outcome);
}

enum { LABEL_MAX = 192, QUANT_TEXT_MAX = 512, ENTRIES_SHOWN = 8 };

static const char *op_name(const struct job_spec *job)
{
    return job->common.op == JOB_OP_PERMUTE ? "permute" : "mov";
}

void job_report_label(char *out, size_t size, const struct job_file *file,
                      const struct job_spec *job)
{
    if (job->common.name)
        snprintf(out, size, "%s", job->common.name);
    else
        snprintf(out, size, "%s%s%s", file->path, *job->pointer ? "#" : "", job->pointer);
}

static const char *label(char out[LABEL_MAX], const struct job_file *file,
                         const struct job_spec *job)
{
    job_report_label(out, LABEL_MAX, file, job);
    return out;
}

/* Returns the words before the name of the output. */
static const char *arrow(const struct job_spec *job)
{
    if (job->dst.buffer)
        return "into buffer";
    return job->dst.update ? "into" : "->";
}

static const char *output_name(char out[PRINT_PATH_MAX], const struct job_file *file,
                               const struct job_spec *job)
{
    return job->dst.buffer ? job->dst.buffer : job_file_shown(out, file, job->dst.file);
}

static const char *state_name(const struct outcome *outcome)
{
    static const char *const states[] = {[EXIT_CODE_DONE] = "done",
                                         [EXIT_CODE_FAILED] = "failed",
                                         [EXIT_CODE_INVALID] = "invalid",
                                         [EXIT_CODE_LOST] = "lost",
                                         [EXIT_CODE_STOPPED] = "stopped"};

    if (outcome->skipped)
        return "skipped";
    if (outcome->difference.kind != DIFFERENCE_NONE)
        return "mismatch";
    if (outcome->exit == EXIT_CODE_DONE && outcome->detached)
        return "submitted";
    if (outcome->exit == EXIT_CODE_DONE && outcome->validated)
        return "valid";
    return states[outcome->exit];
}

/* Writes the first ENTRIES_SHOWN entries of a per-axis array. */
static int entries_text(char *out, size_t size, const struct quant *quant, enum quant_param param)
{
    int length = snprintf(out, size, ", %s [", quant_param_name(param));
    uint32_t shown = quant->count > ENTRIES_SHOWN ? ENTRIES_SHOWN : quant->count;

    for (uint32_t i = 0; i < shown; i++)
        length += snprintf(out + length, size - (size_t)length, "%s%d", i ? ", " : "",
                           quant_entry(quant, param, i));
    length +=
        snprintf(out + length, size - (size_t)length, "%s]", quant->count > shown ? ", ..." : "");
    return length;
}

/* Writes the parameters of a result. Returns false if the result has no parameters. */
static bool quant_text(char out[QUANT_TEXT_MAX], const struct quant *quant)
{
    static const enum quant_param order[] = {QUANT_SCALE, QUANT_SCALE_FRAC_BITS, QUANT_ZERO_POINT};

    if (quant->has_frac_bits) {
        snprintf(out, QUANT_TEXT_MAX, "frac_bits %d", quant->frac_bits);
        return true;
    }
    if (quant->count == 0)
        return false;
    if (quant->axis < 0) {
        snprintf(out, QUANT_TEXT_MAX, "scale %d, scale_frac_bits %d, zero_point %d",
                 quant->scale[0], quant->scale_frac_bits[0], quant->zero_point[0]);
        return true;
    }
    int length = snprintf(out, QUANT_TEXT_MAX, "axis %" PRId32 ", %" PRIu32 " entries", quant->axis,
                          quant->count);
    for (int i = 0; i < QUANT_PARAMS; i++)
        length += entries_text(out + length, (size_t)(QUANT_TEXT_MAX - length), quant, order[i]);
    return true;
}

const char *outcome_remark(const struct job_spec *job)
{
    const bool quantised = job->src.desc.quant.count > 0 || job->src.desc.quant.has_frac_bits;
    const enum expectation_kind kind = job->expect.kind;

    return quantised && (kind == EXPECT_FILE || kind == EXPECT_DIGEST) && !job->expect.has_params
               ? "the quantisation parameters of the result are not compared: expect has no params"
               : NULL;
}

/* Elements of 8 and 16 bytes have a dtype, and no element type. */
static const char *type_name(const struct outcome *outcome)
{
    return npy_parts(&outcome->src) > 1 ? dtype_of_header(&outcome->src)->name
                                        : element_type_name(outcome->type);
}

static void print_moved(const struct print_style *style, const struct job_file *file,
                        const struct job_spec *job, const struct outcome *outcome)
{
    const struct job_result *result = &outcome->result;
    char name[LABEL_MAX], from[PRINT_TEXT_MAX], to[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX];
    char moving[PRINT_TEXT_MAX], parameters[QUANT_TEXT_MAX], line[PRINT_LINE_MAX];
    char output[PRINT_PATH_MAX];
    const bool folds = npy_folds(&outcome->src);
    const char *type = folds ? type_name(outcome) : element_type_name(result->dst.type);
    bool expected = outcome->verdict == VERDICT_SAME;

    snprintf(line, sizeof(line), "%s: %s %s -> %s %s, %s in %s, %" PRIu32 " channel%s, %s %s %s%s",
             label(name, file, job), op_name(job),
             print_shape(from, outcome->src.rank, outcome->src.shape),
             print_shape(to, folds ? outcome->dst.rank : result->dst.rank,
                         folds ? outcome->dst.shape : result->dst.shape),
             type ? type : "?", print_bytes(bytes, result->bytes),
             print_time(moving, result->ns_moving), result->channels,
             result->channels == 1 ? "" : "s", result->engine, arrow(job),
             output_name(output, file, job), expected ? ", " : "");
    print_coloured(style, line, COLOUR_GOOD, expected ? "as expected" : "", "");
    /* Print parameters only if the job has some. */
    bool quantised = job->src.desc.quant.count > 0 || job->src.desc.quant.has_frac_bits;
    if (quantised && !job->dst.params && quant_text(parameters, &result->dst.quant))
        print_line(style, "    %s", parameters);
    if (outcome_remark(job))
        print_line(style, "    remark: %s", outcome_remark(job));
}

static void print_refused(const struct print_style *style, const struct job_file *file,
                          const struct job_spec *job, const struct outcome *outcome)
{
    char name[LABEL_MAX], before[LABEL_MAX + 2], rest[PRINT_LINE_MAX];

    snprintf(before, sizeof(before), "%s: ", label(name, file, job));
    snprintf(rest, sizeof(rest), ": %s: %s", expectation_error_name(&outcome->fault),
             outcome->fault.text);
    print_coloured(style, before, COLOUR_GOOD, "refused as expected", rest);
}

/* Returns the name of the golden file, such as "cases/golden.npz[w]", or that of the expected
 * parameters; null: the job file has the digest or the parameters. */
static const char *golden_name(const struct job_file *file, const struct job_spec *job,
                               const struct difference *difference, char out[TENSOR_FILE_SHOWN_MAX])
{
    const struct tensor_spec *ref = &job->expect.golden;
    const bool params = difference->kind == DIFFERENCE_PARAMS;
    const char *name = params ? ref->params : ref->file;

    if (!name)
        return NULL;
    job_file_shown(out, file, name);
    return ref->tensor && !params ? tensor_file_name(out, ref->tensor) : out;
}

/* Prints a sentence about the result of a job, if there is one. */
static void complain_about(const struct job_file *file, const struct job_spec *job,
                           const char *sentence)
{
    char pointer[FAULT_POINTER_MAX], place[PRINT_PLACE_MAX];

    if (!*sentence)
        return;
    snprintf(pointer, sizeof(pointer), "%s/expect", job->pointer);
    print_place(place, pointer, sentence);
    print_error("%s: %s%s", file->path, place, sentence);
}

/* Prints the failure, with the file and the place in the file. */
static void complain(const struct job_file *file, const struct job_spec *job,
                     const struct outcome *outcome)
{
    if (outcome->fault.code != FAULT_NONE && outcome->verdict != VERDICT_REFUSED_AS_EXPECTED)
        print_fault(file->path, &outcome->fault);
    if (outcome->difference.kind == DIFFERENCE_NONE)
        return;
    char text[COMPARE_TEXT_MAX], golden[TENSOR_FILE_SHOWN_MAX], path[PRINT_PATH_MAX];
    char line[sizeof(text) + sizeof(path) + sizeof("; the result is ")];
    difference_text(&outcome->difference, NULL,
                    golden_name(file, job, &outcome->difference, golden), text);
    snprintf(line, sizeof(line), "%s%s%s", text, outcome->moved ? "; the result is " : "",
             outcome->moved ? job_file_shown(path, file, job->dst.file) : "");
    complain_about(file, job, line);
    complain_about(file, job, outcome->difference.diagnosis.text);
    complain_about(file, job, outcome->difference.diagnosis.places);
}

/* Writes a tensor of the job; `header` is null if it has not been read. */
static void json_side(struct jsonw *w, const char *key, const struct tensor_spec *ref,
                      const struct npy_header *header)
{
    jsonw_object_begin(w, key);
    jsonw_string(w, ref->buffer ? "buffer" : "file", ref->buffer ? ref->buffer : ref->file);
    if (ref->tensor)
        jsonw_string(w, "tensor", ref->tensor);
    if (ref->params)
        jsonw_string(w, "params", ref->params);
    if (ref->update)
        jsonw_bool(w, "update", true);
    if (header) {
        jsonw_string(w, "dtype", dtype_of_header(header)->name);
        print_json_shape(w, "shape", header->rank, header->shape);
        jsonw_uint(w, "bytes", header->data_size);
    }
    jsonw_object_end(w);
}

/* Writes an error without a code in the protocol: a skipped job, or a missing expected error. */
static void json_own_error(struct jsonw *w, const char *name, const struct fault *fault)
{
    jsonw_object_begin(w, "error");
    jsonw_string(w, "name", name);
    jsonw_string(w, "pointer", fault->pointer);
    jsonw_string(w, "message", fault->text);
    jsonw_object_end(w);
}

static void json_error(struct jsonw *w, const struct outcome *outcome)
{
    if (outcome->skipped)
        json_own_error(w, "SKIPPED", &outcome->fault);
    else if (outcome->verdict == VERDICT_NOT_REFUSED)
        json_own_error(w, "NOT_REFUSED", &outcome->fault);
    else if (outcome->fault.code != FAULT_NONE)
        print_json_fault(w, "error", &outcome->fault);
}

/* Writes the expectation and whether the job met it. Writes nothing if there is no verdict. */
static void json_expect(struct jsonw *w, const struct expectation *expect,
                        const struct outcome *outcome)
{
    enum verdict verdict = outcome->verdict;
    bool refused = verdict == VERDICT_REFUSED;

    if (verdict == VERDICT_NONE || expect->kind == EXPECT_NOTHING ||
        (refused && expect->kind != EXPECT_ERROR))
        return;
    struct expectation shown = *expect; /* copies pointers: the strings are borrowed */
    shown.golden.format = FILE_FORMAT_AUTO;
    jsonw_object_begin(w, "expect");
    expectation_write_members(w, &shown);
    jsonw_bool(w, "same", verdict == VERDICT_SAME || verdict == VERDICT_REFUSED_AS_EXPECTED);
    if (expect->kind != EXPECT_ERROR)
        difference_json(w, "difference", &outcome->difference);
    jsonw_object_end(w);
}

void job_report_json(const struct job_file *file, const struct job_spec *job,
                     const struct outcome *outcome)
{
    struct jsonw w;

    jsonw_init_object(&w);
    jsonw_string(&w, "file", file->path);
    jsonw_string(&w, "pointer", job->pointer);
    if (job->common.name)
        jsonw_string(&w, "name", job->common.name);
    jsonw_string(&w, "op", op_name(job));
    jsonw_string(&w, "state", state_name(outcome));
    jsonw_uint(&w, "exit", outcome->exit);
    if (outcome->described)
        jsonw_string(&w, "type", element_type_name(outcome->type));
    json_side(&w, "src", &job->src, outcome->described ? &outcome->src : NULL);
    json_side(&w, "dst", &job->dst, outcome->described ? &outcome->dst : NULL);
    if (outcome->detached)
        jsonw_uint(&w, "job", outcome->detached);
    if (outcome->moved)
        job_result_write(&w, "result", &outcome->result);
    if (outcome->remarks.count > 0)
        board_remarks_json(&w, "remarks", &outcome->remarks);
    if (outcome->moved && outcome_remark(job))
        jsonw_string(&w, "remark", outcome_remark(job));
    json_expect(&w, &job->expect, outcome);
    json_error(&w, outcome);
    print_object(&w);
}

static void print_remarks(const struct print_style *style, const struct board_remarks *remarks)
{
    for (uint32_t i = 0; i < remarks->count; i++)
        print_line(style, "    remark %s: %s", board_remark_word(remarks->list[i].kind),
                   remarks->list[i].text);
}

void job_report_outcome(const struct print_style *style, const struct job_file *file,
                        const struct job_spec *job, const struct outcome *outcome)
{
    char name[LABEL_MAX], output[PRINT_PATH_MAX];

    if (outcome->moved && outcome->exit == EXIT_CODE_DONE)
        print_moved(style, file, job, outcome);
    else if (outcome->verdict == VERDICT_REFUSED_AS_EXPECTED)
        print_refused(style, file, job, outcome);
    else if (outcome->detached && outcome->exit == EXIT_CODE_DONE)
        print_line(style, "%s: job %" PRIu64 " %s %s", label(name, file, job), outcome->detached,
                   arrow(job), output_name(output, file, job));
    print_remarks(style, &outcome->remarks);
    complain(file, job, outcome);
    if (style->json)
        job_report_json(file, job, outcome);
    fflush(stdout); /* flush, so that the reader of a pipe sees each job when it ends */
}

void job_report_validated(const struct print_style *style, const struct job_file *file,
                          const struct job_spec *job, const struct outcome *outcome)
{
    char name[LABEL_MAX], from[PRINT_TEXT_MAX], to[PRINT_TEXT_MAX], bytes[PRINT_TEXT_MAX];
    const char *error = job->expect.error;
    char output[PRINT_PATH_MAX], before[LABEL_MAX + 2], rest[PRINT_LINE_MAX];

    if (outcome->verdict == VERDICT_REFUSED_AS_EXPECTED) {
        print_refused(style, file, job, outcome);
    } else if (outcome->exit == EXIT_CODE_DONE) {
        snprintf(rest, sizeof(rest), ": %s %s -> %s %s, %s %s %s%s%s", op_name(job),
                 print_shape(from, outcome->src.rank, outcome->src.shape),
                 print_shape(to, outcome->dst.rank, outcome->dst.shape), type_name(outcome),
                 print_bytes(bytes, outcome->dst.data_size), arrow(job),
                 output_name(output, file, job), error ? ", expects " : "", error ? error : "");
        snprintf(before, sizeof(before), "%s: ", label(name, file, job));
        print_coloured(style, before, COLOUR_GOOD, "valid", rest);
    }
    print_remarks(style, &outcome->remarks);
    complain(file, job, outcome);
    if (style->json)
        job_report_json(file, job, outcome);
}
