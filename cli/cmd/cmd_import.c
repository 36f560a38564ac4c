/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl import: makes test cases from the nodes of a model that move data. */
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/import/import.h"
#include "cli/term/print.h"

static const char *const format_words[] = {"onnx", "tflite", NULL};
static const struct value format_value = {VALUE_WORD, format_words};

static const struct option options_table[] = {
    {"output", "DIR",
     "Write the cases to this new directory; not needed with --dry-run (required).",
     .takes = &value_directory},
    {"dim", "NAME=N", "Set an open dimension of the model; *=N sets all others (default: none).",
     .repeats = true},
    {"data", "DIR",
     "Read inputs and expected outputs, input_N.pb and output_N.pb, from DIR (default: none).",
     .takes = &value_directory},
    {"format", "FORMAT", "Read an onnx or tflite model (default: by the file's ending).",
     .takes = &format_value},
    {"fuse", NULL, "Write each case of several nodes also with as few moves as possible."},
    {"list", NULL, "Print the case of each node, or why it has none."},
    {"dry-run", NULL, "Write nothing.", .old = "n"},
    {"force", NULL, "Replace a directory that import wrote before."},
    OPTIONS_COMMON,
};

/* Writes import.json and cases.txt. */
static int write_lists(const struct import *import, struct import_output *output,
                       struct fault *fault)
{
    struct textw text;
    struct jsonw w;
    const char *list;
    int result;

    textw_init(&text);
    import_report_manifest(import, &text);
    jsonw_init_lines(&w, 2);
    import_report_json(import, &w);
    jsonw_newline(&w);
    list = jsonw_text(&w);
    if (!list || text.failed)
        result = fault_no_memory(fault);
    else
        result = import_output_text(output, "cases.txt", text.data, text.length, fault) ||
                         import_output_text(output, IMPORT_LIST_FILE, list, strlen(list), fault)
                     ? -1
                     : 0;
    jsonw_finish(&w);
    textw_finish(&text);
    return result;
}

static int write_cases(struct import *import, struct import_output *output,
                       const struct print_style *style, struct fault *fault)
{
    const size_t total = import->model->node_count;
    struct meter meter = {0};
    int result = 0;

    meter_begin(&meter, style, import->request->path);
    for (size_t i = 0; i < total && result == 0; i++) {
        if (import->nodes[i].fate == IMPORT_CASE && import->nodes[i].root == i)
            result = case_file_write(import, i, output, fault);
        meter_show(&meter, i, total);
    }
    meter_end(&meter);
    return result;
}

static int write_all(struct import *import, const struct print_style *style, struct fault *fault)
{
    const struct import_request *request = import->request;
    struct import_output output;
    int result = import_output_init(&output, request->directory, request->force, fault);

    if (result == 0)
        result = write_cases(import, &output, style, fault);
    if (result == 0)
        result = write_lists(import, &output, fault);
    if (result == 0 && file_map_is_broken(&request->map))
        result = fault_set(fault, FAULT_IO_ERROR, NULL, "%s: it shrank while it was read",
                           request->path);
    if (result == 0)
        result = import_output_commit(&output, fault);
    import_output_finish(&output);
    return result;
}

static void report(const struct import *import, const struct print_style *style)
{
    struct jsonw w;

    if (style->json) {
        jsonw_init(&w);
        import_report_json(import, &w);
        print_json(&w);
        return;
    }
    if (import->request->list)
        import_report_nodes(import, style);
    import_report_summary(import, style);
}

static enum exit_code run(struct import_request *request, const struct print_style *style)
{
    struct import import;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (import_init(&import, request, &fault) ||
        (!request->dry_run && write_all(&import, style, &fault)))
        code = print_file_failure(style, request->path, &fault);
    else
        report(&import, style);
    import_finish(&import);
    return code;
}

static enum exit_code import_model(const struct options *options)
{
    const struct print_style style = options_style(options);
    struct import_request request;
    enum exit_code code;

    code = import_request_init(&request, options);
    if (code == EXIT_CODE_DONE)
        code = run(&request, &style);
    import_request_finish(&request);
    return code;
}

const struct command cmd_import = {
    .name = "import",
    .arguments = "MODEL.onnx|MODEL.tflite",
    .count = 1,
    .summary = "make test cases of the nodes of a model that move data",
    .details =
        "Writes job files with sources and expected results for nodes such as transpose, slice,\n"
        "concatenation and pad; `mlictl batch DIR` runs them. import.json lists all nodes.\n",
    .options = options_table,
    .takes = &value_file,
    .examples = {{"write the cases of a model to a new directory", "mlictl import net.onnx -o net"},
                 {"list the nodes, and write nothing", "mlictl import net.onnx --dry-run --list"},
                 {"set an open batch size, and replace the cases",
                  "mlictl import net.onnx --dim batch=1 -o net --force"}},
    .run = import_model,
};
