/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaching memory to the device of an engine. */
#include "libmli/src/dma/pool.h"
#include "libmli/src/error.h"

static mli_status check(const mli_mov_memory *memory)
{
    if (!memory || !memory->address)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memory", ": null given");
    if (memory->size == 0)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memory", ".size: 0 given; must be at least 1");
    if (memory->flags & ~(MLI_MOV_MEMORY_WRITE | MLI_MOV_MEMORY_DMA_BUF))
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "memory",
                      ".flags: % given; must be a sum of MLI_MOV_MEMORY_WRITE (1) and "
                      "MLI_MOV_MEMORY_DMA_BUF (2)",
                      memory->flags);
    return MLI_STATUS_OK;
}

mli_status mli_mov_attach_memory(mli_mov_memory *memory)
{
    const struct mli_engine *engine = pool_engine();
    const mli_status status = check(memory);
    int error;

    if (status != MLI_STATUS_OK)
        return status;
    memory->engine = NULL;
    memory->cookie = 0;
    if (!engine->attach)
        return MLI_STATUS_OK;
    error = engine->attach(memory);
    if (error != 0)
        return refuse(MLI_STATUS_NOT_ENGH_MEM, engine->name,
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
