/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/target/decoder.h"

static const struct decoder *const decoders[] = {&decode_zdma,  &decode_bcm2835, &decode_pdma,
                                                 &decode_pl330, &decode_hexagon, &decode_aie2};

const struct decoder *decoder_of(const struct target_profile *profile)
{
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        if (decoders[i]->kind == profile->dma.controller)
            return decoders[i];
    return NULL;
}
