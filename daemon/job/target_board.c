/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/target_board.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/base/seam.h"
#include "mli_helpers_api.h"
#include "proto/json/json_file.h"
#include "target/profile/profile_load.h"

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
