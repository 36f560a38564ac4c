/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the longest of many calls of one function, in processor time of the calling thread.
 *
 * Builds and plays the scene several times and takes the fastest time of each call: a call that is
 * slower in another play was disturbed by other programs. The result is the longest of these
 * times.
 */
#ifndef BENCH_LONGEST_H
#define BENCH_LONGEST_H

#include <stddef.h>
#include <stdint.h>

/* The memory of a scene, which is evicted from all caches before each call: between two calls of
 * mlid, transfers fill the caches with other data. */
struct scene_memory {
    const void *begin;
    size_t bytes;
};

/* A scene: the state before the calls, and one call. */
struct scene {
    const char *title;
    uint32_t calls;                     /* calls in one play */
    struct scene_memory (*begin)(void); /* builds the scene, always in the same state */
    void (*call)(uint32_t at);          /* makes the call with number `at`, counted from 0 */
    void (*end)(void);                  /* frees the scene */
};

/* X(name): the scenes. */
#define SCENE_TABLE(X)                                                                             \
    X(choose_scene)                                                                                \
    X(choose_lanes_scene)                                                                          \
    X(age_scene)                                                                                   \
    X(stats_scene)                                                                                 \
    X(deadline_scene)                                                                              \
    X(guard_scene)                                                                                 \
    X(place_scene)

#define SCENE_DECLARE(name) extern const struct scene name;
SCENE_TABLE(SCENE_DECLARE)
#undef SCENE_DECLARE

struct call_times {
    double longest, mean; /* microseconds */
};

/** Plays a scene `plays` times. Exits with a message if out of memory. */
struct call_times call_times_measure(const struct scene *scene, uint32_t plays);

#endif /* BENCH_LONGEST_H */
