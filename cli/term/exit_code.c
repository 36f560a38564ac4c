/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/exit_code.h"

#include <errno.h>

enum exit_code exit_code_of(const struct fault *fault)
{
    switch (fault->code) {
    case FAULT_NONE:
        return EXIT_CODE_DONE;
    case FAULT_PARSE_ERROR:
    case FAULT_INVALID_REQUEST:
    case FAULT_METHOD_NOT_FOUND:
    case FAULT_INVALID_PARAMS:
    case FAULT_REFUSED:
    case FAULT_BAD_DESCRIPTOR:
    case FAULT_FORBIDDEN:
    case FAULT_NOT_FOUND:
        return EXIT_CODE_INVALID;
    case FAULT_SHUTTING_DOWN:
    case FAULT_STREAM_ERROR:
        return EXIT_CODE_LOST;
    case FAULT_TIMED_OUT:
    case FAULT_CANCELLED:
        return EXIT_CODE_STOPPED;
    case FAULT_INTERNAL:
    case FAULT_LIMIT:
    case FAULT_IO_ERROR:
    case FAULT_DMA_ERROR:
    case FAULT_PREDECESSOR_FAILED:
    case FAULT_CHANNEL_STUCK:
    case FAULT_NO_ROOM:
        break;
    }
    return EXIT_CODE_FAILED;
}

static bool is_shortage(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO ||
           error == ENOMEM || error == EMFILE || error == ENFILE;
}

enum fault_code exit_code_fault(int error, enum fault_code other)
{
    return error == ECANCELED ? FAULT_CANCELLED : is_shortage(error) ? FAULT_IO_ERROR : other;
}
