/* SPDX-License-Identifier: BSD-3-Clause */
/* One run: its configuration, clients and faults, which a seed decides, and its steps. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

struct scenario_result {
    uint64_t step, steps; /* number of the current step; number of all steps of the run */
    uint64_t checksum;    /* checksum of all events */
    uint32_t actors;
    char name[16];
    uint64_t jobs_done, jobs_failed, connections, kills;
    uint64_t client_ns; /* sum over all clients of the simulated time until they ended */
    uint64_t quiet_ns;  /* the part of client_ns in quiet runs */
    uint64_t longest_turn, most_calls;
};

struct scenario_options {
    uint64_t seed, steps;
    uint64_t without; /* set of the actors that do not take part */
    bool log;         /* the service writes its log to standard error */
};

/**
 * Makes one run in this process, which must exit afterwards, because the service's global variables
 * have been used. Ends the program if an invariant is violated.
 */
void scenario_run(const struct scenario_options *options, struct scenario_result *result);

#endif /* SIM_SCENARIO_H */
