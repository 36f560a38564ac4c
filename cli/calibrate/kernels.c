/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/kernels.h"

enum exit_code calibrate_kernels(const struct print_style *style,
                                 const struct kernels_request *request)
{
    (void)style;
    (void)request;
    print_error("--kernels: this version does not measure kernels yet");
    return EXIT_CODE_INVALID;
}
