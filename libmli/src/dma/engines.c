/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of engines, and the parser of "name:option,option". */
#include "libmli/src/builtins.h"
#include "libmli/src/dma/channel.h"
#include "libmli/src/dma/pool.h"
#include "libmli/src/error.h"

enum { SPEC_MAX = 128 };

static const struct mli_engine *const own[] = {
#if ENGINE_HAS_THREADS
    &engine_threads,
#endif
    &engine_inline,
#if ENGINE_HAS_FAULT
    &engine_fault,
#endif
};
enum { OWN = sizeof(own) / sizeof(*own) };
static struct mli_engine added[MLI_ENGINES_MAX - OWN];
static uint32_t count = OWN; /* number of the library's own engines and of added engines */

/* The argument of the last mli_mov_set_engine(); "" before the first call. */
static char chosen[SPEC_MAX];

/* A part of the given text, without a terminator. */
struct word {
    const char *at;
    size_t length;
};

static size_t length_of(const char *text)
{
    size_t length = 0;

    while (text[length])
        length++;
    return length;
}

static bool is(const struct word *word, const char *text)
{
    size_t i = 0;

    while (i < word->length && text[i] == word->at[i] && text[i])
        i++;
    return i == word->length && text[i] == '\0';
}

/* Returns whether an engine can have this name: it must be one word of "name:key=value". */
static bool is_word(const char *name)
{
    size_t i = 0;

    while (name[i] > ' ' && name[i] <= '~' && name[i] != ':' && name[i] != ',' && name[i] != '=')
        i++;
    return i > 0 && name[i] == '\0';
}

static bool is_fault(const struct mli_engine *engine)
{
    return ENGINE_HAS_FAULT && engine->submit == engine_fault.submit;
}

/* The library's own engines come first, then those that were added. */
static const struct mli_engine *engine_at(uint32_t index)
{
    return index < OWN ? own[index] : &added[index - OWN];
}

static const struct mli_engine *find(const struct word *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is(name, engine_at(i)->name))
            return engine_at(i);
    }
    return NULL;
}

mli_status mli_mov_add_engine(const struct mli_engine *engine)
{
    const size_t least = offsetof(struct mli_engine, open);
    struct mli_engine *copy;

    if (!engine || engine->size < least || !engine->name || !engine->probe || !engine->caps ||
        !engine->submit)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "engine",
                      ": size, name, probe, caps and submit are needed");
    if (!is_word(engine->name))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "engine",
                      ".name: a word without space, colon, comma or equals sign is needed");
    if (find(&(struct word){engine->name, length_of(engine->name)}))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "engine",
                      ".name: an engine with this name exists already");
    if (count == MLI_ENGINES_MAX)
        return decline(MLI_STATUS_NOT_ENGH_MEM, "engine", ": there are % engines already", count);
    copy = &added[count - OWN];
    copy_bytes(copy, engine, engine->size < sizeof(*copy) ? engine->size : sizeof(*copy));
    count++;
    return MLI_STATUS_OK;
}

const char *mli_mov_engine_at(int index)
{
    return index >= 0 && (uint32_t)index < count ? engine_at((uint32_t)index)->name : NULL;
}

/*
 * Returns the text up to a separator, and sets *text to the text after it, or to null without a
 * separator.
 */
static struct word take(const char **text, char separator)
{
    struct word word = {*text, 0};

    while (word.at[word.length] && word.at[word.length] != separator)
        word.length++;
    *text = word.at[word.length] ? word.at + word.length + 1 : NULL;
    return word;
}

/* Splits "key=value". Returns false for any other text. */
static bool split_option(const struct word *item, struct word *key, struct word *value)
{
    size_t i = 0;

    while (i < item->length && item->at[i] != '=')
        i++;
    if (i == 0 || i + 1 >= item->length)
        return false;
    *key = (struct word){item->at, i};
    *value = (struct word){item->at + i + 1, item->length - i - 1};
    return true;
}

/* Returns whether the word is a number below 2^64. */
static bool read_number(const struct word *word, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < word->length; i++) {
        const char digit = word->at[i];

        if (digit < '0' || digit > '9' || *number > (UINT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(digit - '0');
    }
    return true;
}

/* Refuses a word of the specification. The message has its position in characters, from 1. */
static mli_status complain(const char *spec, const struct word *word, const char *what)
{
    return decline(MLI_STATUS_ARGUMENT_ERROR, "engine", what, (int64_t)(word->at - spec) + 1);
}

static mli_status set_option(const struct mli_engine *engine, const char *spec,
                             const struct word *item, size_t *tiny)
{
    struct word key = {item->at, 0}, value = key;
    uint64_t number = 0;

    if (split_option(item, &key, &value) && engine->option_text &&
        engine->option_text(key.at, key.length, value.at, value.length))
        return MLI_STATUS_OK;
    if (key.length == 0 || (!engine->option_text && !read_number(&value, &number)))
        return complain(spec, item,
                        ": character %: key=number is required; the number must be below 2^64");
    if (is(&key, "tiny") && read_number(&value, &number)) {
        if (number > PTRDIFF_MAX)
            return complain(spec, item, ": character %: tiny is too large");
        *tiny = (size_t)number;
        return MLI_STATUS_OK;
    }
    if (!read_number(&value, &number) || !engine->option ||
        !engine->option(key.at, key.length, number))
        return complain(
            spec, item,
            ": character %: the engine has no such option, or the value is out of range");
    return MLI_STATUS_OK;
}

/* Resets all options of an engine to their defaults: calls it with a key of length 0. */
static void reset_options(const struct mli_engine *engine)
{
    if (engine->option)
        (void)engine->option("", 0, 0);
}

/* Chooses the engine that engine_fault wraps: the first option names it. */
static mli_status choose_inner(const char *spec, const char **rest)
{
    const char *options = *rest ? *rest : spec + length_of(spec);
    const struct word name = take(&options, ',');
    const struct mli_engine *inner = find(&name);

    *rest = options;
    if (!inner || is_fault(inner))
        return complain(spec, &name, ": character %: fault needs the name of an engine to wrap");
    engine_fault_reset(inner);
    reset_options(inner);
    return MLI_STATUS_OK;
}

static bool lacks_poll(const struct mli_engine *engine)
{
    struct mli_channel_caps caps = {0};

    engine->caps(0, &caps);
    return caps.flags & (MLI_CHANNEL_POLLED | MLI_CHANNEL_INTERRUPT) && !engine->poll;
}

/* Refuses an engine whose probe finds no hardware. */
static mli_status complain_of_probe(const struct mli_engine *engine, const char *spec,
                                    const struct word *name)
{
    if (pool_refuse_with_reason(engine, MLI_STATUS_ARGUMENT_ERROR))
        return MLI_STATUS_ARGUMENT_ERROR;
    return complain(spec, name, ": character %: this engine finds no device");
}

/* Finds the engine and sets its options. */
static mli_status configure(const char *spec, const struct mli_engine **found, size_t *tiny)
{
    const char *rest = spec;
    const struct word name = take(&rest, ':');
    const struct mli_engine *engine = find(&name);
    mli_status status = MLI_STATUS_OK;

    if (!engine)
        return complain(spec, &name, ": the name at character % is not an engine");
    if (is_fault(engine))
        status = choose_inner(spec, &rest);
    else
        reset_options(engine);
    while (rest && status == MLI_STATUS_OK) {
        const struct word item = take(&rest, ',');

        status = set_option(engine, spec, &item, tiny);
    }
    if (status == MLI_STATUS_OK && engine->probe() == 0)
        status = complain_of_probe(engine, spec, &name);
    if (status == MLI_STATUS_OK && lacks_poll(engine))
        status =
            complain(spec, &name, ": character %: this engine needs a poll function, but has none");
    *found = engine;
    return status;
}

mli_status mli_mov_set_engine(const char *spec)
{
    const struct mli_engine *engine, *former;
    size_t tiny = SIZE_MAX, former_tiny;
    mli_status status;

    if (!spec)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "engine", ": null given; a name is required");
    if (length_of(spec) >= SPEC_MAX)
        return decline(MLI_STATUS_ARGUMENT_ERROR, "engine", ": more than % characters given",
                       SPEC_MAX - 1);
    status = pool_lock_empty();
    if (status != MLI_STATUS_OK)
        return status;
    status = configure(spec, &engine, &tiny);
    if (status == MLI_STATUS_OK) {
        if (ENGINE_HAS_FAULT)
            engine_fault_restart_count();
        copy_bytes(chosen, spec, length_of(spec) + 1);
        channel_set_engine(engine, tiny);
        pool_unlock_empty();
        return status;
    }
    /*
     * Options before the bad one are set already. Set the former specification again, so that a
     * refused call changes nothing.
     */
    if (chosen[0])
        (void)configure(chosen, &former, &former_tiny);
    pool_unlock_empty();
    return status;
}

const char *mli_mov_engine_name(void)
{
    return channel_engine()->name;
}

/* Attaching memory to the device of an engine. */

static mli_status check_memory(const mli_mov_memory *memory)
{
    if (!memory || !memory->address)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memory", ": null given");
    if (memory->size == 0 || !fits_address_space(memory->address, memory->size))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memory",
                      ".size: % given; must be at least 1, and end inside the address space",
                      memory->size);
    if (memory->flags & ~(MLI_MOV_MEMORY_WRITE | MLI_MOV_MEMORY_DMA_BUF))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memory",
                      ".flags: % given; must be a sum of MLI_MOV_MEMORY_WRITE (1) and "
                      "MLI_MOV_MEMORY_DMA_BUF (2)",
                      memory->flags);
    return MLI_STATUS_OK;
}

mli_status mli_mov_attach_memory(mli_mov_memory *memory)
{
    const struct mli_engine *engine = channel_engine();
    const mli_status status = check_memory(memory);
    int error;

    if (status != MLI_STATUS_OK)
        return status;
    memory->engine = NULL;
    memory->cookie = 0;
    if (!engine->attach)
        return MLI_STATUS_OK;
    error = engine->attach(memory);
    if (error != 0)
        return decline(MLI_STATUS_NOT_ENGH_MEM, engine->name,
                       ": the device cannot use % bytes of memory (error %)", (int64_t)memory->size,
                       error);
    memory->engine = engine;
    return MLI_STATUS_OK;
}

void mli_mov_detach_memory(mli_mov_memory *memory)
{
    const struct mli_engine *engine = memory ? memory->engine : NULL;

    if (!engine)
        return;
    memory->engine = NULL;
    if (engine->detach)
        engine->detach(memory);
}
