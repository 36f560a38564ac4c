/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of one parsed text: cJSON allocates dozens of small pieces that live and die together,
 * which costs more than parsing them. They are cut from blocks instead; the first block is a
 * thread's own and is used again and again, so that a request costs no allocation at all.
 * Private to proto/.
 */
#ifndef PROTO_JSON_ARENA_H
#define PROTO_JSON_ARENA_H

#include <stddef.h>

struct json_arena;

/** Makes cJSON take its memory here, within the two calls below; else from the C library. Once. */
void json_arena_install(void);

/** From here on the calling thread's cJSON allocations come from a new arena; null: no memory. */
struct json_arena *json_arena_begin(void);
/** To here. The arena lives on. */
void json_arena_end(void);
/** Everything at once. By the thread that began it. Null is accepted. */
void json_arena_destroy(struct json_arena *arena);

#endif /* PROTO_JSON_ARENA_H */
