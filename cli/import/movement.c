/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/movement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/inference.h"
#include "cli/import/names.h"
#include "cli/import/node_reader.h"

/* Operators that run other graphs of the model, which are not read. */
static const char *const bodies[] = {"If",    "Loop", "Scan",      "IF",
                                     "WHILE", "CALL", "CALL_ONCE", NULL};

uint64_t movement_elements(uint32_t rank, const uint64_t *shape)
{
    uint64_t elements = 1;

    for (uint32_t d = 0; d < rank; d++)
        elements *= shape[d];
    return elements;
}

void movement_list_finish(struct movement_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->movements[i].sources);
    free(list->movements);
    *list = (struct movement_list){0};
}

/* Returns whether the operator belongs to the standard operators of the format. */
static bool is_own(const struct model_node *node)
{
    return !node->domain || !*node->domain || strcmp(node->domain, "ai.onnx") == 0;
}

int movement_read(struct model *model, const struct model_node *node, struct movement_list *list)
{
    const struct node_operator *operator= model->format == FILE_FORMAT_TFLITE ? tflite_operators
                                                                              : onnx_operators;
    struct node_reader reader = {.model = model, .node = node, .list = list};
    bool read = false;

    *list = (struct movement_list){0};
    while (operator->name &&(strcmp(operator->name, node->op) != 0 || !is_own(node)))
        operator++;
    if (!operator->name) {
        snprintf(list->reason, sizeof(list->reason), "%.*s: %s", MODEL_WORD_MAX,
                 *node->op ? node->op : "a node without an operator",
                 name_is_one_of(bodies, node->op) ? "its graphs are not read"
                                                  : "not data movement");
        return inference_complete(model, node);
    }
    read = operator->read(&reader);
    if (read && list->count == 0)
        read = node_refuse(&reader, "it has no output");
    if (!read) { /* a node becomes a case as a whole, or not at all */
        for (size_t i = 0; i < list->count; i++)
            free(list->movements[i].sources);
        list->count = 0;
    }
    return reader.no_memory ? -1 : 0;
}
