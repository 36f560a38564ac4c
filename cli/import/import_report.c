/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHAPE_MAX = 24 * MOVEMENT_RANK_MAX };

static void json_tensor(struct jsonw *w, const struct model *model, size_t index)
{
    const struct model_tensor *tensor;

    if (index == MODEL_ABSENT) {
        jsonw_null(w, NULL);
        return;
    }
    tensor = &model->tensors[index];
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "tensor", tensor->name);
    if (tensor->dtype)
        jsonw_string(w, "dtype", tensor->dtype->name);
    if (tensor->has_shape) {
        jsonw_array_begin(w, "shape");
        for (uint32_t d = 0; d < tensor->rank; d++) {
            if (tensor->dims[d].extent >= 0)
                jsonw_uint(w, NULL, (uint64_t)tensor->dims[d].extent);
            else if (tensor->dims[d].name)
                jsonw_string(w, NULL, tensor->dims[d].name);
            else
                jsonw_null(w, NULL);
        }
        jsonw_array_end(w);
    }
    jsonw_object_end(w);
}

static void json_node(struct jsonw *w, const struct import *import, size_t number)
{
    const struct model_node *from = &import->model->nodes[number];
    const struct import_node *node = &import->nodes[number];
    char text[IMPORT_NAME_MAX + 16];

    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "node", number);
    jsonw_string(w, "op", from->op);
    jsonw_string(w, "name", from->name);
    if (node->fate == IMPORT_CASE) {
        snprintf(text, sizeof(text), "%s.json", import->nodes[node->root].name);
        jsonw_string(w, "case", text);
        jsonw_string(w, "job", node->name);
        jsonw_uint(w, "moves", node->jobs);
        if (node->fused_jobs < node->chain_jobs) {
            snprintf(text, sizeof(text), "%s.fused.json", node->name);
            jsonw_object_begin(w, "fused");
            jsonw_string(w, "case", text);
            jsonw_uint(w, "jobs_before", node->chain_jobs);
            jsonw_uint(w, "jobs", node->fused_jobs);
            jsonw_object_end(w);
        }
        if (node->quant_left_out)
            jsonw_bool(w, "quantisation_left_out", true);
    } else {
        jsonw_null(w, "case");
        jsonw_string(w, "reason",
                     node->fate == IMPORT_CONSTANT ? "a constant of the model" : node->list.reason);
    }
    jsonw_array_begin(w, "inputs");
    for (size_t i = 0; i < from->input_count; i++)
        json_tensor(w, import->model, from->inputs[i]);
    jsonw_array_end(w);
    jsonw_array_begin(w, "outputs");
    for (size_t i = 0; i < from->output_count; i++)
        json_tensor(w, import->model, from->outputs[i]);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

void import_report_json(const struct import *import, struct jsonw *w)
{
    const struct import_request *request = import->request;

    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "mli_import", 1);
    jsonw_string(w, "model", request->path);
    jsonw_string(w, "format", file_format_word(request->format));
    if (request->directory && !request->dry_run)
        jsonw_string(w, "directory", request->directory);
    jsonw_uint(w, "cases", import->cases);
    jsonw_uint(w, "moved", import->moved);
    jsonw_uint(w, "constants", import->constants);
    jsonw_uint(w, "others", import->others);
    jsonw_uint(w, "unknown", import->unknown);
    jsonw_uint(w, "moves", import->jobs);
    if (request->fuse)
        jsonw_uint(w, "fused", import->fused);
    if (request->data) {
        jsonw_uint(w, "given_inputs", import->given_inputs);
        jsonw_uint(w, "given_outputs", import->given_outputs);
    }
    jsonw_array_begin(w, "nodes");
    for (size_t i = 0; i < import->model->node_count; i++)
        json_node(w, import, i);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

void import_report_manifest(const struct import *import, struct textw *text)
{
    textw_printf(text,
                 "# The cases of a model, in the order of its graph: mlictl batch cases.txt\n");
    for (size_t i = 0; i < import->model->node_count; i++) {
        const struct import_node *node = &import->nodes[i];

        if (node->fate != IMPORT_CASE || node->root != i)
            continue;
        textw_printf(text, "%s.json\n", node->name);
        if (node->fused_jobs < node->chain_jobs)
            textw_printf(text, "%s.fused.json\n", node->name);
    }
}

/* Writes a shape, such as "1x3x224x224"; the shape of a scalar is "scalar". */
static const char *shape_text(uint32_t rank, const uint64_t *shape, char out[SHAPE_MAX])
{
    size_t length = 0;

    snprintf(out, SHAPE_MAX, "scalar");
    for (uint32_t d = 0; d < rank; d++)
        length += (size_t)snprintf(out + length, SHAPE_MAX - length, "%s%" PRIu64, d ? "x" : "",
                                   shape[d]);
    return out;
}

/* Writes the path of a job file without its ending; only the name if no file is written. */
static const char *path_of(char out[PRINT_LINE_MAX], const struct import *import, const char *name)
{
    const struct import_request *request = import->request;
    const char *folder = request->dry_run || !request->directory ? "" : request->directory;
    const size_t length = strlen(folder);

    snprintf(out, PRINT_LINE_MAX, "%s%s%s", folder,
             length > 0 && folder[length - 1] != '/' ? "/" : "", name);
    return out;
}

void import_report_nodes(const struct import *import, const struct print_style *style)
{
    char from[SHAPE_MAX], to[SHAPE_MAX], path[PRINT_LINE_MAX];

    for (size_t i = 0; i < import->model->node_count; i++) {
        const struct import_node *node = &import->nodes[i];
        const struct movement *movement = node->list.movements;

        if (node->fate != IMPORT_CASE) {
            print_line(style, "  %s: %s", node->name,
                       node->fate == IMPORT_CONSTANT ? "a constant of the model"
                                                     : node->list.reason);
            continue;
        }
        print_line(style, "  %s: %s -> %s%s %s, %zu move%s, in %s.json", node->name,
                   shape_text(movement->rank, movement->sources[0].shape, from),
                   shape_text(movement->result_rank, movement->result, to),
                   node->list.count > 1 ? ", ..." : "", movement->dtype->name, node->jobs,
                   print_s(node->jobs), path_of(path, import, import->nodes[node->root].name));
    }
}

/* Prints a line for each case that --fuse made smaller. */
static void print_fused(const struct import *import, const struct print_style *style)
{
    char path[PRINT_LINE_MAX];

    for (size_t i = 0; i < import->model->node_count; i++) {
        const struct import_node *node = &import->nodes[i];

        if (node->fused_jobs < node->chain_jobs)
            print_line(style, "  %s.fused.json: %zu job%s instead of %zu",
                       path_of(path, import, node->name), node->fused_jobs,
                       print_s(node->fused_jobs), node->chain_jobs);
    }
}

void import_report_summary(const struct import *import, const struct print_style *style)
{
    const struct import_request *request = import->request;
    const size_t total = import->model->node_count;

    print_fused(import, style);
    print_line(
        style,
        "%s: %zu of %zu node%s move data: %zu case%s of %zu move%s%s%s; %zu without a case (%s)",
        request->path, import->moved, total, print_s(total), import->cases, print_s(import->cases),
        import->jobs, print_s(import->jobs), request->dry_run ? "" : " in ",
        request->dry_run ? "" : request->directory, total - import->moved,
        request->dry_run ? "--list shows why" : IMPORT_LIST_FILE " says why");
    if (import->unknown > 0)
        print_line(
            style, "  %zu of them would move data, but the model does not have %s shapes: %s",
            import->unknown, import->unknown == 1 ? "its" : "their",
            request->format == FILE_FORMAT_TFLITE ? "--dim may help"
                                                  : "onnx.shape_inference or --dim may help");
}
