/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/log_rate.h"

bool log_rate_take(struct log_rate *rate, uint64_t now, uint64_t *suppressed)
{
    if (rate->lines == 0 || now - rate->begin >= LOG_RATE_MS) {
        rate->begin = now;
        rate->lines = 0;
    }
    if (rate->lines == LOG_RATE_LINES) {
        rate->suppressed++;
        return false;
    }
    rate->lines++;
    *suppressed = rate->suppressed;
    rate->suppressed = 0;
    return true;
}
