/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scene of most tests of jobs: a service of one channel, two clients, and four bytes to copy;
 * optionally, a gate holds every transfer.
 */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/service_thread.h"

#define COPY      "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}"
#define WITH(...) __VA_ARGS__ "," COPY

extern struct server server;
extern struct gate gate;
extern struct peer peer, other;
extern int src, dst; /* memfds with "abcd" and with zeros */

/** Configures the service but does not start it: the test may change the configuration. */
int scene_setup(void **state);
void scene_start(void);
/** Starts the service with the gate closed. The teardown releases transfers that are still held. */
void scene_start_gated(void);
/** Closes everything, and checks that no descriptor is left. */
int scene_teardown(void **state);

/** Sends a request whose params have these members. */
void scene_call(struct peer *who, int id, const char *method, const char *params);

/** Expands to a test with setup and teardown of the scene. */
#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

#endif /* TEST_SCENE_H */
