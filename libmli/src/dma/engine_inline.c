/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/engines.h"
#include "libmli/src/dma/pool.h"
#include "libmli/src/dma/processor.h"

static uint32_t probe(void)
{
    return POOL_CHANNELS;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_CPU;
    caps->loops = MLI_MAX_RANK;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    (void)channel;
    processor_run(work);
}

const struct mli_engine engine_inline = {
    .size = sizeof(struct mli_engine),
    .name = "inline",
    .probe = probe,
    .caps = caps,
    .submit = submit,
};
