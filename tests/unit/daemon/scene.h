/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What most tests of jobs begin with: a service of one channel, two clients, and four bytes to
 * copy; if wanted, with every transfer held at a gate.
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
extern int src, dst; /* memfds: "abcd", zeros */

/** The service is configured, and may be configured further; it does not run yet. */
int scene_setup(void **state);
void scene_start(void);
/** With the gate closed. What is still held there at the end is let go. */
void scene_start_gated(void);
/** All is closed, and no descriptor is left. */
int scene_teardown(void **state);

/** Sends a request with these members as its params. */
void scene_call(struct peer *who, int id, const char *method, const char *params);

/** A test with all of that around it. */
#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_setup, scene_teardown)

#endif /* TEST_SCENE_H */
