/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/ports.h"

#include <stddef.h>

#include "libmli/port/mock/mock_engine.h"
#include "mli_engine.h"

#if PORTS_HAVE_VFIO
#include "libmli/port/vfio/vfio.h"
#endif

/* To add a board's DMA controller to mlid and mlictl, add its engine here (docs/porting.md). */
static const struct mli_engine *const ports[] = {
    &mock_engine,
#if PORTS_HAVE_VFIO
    &vfio_engine,
#endif
    NULL,
};

void ports_add(void)
{
    for (size_t i = 0; ports[i]; i++)
        (void)mli_mov_add_engine(ports[i]); /* add fails only if the engine was added before */
}
