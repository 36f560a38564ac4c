/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/fingerprint.h"
#include "proto/json/utf8.h"

/* The greatest whole number that jsonw_uint() writes. */
#define COUNT_MAX ((UINT64_C(1) << 53) - 1)

/* Reads member `key`, a whole number from 0 to `max`. Returns 0, or -1 with the fault filled. */
static int read_count(const struct json *object, const char *key, uint64_t max, uint64_t *out)
{
    struct json value = json_member(object, key);
    int64_t number;

    if (json_int(&value, 0, (int64_t)max, &number))
        return -1;
    *out = (uint64_t)number;
    return 0;
}

#define CASE_WORD(name, word) word,
static const char *const status_words[] = {CASE_STATUS_TABLE(CASE_WORD) NULL};
static const char *const reason_words[] = {CASE_REASON_TABLE(CASE_WORD) NULL};
#undef CASE_WORD

void case_result_finish(struct case_result *result)
{
    free(result->name);
    free(result->file);
    free(result->message);
    free(result->pointer);
    free(result->difference);
    free(result->kept);
    free(result->rerun_command);
    free(result->rerun_reason);
    fingerprint_finish(&result->fingerprint);
    *result = (struct case_result){0};
}

const char *case_status_word(enum case_status status)
{
    return status_words[status];
}

const char *case_reason_word(enum case_reason reason)
{
    return reason_words[reason];
}

bool case_status_is_good(enum case_status status, bool flaky_is_good)
{
    return status == CASE_PASSED || (status == CASE_FLAKY && flaky_is_good);
}

bool case_reason_is_error(enum case_reason reason)
{
    return reason >= CASE_WHY_UNREADABLE;
}

/*
 * Names of cases. File names may have any bytes, and JSON only UTF-8, so another member has the
 * bytes in hexadecimal.
 */

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

static int read_copy(const struct json *value, const char *text, char **out)
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

static int read_text(const struct json *object, const char *key, char **out)
{
    struct json value = json_member(object, key);
    const char *text;

    if (json_string(&value, SIZE_MAX, &text))
        return -1;
    return read_copy(&value, text, out);
}

static int read_name(const struct json *object, char **out)
{
    struct json bytes = json_member(object, "name_bytes"), name = json_member(object, "name");
    const char *text;

    if (!json_present(&bytes))
        return read_text(object, "name", out);
    if (json_string(&name, SIZE_MAX, &text))
        return -1;
    return read_bytes(&bytes, out);
}

/* Members that are only written if they apply. */

static void write_optional(struct jsonw *w, const char *key, const char *text)
{
    if (text)
        jsonw_string(w, key, text);
}

static int read_optional(const struct json *object, const char *key, char **out)
{
    struct json value = json_member(object, key);
    const char *text;

    if (!json_present(&value))
        return 0;
    /* Not json_string(), which refuses "", the JSON pointer of the root. */
    if (json_text(&value, SIZE_MAX, &text))
        return -1;
    return read_copy(&value, text, out);
}

static int read_difference(const struct json *object, char **out)
{
    struct json value = json_member(object, "difference");
    struct jsonw w;

    if (!json_present(&value))
        return 0;
    if (!json_is_object(&value))
        return json_complain(&value, "an object is required");
    jsonw_init(&w);
    json_write(&w, NULL, &value);
    const char *text = jsonw_text(&w);
    int status = text ? read_copy(&value, text, out) : fault_no_memory(value.fault);
    jsonw_finish(&w);
    return status;
}

void case_result_write(struct jsonw *w, const struct case_result *result, bool fingerprint)
{
    jsonw_string(w, "event", "case");
    case_name_write(w, result->name);
    jsonw_string(w, "file", result->file);
    jsonw_string(w, "status", case_status_word(result->status));
    jsonw_uint(w, "attempts", result->attempts);
    jsonw_uint(w, "ns", result->ns);
    jsonw_uint(w, "bytes", result->bytes);
    if (result->predicted_ns > 0) {
        jsonw_uint(w, "predicted_ns", result->predicted_ns);
        jsonw_uint(w, "transfers_ns", result->transfers_ns);
    }
    if (result->reason != CASE_WHY_NONE)
        jsonw_string(w, "reason", case_reason_word(result->reason));
    write_optional(w, "message", result->message);
    write_optional(w, "pointer", result->pointer);
    if (result->difference)
        jsonw_raw(w, "difference", result->difference);
    write_optional(w, "kept", result->kept);
    write_optional(w, "again", result->rerun_command);
    if (!fingerprint) {
        write_optional(w, "rerun", result->rerun_reason);
        return;
    }
    fingerprint_write(w, &result->fingerprint);
}

static int read_words(const struct json *object, struct case_result *result)
{
    struct json status = json_member(object, "status"), reason = json_member(object, "reason");
    size_t index = 0;

    if (json_choice(&status, status_words, &index))
        return -1;
    result->status = (enum case_status)index;
    if (!json_present(&reason))
        return 0;
    if (json_choice(&reason, reason_words + 1,
                    &index)) /* CASE_WHY_NONE, the first word, is never written */
        return -1;
    result->reason = (enum case_reason)(index + 1);
    return 0;
}

/* Reads the members of a run with --profile. */
static int read_prediction(const struct json *object, struct case_result *result)
{
    const struct json predicted = json_member(object, "predicted_ns");

    if (!json_present(&predicted))
        return 0;
    return read_count(object, "predicted_ns", COUNT_MAX, &result->predicted_ns) ||
           read_count(object, "transfers_ns", COUNT_MAX, &result->transfers_ns);
}

int case_result_read(const struct json *value, struct case_result *result)
{
    static const char *const keys[] = {
        "event",       "name",   "name_bytes",   "file",         "status",     "attempts", "ns",
        "bytes",       "reason", "message",      "pointer",      "difference", "kept",     "again",
        "fingerprint", "basis",  "predicted_ns", "transfers_ns", NULL};
    uint64_t attempts = 0;

    *result = (struct case_result){0};
    if (json_object(value, keys) || read_name(value, &result->name) ||
        read_text(value, "file", &result->file) || read_words(value, result) ||
        read_count(value, "attempts", UINT32_MAX, &attempts) ||
        read_count(value, "ns", COUNT_MAX, &result->ns) ||
        read_count(value, "bytes", COUNT_MAX, &result->bytes) || read_prediction(value, result) ||
        read_optional(value, "message", &result->message) ||
        read_optional(value, "pointer", &result->pointer) ||
        read_difference(value, &result->difference) ||
        read_optional(value, "kept", &result->kept) ||
        read_optional(value, "again", &result->rerun_command) ||
        fingerprint_read(value, &result->fingerprint)) {
        case_result_finish(result);
        return -1;
    }
    result->attempts = (uint32_t)attempts;
    return 0;
}

bool batch_outline_same(const struct batch_outline *a, const struct batch_outline *b)
{
    return a->set == b->set && a->total == b->total && a->selected == b->selected &&
           a->shard.index == b->shard.index && a->shard.count == b->shard.count &&
           a->open == b->open;
}

void batch_outline_write(struct jsonw *w, const char *event, const struct batch_outline *outline)
{
    char text[SHARD_TEXT_MAX];

    jsonw_string(w, "event", event);
    jsonw_uint(w, "cases", outline->selected);
    jsonw_uint(w, "total", outline->total);
    if (outline->shard.count)
        jsonw_string(w, "shard", shard_text(text, &outline->shard));
    else
        jsonw_null(w, "shard");
    jsonw_uint(w, "resumed", outline->resumed);
    digest_write(w, "set", outline->set);
    if (outline->anew)
        jsonw_bool(w, "anew", true);
    if (outline->open)
        jsonw_bool(w, "open", true);
}

static int read_shard(const struct json *object, struct shard *shard)
{
    struct json value = json_member(object, "shard");
    struct fault fault;
    const char *text;

    *shard = (struct shard){0};
    if (json_is_null(&value))
        return 0;
    if (json_string(&value, SHARD_TEXT_MAX, &text))
        return -1;
    return shard_parse(text, shard, &fault) ? json_complain(&value, "%s", fault.text) : 0;
}

/* Check the version before the members, because a newer format may have unknown members. */
static int check_format(const struct json *value, bool *older)
{
    int64_t format;

    if (json_int(value, 0, INT64_MAX, &format))
        return -1;
    *older = format < OUTLINE_FORMAT_FINGERPRINTS;
    return format <= OUTLINE_FORMAT_OPEN
               ? 0
               : json_complain(value,
                               "%" PRId64
                               " given; at most %d is supported; a newer mlictl wrote the file",
                               format, OUTLINE_FORMAT_OPEN);
}

int batch_outline_read(const struct json *value, struct batch_outline *outline)
{
    static const char *const keys[] = {"event", "cases", "total", "shard",  "resumed",
                                       "set",   "anew",  "open",  "format", NULL};
    uint64_t total = 0, selected = 0, resumed = 0;
    struct json set = json_member(value, "set"), cases = json_member(value, "cases"),
                anew = json_member(value, "anew"), open = json_member(value, "open"),
                format = json_member(value, "format");
    bool older = false;

    *outline = (struct batch_outline){0};
    if ((json_present(&format) && check_format(&format, &older)) || json_object(value, keys) ||
        read_shard(value, &outline->shard) || read_count(value, "total", UINT32_MAX, &total) ||
        read_count(value, "cases", total, &selected) ||
        read_count(value, "resumed", selected, &resumed) || digest_read(&set, &outline->set) ||
        (json_present(&anew) && json_bool(&anew, &outline->anew)) ||
        (json_present(&open) && json_bool(&open, &outline->open)))
        return -1;
    outline->older = !json_present(&format) || older;
    outline->total = (size_t)total;
    outline->selected = (size_t)selected;
    outline->resumed = (size_t)resumed;
    if (outline->shard.count == 0 && selected != total)
        return json_complain(&cases, "%zu given, but without a shard this must be the total, %zu",
                             outline->selected, outline->total);
    return 0;
}

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
    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        jsonw_uint(w, case_status_word((enum case_status)status), summary->count[status]);
    jsonw_uint(w, "not_run", summary->not_run);
    jsonw_uint(w, "ns", summary->ns);
    if (summary->predicted > 0) {
        jsonw_uint(w, "predicted", summary->predicted);
        jsonw_uint(w, "predicted_ns", summary->predicted_ns);
        jsonw_uint(w, "transfers_ns", summary->transfers_ns);
    }
    jsonw_uint(w, "exit", summary->exit);
}

int batch_summary_read(const struct json *value, struct batch_summary *summary)
{
#define SUMMARY_KEY(name, word) word,
    static const char *const keys[] = {"event",        CASE_STATUS_TABLE(SUMMARY_KEY) "not_run",
                                       "ns",           "predicted",
                                       "predicted_ns", "transfers_ns",
                                       "exit",         NULL};
#undef SUMMARY_KEY
    const struct json predicted = json_member(value, "predicted");
    uint64_t number = 0, exit = 0, count = 0;
    *summary = (struct batch_summary){0};
    if (json_object(value, keys))
        return -1;
    for (int status = 0; status < CASE_STATUS_COUNT; status++) {
        if (read_count(value, case_status_word((enum case_status)status), UINT32_MAX, &number))
            return -1;
        summary->count[status] = (size_t)number;
    }
    if (read_count(value, "not_run", UINT32_MAX, &number) ||
        read_count(value, "ns", COUNT_MAX, &summary->ns) ||
        (json_present(&predicted) &&
         (read_count(value, "predicted", UINT32_MAX, &count) ||
          read_count(value, "predicted_ns", COUNT_MAX, &summary->predicted_ns) ||
          read_count(value, "transfers_ns", COUNT_MAX, &summary->transfers_ns))) ||
        read_count(value, "exit", EXIT_CODE_STOPPED, &exit))
        return -1;
    summary->not_run = (size_t)number;
    summary->predicted = (size_t)count;
    summary->exit = (enum exit_code)exit;
    return 0;
}
