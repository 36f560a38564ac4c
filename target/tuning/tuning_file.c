/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "proto/json/json.h"
#include "target/tuning/tuning_file.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define CPU    "sys/devices/system/cpu/cpu0"
#define CACHES CPU "/cache"

enum { INDICES = 8, PATH_ROOM = 4096, LINE_ROOM = 512, SIZE_DIGITS = 12 };

/* Removes spaces and control characters at both ends, and replaces other bytes that do not print.
 */
static void trim(char *text)
{
    size_t length = strlen(text), first = 0;

    while (length > 0 && (unsigned char)text[length - 1] <= ' ')
        text[--length] = '\0';
    while (text[first] != '\0' && (unsigned char)text[first] <= ' ')
        first++;
    memmove(text, text + first, length - first + 1);
    for (char *c = text; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
}

/* Reads the first line of a file. Returns false if there is no line. */
static bool read_line(const char *path, char *line, size_t room)
{
    FILE *file = fopen(path, "re");
    bool read;

    if (!file)
        return false;
    read = fgets(line, (int)room, file) != NULL;
    fclose(file);
    if (read)
        trim(line);
    return read;
}

#if defined(__x86_64__) || defined(__i386__)

/* Writes the name that the processor itself reports. */
static void read_brand(char brand[MACHINE_CPU_MAX])
{
    unsigned words[12] = {0};

    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            return;
    memcpy(brand, words, sizeof words);
    brand[sizeof words] = '\0';
    trim(brand);
}

/*
 * Asks the processor, because a sandboxed service may see no /proc/cpuinfo. Some hypervisors give
 * all processors of a maker one name, so family and model are part of the text.
 */
static void read_cpu(struct machine *machine, const char *root)
{
    unsigned a = 0, b, c, d, family, model;
    char brand[MACHINE_CPU_MAX] = "";

    (void)root;
    read_brand(brand);
    if (!__get_cpuid(1, &a, &b, &c, &d))
        a = 0;
    family = a >> 8 & 15;
    model = a >> 4 & 15;
    if (family == 6 || family == 15)
        model += (a >> 16 & 15) << 4;
    if (family == 15)
        family += a >> 20 & 255;
    snprintf(machine->cpu, sizeof machine->cpu, "%.64s, family %u, model %u, stepping %u",
             *brand ? brand : "x86", family, model, a & 15);
}

#else

/* AArch64: the register with the numbers of implementer and part. */
static void read_cpu(struct machine *machine, const char *root)
{
    char path[PATH_ROOM], line[LINE_ROOM];

    snprintf(path, sizeof path, "%s/" CPU "/regs/identification/midr_el1", root);
    if (read_line(path, line, sizeof line))
        snprintf(machine->cpu, sizeof machine->cpu, "midr %.64s", line);
    else
        snprintf(machine->cpu, sizeof machine->cpu, "unknown");
}

#endif

/* Reads "48K", "2M" or bytes. Returns 0 for other text. */
static uint64_t size_of(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    uint64_t size;

    if (digits == 0 || digits > SIZE_DIGITS)
        return 0;
    size = strtoull(text, NULL, 10);
    if (strcmp(text + digits, "K") == 0)
        return size << 10;
    if (strcmp(text + digits, "M") == 0)
        return size << 20;
    return text[digits] == '\0' ? size : 0;
}

static bool read_attribute(const char *root, int index, const char *name, char *out, size_t room)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%s/" CACHES "/index%d/%s", root, index, name);
    return read_line(path, out, room);
}

static void read_cache(mli_caches *caches, const char *root, int index)
{
    char level[LINE_ROOM], type[LINE_ROOM], size[LINE_ROOM];

    if (!read_attribute(root, index, "level", level, sizeof level) ||
        !read_attribute(root, index, "type", type, sizeof type) ||
        strcmp(type, "Instruction") == 0 || !read_attribute(root, index, "size", size, sizeof size))
        return;
    if (strcmp(level, "1") == 0)
        caches->l1d = size_of(size);
    else if (strcmp(level, "2") == 0)
        caches->l2 = size_of(size);
    else if (strcmp(level, "3") == 0)
        caches->l3 = size_of(size);
}

void machine_read(struct machine *machine, const char *root)
{
    memset(machine, 0, sizeof *machine);
    read_cpu(machine, root);
    for (int i = 0; i < INDICES; i++)
        read_cache(&machine->caches, root, i);
}

bool machine_is(const struct machine *a, const struct machine *b)
{
    return strcmp(a->cpu, b->cpu) == 0 && a->caches.l1d == b->caches.l1d &&
           a->caches.l2 == b->caches.l2 && a->caches.l3 == b->caches.l3;
}

enum { FORMAT = 1 };

static const struct json_limits limits = {.bytes = TUNING_FILE_MAX, .depth = 4, .values = 400};

const struct tuning_field tuning_fields[TUNING_FIELDS] = {
#define FIELD(name, least, most, multiple)                                                         \
    {#name, offsetof(mli_tuning, name), (least), (most), (multiple)},
    MLI_TUNING_TABLE(FIELD)
#undef FIELD
};

static const char *const root_keys[] = {JSON_SCHEMA_KEY, "format", "machine", "level",
                                        "measured",      "values", NULL};
static const struct member machine_members[] = {
    MEMBER(struct machine, cpu, "cpu", KIND_TEXT),
    MEMBER_COUNT(struct machine, caches.l1d, "l1d"),
    MEMBER_COUNT(struct machine, caches.l2, "l2"),
    MEMBER_COUNT(struct machine, caches.l3, "l3"),
    {0},
};
static const struct member measured_members[] = {
    MEMBER(struct tuning_file, library, "library", KIND_TEXT),
    MEMBER(struct tuning_file, date, "date", KIND_TEXT),
    MEMBER_COUNT(struct tuning_file, seconds, "seconds"),
    {0},
};
static const char *const value_keys[] = {"value", "default", "gain_permille", NULL};
static const char *const names[] = {
#define NAME(name, ...) #name,
    MLI_TUNING_TABLE(NAME)
#undef NAME
        NULL};

uint64_t tuning_field_get(const mli_tuning *tuning, size_t index)
{
    uint64_t value;

    memcpy(&value, (const char *)tuning + tuning_fields[index].at, sizeof value);
    return value;
}

void tuning_field_set(mli_tuning *tuning, size_t index, uint64_t value)
{
    memcpy((char *)tuning + tuning_fields[index].at, &value, sizeof value);
}

size_t tuning_field_named(const char *name)
{
    size_t i = 0;

    while (i < TUNING_FIELDS && strcmp(tuning_fields[i].name, name) != 0)
        i++;
    return i;
}

bool tuning_field_is_threshold(size_t index)
{
    return tuning_fields[index].most == UINT64_MAX;
}

/* The largest number of JSON stands for UINT64_MAX, which means that no move streams. */
static uint64_t from_json(int64_t number)
{
    return number == MEMBER_MAX ? UINT64_MAX : (uint64_t)number;
}

static int read_number(const struct json *object, const char *key, const struct tuning_field *field,
                       uint64_t *out)
{
    struct json value = json_member(object, key);
    const int64_t most = field->most > MEMBER_MAX ? MEMBER_MAX : (int64_t)field->most;
    int64_t number;

    if (json_int(&value, (int64_t)field->least, most, &number) < 0)
        return -1;
    if ((uint64_t)number % field->multiple != 0)
        return json_complain(&value, "%" PRId64 " given; a multiple of %" PRIu64 " is required",
                             number, field->multiple);
    *out = from_json(number);
    return 0;
}

static int read_value(struct tuning_file *file, const struct json *values, size_t index)
{
    const struct tuning_field *field = &tuning_fields[index];
    struct json entry = json_member(values, field->name);
    uint64_t value = 0, otherwise = tuning_field_get(&file->defaults, index);
    int64_t gain = 0;

    if (!json_present(&entry))
        return 0;
    if (json_object(&entry, value_keys) < 0 || read_number(&entry, "value", field, &value) < 0 ||
        optional_int(&entry, "gain_permille", 0, 1000, &gain) < 0)
        return -1;
    struct json given = json_member(&entry, "default");
    if (json_present(&given) && read_number(&entry, "default", field, &otherwise) < 0)
        return -1;
    tuning_field_set(&file->tuning, index, value);
    tuning_field_set(&file->defaults, index, otherwise);
    file->gain[index] = (uint64_t)gain;
    return 0;
}

/* Checks rules between several values, such as the size of the stage. */
static int check_stage(const mli_tuning *tuning, const struct json *values)
{
    struct json rows = json_member(values, "stage_rows");
    const uint64_t pitch = tuning->stage_width + MLI_TUNING_STAGE_EDGES;

    if (tuning->stage_rows * pitch <= MLI_TUNING_STAGE_ROOM)
        return 0;
    return json_complain(json_present(&rows) ? &rows : values,
                         "%" PRIu64 " rows of %" PRIu64 " B given; at most %" PRIu64
                         " rows fit on the stage with this stage_width",
                         tuning->stage_rows, tuning->stage_width,
                         MLI_TUNING_STAGE_ROOM / pitch / 16 * 16);
}

static int read_values(struct tuning_file *file, const struct json *root)
{
    struct json values = json_member(root, "values");

    if (json_object(&values, names) < 0)
        return -1;
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        if (read_value(file, &values, i) < 0)
            return -1;
    return check_stage(&file->tuning, &values);
}

static int read_root(struct tuning_file *file, const struct json *root)
{
    struct json level = json_member(root, "level"), format = json_member(root, "format");
    struct json machine = json_member(root, "machine"), measured = json_member(root, "measured");
    int64_t number;

    if (json_object(root, root_keys) < 0 || json_check_schema(root) < 0 ||
        json_int(&format, FORMAT, FORMAT, &number) < 0 || json_object(&machine, NULL) < 0 ||
        members_read_closed(&file->machine, machine_members, &machine) < 0 ||
        members_read_closed(file, measured_members, &measured) < 0 ||
        (json_present(&level) && member_text(root, "level", file->level, sizeof file->level) < 0))
        return -1;
    file->tuning.size = file->defaults.size = sizeof file->tuning;
    (void)mli_tuning_default(&file->defaults, &file->machine.caches);
    file->tuning = file->defaults;
    return read_values(file, root);
}

int tuning_file_parse(struct tuning_file *file, const char *text, size_t length,
                      struct fault *fault)
{
    struct json root;
    int result;

    memset(file, 0, sizeof *file);
    if (json_file_parse(text, length, &limits, &root, fault) < 0)
        return -1;
    result = read_root(file, &root);
    json_free(&root);
    return result;
}

int tuning_file_load(struct tuning_file *file, const char *path, struct fault *fault)
{
    char *text;
    size_t length;
    int result = json_file_read(path, TUNING_FILE_MAX, &text, &length, fault);

    if (result == 0) {
        result = tuning_file_parse(file, text, length, fault);
        free(text);
    }
    if (result < 0)
        json_file_name(fault, path);
    return result;
}

static void write_values(const struct tuning_file *file, struct jsonw *w)
{
    jsonw_object_begin(w, "values");
    for (size_t i = 0; i < TUNING_FIELDS; i++) {
        jsonw_object_begin(w, tuning_fields[i].name);
        jsonw_uint(w, "value", tuning_field_get(&file->tuning, i));
        jsonw_uint(w, "default", tuning_field_get(&file->defaults, i));
        jsonw_uint(w, "gain_permille", file->gain[i]);
        jsonw_object_end(w);
    }
    jsonw_object_end(w);
}

void tuning_file_write(const struct tuning_file *file, struct jsonw *w, const char *key)
{
    jsonw_object_begin(w, key);
    jsonw_uint(w, "format", FORMAT);
    members_write_object(w, "machine", machine_members, &file->machine);
    jsonw_string(w, "level", file->level);
    members_write_object(w, "measured", measured_members, file);
    write_values(file, w);
    jsonw_object_end(w);
}
