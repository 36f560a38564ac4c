/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/answers.h"

#include "proto/json/fault.h"
#include "tests/sim/server.h"
#include "tests/sim/world.h"

static bool is_allowed(int code, const struct excuse *excuse)
{
    switch (code) {
    case 0:
        return true;
    case FAULT_CANCELLED:
        return excuse->cancelled;
    case FAULT_TIMED_OUT:
        return excuse->limited;
    case FAULT_IO_ERROR:
    case FAULT_BAD_DESCRIPTOR:
        return excuse->shrunk || world_excuses.descriptors > 0;
    case FAULT_PREDECESSOR_FAILED:
        return excuse->depends;
    case FAULT_NOT_FOUND:
        return excuse->depends || excuse->cancelled;
    case FAULT_DMA_ERROR:
        return world_excuses.device > 0;
    case FAULT_CHANNEL_STUCK:
        return world_excuses.stuck > 0;
    case FAULT_INTERNAL:
        return world_excuses.memory > 0 || world_excuses.descriptors > 0;
    case FAULT_STREAM_ERROR:
        return world_excuses.descriptors > 0;
    case FAULT_LIMIT:
        return true; /* any call may exceed a limit, because the limits are small */
    case FAULT_SHUTTING_DOWN:
        return !server_listens();
    case MLI_CLIENT_LOST:
        return world_excuses.memory > 0 || world_excuses.descriptors > 0 || !server_listens();
    default:
        return false;
    }
}

void answer_check(const char *what, int code, const mli_client_error *error,
                  const struct excuse *excuse)
{
    if (!is_allowed(code, excuse))
        world_fail("%s: a well-behaved client got %d (%s): %s", what, code, error->name,
                   error->message);
}
