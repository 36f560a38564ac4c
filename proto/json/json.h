/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strict JSON: text -> struct json -> the plain data of proto/wire and proto/file.
 *
 *     text -> json_scan.c  checks syntax, UTF-8, numbers and limits
 *          -> cJSON        keeps the values, with one allocation for each value, string and key
 *          -> json.c       getters check types and ranges, and fill a struct fault
 *          -> members.c    fills structures from tables of members, with the getters
 *     plain data -> jsonw.c -> text
 *
 * A struct json is a value and its path back to the root, so that each fault can name the place of
 * the value. Getters return 0, or -1 with the document's fault filled (FAULT_INVALID_PARAMS, JSON
 * pointer, sentence). A struct json points at its parent: keep the parent alive.
 *
 * To add a getter, start here: declare it below, implement it in json.c with json_complain(), and
 * test it in tests/unit/proto/test_json.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

struct cJSON;

/* Suggestions for misspelt words: "did you mean". */

/**
 * Returns the word of `words` (null-terminated) that `given` most likely misspells, else the only
 * word that begins with `given`, else null.
 */
const char *nearest_word(const char *given, const char *const *words);

enum {
    JSON_DEPTH_MAX = 32, /* depth of nested arrays and objects; struct json_limits may allow less */
    JSON_KEYS_MAX = 64,  /* number of members of an object that json_object() checks */
    JSON_WORD_MAX = 128  /* bytes of a string that json_choice() reads */
};

struct json_limits {
    size_t bytes;    /* bytes of the text */
    size_t depth;    /* depth of nested containers, at most JSON_DEPTH_MAX */
    size_t values;   /* number of scalars, arrays and objects */
    bool any_number; /* accept all numbers, for a caller that reads none */
};

struct json {
    const struct cJSON *node;  /* null if the member is absent */
    const struct json *parent; /* value that contains this value; null: this is the root */
    const char *key;           /* name of the member, in an object */
    size_t index;              /* index of the element, in an array */
    struct fault *fault;       /* the fault that json_complain() fills */
    /* Optional; the caller sets these members after parsing: */
    const struct json *defaults; /* object with the defaults of absent members; or null */
    bool base; /* true: faults name members relative to this value, not to the root */
};

/** Checks a text like json_parse(), but keeps no values. Returns 0 or -1 (fault filled). */
int json_check(const char *text, size_t length, const struct json_limits *limits,
               struct fault *fault);

/**
 * Parses a text. Accepts RFC 8259 in valid UTF-8 within `limits`, if all numbers are integers from
 * -(2^53 - 1) to 2^53 - 1 without fraction or exponent, and no string has "\u0000". *root becomes
 * the root; json_free(root) frees all values. `fault` must live as long as the values. Returns 0,
 * or -1 with *fault filled and nothing to free: FAULT_PARSE_ERROR, FAULT_LIMIT or FAULT_INTERNAL
 * (no memory), with line, column and pointer. Any thread may parse and free.
 */
int json_parse(const char *text, size_t length, const struct json_limits *limits, struct json *root,
               struct fault *fault);
void json_free(struct json *root);

/* Fills the fault for json_complain(). */
void json_fault(const struct json *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/**
 * int json_complain(value, format, ...): fills the fault with FAULT_INVALID_PARAMS, the value's
 * pointer, and a text: the name of the value, a colon and the formatted sentence. Returns -1.
 */
#define json_complain(...) (json_fault(__VA_ARGS__), fault_failed())

/** Writes the RFC 6901 pointer of a value, cut to `size` bytes. */
void json_pointer(const struct json *value, char *out, size_t size);

/**
 * Requires an object with keys of `allowed` (null-terminated, at most 64) only, without duplicates.
 * The fault of an unknown key suggests a similar allowed one. If `allowed` is null, any key may
 * occur: replies of newer services have members that a client does not know.
 */
int json_object(const struct json *value, const char *const *allowed);
/**
 * Like json_object() with `keys` allowed; members[i] becomes the member keys[i] of the object, not
 * of its `defaults`. A value that is absent has no members.
 */
int json_members(const struct json *value, const char *const *keys, struct json *members);

/* The member of a file's root that names its JSON Schema. Only editors use its value. */
#define JSON_SCHEMA_KEY "$schema"
/** Requires a string of 1 .. JSON_SCHEMA_MAX bytes if the root has the member "$schema". */
int json_check_schema(const struct json *root);

/**
 * Returns member `key`; its `.node` is null if neither `object` nor its `defaults` have it. Keys
 * are case-sensitive.
 */
struct json json_member(const struct json *object, const char *key);
/**
 * Returns the member `key`, an object. Members that it lacks are taken from the member `key` of the
 * object's `defaults`. *storage must live as long as the result.
 */
struct json json_member_merged(const struct json *object, const char *key, struct json *storage);

static inline bool json_present(const struct json *value)
{
    return value->node != NULL;
}

/** Requires an integer within [min, max]. */
int json_int(const struct json *value, int64_t min, int64_t max, int64_t *out);
int json_bool(const struct json *value, bool *out);
/** Requires a string of 1 .. max bytes; *out points into the document. */
int json_string(const struct json *value, size_t max, const char **out);
/** Like json_string(), but copies the string to *out and frees the string that was there. */
int json_string_copy(const struct json *value, size_t max, char **out);
/** Like json_string(), but accepts the empty string. */
int json_text(const struct json *value, size_t max, const char **out);
/**
 * Requires a string that is one of `words` (null-terminated); *index becomes its index in `words`.
 * The fault of an unknown word suggests a similar word or lists all words.
 */
int json_choice(const struct json *value, const char *const *words, size_t *index);
/** Fills the fault of json_choice() for the unknown word `given`. Returns -1. */
int json_complain_choice(const struct json *value, const char *given, const char *const *words);

bool json_is_int(const struct json *value);
bool json_is_string(const struct json *value);
bool json_is_array(const struct json *value);
bool json_is_object(const struct json *value);
bool json_is_null(const struct json *value);

/** Requires an array; *count becomes its length. */
int json_array(const struct json *array, size_t *count);
/**
 * Iterates over the elements of an array or the members of an object:
 * `struct json item = {0}; while (json_next(&array, &item)) ...`. Returns false after the last.
 */
bool json_next(const struct json *array, struct json *item);

/** Writes a value with all its elements and members. */
void json_write(struct jsonw *w, const char *key, const struct json *value);

/*
 * Getters for members of an object and for sets of words. The getters return 0, or -1 with the
 * object's fault filled. Private to proto/.
 */

/* The largest number that the protocol allows. */
#define MEMBER_MAX ((INT64_C(1) << 53) - 1)

/** Like json_object(), for the params of a method, which may be absent. */
int params_object(const struct json *params, const char *const *allowed);

/** Require member `key`, a whole number from 0. */
int member_u64(const struct json *object, const char *key, uint64_t *out);
int member_u32(const struct json *object, const char *key, uint32_t *out);
int member_bool(const struct json *object, const char *key, bool *out);
/** Requires member `key`, a string of less than `size` bytes, maybe empty. Copies it to `out`. */
int member_text(const struct json *object, const char *key, char *out, size_t size);
/** Requires member `key` of any type; the fault's message is "missing, <why>". */
int member_require(const struct json *object, const char *key, const char *why);

/** Read a member; leave *out and *number unchanged if it is absent. */
int optional_bool(const struct json *object, const char *key, bool *out);
int present_int(const struct json *value, int64_t min, int64_t max, int64_t *number);
int optional_int(const struct json *object, const char *key, int64_t min, int64_t max,
                 int64_t *number);
/** Reads member `key`, a whole number from 0. Sets *out to 0 if the member is absent. */
int optional_u64(const struct json *object, const char *key, uint64_t *out);

/** Requires an array of at most `max` entries; *count becomes its length. */
int array_within(const struct json *array, size_t max, size_t *count);

/**
 * Requires a number of bytes or an address, at most `max`: an integer, or a string such as
 * "0x90000000".
 */
int address_read(const struct json *value, int64_t max, uint64_t *out);

/** Read and write an array of words as bits 1 << index in `words` (null-terminated). */
int words_read(const struct json *array, const char *const *words, uint32_t *bits);
void words_write(struct jsonw *w, const char *key, const char *const *words, uint32_t bits);

/*
 * Tables of the members of an object: one table describes how to read and write the members.
 *
 * To add a kind of member, start here: add it to enum member_kind, and to read_member() and
 * write_member() in members.c.
 */

enum member_kind {
    KIND_NUMBER,  /* uint32_t, int32_t or uint64_t, from `min` to `max` */
    KIND_NUMBERS, /* array of exactly `count` numbers */
    KIND_BOOL,
    KIND_TEXT,   /* array of char; members_read() sets the bytes after the text to 0 */
    KIND_WORD,   /* enum or bool: one of `words`, the first of which has the value `min` */
    KIND_OBJECT, /* object with `members`, whose fields begin at `at` */
    KIND_LIST,   /* array of at most `count` objects with `members`; count_at is the field of its
                    length */
    KIND_OTHER   /* the table has only the key: the caller reads and writes the member */
};

struct member {
    const char *key; /* null: the end of the table */
    enum member_kind kind;
    bool optional;   /* may be absent; is not written if the value is `standard` or empty */
    bool closed;     /* KIND_OBJECT: refuse members that are not in the table */
    size_t at, size; /* offset and size of the field in bytes; for an array: size of an entry */
    int64_t min, max, standard;
    size_t count, count_at;
    const char *const *words; /* null-terminated */
    const struct member *members;
};

#define MEMBER(type, field, name, what, ...)                                                       \
    {                                                                                              \
        .key = (name), .kind = (what), .at = offsetof(type, field),                                \
        .size = sizeof(((type *)0)->field), __VA_ARGS__                                            \
    }
/* A number that is at least 0. */
#define MEMBER_COUNT(type, field, name)                                                            \
    MEMBER(type, field, name, KIND_NUMBER,                                                         \
           .max = sizeof(((type *)0)->field) == sizeof(uint32_t) ? UINT32_MAX : MEMBER_MAX)
/* A number that may be absent. */
#define NUMBER(type, field, name, least, most, normal)                                             \
    MEMBER(type, field, name, KIND_NUMBER, .optional = true, .min = (least), .max = (most),        \
           .standard = (normal))
/* A member that is an array both in JSON and in the structure. */
#define MEMBER_ARRAY(type, field, name, what, ...)                                                 \
    {                                                                                              \
        .key = (name), .kind = (what), .at = offsetof(type, field),                                \
        .size = sizeof(((type *)0)->field[0]),                                                     \
        .count = sizeof(((type *)0)->field) / sizeof(((type *)0)->field[0]), __VA_ARGS__           \
    }

/** Sets the numbers and words to their defaults. */
void members_default(void *structure, const struct member *members);
/** Reads the members; does not change the field of an optional member that is absent. */
int members_read(void *structure, const struct member *members, const struct json *object);
/** Like members_read(), but requires an object. */
int members_read_open(void *structure, const struct member *members, const struct json *object);
/**
 * Like members_read(), but requires an object without members that are not in the table. Does
 * nothing if the object is absent.
 */
int members_read_closed(void *structure, const struct member *members, const struct json *object);
/** Writes the members into the object that is open. */
void members_write(struct jsonw *w, const struct member *members, const void *structure);
/** Writes an object with the members. */
void members_write_object(struct jsonw *w, const char *key, const struct member *members,
                          const void *structure);

/* Settings files: small regular files with JSON, which are read in one piece. */

/**
 * Reads a regular file of at most `max` bytes. Returns 0 with *text to be passed to free(), or -1
 * with *fault filled; its text does not name the file.
 */
int json_file_read(const char *path, size_t max, char **text, size_t *length, struct fault *fault);

/**
 * Parses the text of a file like json_parse(). The fault of a text beyond the limits is
 * FAULT_INVALID_PARAMS, not FAULT_LIMIT: the file is wrong, the service is not overloaded.
 */
int json_file_parse(const char *text, size_t length, const struct json_limits *limits,
                    struct json *root, struct fault *fault);

/** Puts "PATH:LINE:COLUMN: ", or "PATH: " without a line, before the fault's text. */
void json_file_name(struct fault *fault, const char *path);
