/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the parsers of queues. The first byte chooses the parser: URLs of queues, or records. The
 * other bytes are the text to parse. */
#include <stdlib.h>
#include <string.h>

#include "cli/queue/queue.h"
#include "tests/fuzz/fuzz.h"

/*
 * Messages show an accepted URL without its password. This text must itself be an accepted URL.
 */
static void check_url(const char *bytes, size_t length)
{
    static struct queue_url url, again;
    struct fault fault = {0};
    char *text = strndup(bytes, length);

    FUZZ_ASSERT(text);
    if (queue_url_parse(text, &url, &fault) == 0) {
        FUZZ_ASSERT(queue_url_parse(url.shown, &again, &fault) == 0);
        FUZZ_ASSERT(strcmp(url.shown, again.shown) == 0 && strcmp(url.place, again.place) == 0);
        FUZZ_ASSERT(again.user[0] == '\0' && again.password[0] == '\0');
    } else {
        fuzz_check_fault(&fault);
    }
    queue_url_hide(text);
    free(text);
}

static void check_record(const char *bytes, size_t length)
{
    struct queue_case item;
    size_t again_length;

    if (queue_record_read(bytes, length, &item) != RECORD_GOOD)
        return;
    char *again = queue_record_write(&item, &again_length);
    FUZZ_ASSERT(again && again_length == length && memcmp(again, bytes, length) == 0);
    (void)queue_path_is_below(item.path);
    free(again);
    queue_case_finish(&item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const checks[])(const char *, size_t) = {check_url, check_record};

    if (size < 1)
        return 0;
    /* The text has a buffer of its own, so that sanitizers find reads past its end. */
    char *copy = malloc(size - 1);
    FUZZ_ASSERT(copy);
    memcpy(copy, data + 1, size - 1);
    checks[data[0] % 2](copy, size - 1);
    free(copy);
    return 0;
}
