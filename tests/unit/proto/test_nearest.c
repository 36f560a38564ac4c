/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests suggestions: a misspelt word gets the right word as its suggestion, other words get none.
 */
#include "proto/json/json.h"

#include <string.h>

#include "tests/support/proto_unit.h"

static const char *const words[] = {"offset",   "size",   "perm_dim", "padding_pre", "dst_offset",
                                    "priority", "engine", "submit",   "run",         NULL};

static void expect(const char *given, const char *wanted)
{
    const char *found = nearest_word(given, words);

    if (!wanted && !found)
        return;
    if (!wanted || !found || strcmp(found, wanted) != 0)
        fail_msg("%s: %s found, %s wanted", given, found ? found : "none",
                 wanted ? wanted : "none");
}

static void test_slips(void **state)
{
    (void)state;
    expect("ofset", "offset");
    expect("offsets", "offset");
    expect("sumbit", "submit"); /* a swap of two neighbours is one error */
    expect("sbumit", "submit");
    expect("SUBMIT", "submit");
    expect("prioriti", "priority");
    expect("rnu", "run");
}

static void test_beginnings(void **state)
{
    (void)state;
    expect("perm", "perm_dim");
    expect("padding", "padding_pre");
    expect("eng", "engine");
    expect("dst", "dst_offset");
    expect("s", NULL); /* the word is too short */
    expect("si", "size");
    expect("p", NULL);
}

static void test_others(void **state)
{
    static const char long_word[] = "offset_offset_offset_offset_offset_offset";
    static const char *const alike[] = {"padding_pre", "padding_post", NULL};

    (void)state;
    expect("", NULL);
    expect("conv2d", NULL);
    expect("xyz", NULL);
    expect(long_word, NULL);
    /* two words are equally near, so neither is suggested */
    assert_null(nearest_word("padding", alike));
    assert_null(nearest_word("a", (const char *const[]){NULL}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
