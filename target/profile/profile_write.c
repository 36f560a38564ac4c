/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "proto/json/json.h"
#include "target/profile/target_profile.h"

enum { PARENT_MAX = 33, POINTER_MAX = 2 * PARENT_MAX };

/*
 * Writes members of one object. A member without a source was absent from the file. The writer
 * leaves it out, so that the written profile is valid.
 */
struct figures {
    struct jsonw *w;
    const struct target_profile *profile;
    const char *parent; /* JSON pointer of the object */
};

static bool has_source(const struct figures *f, const char *key)
{
    char pointer[POINTER_MAX];

    snprintf(pointer, sizeof pointer, "%.32s/%.32s", f->parent, key);
    return profile_source_of(f->profile, pointer) != NULL;
}

/* Writes the members of a table that the file had, also those with their defaults. */
static void write_members(const struct figures *f, const struct member *members,
                          const void *structure)
{
    for (const struct member *m = members; m->key; m++) {
        struct member one[] = {*m, {0}};

        one[0].optional = false;
        if (has_source(f, m->key))
            members_write(f->w, one, structure);
    }
}

static void write_cost(const struct figures *f, const char *key, profile_cost cost)
{
    if (has_source(f, key))
        profile_cost_write(f->w, key, cost);
}

static void write_address(const struct figures *f, const char *key, uint64_t address)
{
    char text[24];

    snprintf(text, sizeof text, "0x%" PRIx64, address);
    jsonw_string(f->w, key, text);
}

static void write_memory(struct jsonw *w, const struct target_profile *profile, uint32_t index)
{
    const struct profile_memory *memory = &profile->memories[index];
    char parent[PARENT_MAX];
    const struct figures f = {w, profile, parent};

    snprintf(parent, sizeof parent, "/memories/%" PRIu32, index);
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "name", memory->name);
    write_address(&f, "base", memory->base);
    write_address(&f, "size", memory->size);
    write_members(&f, profile_memory_members, memory);
    if (has_source(&f, "reached_by"))
        words_write(w, "reached_by", profile_reach_words, memory->reached_by);
    write_cost(&f, "latency", memory->latency);
    jsonw_object_end(w);
}

static void write_dma(struct jsonw *w, const struct target_profile *profile)
{
    const struct figures f = {w, profile, "/dma"};

    jsonw_object_begin(w, "dma");
    write_members(&f, profile_dma_members, &profile->dma);
    jsonw_object_end(w);
}

static void write_costs(struct jsonw *w, const struct target_profile *profile)
{
    const struct figures f = {w, profile, "/costs"};

    jsonw_object_begin(w, "costs");
    for (const struct profile_cost_member *m = profile_cost_members; m->key; m++)
        write_cost(&f, m->key, profile_cost_of(&profile->costs, m));
    measured_costs_write(w, &profile->measured);
    jsonw_object_end(w);
}

static void write_sources(struct jsonw *w, const struct target_profile *profile)
{
    jsonw_object_begin(w, "sources");
    for (uint32_t i = 0; i < profile->source_count; i++) {
        jsonw_key(w, profile->sources[i].pointer);
        jsonw_string(w, NULL, profile->sources[i].text);
    }
    jsonw_object_end(w);
}

void profile_write(struct jsonw *w, const char *key, const struct target_profile *profile)
{
    const struct figures f = {w, profile, ""};

    jsonw_object_begin(w, key);
    jsonw_string(w, "name", profile->name);
    if (profile->title[0] != '\0')
        jsonw_string(w, "title", profile->title);
    write_members(&f, profile_numbers, profile);
    jsonw_bool(w, "strict", profile->strict);
    jsonw_array_begin(w, "memories");
    for (uint32_t i = 0; i < profile->memory_count; i++)
        write_memory(w, profile, i);
    jsonw_array_end(w);
    write_dma(w, profile);
    write_costs(w, profile);
    write_sources(w, profile);
    jsonw_object_end(w);
}

/* FNV-1a with 64 bits. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

const char *profile_digest(char out[PROFILE_DIGEST_SIZE], const struct target_profile *profile)
{
    uint64_t hash = FNV_BASIS;
    const char *text;
    struct jsonw w;

    jsonw_init(&w);
    profile_write(&w, NULL, profile);
    text = jsonw_text(&w);
    for (const char *at = text; at && *at; at++)
        hash = (hash ^ (unsigned char)*at) * FNV_PRIME;
    snprintf(out, PROFILE_DIGEST_SIZE, "%016" PRIx64, hash);
    if (!text)
        out[0] = '\0';
    jsonw_finish(&w);
    return out;
}
