/* SPDX-License-Identifier: BSD-3-Clause */
/* mli_tuning_*: the checks of a tuning, and the defaults for the caches of a machine. */
#include <stddef.h>

#include "libmli/src/builtins.h"
#include "libmli/src/dma/run.h"
#include "libmli/src/error.h"
#include "libmli/src/exec/leaf.h"
#include "libmli/src/exec/tuning.h"
#include "mli_tuning.h"

/* All members but the size have 64 bits, which i386 aligns to 32 bits only. */
enum {
    SIZE_MOST = 4096,
    SIZE_OF_SIZE = offsetof(mli_tuning, stream_rows_min),
    SIZE_OF_MEMBER = sizeof(uint64_t)
};

_Static_assert(MLI_TUNING_STAGE_ROOM == TUNE_STAGE_ROOM &&
                   MLI_TUNING_STAGE_EDGES == TUNE_STAGE_EDGES,
               "the limit of stage_rows is the room of the stage");

#ifndef MLI_NO_TUNING

/* The caches of the machine on which the defaults were measured. */
static const mli_caches measured = {48 * 1024, 2 * 1024 * 1024, 105 * 1024 * 1024};

/* Returns a legal value near `value`. */
static uint64_t clamped(uint64_t value, uint64_t least, uint64_t most, uint64_t multiple)
{
    value = value < least ? least : value > most ? most : value;
    return value - value % multiple;
}

/*
 * Replaces the defaults that follow from sizes of caches. Stores bypass the caches if a move is
 * larger than 16 times the second-level cache, which is about a core's share of the third-level
 * cache, or larger than half of the third-level cache.
 */
static void defaults_of_caches(mli_tuning *tuning, const mli_caches *caches)
{
    const uint64_t l1 = caches->l1d ? caches->l1d : measured.l1d;
    const uint64_t l2 = caches->l2 ? caches->l2 : measured.l2;
    const uint64_t l3 = caches->l3 ? caches->l3 : UINT64_MAX;
    const uint64_t share = l2 < UINT64_MAX / 16 ? 16 * l2 : UINT64_MAX,
                   pitch = DEFAULT_stage_width + TUNE_STAGE_EDGES;

    tuning_scale_stream(tuning, share < l3 / 2 ? share : l3 / 2);
    tuning->planes_bytes = clamped(l1 / 3 * 2, 4096, 1048576, 64);
    tuning->gather_lines = clamped(l1 / TUNE_LINE / 3, 16, 8192, 1);
    tuning->second_level_bytes = clamped(l2 / 2, 65536, 268435456, 1);
    tuning->tile_source_bytes = clamped(l1 / 2, 4096, 1048576, 1);
    tuning->stage_bytes = clamped(l1 / 3, 4096, TUNE_STAGE_BYTES_MAX, 64);
    tuning->stage_rows = clamped(l2 / 8 / pitch, 16, DEFAULT_stage_rows, 16);
}

#endif

/* Sets every member but `size`. */
static void all_defaults(mli_tuning *tuning, const mli_caches *caches)
{
    tuning_defaults(tuning);
#ifndef MLI_NO_TUNING
    if (caches)
        defaults_of_caches(tuning, caches);
#else
    (void)caches;
#endif
}

/* Returns the number of bytes of the caller's struct that this library knows. */
static size_t known(const mli_tuning *tuning)
{
    return tuning->size < sizeof(*tuning) ? tuning->size : sizeof(*tuning);
}

static mli_status check_size(const mli_tuning *tuning)
{
    if (!tuning)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "tuning", ": null given; a struct is required");
    if (tuning->size < SIZE_OF_SIZE + SIZE_OF_MEMBER || tuning->size > SIZE_MOST ||
        (tuning->size - SIZE_OF_SIZE) % SIZE_OF_MEMBER > 0)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "tuning",
                      ".size: % given; set it to sizeof(mli_tuning), which is % here",
                      (int64_t)tuning->size, (int64_t)sizeof(*tuning));
    return MLI_STATUS_OK;
}

/* Copies the members to a struct of the caller, which may be shorter or longer. */
static void give(mli_tuning *to, const mli_tuning *from)
{
    const size_t size = to->size, common = known(to);
    uint8_t *bytes = (uint8_t *)to;

    copy_bytes(to, from, common);
    to->size = size;
    for (size_t i = common; i < size; i++)
        bytes[i] = 0;
}

mli_status mli_tuning_default(mli_tuning *tuning, const mli_caches *caches)
{
    mli_status status = check_size(tuning);
    mli_tuning defaults;

    if (status != MLI_STATUS_OK)
        return status;
    all_defaults(&defaults, caches);
    give(tuning, &defaults);
    return MLI_STATUS_OK;
}

mli_status mli_tuning_get(mli_tuning *tuning)
{
    mli_status status = check_size(tuning);
    mli_tuning now;

    if (status != MLI_STATUS_OK)
        return status;
    (void)level_leaf(); /* reads the environment */
    tuning_read(&now);
    give(tuning, &now);
    return MLI_STATUS_OK;
}

#ifdef MLI_NO_TUNING

mli_status mli_tuning_set(const mli_tuning *tuning)
{
    (void)tuning;
    return decline(MLI_STATUS_ARGUMENT_ERROR, "tuning",
                   ": this library has constants; a build with -Dtuning=true is required");
}

#else

static mli_status check_beyond(const mli_tuning *tuning)
{
    const uint8_t *bytes = (const uint8_t *)tuning;

    for (size_t i = sizeof(*tuning); i < tuning->size; i++) {
        if (bytes[i])
            return refuse(MLI_STATUS_ARGUMENT_ERROR, "tuning",
                          ".size: % given; byte % is set, but this library knows only % bytes",
                          (int64_t)tuning->size, (int64_t)i, (int64_t)sizeof(*tuning));
    }
    return MLI_STATUS_OK;
}

static mli_status check_value(uint64_t value, uint64_t least, uint64_t most, uint64_t multiple,
                              const char *format)
{
    if (value >= least && value <= most && value % multiple == 0)
        return MLI_STATUS_OK;
    return refuse(MLI_STATUS_ARGUMENT_ERROR, "tuning", format,
                  value > INT64_MAX ? INT64_MAX : (int64_t)value, (int64_t)multiple, (int64_t)least,
                  (int64_t)most);
}

static mli_status check_values(const mli_tuning *tuning)
{
    mli_status status = MLI_STATUS_OK;

#define CHECK(name, least, most, multiple)                                                         \
    if (status == MLI_STATUS_OK)                                                                   \
        status = check_value(tuning->name, least, most, multiple,                                  \
                             "." #name ": % given; a multiple of % from % to % is required");
    MLI_TUNING_TABLE(CHECK)
#undef CHECK
    if (status != MLI_STATUS_OK ||
        tuning->stage_rows * (tuning->stage_width + TUNE_STAGE_EDGES) <= TUNE_STAGE_ROOM)
        return status;
    return refuse(MLI_STATUS_ARGUMENT_ERROR, "tuning",
                  ".stage_rows: % given; with a stage_width of % at most % fit on the stage",
                  (int64_t)tuning->stage_rows, (int64_t)tuning->stage_width,
                  (int64_t)(TUNE_STAGE_ROOM / (tuning->stage_width + TUNE_STAGE_EDGES) / 16 * 16));
}

static mli_status check_idle(void)
{
    if (run_in_callback())
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "tuning",
                      ": a completion callback must not change the tuning");
    (void)run_forks(); /* transfers of the parent are done */
    for (uint32_t i = 0; i < POOL_SLOTS; i++) {
        if (run_state(run_slot(i)) == SLOT_RUNNING)
            return decline(MLI_STATUS_ARGUMENT_ERROR, "tuning",
                           ": a transfer is running; wait for its end first");
    }
    return MLI_STATUS_OK;
}

mli_status mli_tuning_set(const mli_tuning *tuning)
{
    mli_status status = MLI_STATUS_OK;
    mli_tuning checked;

    all_defaults(&checked, NULL);
    if (tuning) {
        status = check_size(tuning);
        if (status == MLI_STATUS_OK)
            status = check_beyond(tuning);
        if (status == MLI_STATUS_OK) {
            copy_bytes(&checked, tuning, known(tuning));
            status = check_values(&checked);
        }
    }
    if (status == MLI_STATUS_OK)
        status = check_idle();
    if (status != MLI_STATUS_OK)
        return status;
    (void)level_leaf(); /* reads the environment now: it must not override this call later */
    tuning_apply(&checked);
    return MLI_STATUS_OK;
}

#endif
