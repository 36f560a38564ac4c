/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strict reading of JSON. A struct json is a value and its path back to the root, so that every
 * complaint can name its place.
 *
 * Getters return 0, or -1 after filling the document's fault (FAULT_INVALID_PARAMS, JSON pointer,
 * sentence). A value handed out by a getter points at its parent: keep the parent alive.
 */
#ifndef PROTO_JSON_H
#define PROTO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

enum {
    JSON_DEPTH_MAX = 32, /* nested arrays and objects, whatever struct json_limits allows */
    JSON_KEYS_MAX = 64,  /* members of an object that json_object() checks */
    JSON_WORD_MAX = 128  /* bytes of a string that json_choice() reads */
};

struct json_limits {
    size_t bytes;  /* of text */
    size_t depth;  /* of nested containers, at most JSON_DEPTH_MAX */
    size_t values; /* scalars, arrays and objects */
};

struct json_node;

struct json {
    const struct json_node *node; /* null: the member is absent */
    const struct json *parent;    /* null: the root */
    const char *key;              /* in an object */
    size_t index;                 /* in an array */
    struct fault *fault;          /* where complaints go */
    /* Set by the caller where it wants them: */
    const struct json *defaults; /* an object whose members stand in for absent ones; or null */
    bool base;                   /* sentences name members from this value on, not from the root */
};

/** Checks a text as json_parse() does and builds nothing. Returns 0 or -1 (fault filled). */
int json_check(const char *text, size_t length, const struct json_limits *limits,
               struct fault *fault);

/**
 * Prescans and parses. On success *root is the root, which the caller passes to json_free().
 * `fault` must live as long as the values. Returns 0 or -1 (fault filled, nothing to free).
 * One allocation holds all values; any thread may parse and free.
 */
int json_parse(const char *text, size_t length, const struct json_limits *limits, struct json *root,
               struct fault *fault);
void json_free(struct json *root);

/**
 * Complains about this value: FAULT_INVALID_PARAMS with its pointer. The sentence is put behind
 * the value's name, as in "cfg.offset[1]: <sentence>". Returns -1.
 */
int json_complain(const struct json *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Writes the RFC 6901 pointer of a value; cut where it does not fit. */
void json_pointer(const struct json *value, char *out, size_t size);

/**
 * Requires an object whose keys are all in `allowed` (null-terminated) and no key twice. An
 * unknown key is answered with the nearest allowed one, if any is near. `allowed` null: any key,
 * for what a service says, which may be newer than its reader.
 */
int json_object(const struct json *value, const char *const *allowed);

/* The member of a file's root that names its JSON Schema. Editors read it; we only check it. */
#define JSON_SCHEMA_KEY "$schema"
enum { JSON_SCHEMA_MAX = 4095 };
/** Requires a string of 1 .. JSON_SCHEMA_MAX bytes where the root has the member "$schema". */
int json_check_schema(const struct json *root);

/**
 * Member `key`; `.node` is null where it is absent in `object` and in its `defaults`. Keys match
 * case-sensitively.
 */
struct json json_member(const struct json *object, const char *key);
/**
 * The same for a member that is an object: its `defaults` becomes, by way of *storage, the member
 * `key` of object's defaults, so that the two are merged member by member.
 */
struct json json_member_merged(const struct json *object, const char *key, struct json *storage);

static inline bool json_present(const struct json *value)
{
    return value->node != NULL;
}

/** A required integer within [min, max]. */
int json_int(const struct json *value, int64_t min, int64_t max, int64_t *out);
int json_bool(const struct json *value, bool *out);
/** A string of 1 .. max bytes, borrowed from the document. */
int json_string(const struct json *value, size_t max, const char **out);
/** As json_string(), copied to *out; frees the string that was there. */
int json_string_copy(const struct json *value, size_t max, char **out);
/** As json_string(), and may be empty. */
int json_text(const struct json *value, size_t max, const char **out);
/**
 * A string that is one of `words` (null-terminated); *index becomes its place there. Another one is
 * answered with the nearest word, or with all of them.
 */
int json_choice(const struct json *value, const char *const *words, size_t *index);
/** The complaint of json_choice() alone, where `given` was found to be none of `words`. */
int json_complain_choice(const struct json *value, const char *given, const char *const *words);

bool json_is_int(const struct json *value);
bool json_is_string(const struct json *value);
bool json_is_array(const struct json *value);
bool json_is_object(const struct json *value);
bool json_is_null(const struct json *value);

/** Requires an array; *count gets its length. */
int json_array(const struct json *array, size_t *count);
/**
 * Walks an array: `struct json item = {0}; while (json_next(&array, &item)) ...`. The first call
 * gives element 0. Of an object it walks the members.
 */
bool json_next(const struct json *array, struct json *item);

/** Writes a value, and all below it, as it was read. */
void json_write(struct jsonw *w, const char *key, const struct json *value);

#endif /* PROTO_JSON_H */
