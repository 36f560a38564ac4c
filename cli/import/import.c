/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/given.h"
#include "cli/import/move.h"
#include "cli/term/cancel.h"

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

/* Gives up a node with a reason. */
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

/* Refuses nodes in an order that no correct model has. Returns the reason, or null. */
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

/* Adds a node to the case of its predecessors. The first node of a case is the root. */
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

/* Links the nodes of each case in the order of the graph, and counts. */
static void group(struct import *import)
{
    /* From the end: each node becomes the second of its case, behind the root. */
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
    /* First, because it adds the tensors of sequences. */
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
