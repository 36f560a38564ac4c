/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl profile: lists, shows and checks target profiles. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/file/text.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"
#include "proto/json/json.h"
#include "target/profile/profile_load.h"

static const struct option options_table[] = {
    {"file", NULL, "Show the file of a built-in profile, to copy and change."},
    OPTIONS_COMMON,
};

static const char *const verbs[] = {"list", "show", "check", NULL};
static const struct value verb_value = {VALUE_WORD, verbs};

/* Writes the names of the vector memories, or "-". */
static const char *vector_memories(char out[PRINT_PATH_MAX], const struct target_profile *profile)
{
    struct phrase phrase = phrase_init(out, PRINT_PATH_MAX);

    for (uint32_t i = 0; i < profile->memory_count; i++)
        if (profile->memories[i].vector)
            phrase_add(&phrase, "%s%s", *out ? ", " : "", profile->memories[i].name);
    return *out ? out : "-";
}

static void list_json(const struct target_profile *profile)
{
    struct jsonw w;

    jsonw_init_object(&w);
    jsonw_string(&w, "name", profile->name);
    jsonw_string(&w, "title", profile->title);
    jsonw_string(&w, "controller", profile_controller_words[profile->dma.controller]);
    jsonw_uint(&w, "channels", profile->dma.channels);
    print_object(&w);
}

static enum exit_code list(const struct print_style *style)
{
    struct grid grid;
    struct textw text = {0};
    struct target_profile profile;
    char vectors[PRINT_PATH_MAX];
    struct fault fault;

    grid_init(&grid, "lrlll");
    grid_add(&grid, "PROFILE\tCHANNELS\tCONTROLLER\tVECTOR MEMORY\tBOARD");
    for (const struct profile_text *built_in = profile_built_in; built_in->name; built_in++) {
        if (profile_load(&profile, built_in->name, &fault) < 0) {
            grid_finish(&grid);
            return print_failure(style, built_in->name, &fault);
        }
        if (style->json)
            list_json(&profile);
        grid_add(&grid, "%s\t%" PRIu32 "\t%s\t%s\t%s", profile.name, profile.dma.channels,
                 profile_controller_words[profile.dma.controller],
                 vector_memories(vectors, &profile), profile.title);
    }
    if (!style->json && !style->quiet) {
        grid_write(&grid, "", &text);
        print_text(&text);
    }
    grid_finish(&grid);
    return EXIT_CODE_DONE;
}

/* Prints the figure `parent`/`key` and the number of its source. */
static void __attribute__((format(printf, 5, 6)))
print_figure(const struct print_style *style, const struct target_profile *profile,
             const char *parent, const char *key, const char *format, ...)
{
    char pointer[FAULT_POINTER_MAX], value[PRINT_TEXT_MAX], figure[96], before[128], number[32];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    snprintf(pointer, sizeof pointer, "%s/%s", parent, key);
    if (*value)
        snprintf(figure, sizeof figure, "%-16s %s", key, value);
    else
        snprintf(figure, sizeof figure, "%s", key);
    const struct profile_source *source = profile_source_of(profile, pointer);
    if (!source) {
        print_line(style, "  %s", figure);
        return;
    }
    snprintf(before, sizeof before, "  %-36s ", figure);
    snprintf(number, sizeof number, "[%td]", source - profile->sources + 1);
    print_coloured(style, before, COLOUR_FAINT, number,
                   profile_is_assumed(source) ? " assumed" : "");
}

static void print_sources(const struct print_style *style, const struct target_profile *profile)
{
    print_line(style, "sources");
    for (uint32_t i = 0; i < profile->source_count; i++)
        print_line(style, "  [%" PRIu32 "] %s: %s", i + 1, profile->sources[i].pointer,
                   profile->sources[i].text);
}

static void print_number(const struct print_style *style, const struct target_profile *profile,
                         const char *parent, const char *key, uint64_t number, const char *unit)
{
    print_figure(style, profile, parent, key, "%" PRIu64 "%s", number, unit);
}

static void print_limit(const struct print_style *style, const struct target_profile *profile,
                        const char *key, uint64_t limit, const char *unit)
{
    if (limit > 0)
        print_number(style, profile, "/dma", key, limit, unit);
    else
        print_figure(style, profile, "/dma", key, "no limit");
}

static void print_memory(const struct print_style *style, const struct target_profile *profile,
                         uint32_t index)
{
    const struct profile_memory *memory = &profile->memories[index];
    char size[PRINT_TEXT_MAX], parent[32], cost[PROFILE_COST_TEXT_MAX];

    print_line(style, "memory %s: 0x%" PRIx64 " to 0x%" PRIx64 ", %s%s", memory->name, memory->base,
               memory->base + memory->size - 1, print_bytes(size, memory->size),
               memory->vector ? ", operands of kernels" : "");
    snprintf(parent, sizeof parent, "/memories/%" PRIu32, index);
    print_figure(style, profile, parent, "base", "0x%" PRIx64, memory->base);
    if (memory->banks > 1) {
        print_number(style, profile, parent, "banks", memory->banks, "");
        print_number(style, profile, parent, "bank_bytes", memory->bank_bytes, " B");
    }
    print_number(style, profile, parent, "alignment", memory->alignment, " B");
    print_figure(style, profile, parent, "latency", "%s cycle%s",
                 profile_cost_text(cost, memory->latency),
                 memory->latency == PROFILE_CYCLE ? "" : "s");
}

static void print_dma(const struct print_style *style, const struct target_profile *profile)
{
    const struct profile_dma *dma = &profile->dma;

    print_line(style, "DMA controller %s%s", profile_controller_words[dma->controller],
               dma->fills ? ", writes zeros by itself" : "");
    print_number(style, profile, "/dma", "channels", dma->channels, "");
    print_number(style, profile, "/dma", "loops", dma->loops, "");
    print_limit(style, profile, "count_max", dma->count_max, "");
    print_limit(style, profile, "run_max", dma->run_max, " B");
    print_limit(style, profile, "step_max", dma->step_max, " B");
    print_limit(style, profile, "bytes_max", dma->bytes_max, " B");
    print_number(style, profile, "/dma", "granularity", dma->granularity, " B");
    print_number(style, profile, "/dma", "alignment", dma->alignment, " B");
    print_number(style, profile, "/dma", "address_bits", dma->address_bits, "");
    print_number(style, profile, "/dma", "bus_bytes", dma->bus_bytes, " B");
    print_number(style, profile, "/dma", "burst_bytes", dma->burst_bytes, " B");
}

/* Prints the classes of measured costs; the figures are in the file. */
static void print_measured(const struct print_style *style, const struct target_profile *profile)
{
    const struct measured_costs *measured = &profile->measured;

    print_line(style, "measured costs of the processor");
    for (uint32_t i = 0; i < MOVE_CLASSES; i++) {
        if (measured->class[i].present)
            print_figure(style, profile, "/costs/measured/classes", move_class_keys[i], "%s", "");
    }
    print_number(style, profile, "/costs/measured", "trees", measured->trees, "");
}

static void print_costs(const struct print_style *style, const struct target_profile *profile)
{
    if (profile->measured.present) {
        print_measured(style, profile);
        return;
    }
    print_line(style, "costs in cycles");
    for (const struct profile_cost_member *m = profile_cost_members; m->key; m++) {
        char cost[PROFILE_COST_TEXT_MAX];

        print_figure(style, profile, "/costs", m->key, "%s",
                     profile_cost_text(cost, profile_cost_of(&profile->costs, m)));
    }
}

static void print_profile(const struct print_style *style, const struct target_profile *profile)
{
    print_line(style, "%s: %s", profile->name, profile->title);
    print_number(style, profile, "", "clock_hz", profile->clock_hz, "");
    if (profile->vector_bits > 0)
        print_number(style, profile, "", "vector_bits", profile->vector_bits, "");
    print_number(style, profile, "", "guard_bit_option", profile->guard_bit_option, "");
    print_line(style, "  %-16s %s", "strict", profile->strict ? "yes" : "no");
    for (uint32_t i = 0; i < profile->memory_count; i++)
        print_memory(style, profile, i);
    print_dma(style, profile);
    print_costs(style, profile);
    print_sources(style, profile);
}

static enum exit_code show_file(const struct print_style *style, const char *name)
{
    const struct profile_text *built_in = profile_built_in_named(name);

    if (!built_in)
        return print_invalid(
            "--file: \"%s\" is not a built-in profile; mlictl profile list prints the names", name);
    if (!style->quiet)
        fputs(built_in->text, stdout);
    return EXIT_CODE_DONE;
}

static enum exit_code fail(const struct print_style *style, const char *name,
                           const struct fault *fault)
{
    return print_failure(style, profile_is_path(name) ? name : NULL, fault);
}

static enum exit_code show(const struct print_style *style, const char *name)
{
    struct target_profile profile;
    struct fault fault;
    struct jsonw w;

    if (profile_load(&profile, name, &fault) < 0)
        return fail(style, name, &fault);
    if (style->json) {
        jsonw_init(&w);
        profile_write(&w, NULL, &profile);
        print_json(&w);
    } else {
        print_profile(style, &profile);
    }
    return EXIT_CODE_DONE;
}

static uint32_t count_assumed(const struct target_profile *profile)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->source_count; i++)
        count += profile_is_assumed(&profile->sources[i]);
    return count;
}

static enum exit_code check(const struct print_style *style, const char *name)
{
    struct target_profile profile;
    struct fault fault;
    struct jsonw w;

    if (profile_load(&profile, name, &fault) < 0)
        return fail(style, name, &fault);
    print_line(style,
               "%s: valid, %" PRIu32 " memor%s, %" PRIu32 " of %" PRIu32 " sources are assumptions",
               name, profile.memory_count, profile.memory_count == 1 ? "y" : "ies",
               count_assumed(&profile), profile.source_count);
    if (style->json) {
        jsonw_init_object(&w);
        jsonw_string(&w, "file", name);
        jsonw_bool(&w, "valid", true);
        jsonw_uint(&w, "assumed", count_assumed(&profile));
        jsonw_uint(&w, "sources", profile.source_count);
        print_object(&w);
    }
    return EXIT_CODE_DONE;
}

static enum exit_code for_each(const struct options *options, const struct print_style *style,
                               enum exit_code (*run)(const struct print_style *, const char *))
{
    enum exit_code code = EXIT_CODE_DONE;

    for (size_t i = 1; i < options->argument_count; i++) {
        const enum exit_code each = run(style, options->arguments[i]);

        if (code == EXIT_CODE_DONE)
            code = each;
    }
    return code;
}

/* Reports wrong arguments, with a suggestion for a misspelt verb. */
static enum exit_code misused(const char *verb)
{
    const char *near = nearest_word(verb, verbs);

    if (near && strcmp(near, verb) != 0)
        print_error("profile %s: not known; did you mean \"%s\"?", verb, near);
    return command_misused(&cmd_profile);
}

static enum exit_code run(const struct options *options)
{
    const struct print_style style = options_style(options);
    const char *verb = options->argument_count > 0 ? options->arguments[0] : "";
    const bool file = options_get(options, "file") != NULL;

    if (strcmp(verb, "list") == 0 && options->argument_count == 1 && !file)
        return list(&style);
    if (strcmp(verb, "show") == 0 && options->argument_count > 1)
        return for_each(options, &style, file ? show_file : show);
    if (strcmp(verb, "check") == 0 && options->argument_count > 1 && !file)
        return for_each(options, &style, check);
    return misused(verb);
}

const struct command cmd_profile = {
    .name = "profile",
    .arguments = "list|show|check [NAME...]",
    .summary = "list, show and check target profiles",
    .details =
        "A target profile describes a board: memories, DMA controller, rules for addresses,\n"
        "and costs. NAME is a built-in profile, or the path of a file: with '/' or .json.\n",
    .options = options_table,
    .takes = &value_profile,
    .first = &verb_value,
    .examples = {{"the boards that mlictl knows", "mlictl profile list"},
                 {"the figures of a board, with their sources", "mlictl profile show vpx5-nsim"},
                 {"start a profile of your own",
                  "mlictl profile show vpx5-nsim --file > board.json"},
                 {"check it", "mlictl profile check board.json"}},
    .run = run,
};
