/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether what the channels have counted agrees with what they were given to do. */
#ifndef CLI_SELFTEST_AUDIT_H
#define CLI_SELFTEST_AUDIT_H

#include "cli/selftest/round.h"

/** While transfers are under way: no more ended than were submitted. */
void audit_running(struct round *round);

/** Fills round->stats. */
void audit_read(struct round *round);

/** When all are over: reads them and adds everything up. */
void audit_final(struct round *round);

#endif /* CLI_SELFTEST_AUDIT_H */
