/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/job_spec.h"
#include "proto/json/utf8.h"

#define WORD_OF(name, word, ...) word,
static const char *const status_words[] = {CASE_STATUS_TABLE(WORD_OF) NULL};
static const char *const reason_words[] = {CASE_REASON_TABLE(WORD_OF) NULL};
static const char *const role_words[] = {INPUT_ROLE_TABLE(WORD_OF) NULL};
#undef WORD_OF

/*
 * The members of the events: these tables drive the code that writes, reads, merges and frees
 * them. To add a member, add it to a struct of result.h and to its table.
 */

enum kind {
    COUNT_64, /* uint64_t, at most COUNT_MAX */
    COUNT_32, /* uint32_t */
    COUNT_OF, /* size_t, at most UINT32_MAX */
    CODE,     /* enum exit_code */
    DIGEST,   /* uint64_t */
    FLAG,     /* bool */
    WORD,     /* an enum, written as a word of `words` */
    NAME,     /* char * on the heap: name of a case, any bytes */
    TEXT,     /* char * on the heap */
    OBJECT,   /* char * on the heap: JSON */
    LETTERS,  /* char [CONTENT_DIGITS + 1] */
    SHARD,    /* struct shard, or null */
    BASIS,    /* struct fingerprint without the job file */
    FILES     /* the files of a struct fingerprint */
};

enum presence {
    ALWAYS,
    IF_SET,        /* not written if it is 0, NULL or empty; may be missing */
    IF_PREVIOUS,   /* written and required if the preceding member is there */
    MAY_BE_MISSING /* always written */
};

struct field {
    const char *key;
    enum kind kind;
    size_t at; /* offset in the struct */
    enum presence presence;
    const char *const *words;
    enum result_part part; /* only in tables of struct case_result */
};

/* The greatest whole number that jsonw_uint() writes. */
#define COUNT_MAX ((UINT64_C(1) << 53) - 1)

#define AT(member) offsetof(struct batch_outline, member)
static const struct field outline_fields[] = {{"cases", COUNT_OF, AT(selected), ALWAYS, NULL},
                                              {"total", COUNT_OF, AT(total), ALWAYS, NULL},
                                              {"shard", SHARD, AT(shard), ALWAYS, NULL},
                                              {"resumed", COUNT_OF, AT(resumed), ALWAYS, NULL},
                                              {"set", DIGEST, AT(set), ALWAYS, NULL},
                                              {"anew", FLAG, AT(anew), IF_SET, NULL},
                                              {"open", FLAG, AT(open), IF_SET, NULL},
                                              {0}};
#undef AT

#define AT(member) offsetof(struct case_result, member)
static const struct field case_fields[] = {
    {"name", NAME, AT(name), ALWAYS, NULL},
    {"file", TEXT, AT(file), ALWAYS, NULL},
    {"status", WORD, AT(status), ALWAYS, status_words},
    {"attempts", COUNT_32, AT(attempts), ALWAYS, NULL},
    {"ns", COUNT_64, AT(ns), ALWAYS, NULL, RESULT_LAST},
    {"bytes", COUNT_64, AT(bytes), ALWAYS, NULL, RESULT_LAST},
    {"predicted_ns", COUNT_64, AT(predicted_ns), IF_SET, NULL, RESULT_LAST},
    {"transfers_ns", COUNT_64, AT(transfers_ns), IF_PREVIOUS, NULL, RESULT_LAST},
    {"remark", TEXT, AT(remark), IF_SET, NULL, RESULT_LAST},
    {"reason", WORD, AT(reason), IF_SET, reason_words, RESULT_FAILURE},
    {"message", TEXT, AT(message), IF_SET, NULL, RESULT_FAILURE},
    {"line", COUNT_32, AT(line), IF_SET, NULL, RESULT_FAILURE},
    {"column", COUNT_32, AT(column), IF_PREVIOUS, NULL, RESULT_FAILURE},
    {"pointer", TEXT, AT(pointer), IF_SET, NULL, RESULT_FAILURE},
    {"difference", OBJECT, AT(difference), IF_SET, NULL, RESULT_FAILURE},
    {"kept", TEXT, AT(kept), IF_SET, NULL},
    {"again", TEXT, AT(rerun_command), IF_SET, NULL},
    {0}};
/* Members that occur only in reports. */
static const struct field report_fields[] = {{"rerun", TEXT, AT(rerun_reason), IF_SET, NULL}, {0}};
/* Members that occur only in state files. */
static const struct field state_fields[] = {
    {"fingerprint", DIGEST, AT(fingerprint.job_file), MAY_BE_MISSING, NULL},
    {"basis", BASIS, AT(fingerprint), IF_SET, NULL, RESULT_LAST},
    {0}};
#undef AT

#define AT(member) offsetof(struct fingerprint, member)
static const struct field basis_fields[] = {{"program", DIGEST, AT(setup.program), ALWAYS, NULL},
                                            {"service", DIGEST, AT(setup.service), ALWAYS, NULL},
                                            {"options", DIGEST, AT(setup.options), ALWAYS, NULL},
                                            {"files", FILES, 0, ALWAYS, NULL},
                                            {0}};
#undef AT

#define AT(member) offsetof(struct input_file, member)
static const struct field file_fields[] = {{"role", WORD, AT(role), ALWAYS, role_words},
                                           {"file", TEXT, AT(name), ALWAYS, NULL},
                                           {"content", LETTERS, AT(content.word), ALWAYS, NULL},
                                           {"stamp", LETTERS, AT(content.stamp), IF_SET, NULL},
                                           {0}};
#undef AT

#define AT(member) offsetof(struct batch_summary, member)
/* State files before format 4 have no number of the cases RAN. */
#define STATUS_FIELD(name, word)                                                                   \
    {word, COUNT_OF, AT(count[CASE_##name]), CASE_##name == CASE_RAN ? MAY_BE_MISSING : ALWAYS,    \
     NULL},
static const struct field summary_fields[] = {
    CASE_STATUS_TABLE(STATUS_FIELD){"not_run", COUNT_OF, AT(not_run), ALWAYS, NULL},
    {"ns", COUNT_64, AT(ns), ALWAYS, NULL},
    {"predicted", COUNT_OF, AT(predicted), IF_SET, NULL},
    {"predicted_ns", COUNT_64, AT(predicted_ns), IF_PREVIOUS, NULL},
    {"transfers_ns", COUNT_64, AT(transfers_ns), IF_PREVIOUS, NULL},
    {"exit", CODE, AT(exit), ALWAYS, NULL},
    {0}};
#undef STATUS_FIELD
#undef AT

_Static_assert(sizeof(enum case_status) == sizeof(unsigned) &&
                   sizeof(enum case_reason) == sizeof(unsigned) &&
                   sizeof(enum input_role) == sizeof(unsigned) &&
                   sizeof(enum exit_code) == sizeof(unsigned),
               "an enum of a table is read as an unsigned int");

static bool is_heap_text(const struct field *field)
{
    return field->kind == NAME || field->kind == TEXT || field->kind == OBJECT;
}

static uint64_t number_at(const struct field *field, const void *from)
{
    switch (field->kind) {
    case COUNT_64:
    case DIGEST:
        return *(const uint64_t *)from;
    case COUNT_OF:
        return *(const size_t *)from;
    case FLAG:
        return *(const bool *)from;
    default:
        return *(const unsigned *)from;
    }
}

static void set_number(const struct field *field, void *to, uint64_t number)
{
    switch (field->kind) {
    case COUNT_64:
    case DIGEST:
        *(uint64_t *)to = number;
        break;
    case COUNT_OF:
        *(size_t *)to = (size_t)number;
        break;
    default:
        *(unsigned *)to = (unsigned)number;
    }
}

/* Writing. */

void case_name_write(struct jsonw *w, const char *name)
{
    jsonw_string(w, "name", name);
    if (utf8_is_valid(name, strlen(name)))
        return;
    size_t length = strlen(name);
    char *digits = malloc(2 * length + 1);
    for (size_t i = 0; digits && i < length; i++)
        sprintf(digits + 2 * i, "%02x", (unsigned char)name[i]);
    if (digits)
        jsonw_string(w, "name_bytes", digits);
    else
        w->failed = true;
    free(digits);
}

static void write_shard(struct jsonw *w, const char *key, const struct shard *shard)
{
    char text[SHARD_TEXT_MAX];

    if (shard->count)
        jsonw_string(w, key, shard_text(text, shard));
    else
        jsonw_null(w, key);
}

static void write_fields(struct jsonw *w, const struct field *fields, const void *from);

static void write_files(struct jsonw *w, const char *key, const struct fingerprint *fingerprint)
{
    jsonw_array_begin(w, key);
    for (size_t i = 0; i < fingerprint->count; i++) {
        jsonw_object_begin(w, NULL);
        write_fields(w, file_fields, &fingerprint->files[i]);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static void write_field(struct jsonw *w, const struct field *field, const void *from)
{
    switch (field->kind) {
    case DIGEST:
        digest_write(w, field->key, *(const uint64_t *)from);
        break;
    case FLAG:
        jsonw_bool(w, field->key, *(const bool *)from);
        break;
    case WORD:
        jsonw_string(w, field->key, field->words[number_at(field, from)]);
        break;
    case NAME:
        case_name_write(w, *(char *const *)from);
        break;
    case TEXT:
        jsonw_string(w, field->key, *(char *const *)from);
        break;
    case OBJECT:
        jsonw_raw(w, field->key, *(char *const *)from);
        break;
    case LETTERS:
        jsonw_string(w, field->key, from);
        break;
    case SHARD:
        write_shard(w, field->key, from);
        break;
    case BASIS:
        jsonw_object_begin(w, field->key);
        write_fields(w, basis_fields, from);
        jsonw_object_end(w);
        break;
    case FILES:
        write_files(w, field->key, from);
        break;
    default:
        jsonw_uint(w, field->key, number_at(field, from));
    }
}

static bool is_set(const struct field *field, const void *from)
{
    if (is_heap_text(field))
        return *(char *const *)from != NULL;
    if (field->kind == LETTERS)
        return *(const char *)from != '\0';
    if (field->kind == BASIS)
        return ((const struct fingerprint *)from)->known;
    return number_at(field, from) != 0;
}

static void write_fields(struct jsonw *w, const struct field *fields, const void *from)
{
    bool there = true;

    for (const struct field *field = fields; field->key; field++) {
        const char *at = (const char *)from + field->at;

        if (field->presence != IF_PREVIOUS)
            there = field->presence != IF_SET || is_set(field, at);
        if (there)
            write_field(w, field, at);
    }
}

/* Reading. These functions return 0, or -1 with the fault of the value filled. */

/* Checks that the object has no other members than those of two tables and `more`. */
static int check_keys(const struct json *object, const struct field *fields,
                      const struct field *further, const char *more)
{
    const char *keys[JSON_KEYS_MAX] = {"event"};
    size_t count = 1;

    for (; fields->key; fields++)
        keys[count++] = fields->key;
    for (; further && further->key; further++)
        keys[count++] = further->key;
    keys[count] = more;
    return json_object(object, keys);
}

/* Reads a whole number from 0 to `max`. */
static int read_count(const struct json *value, uint64_t max, uint64_t *out)
{
    int64_t number;

    if (json_int(value, 0, (int64_t)max, &number))
        return -1;
    *out = (uint64_t)number;
    return 0;
}

static int read_number(const struct json *value, const struct field *field, void *to)
{
    const uint64_t max = field->kind == COUNT_64 ? COUNT_MAX
                         : field->kind == CODE   ? EXIT_CODE_STOPPED
                                                 : UINT32_MAX;
    uint64_t number;

    if (read_count(value, max, &number))
        return -1;
    set_number(field, to, number);
    return 0;
}

/* Reads a word. If the member may be missing, the first of `words` is the value of a missing
 * member, and is not accepted as a text. */
static int read_word(const struct json *value, const struct field *field, void *to)
{
    const size_t first = field->presence == IF_SET;
    size_t index = 0;

    if (json_choice(value, field->words + first, &index))
        return -1;
    set_number(field, to, index + first);
    return 0;
}

static int copy(const struct json *value, const char *text, char **out)
{
    *out = strdup(text);
    return *out ? 0 : fault_no_memory(value->fault);
}

/* Decodes "61ff" into two bytes. Returns false if the digits are invalid or a byte is zero. */
static bool decode(const char *digits, char *bytes)
{
    size_t length = strlen(digits);

    if (length % 2 || strspn(digits, "0123456789abcdef") != length)
        return false;
    for (size_t i = 0; i < length; i += 2) {
        const char pair[] = {digits[i], digits[i + 1], '\0'};

        bytes[i / 2] = (char)strtoul(pair, NULL, 16);
        if (!bytes[i / 2])
            return false;
    }
    bytes[length / 2] = '\0';
    return true;
}

/* Reads a name that is not UTF-8. */
static int read_bytes(const struct json *value, char **out)
{
    const char *digits;

    if (json_string(value, SIZE_MAX, &digits))
        return -1;
    *out = malloc(strlen(digits) + 1);
    if (!*out)
        return fault_no_memory(value->fault);
    if (decode(digits, *out) && !utf8_is_valid(*out, strlen(*out)))
        return 0;
    return json_complain(value,
                         "the bytes of a name that is not UTF-8 are required, two hexadecimal "
                         "digits each");
}

static int read_name(const struct json *object, const struct json *name, char **out)
{
    const struct json bytes = json_member(object, "name_bytes");
    const char *text;

    if (json_string(name, SIZE_MAX, &text))
        return -1;
    return json_present(&bytes) ? read_bytes(&bytes, out) : copy(name, text, out);
}

/* Reads a text. It may only be empty if the member may be missing, such as a JSON pointer, which is
 * empty for the root. */
static int read_text(const struct json *value, const struct field *field, char **out)
{
    const char *text;

    if (field->presence == ALWAYS ? json_string(value, SIZE_MAX, &text)
                                  : json_text(value, SIZE_MAX, &text))
        return -1;
    return copy(value, text, out);
}

static int read_letters(const struct json *value, char out[CONTENT_DIGITS + 1])
{
    const char *text;

    if (json_string(value, CONTENT_DIGITS, &text))
        return -1;
    strcpy(out, text);
    return 0;
}

static int read_object(const struct json *value, char **out)
{
    struct jsonw w;

    if (!json_is_object(value))
        return json_complain(value, "an object is required");
    jsonw_init(&w);
    json_write(&w, NULL, value);
    const char *text = jsonw_text(&w);
    const int status = text ? copy(value, text, out) : fault_no_memory(value->fault);
    jsonw_finish(&w);
    return status;
}

static int read_shard(const struct json *value, struct shard *shard)
{
    struct fault fault;
    const char *text;

    if (json_is_null(value))
        return 0;
    if (json_string(value, SHARD_TEXT_MAX, &text))
        return -1;
    return shard_parse(text, shard, &fault) ? json_complain(value, "%s", fault.text) : 0;
}

static int read_fields(const struct json *object, const struct field *fields, void *to);

static int read_files(const struct json *value, struct fingerprint *fingerprint)
{
    struct json item = {0};
    size_t count;

    if (json_array(value, &count))
        return -1;
    fingerprint->files = calloc(count + 1, sizeof(*fingerprint->files));
    if (!fingerprint->files)
        return fault_no_memory(value->fault);
    while (json_next(value, &item)) {
        if (check_keys(&item, file_fields, NULL, NULL) ||
            read_fields(&item, file_fields, &fingerprint->files[fingerprint->count++]))
            return -1;
    }
    return 0;
}

static int read_basis(const struct json *value, struct fingerprint *fingerprint)
{
    fingerprint->known = true;
    return check_keys(value, basis_fields, NULL, NULL)
               ? -1
               : read_fields(value, basis_fields, fingerprint);
}

static int read_field(const struct json *object, const struct json *value,
                      const struct field *field, void *to)
{
    switch (field->kind) {
    case DIGEST:
        return digest_read(value, to);
    case FLAG:
        return json_bool(value, to);
    case WORD:
        return read_word(value, field, to);
    case NAME:
        return read_name(object, value, to);
    case TEXT:
        return read_text(value, field, to);
    case OBJECT:
        return read_object(value, to);
    case LETTERS:
        return read_letters(value, to);
    case SHARD:
        return read_shard(value, to);
    case BASIS:
        return read_basis(value, to);
    case FILES:
        return read_files(value, to);
    default:
        return read_number(value, field, to);
    }
}

static int read_fields(const struct json *object, const struct field *fields, void *to)
{
    bool there = true;

    for (const struct field *field = fields; field->key; field++) {
        const struct json value = json_member(object, field->key);

        if (field->presence != IF_PREVIOUS)
            there = field->presence == ALWAYS || json_present(&value);
        if (there && read_field(object, &value, field, (char *)to + field->at))
            return -1;
    }
    return 0;
}

/* The result of a case. */

const char *case_status_word(enum case_status status)
{
    return status_words[status];
}

bool case_counts_write(struct textw *w, const size_t count[], enum case_status first,
                       const char *before)
{
    bool any = false;

    for (int i = (int)first; i < CASE_STATUS_COUNT; i++) {
        if (count[i] == 0)
            continue;
        textw_printf(w, "%s%zu %s%s", any ? ", " : before, count[i], status_words[i],
                     i == CASE_ERROR ? print_s(count[i]) : "");
        any = true;
    }
    return any;
}

const char *case_reason_word(enum case_reason reason)
{
    return reason_words[reason];
}

bool case_status_is_good(enum case_status status, bool flaky_is_good)
{
    return status <= CASE_RAN || (status == CASE_FLAKY && flaky_is_good);
}

bool case_reason_is_error(enum case_reason reason)
{
    return reason >= CASE_WHY_UNREADABLE;
}

/* Returns how many bytes of this member case_result_exchange() exchanges. */
static size_t size_of(const struct field *field)
{
    switch (field->kind) {
    case COUNT_64:
        return sizeof(uint64_t);
    case WORD:
    case COUNT_32:
        return sizeof(uint32_t);
    case BASIS:
        return sizeof(struct fingerprint);
    default:
        return sizeof(char *);
    }
}

static void exchange(const struct field *fields, void *one, void *other, enum result_part part)
{
    for (const struct field *field = fields; field->key; field++) {
        char *a = (char *)one + field->at, *b = (char *)other + field->at;

        for (size_t i = 0; field->part == part && i < size_of(field); i++) {
            const char byte = a[i];

            a[i] = b[i];
            b[i] = byte;
        }
    }
}

void case_result_exchange(struct case_result *one, struct case_result *other, enum result_part part)
{
    exchange(case_fields, one, other, part);
    exchange(state_fields, one, other, part);
}

static void free_fields(const struct field *fields, void *from)
{
    for (const struct field *field = fields; field->key; field++) {
        if (is_heap_text(field))
            free(*(char **)((char *)from + field->at));
    }
}

void case_result_finish(struct case_result *result)
{
    free_fields(case_fields, result);
    free_fields(report_fields, result);
    fingerprint_finish(&result->fingerprint);
    *result = (struct case_result){0};
}

void case_result_write(struct jsonw *w, const struct case_result *result, bool fingerprint)
{
    jsonw_string(w, "event", "case");
    write_fields(w, case_fields, result);
    write_fields(w, fingerprint ? state_fields : report_fields, result);
}

int case_result_read(const struct json *value, struct case_result *result)
{
    *result = (struct case_result){0};
    if (check_keys(value, case_fields, state_fields, "name_bytes") == 0 &&
        read_fields(value, case_fields, result) == 0 &&
        read_fields(value, state_fields, result) == 0)
        return 0;
    case_result_finish(result);
    return -1;
}

void case_result_sentence(struct textw *w, const struct case_result *result, escaped_rule rule)
{
    const char *message = result->message ? result->message : case_reason_word(result->reason);

    char place[PRINT_PLACE_MAX];

    print_place(place, result->pointer ? result->pointer : "", message);
    escaped_write(w, result->file, rule);
    if (result->line)
        textw_printf(w, ":%" PRIu32 ":%" PRIu32, result->line, result->column);
    if (*place || *message)
        textw_printf(w, ": ");
    escaped_write(w, place, rule);
    escaped_write(w, message, rule);
}

/* The outline of a run: its shard, its cases, and how many there are. */

bool batch_outline_same(const struct batch_outline *a, const struct batch_outline *b)
{
    return a->set == b->set && a->total == b->total && a->selected == b->selected &&
           a->shard.index == b->shard.index && a->shard.count == b->shard.count &&
           a->open == b->open;
}

void batch_outline_write(struct jsonw *w, const char *event, const struct batch_outline *outline)
{
    jsonw_string(w, "event", event);
    write_fields(w, outline_fields, outline);
}

/* Check the version before the members, because a newer format may have unknown members. */
static int check_format(const struct json *value, bool *older)
{
    int64_t format;

    if (json_int(value, 0, INT64_MAX, &format))
        return -1;
    *older = format < OUTLINE_FORMAT_FINGERPRINTS;
    return format <= OUTLINE_FORMAT
               ? 0
               : json_complain(value,
                               "%" PRId64
                               " given; at most %d is supported; a newer mlictl wrote the file",
                               format, OUTLINE_FORMAT);
}

/* Checks that the numbers of cases in an outline agree with one another. */
static int check_counts(const struct json *value, const struct batch_outline *outline)
{
    const struct json cases = json_member(value, "cases"), resumed = json_member(value, "resumed");
    uint64_t ignored;

    if (read_count(&cases, outline->total, &ignored) ||
        read_count(&resumed, outline->selected, &ignored))
        return -1;
    if (outline->shard.count == 0 && outline->selected != outline->total)
        return json_complain(&cases, "%zu given; without a shard it must equal \"total\", %zu",
                             outline->selected, outline->total);
    return 0;
}

int batch_outline_read(const struct json *value, struct batch_outline *outline)
{
    const struct json format = json_member(value, "format");
    bool older = !json_present(&format);

    *outline = (struct batch_outline){0};
    if ((!older && check_format(&format, &older)) ||
        check_keys(value, outline_fields, NULL, "format") ||
        read_fields(value, outline_fields, outline) || check_counts(value, outline))
        return -1;
    outline->older = older;
    return 0;
}

/* The result of a run. */

size_t batch_summary_ended(const struct batch_summary *summary)
{
    size_t ended = 0;

    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        ended += summary->count[status];
    return ended;
}

void batch_summary_add(struct batch_summary *summary, const struct case_result *result)
{
    summary->count[result->status]++;
    if (result->predicted_ns == 0)
        return;
    summary->predicted++;
    summary->predicted_ns += result->predicted_ns;
    summary->transfers_ns += result->transfers_ns;
}

enum exit_code batch_summary_exit(const struct batch_summary *summary, bool flaky_is_good)
{
    bool good = summary->not_run == 0;

    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        good = good && (summary->count[status] == 0 ||
                        case_status_is_good((enum case_status)status, flaky_is_good));
    return good ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

void batch_summary_write(struct jsonw *w, const struct batch_summary *summary)
{
    jsonw_string(w, "event", "end");
    write_fields(w, summary_fields, summary);
}

int batch_summary_read(const struct json *value, struct batch_summary *summary)
{
    *summary = (struct batch_summary){0};
    return check_keys(value, summary_fields, NULL, NULL)
               ? -1
               : read_fields(value, summary_fields, summary);
}
