/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "target/profile/measured_costs.h"

enum { DIGITS_MAX = 15, TEXT_STEP = 1000, FOOTPRINT_MAX_BITS = 52 };

#define KEY(name, key) (key),
const char *const move_class_keys[] = {MOVE_CLASS_TABLE(KEY) NULL};
const char *const measured_figure_keys[] = {MEASURED_FIGURE_TABLE(KEY) NULL};
const char *const measured_level_keys[] = {MEASURED_LEVEL_TABLE(KEY) NULL};
static const char *const class_member_keys[] = {MEASURED_FIGURE_TABLE(KEY) MEASURED_LEVEL_TABLE(KEY)
                                                    NULL};
const char *const move_number_keys[] = {MOVE_NUMBER_TABLE(KEY) NULL};
#undef KEY

/* The text of trees */

struct parser {
    struct measured_costs *measured;
    const char *at;
};

static bool parse_number(struct parser *p, double *out)
{
    const bool negative = *p->at == '-';
    double scale = 1, value = 0;
    int digits = 0;

    for (p->at += negative; *p->at >= '0' && *p->at <= '9' && digits < DIGITS_MAX; digits++)
        value = value * 10 + (*p->at++ - '0');
    if (digits == 0)
        return false;
    if (*p->at == '.') {
        for (p->at++; *p->at >= '0' && *p->at <= '9' && digits < DIGITS_MAX; digits++)
            value += (*p->at++ - '0') * (scale /= 10);
    }
    *out = negative ? -value : value;
    return true;
}

static bool parse_name(struct parser *p, uint8_t *number)
{
    const size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz0123456789_");

    for (int i = 0; i < MOVE_NUMBERS; i++) {
        if (strlen(move_number_keys[i]) == length &&
            memcmp(move_number_keys[i], p->at, length) == 0) {
            p->at += length;
            *number = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool parse_byte(struct parser *p, char byte)
{
    if (*p->at != byte)
        return false;
    p->at++;
    return true;
}

static bool parse_node(struct parser *p, int depth, uint16_t *index);
/* Parses "name<number?node:node", from the name on. */
static bool parse_question(struct parser *p, int depth, struct tree_node *node)
{
    double value;

    if (!parse_name(p, &node->number) || !parse_byte(p, '<') || !parse_number(p, &value) ||
        !parse_byte(p, '?'))
        return false;
    node->value = (float)value;
    return parse_node(p, depth + 1, &node->yes) && parse_byte(p, ':') &&
           parse_node(p, depth + 1, &node->no);
}

static bool parse_node(struct parser *p, int depth, uint16_t *index)
{
    struct tree_node node = {.number = TREE_END};
    double value = 1;

    if (depth == MEASURED_TREE_DEPTH_MAX || p->measured->nodes == MEASURED_NODES_MAX)
        return false;
    *index = (uint16_t)p->measured->nodes++;
    if (*p->at >= 'a' && *p->at <= 'z') {
        if (!parse_question(p, depth, &node))
            return false;
    } else {
        if (!parse_number(p, &value) || value < 0.001 || value > 1000)
            return false;
        node.value = (float)log(value);
    }
    p->measured->node[*index] = node;
    return true;
}

size_t measured_tree_read(struct measured_costs *measured, const char *text)
{
    struct parser p = {measured, text};
    const uint32_t before = measured->nodes;
    uint16_t first;

    if (measured->trees < MEASURED_TREES_MAX && parse_node(&p, 0, &first) && *p.at == '\0') {
        measured->tree[measured->trees++] = first;
        return 0;
    }
    measured->nodes = before;
    return (size_t)(p.at - text) + 1;
}

/* Removes zeros at the end of a fraction, and a point without digits behind it. */
static void trim_fraction(char *digits)
{
    size_t length = strlen(digits);

    while (digits[length - 1] == '0')
        digits[--length] = '\0';
    if (digits[length - 1] == '.')
        digits[--length] = '\0';
}

/* Writes a number with at most three digits after the point. */
static void put_number(struct textw *w, double number)
{
    const int64_t scaled = llround(fabs(number) * TEXT_STEP);
    char digits[40];

    snprintf(digits, sizeof digits, "%s%" PRId64 ".%03d", number < 0 ? "-" : "", scaled / TEXT_STEP,
             (int)(scaled % TEXT_STEP));
    trim_fraction(digits);
    textw_printf(w, "%s", digits);
}

static void put_node(struct textw *w, const struct measured_costs *measured, uint16_t index)
{
    const struct tree_node *node = &measured->node[index];

    if (node->number == TREE_END) {
        put_number(w, exp((double)node->value));
        return;
    }
    textw_printf(w, "%s<", move_number_keys[node->number]);
    put_number(w, node->value);
    textw_printf(w, "?");
    put_node(w, measured, node->yes);
    textw_printf(w, ":");
    put_node(w, measured, node->no);
}

void measured_tree_write(struct textw *w, const struct measured_costs *measured, uint32_t tree)
{
    put_node(w, measured, measured->tree[tree]);
}

/* Reading */

static int read_footprints(struct measured_costs *measured, const struct json *object)
{
    struct json array = json_member(object, "footprints"), item = {0};
    size_t count;
    int64_t bytes, before = 0;

    if (json_array(&array, &count) < 0)
        return -1;
    if (count == 0 || count > MEASURED_FOOTPRINTS_MAX)
        return json_complain(&array, "%zu footprints given; 1 to %d are allowed", count,
                             MEASURED_FOOTPRINTS_MAX);
    while (json_next(&array, &item)) {
        if (json_int(&item, 1, INT64_C(1) << FOOTPRINT_MAX_BITS, &bytes) < 0)
            return -1;
        if (bytes <= before)
            return json_complain(
                &item, "%" PRId64 " given after %" PRId64 "; ascending numbers are required", bytes,
                before);
        measured->footprint[measured->footprints++] = (uint64_t)bytes;
        before = bytes;
    }
    return 0;
}

static int read_level(const struct measured_costs *measured, profile_cost *level,
                      const struct json *array)
{
    struct json item = {0};
    size_t count;

    if (json_array(array, &count) < 0)
        return -1;
    if (count != measured->footprints)
        return json_complain(array,
                             "%zu figures given; %" PRIu32 " are required, one for each of "
                             "\"footprints\"",
                             count, measured->footprints);
    while (json_next(array, &item))
        if (profile_cost_read(&item, level++) < 0)
            return -1;
    return 0;
}

static int read_class(struct measured_costs *measured, struct measured_class *class,
                      const struct json *object)
{
    if (json_object(object, class_member_keys) < 0)
        return -1;
    class->present = true;
    for (size_t i = 0; i < MEASURED_FIGURES; i++) {
        const struct json value = json_member(object, measured_figure_keys[i]);

        if (json_present(&value) && profile_cost_read(&value, &class->single[i]) < 0)
            return -1;
    }
    for (size_t i = 0; i < MEASURED_LEVELS; i++) {
        const struct json value = json_member(object, measured_level_keys[i]);

        if (json_present(&value) && read_level(measured, class->level[i], &value) < 0)
            return -1;
    }
    return 0;
}

static int read_classes(struct measured_costs *measured, const struct json *object)
{
    struct json classes = json_member(object, "classes");

    if (json_object(&classes, move_class_keys) < 0)
        return -1;
    for (size_t i = 0; i < MOVE_CLASSES; i++) {
        const struct json class = json_member(&classes, move_class_keys[i]);

        if (json_present(&class) && read_class(measured, &measured->class[i], &class) < 0)
            return -1;
    }
    if (!measured->class[MOVE_CLASS_LONG_ROWS].present)
        return json_complain(&classes,
                             "\"%s\" is missing; it is required for moves of classes that "
                             "are not given",
                             move_class_keys[MOVE_CLASS_LONG_ROWS]);
    return 0;
}

static int read_trees(struct measured_costs *measured, const struct json *object)
{
    struct json trees = json_member(object, "trees"), item = {0};
    size_t count, at;
    const char *text;

    if (!json_present(&trees))
        return 0;
    if (json_array(&trees, &count) < 0)
        return -1;
    if (count > MEASURED_TREES_MAX)
        return json_complain(&trees, "%zu trees given; at most %d are allowed", count,
                             MEASURED_TREES_MAX);
    while (json_next(&trees, &item)) {
        if (json_string(&item, MEASURED_TREE_TEXT_MAX - 1, &text) < 0)
            return -1;
        at = measured_tree_read(measured, text);
        if (at > 0)
            return json_complain(&item,
                                 "a tree is required, such as \"run<16?0.93:1\", of all "
                                 "trees at most %d questions and factors; the mistake is at byte "
                                 "%zu",
                                 MEASURED_NODES_MAX, at);
    }
    return 0;
}

int measured_costs_read(struct measured_costs *measured, const struct json *costs)
{
    static const char *const keys[] = {"footprints", "classes", "trees", NULL};
    const struct json object = json_member(costs, "measured");

    if (!json_present(&object))
        return 0;
    measured->present = true;
    if (json_object(&object, keys) < 0 || read_footprints(measured, &object) < 0 ||
        read_classes(measured, &object) < 0)
        return -1;
    return read_trees(measured, &object);
}

/* Writing */

static bool is_zero(const profile_cost *costs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (costs[i] > 0)
            return false;
    return true;
}

static void write_class(struct jsonw *w, const struct measured_costs *measured,
                        enum move_class which)
{
    const struct measured_class *class = &measured->class[which];

    jsonw_object_begin(w, move_class_keys[which]);
    for (size_t i = 0; i < MEASURED_FIGURES; i++)
        if (class->single[i] > 0)
            profile_cost_write(w, measured_figure_keys[i], class->single[i]);
    for (size_t i = 0; i < MEASURED_LEVELS; i++) {
        if (is_zero(class->level[i], measured->footprints))
            continue;
        jsonw_array_begin(w, measured_level_keys[i]);
        for (uint32_t k = 0; k < measured->footprints; k++)
            profile_cost_write(w, NULL, class->level[i][k]);
        jsonw_array_end(w);
    }
    jsonw_object_end(w);
}

void measured_costs_write(struct jsonw *w, const struct measured_costs *measured)
{
    struct textw text;

    if (!measured->present)
        return;
    jsonw_object_begin(w, "measured");
    jsonw_array_begin(w, "footprints");
    for (uint32_t i = 0; i < measured->footprints; i++)
        jsonw_uint(w, NULL, measured->footprint[i]);
    jsonw_array_end(w);
    jsonw_object_begin(w, "classes");
    for (enum move_class i = 0; i < MOVE_CLASSES; i++)
        if (measured->class[i].present)
            write_class(w, measured, i);
    jsonw_object_end(w);
    jsonw_array_begin(w, "trees");
    textw_init(&text);
    for (uint32_t i = 0; i < measured->trees; i++) {
        textw_reset(&text);
        measured_tree_write(&text, measured, i);
        w->failed |= text.failed;
        if (!text.failed && text.length < MEASURED_TREE_TEXT_MAX)
            jsonw_string(w, NULL, text.data);
    }
    textw_finish(&text);
    jsonw_array_end(w);
    jsonw_object_end(w);
}

enum { COST_DIGITS = 6, COST_CYCLES_MAX = 1000 * 1000 * 1000 };

profile_cost profile_cost_rounded(double cycles, double most)
{
    return (profile_cost)llround(fmin(cycles, most) * (double)PROFILE_CYCLE);
}

const char *profile_cost_text(char out[PROFILE_COST_TEXT_MAX], profile_cost cost)
{
    snprintf(out, PROFILE_COST_TEXT_MAX, "%" PRIu64 ".%06" PRIu64, cost / PROFILE_CYCLE,
             cost % PROFILE_CYCLE);
    trim_fraction(out);
    return out;
}

const char *profile_cost_words(char out[PROFILE_COST_TEXT_MAX], profile_cost cost)
{
    if (cost < PROFILE_COST_MAX)
        return profile_cost_text(out, cost);
    snprintf(out, PROFILE_COST_TEXT_MAX, "> %" PRIu64, PROFILE_COST_MAX / PROFILE_CYCLE);
    return out;
}

/* Reads digits, and up to six digits after a decimal point. Returns -1 for other text. */
static int parse_cost(const char *text, profile_cost *out)
{
    uint64_t whole = 0, scale = PROFILE_CYCLE, part = 0;
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9)
        return -1;
    for (size_t i = 0; i < digits; i++)
        whole = whole * 10 + (uint64_t)(text[i] - '0');
    text += digits;
    if (*text == '.') {
        digits = strspn(++text, "0123456789");
        if (digits == 0 || digits > COST_DIGITS)
            return -1;
        for (size_t i = 0; i < digits; i++) {
            scale /= 10;
            part += (uint64_t)(text[i] - '0') * scale;
        }
        text += digits;
    }
    *out = whole * PROFILE_CYCLE + part;
    return *text == '\0' ? 0 : -1;
}

int profile_cost_read(const struct json *value, profile_cost *out)
{
    const char *text;
    int64_t number;

    if (json_is_string(value)) {
        if (json_string(value, 16, &text) < 0)
            return -1;
        if (parse_cost(text, out) < 0)
            return json_complain(value,
                                 "\"%s\" given; cycles are required: at most 9 digits, and at most "
                                 "6 after a point",
                                 text);
        return 0;
    }
    if (json_int(value, 0, COST_CYCLES_MAX, &number) < 0)
        return -1;
    *out = (uint64_t)number * PROFILE_CYCLE;
    return 0;
}

void profile_cost_write(struct jsonw *w, const char *key, profile_cost cost)
{
    char text[PROFILE_COST_TEXT_MAX];

    if (cost % PROFILE_CYCLE == 0)
        jsonw_uint(w, key, cost / PROFILE_CYCLE);
    else
        jsonw_string(w, key, profile_cost_text(text, cost));
}
