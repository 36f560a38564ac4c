/* SPDX-License-Identifier: BSD-3-Clause */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/model.h"
#include "proto/grow.h"
#include "proto/json/utf8.h"

static const struct model_dtype dtypes[] = {
#define MODEL_DTYPE(id, ...) {MODEL_##id, __VA_ARGS__},
    MODEL_DTYPE_TABLE(MODEL_DTYPE)
#undef MODEL_DTYPE
};

const struct model_dtype *model_dtype(enum model_dtype_id id)
{
    return &dtypes[id];
}

static void finish_tensor(struct model_tensor *tensor)
{
    for (uint32_t d = 0; tensor->dims && d < tensor->rank; d++)
        free(tensor->dims[d].name);
    free(tensor->dims);
    free(tensor->name);
    free(tensor->memory);
    free(tensor->location);
    free(tensor->refusal);
    free(tensor->quant.scale);
    free(tensor->quant.zero_point);
}

static void finish_node(struct model_node *node)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        free(node->attributes[i].name);
        free(node->attributes[i].text);
        free(node->attributes[i].ints);
    }
    free(node->attributes);
    free(node->name);
    free(node->op);
    free(node->domain);
    free(node->inputs);
    free(node->outputs);
}

void model_finish(struct model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        finish_tensor(&model->tensors[i]);
    for (size_t i = 0; i < model->node_count; i++)
        finish_node(&model->nodes[i]);
    free(model->tensors);
    free(model->nodes);
    free(model->inputs);
    free(model->outputs);
    free(model->slots);
    *model = (struct model){0};
}

char *model_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);

    if (!copy)
        return NULL;
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i])
            copy[at++] = text[i];
    }
    copy[at] = '\0';
    return copy;
}

/* The names of tensors: a hash table (FNV-1a, linear probing) */

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static size_t *slot_of(const struct model *model, const char *name)
{
    size_t i = (size_t)hash_of(name) & (model->slot_count - 1);

    while (model->slots[i] && strcmp(model->tensors[model->slots[i] - 1].name, name) != 0)
        i = (i + 1) & (model->slot_count - 1);
    return &model->slots[i];
}

size_t model_find(const struct model *model, const char *name)
{
    return model->slot_count ? *slot_of(model, name) - 1 : MODEL_ABSENT; /* 0 - 1: MODEL_ABSENT */
}

/* Makes room for one more name, so that at most half of the slots are used. */
static int grow_slots(struct model *model, struct fault *fault)
{
    size_t count = model->slot_count ? model->slot_count : 64;

    if (model->slot_count && (model->tensor_count + 1) * 2 <= model->slot_count)
        return 0;
    while ((model->tensor_count + 1) * 2 > count)
        count *= 2;
    size_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return fault_no_memory(fault);
    free(model->slots);
    model->slots = slots;
    model->slot_count = count;
    for (size_t i = 0; i < model->tensor_count; i++)
        *slot_of(model, model->tensors[i].name) = i + 1;
    return 0;
}

/* Returns whether a job file can have the name: UTF-8 without control characters. */
static bool is_plain(const char *name)
{
    for (size_t left = strlen(name); left > 0;) {
        size_t size = utf8_char(name, left);

        if (size == 0 || (unsigned char)*name < 0x20 || *name == 0x7f)
            return false;
        name += size;
        left -= size;
    }
    return true;
}

/*
 * Returns `name` if it is valid, and unique in the model if `unique` is set. Otherwise frees
 * `name`, and returns a longer name, or null (no memory).
 */
static char *unique_name(const struct model *model, char *name, bool unique)
{
    bool plain = is_plain(name);
    size_t length = strlen(name) + 24;
    char *longer;

    if (*name && plain && (!unique || model_find(model, name) == MODEL_ABSENT))
        return name;
    longer = malloc(length);
    if (longer) {
        snprintf(longer, length, "%s#%zu", plain ? name : "", model->tensor_count);
        while (model_find(model, longer) != MODEL_ABSENT && strlen(longer) + 1 < length)
            strcat(longer, "#");
    }
    free(name);
    return longer;
}

int model_add_tensor(struct model *model, const char *text, size_t length, bool unique,
                     size_t *index, struct fault *fault)
{
    if (length > MODEL_NAME_MAX - 32)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "the name of a tensor has %zu bytes; at most %d are allowed", length,
                         MODEL_NAME_MAX - 32);
    if (model->tensor_count == MODEL_TENSORS_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "more than %d tensors", MODEL_TENSORS_MAX);
    char *name = model_text(text, length);
    if (!name)
        return fault_no_memory(fault);
    if (!unique && *name) {
        *index = model_find(model, name);
        if (*index != MODEL_ABSENT) {
            free(name);
            return 0;
        }
    }
    name = grow_slots(model, fault) == 0 ? unique_name(model, name, unique) : (free(name), NULL);
    if (!name || list_grow(&model->tensors, model->tensor_count, &model->tensor_capacity,
                           sizeof(*model->tensors))) {
        free(name);
        return fault_no_memory(fault);
    }
    *index = model->tensor_count;
    size_t *slot = slot_of(model, name); /* find the slot before tensor_count changes */
    model->tensors[model->tensor_count++] = (struct model_tensor){.name = name};
    *slot = model->tensor_count;
    return 0;
}

int model_add_node(struct model *model, struct model_node **node, struct fault *fault)
{
    if (model->node_count == MODEL_NODES_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "more than %d nodes", MODEL_NODES_MAX);
    if (list_grow(&model->nodes, model->node_count, &model->node_capacity, sizeof(**node)))
        return fault_no_memory(fault);
    *node = &model->nodes[model->node_count++];
    **node = (struct model_node){0};
    return 0;
}

struct model_attribute *model_add_attribute(struct model_node *node, const char *name,
                                            size_t length)
{
    struct model_attribute *more = node->attributes;
    const size_t count = node->attribute_count;

    if ((count & (count - 1)) == 0) /* full: the capacity is a power of two */
        more = reallocarray(more, count ? count * 2 : 1, sizeof(*more));
    if (!more)
        return NULL;
    node->attributes = more;
    more += count;
    *more = (struct model_attribute){.kind = MODEL_OTHER_VALUE, .name = model_text(name, length)};
    if (!more->name)
        return NULL;
    node->attribute_count++;
    return more;
}

int model_set_shape(struct model_tensor *tensor, const struct model_dim *dims, size_t rank,
                    struct fault *fault)
{
    if (rank > MODEL_RANK_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "%.*s: rank %zu; at most %d is allowed",
                         MODEL_WORD_MAX, tensor->name, rank, MODEL_RANK_MAX);
    struct model_dim *copy = calloc(rank + 1, sizeof(*copy));
    if (!copy)
        return fault_no_memory(fault);
    for (uint32_t d = 0; tensor->dims && d < tensor->rank; d++)
        free(tensor->dims[d].name);
    free(tensor->dims);
    tensor->dims = copy;
    tensor->rank = (uint32_t)rank;
    tensor->has_shape = true;
    for (size_t d = 0; d < rank; d++) {
        copy[d].extent = dims[d].extent < 0 ? MODEL_OPEN : dims[d].extent;
        if (dims[d].name && !(copy[d].name = strdup(dims[d].name)))
            return fault_no_memory(fault);
    }
    return 0;
}

int model_set_quant(struct model *model, struct model_tensor *tensor,
                    const struct model_quant *from, struct fault *fault)
{
    struct model_quant *quant = &tensor->quant;

    model->scale_count += from->count;
    if (model->scale_count > MODEL_SCALES_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "more than %d quantisation parameters",
                         MODEL_SCALES_MAX);
    free(quant->scale);
    free(quant->zero_point);
    *quant = (struct model_quant){.axis = from->axis};
    quant->scale = calloc(from->count + 1, sizeof(*quant->scale));
    quant->zero_point = calloc(from->count + 1, sizeof(*quant->zero_point));
    if (!quant->scale || !quant->zero_point)
        return fault_no_memory(fault);
    memcpy(quant->scale, from->scale, from->count * sizeof(*quant->scale));
    memcpy(quant->zero_point, from->zero_point, from->count * sizeof(*quant->zero_point));
    quant->count = from->count;
    return 0;
}

int model_push(size_t **list, size_t *count, size_t index)
{
    size_t *more = *list;

    if ((*count & (*count - 1)) == 0) /* full: the capacity is a power of two */
        more = reallocarray(*list, *count ? *count * 2 : 1, sizeof(**list));
    if (!more)
        return -1;
    *list = more;
    more[(*count)++] = index;
    return 0;
}

const struct model_attribute *model_attribute(const struct model_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    }
    return NULL;
}

const uint8_t *model_elements(const struct model *model, const struct model_tensor *tensor)
{
    if (tensor->refusal)
        return NULL;
    return tensor->place == MODEL_IN_FILE     ? model->bytes + tensor->offset
           : tensor->place == MODEL_IN_MEMORY ? tensor->memory
                                              : NULL;
}

bool model_tensor_bytes(const struct model_tensor *tensor, uint64_t *bytes)
{
    uint64_t total = tensor->dtype ? tensor->dtype->size : 0;

    if (!tensor->has_shape || total == 0)
        return false;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        if (tensor->dims[d].extent < 0)
            return false;
        if (tensor->dims[d].extent == 0)
            total = 0;
    }
    for (uint32_t d = 0; d < tensor->rank && total > 0; d++) {
        if (__builtin_mul_overflow(total, (uint64_t)tensor->dims[d].extent, &total) ||
            total > UINT64_C(1) << 62)
            return false;
    }
    *bytes = total;
    return true;
}

static int refuse(struct model_tensor *tensor, const char *why, struct fault *fault)
{
    if (!tensor->refusal && !(tensor->refusal = strdup(why)))
        return fault_no_memory(fault);
    return 0;
}

int model_check_constants(struct model *model, struct fault *fault)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        struct model_tensor *tensor = &model->tensors[i];
        uint64_t bytes = 0;
        char why[128];

        if (tensor->place == MODEL_NOWHERE || tensor->refusal)
            continue;
        if (!tensor->dtype || tensor->dtype->size == 0) {
            snprintf(why, sizeof(why), "elements of type %s cannot be moved",
                     tensor->dtype ? tensor->dtype->name : "unknown");
        } else if (!model_tensor_bytes(tensor, &bytes)) {
            snprintf(why, sizeof(why), "its shape is not known");
        } else if (bytes != tensor->bytes) {
            snprintf(why, sizeof(why), "it has %" PRIu64 " bytes; its shape and type need %" PRIu64,
                     tensor->bytes, bytes);
        } else {
            continue;
        }
        if (refuse(tensor, why, fault))
            return -1;
    }
    return 0;
}

uint64_t model_element_count(const struct model_tensor *tensor)
{
    return tensor->dtype && tensor->dtype->size ? tensor->bytes / tensor->dtype->size : 0;
}

/* Returns element i of a constant with an integer type of up to 8 bytes. */
static int64_t model_integer_at(const struct model_tensor *tensor, const uint8_t *elements,
                                uint64_t i)
{
    const uint32_t size = tensor->dtype->size;
    uint64_t bits = 0;

    memcpy(&bits, elements + i * size, size);
    bits = le64toh(bits);
    if (tensor->dtype->kind == 'i' && size < 8 && bits >> (size * 8 - 1))
        bits |= ~UINT64_C(0) << (size * 8);
    return (int64_t)bits;
}

static const struct model_tensor *constant(const struct model *model, size_t tensor)
{
    if (tensor >= model->tensor_count || !model_elements(model, &model->tensors[tensor]))
        return NULL;
    return &model->tensors[tensor];
}

int model_integers(const struct model *model, size_t index, int64_t *out, int max)
{
    const struct model_tensor *tensor = constant(model, index);

    if (!tensor || (tensor->dtype->kind != 'i' && tensor->dtype->kind != 'u') ||
        tensor->dtype->id == MODEL_BFLOAT16 || tensor->dtype->id == MODEL_FLOAT8 ||
        model_element_count(tensor) > (uint64_t)max)
        return -1;
    const int count = (int)model_element_count(tensor);
    for (int i = 0; i < count; i++)
        out[i] = model_integer_at(tensor, model_elements(model, tensor), (uint64_t)i);
    return count;
}

float *model_floats(const struct model *model, size_t index, uint32_t *count)
{
    const struct model_tensor *tensor = constant(model, index);

    *count = 0;
    if (!tensor || tensor->dtype->id != MODEL_FLOAT32 || tensor->bytes / 4 > UINT32_MAX / 8)
        return NULL;
    float *copy = malloc((size_t)tensor->bytes + 1);
    if (!copy)
        return NULL;
    *count = (uint32_t)(tensor->bytes / 4);
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t bits;
        memcpy(&bits, model_elements(model, tensor) + (size_t)i * 4, sizeof(bits));
        bits = le32toh(bits);
        memcpy(&copy[i], &bits, sizeof(bits));
    }
    return copy;
}
