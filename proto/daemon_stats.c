/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon_stats.h"

static const char *const phase_names[] = {"serving", "draining", "drained", NULL};

const char *service_phase_name(enum service_phase phase)
{
    return phase_names[phase];
}

int service_phase_read(const struct json *value, enum service_phase *phase)
{
    size_t index;

    if (json_choice(value, phase_names, &index) < 0)
        return -1;
    *phase = (enum service_phase)index;
    return 0;
}
