/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/hardware.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/json/json.h"
#include "target/profile/profile_load.h"

/* The pool of DMA channels. */

static atomic_flag taken = ATOMIC_FLAG_INIT;

static int complain(struct fault *fault, int error, enum fault_code code, const char *pointer)
{
    fault_set(fault, code, pointer, "%s", mli_last_error());
    return error;
}

/* Refuses the configured engine. The message lists all engines, so that the user finds the right
 * name. */
static int complain_of_engine(const struct config *config, struct fault *fault)
{
    char names[128] = "";
    const char *name;

    for (int i = 0; (name = mli_mov_engine_at(i)); i++) {
        const size_t length = strlen(names);

        snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", name);
    }
    fault_set(fault, FAULT_INVALID_PARAMS, "/engine", "%s: \"%s\" given; engines: %s",
              mli_last_error(), config->engine, names);
    return -EINVAL;
}

static int complain_of_channels(const struct config *config, struct fault *fault)
{
    fault_set(fault, FAULT_INVALID_PARAMS, "/channels",
              "channels: %" PRIu32 " given, from channel_offset %" PRIu32 ": %s", config->channels,
              config->channel_offset, mli_last_error());
    return -EINVAL;
}

/* The default engine is the library's first engine. */
static const char *engine_of(const struct config *config)
{
    return config->engine[0] != '\0' ? config->engine : mli_mov_engine_at(0);
}

static int set_channels(const struct config *config, struct fault *fault)
{
    mli_status status;

    if (mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK)
        return complain(fault, -EBUSY, FAULT_INTERNAL, NULL);
    if (mli_mov_set_engine(engine_of(config)) != MLI_STATUS_OK)
        return complain_of_engine(config, fault);
    status = mli_mov_set_num_dma_ch((int)config->channel_offset, (int)config->channels);
    if (status == MLI_STATUS_NOT_ENGH_MEM)
        return complain(fault, -ENOMEM, FAULT_INTERNAL, NULL);
    if (status != MLI_STATUS_OK)
        return complain_of_channels(config, fault);
    return 0;
}

int dma_pool_take(const struct config *config, struct fault *fault)
{
    int error;

    if (atomic_flag_test_and_set(&taken)) {
        fault_set(fault, FAULT_INTERNAL, NULL, "another service of this process has the channels");
        return -EBUSY;
    }
    error = set_channels(config, fault);
    if (error < 0)
        atomic_flag_clear(&taken);
    return error;
}

void dma_pool_give_back(void)
{
    mli_mov_set_num_dma_ch(0, 0);
    atomic_flag_clear(&taken);
}

/* The board. */

/* Returns 0 or -errno with *fault filled. */
static int load(const struct config *config, struct target_profile *profile, struct fault *fault)
{
    if (profile_load(profile, config->profile, fault) == 0)
        return 0;
    if (profile_is_path(config->profile))
        json_file_name(fault, config->profile);
    const bool memory = fault->code == FAULT_INTERNAL;
    fault_set(fault, memory ? FAULT_INTERNAL : FAULT_INVALID_PARAMS, "/profile", "profile: %s",
              fault->text);
    return memory ? -ENOMEM : -EINVAL;
}

int target_board_check(const struct config *config, struct fault *fault)
{
    struct target_profile *profile;
    int error;

    if (config->profile[0] == '\0')
        return 0;
    profile = seam.calloc(1, sizeof *profile); /* too large for a stack */
    if (!profile)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for the target profile");
    error = load(config, profile, fault);
    free(profile);
    return error < 0 ? -1 : 0;
}

uint32_t target_board_channels(const struct config *config)
{
    struct target_profile *profile = seam.calloc(1, sizeof *profile);
    uint32_t channels = 0;
    struct fault fault;

    if (profile && config->profile[0] != '\0' && load(config, profile, &fault) == 0)
        channels = profile->dma.channels;
    free(profile);
    return channels;
}

static void activate(const struct target_profile *profile)
{
    const mli_profile active = {.guard_bit_option = (uint8_t)profile->guard_bit_option,
                                .strict = profile->strict};

    mli_profile_set(&active); /* cannot fail: profile_read() has checked the option */
}

int target_board_create(const struct config *config, struct board **out)
{
    struct target_profile *profile = NULL;
    struct board *board = NULL;
    struct fault fault;
    int error = -ENOMEM;

    *out = NULL;
    if (config->profile[0] == '\0')
        return 0;
    profile = seam.calloc(1, sizeof *profile);
    board = seam.calloc(1, sizeof *board);
    if (profile && board)
        error = load(config, profile, &fault);
    if (error == 0) {
        board_init(board, profile);
        profile_digest(board->digest, profile);
        activate(&board->profile);
        *out = board;
    } else {
        free(board);
    }
    free(profile);
    return error;
}

void target_board_destroy(struct board *board)
{
    if (!board)
        return;
    mli_profile_set(NULL);
    free(board);
}
