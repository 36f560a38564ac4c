/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/text.h"
#include "cli/import/import.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/cancel.h"

/* Sets the extent of the open dimensions with this name ("*": of all). Returns their number. */
static size_t set_dims(struct model *model, const char *name, size_t length, int64_t extent)
{
    const bool all = length == 1 && *name == '*';
    size_t count = 0;

    for (size_t i = 0; i < model->tensor_count; i++) {
        struct model_tensor *tensor = &model->tensors[i];

        for (uint32_t d = 0; d < tensor->rank; d++) {
            struct model_dim *dim = &tensor->dims[d];

            if (dim->extent >= 0 || (!all && (!dim->name || strlen(dim->name) != length ||
                                              memcmp(dim->name, name, length) != 0)))
                continue;
            dim->extent = extent;
            count++;
        }
    }
    return count;
}

/* Applies one option --dim. Returns 0, or -1 after printing what is wrong. */
static int read_dim(struct import_request *request, const char *text)
{
    const char *equals = strrchr(text, '=');
    char *end;
    long long extent;

    errno = 0;
    extent = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || equals == text || end == equals + 1 || *end || errno || extent < 1 ||
        extent > INT32_MAX)
        return print_refusal("--dim %s: NAME=N is needed, with N from 1 to %d, such as batch=1",
                             text, INT32_MAX);
    if (set_dims(&request->model, text, (size_t)(equals - text), extent) == 0 && *text != '*')
        return print_refusal(
            "--dim %s: the model has no open dimension of this name, or an earlier --dim "
            "has set it",
            text);
    return 0;
}

static int read_dims(struct import_request *request)
{
    const char *text, *rest = NULL;
    size_t at = 0;

    while ((text = options_next(request->options, "dim", &at))) {
        if (text[0] == '*' && text[1] == '=')
            rest = text; /* apply this option last: it sets all dimensions that are still open */
        else if (read_dim(request, text))
            return -1;
    }
    return rest ? read_dim(request, rest) : 0;
}

static int read_format(struct import_request *request)
{
    size_t format = 0;

    if (options_choice(request->options, "format", &format))
        return -1;
    request->format = file_format_of_name(request->path);
    if (options_get(request->options, "format"))
        request->format = format == 0 ? FILE_FORMAT_ONNX : FILE_FORMAT_TFLITE;
    if (request->format == FILE_FORMAT_ONNX || request->format == FILE_FORMAT_TFLITE)
        return 0;
    return print_refusal("%s: a name that ends with .onnx or .tflite is needed, or --format",
                         request->path);
}

static int read_model(struct import_request *request, struct fault *fault)
{
    struct tensor_file file;
    int result;

    if (tensor_file_open_bare(&file, request->path, request->format, fault))
        return -1;
    const uint64_t size = (uint64_t)file.stat.st_size;
    const int error = size > 0 ? file_map_init(&request->map, file.fd, 0, size) : 0;
    result = 0;
    if (size == 0)
        result =
            fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: the file is empty", request->path);
    else if (error)
        result = fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", request->path, strerror(-error));
    request->mapped = result == 0;
    if (result == 0)
        result = model_read(&request->model, request->format, request->map.pages, size, fault);
    request->read = result == 0;
    if (result && request->mapped) {
        const struct fault why = *fault;
        fault_set(fault, why.code, NULL, "%s: %s", request->path, why.text);
    }
    tensor_file_close(&file);
    return result;
}

enum exit_code import_request_init(struct import_request *request, const struct options *options)
{
    const struct print_style style = options_style(options);
    struct fault fault;

    *request = (struct import_request){
        .options = options,
        .path = options->arguments[0],
        .directory = options_get(options, "output"),
        .data = options_get(options, "data"),
        .dry_run = options_get(options, "dry-run") != NULL,
        .list = options_get(options, "list") != NULL,
        .force = options_get(options, "force") != NULL,
        .fuse = options_get(options, "fuse") != NULL,
    };
    if (!request->directory && !request->dry_run)
        return print_invalid("--output DIR is needed, or --dry-run to write nothing");
    if (read_format(request))
        return EXIT_CODE_INVALID;
    if (read_model(request, &fault))
        return print_file_failure(&style, request->path, &fault);
    return read_dims(request) ? EXIT_CODE_INVALID : EXIT_CODE_DONE;
}

void import_request_finish(struct import_request *request)
{
    if (request->read)
        model_finish(&request->model);
    if (request->mapped)
        file_map_finish(&request->map);
    *request = (struct import_request){0};
}

/*
 * The test data of an ONNX model: files input_N.pb and output_N.pb for the inputs and outputs of
 * its graph. Missing files are no error.
 *
 * The model does not have the length of a sequence of tensors, only the file has it. The sequence
 * NAME becomes the tensors NAME[0], NAME[1], ..., and a node Identity of NAME copies each of them.
 */

/* A file input_N.pb or output_N.pb, and the tensors of its value. */
struct given {
    struct text text;
    struct model model;
    bool read;
};

static void given_finish(struct given *given)
{
    if (given->read)
        model_finish(&given->model);
    text_finish(&given->text);
}

/* Reads the file of input or output `number` of the graph, a value of this kind. Returns 1, 0 if
 * the file does not exist, or -1. Call given_finish() in all cases. */
static int given_init(struct given *given, const char *directory, const char *side, size_t number,
                      enum model_kind kind, struct fault *fault)
{
    char *path = NULL;
    struct fault why;
    int result = 0;

    *given = (struct given){0};
    if (asprintf(&path, "%s/%s_%zu.pb", directory, side, number) < 0)
        return fault_no_memory(fault);
    if (access(path, F_OK) == 0) {
        given->read = text_load(&given->text, path, (size_t)MOVEMENT_BYTES_MAX, true, &why) == 0 &&
                      model_read_value(&given->model, kind, (const uint8_t *)given->text.bytes,
                                       given->text.length, &why) == 0;
        result = given->read ? 1 : fault_set(fault, why.code, NULL, "%s: %s", path, why.text);
    }
    free(path);
    return result;
}

/* Copies type and shape of tensor `number` of `given`. Returns an owned copy of the elements. */
static uint8_t *copy(struct model_tensor *to, const struct given *given, size_t number,
                     struct fault *fault)
{
    const struct model_tensor *from = &given->model.tensors[number];
    const uint8_t *elements = model_elements(&given->model, from);
    uint8_t *memory;

    if (!elements) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the test data of %.*s: %s", MODEL_WORD_MAX,
                  to->name, from->refusal ? from->refusal : "it has no elements in the file");
        return NULL;
    }
    memory = malloc((size_t)from->bytes + 1);
    if (!memory || model_set_shape(to, from->dims, from->rank, fault)) {
        free(memory);
        fault_no_memory(fault);
        return NULL;
    }
    memcpy(memory, elements, (size_t)from->bytes);
    to->dtype = from->dtype;
    return memory;
}

/* Makes `to` a constant with the type, shape and elements of tensor `number` of `given`. */
static int set_constant(struct model_tensor *to, const struct given *given, size_t number,
                        struct fault *fault)
{
    uint8_t *memory = copy(to, given, number, fault);

    if (!memory)
        return -1;
    free(to->memory);
    to->memory = memory;
    to->bytes = given->model.tensors[number].bytes;
    to->place = MODEL_IN_MEMORY;
    return 0;
}

/* Adds `count` tensors to the model as the items of a sequence. */
static int add_items(struct model *model, size_t sequence, size_t count, struct fault *fault)
{
    const size_t first = model->tensor_count;
    size_t index;

    for (size_t k = 0; k < count; k++) {
        char *name = NULL;
        const int length = asprintf(&name, "%s[%zu]", model->tensors[sequence].name, k);
        const int result = length < 0
                               ? fault_no_memory(fault)
                               : model_add_tensor(model, name, (size_t)length, true, &index, fault);

        if (length >= 0)
            free(name);
        if (result)
            return -1;
    }
    model->tensors[sequence].first = first;
    model->tensors[sequence].item_count = count;
    return 0;
}

/* Reads the file of one input. Returns the number of its tensors, or -1. */
static int read_input(struct model *model, const char *directory, size_t number,
                      struct fault *fault)
{
    const size_t index = model->inputs[number];
    const enum model_kind kind = model->tensors[index].kind;
    struct given given;
    int result = given_init(&given, directory, "input", number, kind, fault);
    const size_t count = result == 1 ? given.model.tensor_count : 0;

    if (result == 1 && kind != MODEL_TENSOR && add_items(model, index, count, fault))
        result = -1;
    for (size_t k = 0; result == 1 && k < count; k++) {
        const size_t to = kind == MODEL_TENSOR ? index : model->tensors[index].first + k;

        if (set_constant(&model->tensors[to], &given, k, fault))
            result = -1;
    }
    given_finish(&given);
    return result < 0 ? -1 : (int)count;
}

static bool is_sequence(const struct model *model, size_t tensor)
{
    return tensor != MODEL_ABSENT && model->tensors[tensor].kind != MODEL_TENSOR;
}

/* Replaces a list that has only this sequence by the list of the sequence's items. */
static int list_items(const struct model *model, size_t **list, size_t *count, size_t sequence)
{
    const struct model_tensor *tensor = &model->tensors[sequence];

    *count = 0;
    for (size_t k = 0; k < tensor->item_count; k++) {
        if (model_push(list, count, tensor->first + k))
            return -1;
    }
    return 0;
}

/* Lets a node Identity copy the items of its sequence, if the items are known. */
static int copy_items(struct model *model, struct model_node *node, struct fault *fault)
{
    size_t from, to;

    if (strcmp(node->op, "Identity") != 0 || node->input_count != 1 || node->output_count != 1)
        return 0;
    from = node->inputs[0];
    to = node->outputs[0];
    if (!is_sequence(model, from) || to == MODEL_ABSENT || model->tensors[from].item_count == 0 ||
        model->tensors[to].item_count > 0)
        return 0;
    model->tensors[to].kind = model->tensors[from].kind;
    if (add_items(model, to, model->tensors[from].item_count, fault))
        return -1;
    return list_items(model, &node->inputs, &node->input_count, from) ||
                   list_items(model, &node->outputs, &node->output_count, to)
               ? fault_no_memory(fault)
               : 0;
}

/* Adds the items of sequences that are outputs of the graph to the outputs of the graph. */
static int list_outputs(struct model *model, struct fault *fault)
{
    const size_t count = model->output_count;

    for (size_t i = 0; i < count; i++) {
        const size_t output = model->outputs[i];

        for (size_t k = 0; is_sequence(model, output) && k < model->tensors[output].item_count;
             k++) {
            if (model_push(&model->outputs, &model->output_count, model->tensors[output].first + k))
                return fault_no_memory(fault);
        }
    }
    return 0;
}

/* Makes constants of the inputs of the graph, and adds the items of sequences to the model. Sets
 * *count to the number of tensors that were read. */
static int given_inputs(struct model *model, const char *directory, size_t *count,
                        struct fault *fault)
{
    *count = 0;
    for (size_t i = 0; i < model->input_count; i++) {
        const int read =
            model->inputs[i] == MODEL_ABSENT ? 0 : read_input(model, directory, i, fault);

        if (read < 0)
            return -1;
        *count += (size_t)read;
    }
    for (size_t i = 0; i < model->node_count; i++) {
        if (copy_items(model, &model->nodes[i], fault))
            return -1;
    }
    return list_outputs(model, fault);
}

/* Reads the file of one output. Returns the number of its tensors, or -1. */
static int read_output(struct element_store *store, const char *directory, size_t number,
                       struct fault *fault)
{
    struct model *model = store->model;
    const size_t index = model->outputs[number];
    const enum model_kind kind = model->tensors[index].kind;
    struct given given;
    int result = given_init(&given, directory, "output", number, kind, fault);
    size_t count = result == 1 ? given.model.tensor_count : 0;

    if (kind != MODEL_TENSOR && count != model->tensors[index].item_count)
        count = 0; /* skip the file: the model has no items, or another number of items */
    for (size_t k = 0; result == 1 && k < count; k++) {
        const size_t to = kind == MODEL_TENSOR ? index : model->tensors[index].first + k;
        uint8_t *memory = copy(&model->tensors[to], &given, k, fault);

        free(store->expected[to]);
        store->expected[to] = memory;
        result = memory ? 1 : -1;
    }
    given_finish(&given);
    return result < 0 ? -1 : (int)count;
}

/* Sets the expected elements of the outputs of the graph, after given_inputs(). */
static int given_outputs(struct element_store *store, const char *directory, size_t *count,
                         struct fault *fault)
{
    const struct model *model = store->model;

    *count = 0;
    for (size_t i = 0; i < model->output_count; i++) {
        const int read =
            model->outputs[i] == MODEL_ABSENT ? 0 : read_output(store, directory, i, fault);

        if (read < 0)
            return -1;
        *count += (size_t)read;
    }
    return 0;
}

const char *import_result(const struct import_node *node, const struct movement *movement,
                          char out[IMPORT_RESULT_MAX])
{
    if (node->list.count > 1)
        snprintf(out, IMPORT_RESULT_MAX, "%s.%zu", node->name,
                 (size_t)(movement - node->list.movements));
    else
        snprintf(out, IMPORT_RESULT_MAX, "%s", node->name);
    return out;
}

const char *import_maker(const struct import *import, size_t tensor, char out[IMPORT_RESULT_MAX])
{
    const size_t producer = import->producer[tensor];
    const struct movement *movement;

    if (producer == 0)
        return NULL;
    movement = import->nodes[producer - 1].list.movements;
    while (movement->output != tensor)
        movement++;
    return import_result(&import->nodes[producer - 1], movement, out);
}

/* Removes all movements of a node, and sets the reason. */
static void give_up(struct import_node *node, const char *op, const char *why)
{
    snprintf(node->list.reason, sizeof(node->list.reason), "%.*s: %s", MODEL_WORD_MAX, op, why);
    for (size_t i = 0; i < node->list.count; i++)
        free(node->list.movements[i].sources);
    node->list.count = 0;
}

/* Checks that jobs can do the movements, and counts the jobs. Returns 0, or -1 (no memory). */
static int check_moves(struct import_node *node, const char *op)
{
    char why[96];

    for (size_t i = 0; i < node->list.count; i++) {
        struct moves moves;
        const bool failed = moves_of(&node->list.movements[i], &moves) || moves_fold(&moves);
        const size_t count = moves.count;

        moves_finish(&moves);
        if (moves.too_many || moves.too_wide) {
            snprintf(why, sizeof(why),
                     moves.too_many ? "it would take more than %d moves"
                                    : "its extents or strides exceed those of a move",
                     MOVES_MAX);
            give_up(node, op, why);
            return 0;
        }
        if (failed)
            return -1;
        node->jobs += count;
    }
    return 0;
}

/*
 * Returns the reason to refuse a node, or null. In a correct model no output of a node is a
 * constant, is made or read by an earlier node, or is listed twice.
 */
static const char *check_order(const struct import *import, const struct import_node *node)
{
    for (size_t i = 0; i < node->list.count; i++) {
        const struct movement *movement = &node->list.movements[i];
        const size_t output = movement->output;

        if (import->producer[output] || import->model->tensors[output].place != MODEL_NOWHERE)
            return "its output is a constant or the output of another node";
        if (import->used[output])
            return "an earlier node reads its output";
        for (size_t k = 0; k < movement->source_count; k++) {
            if (movement->sources[k].tensor == output)
                return "it reads its own output";
        }
        for (size_t k = 0; k < i; k++) {
            if (node->list.movements[k].output == output)
                return "two of its outputs are one tensor";
        }
    }
    return NULL;
}

static size_t root_of(struct import *import, size_t node)
{
    while (import->nodes[node].root != node) {
        import->nodes[node].root = import->nodes[import->nodes[node].root].root;
        node = import->nodes[node].root;
    }
    return node;
}

/* Merges the case of a node with the cases of the nodes that make its sources. */
static void join(struct import *import, size_t number)
{
    struct import_node *node = &import->nodes[number];

    for (size_t i = 0; i < node->list.count; i++) {
        const struct movement *movement = &node->list.movements[i];

        for (size_t k = 0; k < movement->source_count; k++) {
            const size_t producer = import->producer[movement->sources[k].tensor];
            size_t a, b;

            import->used[movement->sources[k].tensor] = true;
            if (producer == 0)
                continue;
            a = root_of(import, producer - 1);
            b = root_of(import, number);
            import->nodes[a < b ? b : a].root = a < b ? a : b;
        }
    }
    for (size_t i = 0; i < node->list.count; i++)
        import->producer[node->list.movements[i].output] = number + 1;
}

static void set_name(const struct import *import, size_t number)
{
    const struct model_node *node = &import->model->nodes[number];
    const char *name = node->name;

    if (!*name && node->output_count > 0 && node->outputs[0] != MODEL_ABSENT)
        name = import->model->tensors[node->outputs[0]].name;
    import_name(import->nodes[number].name, number, import->model->node_count, node->op, name);
}

static int read_node(struct import *import, size_t number)
{
    const struct model_node *node = &import->model->nodes[number];
    struct import_node *to = &import->nodes[number];
    const char *why;

    to->root = number;
    to->next = MODEL_ABSENT;
    set_name(import, number);
    if (import->model->format != FILE_FORMAT_TFLITE && strcmp(node->op, "Constant") == 0) {
        to->fate = IMPORT_CONSTANT;
        return 0;
    }
    if (movement_read(import->model, node, &to->list) || check_moves(to, node->op))
        return -1;
    why = check_order(import, to);
    if (why)
        give_up(to, node->op, why);
    if (to->list.count > 0) {
        to->fate = IMPORT_CASE;
        join(import, number);
    }
    return 0;
}

/* Links the nodes of each case in the order of the graph, and counts cases, nodes and jobs. */
static void group(struct import *import)
{
    /* From the last node to the first: insert each node directly after the root of its case. */
    for (size_t i = import->model->node_count; i-- > 0;) {
        const size_t root = root_of(import, i);

        import->nodes[i].root = root;
        if (root != i) {
            import->nodes[i].next = import->nodes[root].next;
            import->nodes[root].next = i;
        }
    }
    for (size_t i = 0; i < import->model->node_count; i++) {
        const struct import_node *node = &import->nodes[i];

        import->cases += node->fate == IMPORT_CASE && node->root == i;
        import->moved += node->fate == IMPORT_CASE;
        import->constants += node->fate == IMPORT_CONSTANT;
        import->others += node->fate == IMPORT_OTHER;
        import->unknown += node->fate == IMPORT_OTHER && node->list.unknown;
        import->jobs += node->fate == IMPORT_CASE ? node->jobs : 0;
    }
}

static void find_needed(struct import *import)
{
    const struct model *model = import->model;

    for (size_t i = 0; i < model->output_count; i++) {
        if (model->outputs[i] != MODEL_ABSENT)
            import->needed[model->outputs[i]] = true;
    }
    for (size_t i = 0; i < model->node_count; i++) {
        const struct model_node *node = &model->nodes[i];

        for (size_t k = 0; import->nodes[i].fate != IMPORT_CASE && k < node->input_count; k++) {
            if (node->inputs[k] != MODEL_ABSENT)
                import->needed[node->inputs[k]] = true;
        }
    }
}

int import_init(struct import *import, struct import_request *request, struct fault *fault)
{
    struct model *model = &request->model;

    *import = (struct import){.request = request, .model = model};
    /* Call given_inputs() first: it adds tensors, and the arrays have an entry for each tensor. */
    if (request->data && given_inputs(model, request->data, &import->given_inputs, fault))
        return -1;
    import->nodes = calloc(model->node_count + 1, sizeof(*import->nodes));
    import->producer = calloc(model->tensor_count + 1, sizeof(*import->producer));
    import->used = calloc(model->tensor_count + 1, sizeof(*import->used));
    import->needed = calloc(model->tensor_count + 1, sizeof(*import->needed));
    import->written = calloc(model->tensor_count + 1, sizeof(*import->written));
    if (!import->nodes || !import->producer || !import->used || !import->needed || !import->written)
        return fault_no_memory(fault);
    if (element_store_init(&import->store, model, request->path, fault))
        return -1;
    if (request->data &&
        given_outputs(&import->store, request->data, &import->given_outputs, fault))
        return -1;
    for (size_t i = 0; i < model->node_count; i++) {
        if (cancel_requested())
            return cancel_fault(fault);
        if (read_node(import, i))
            return fault_no_memory(fault);
    }
    find_needed(import);
    group(import);
    return 0;
}

void import_finish(struct import *import)
{
    if (!import->model)
        return;
    for (size_t i = 0; import->nodes && i < import->model->node_count; i++)
        movement_list_finish(&import->nodes[i].list);
    element_store_finish(&import->store);
    free(import->nodes);
    free(import->producer);
    free(import->used);
    free(import->needed);
    free(import->written);
    *import = (struct import){0};
}
