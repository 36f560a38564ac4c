/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a unit test of the library on the controller of the board: NAME.elf ENGINE, for example
 * "pdma:interrupt=1". Prints a result and ends with 0 or 1.
 */
#include <cmocka.h>

#include "boards/firmware/board.h"
#include "mli_api.h"

/* The main() function of the test. */
int test_main(void);

static const char *running = "";
static unsigned skipped;

void _fail(const char *file, int line)
{
    printf("unit %s: FAILED in %s, %s:%d\n", board_name, running, file, line);
    board_exit(1);
}

void unit_fail(const char *what, uintmax_t got, uintmax_t want, const char *file, int line)
{
    printf("%s: %llu, expected %llu\n", what, (unsigned long long)got, (unsigned long long)want);
    _fail(file, line);
}

void unit_skip(void)
{
    skipped++;
}

int unit_run_tests(const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *state = NULL;

        running = tests[i].name;
        if (tests[i].setup_func && tests[i].setup_func(&state) != 0)
            _fail("setup", 0);
        tests[i].test_func(&state);
        if (tests[i].teardown_func && tests[i].teardown_func(&state) != 0)
            _fail("teardown", 0);
    }
    printf("unit %s: passed, %u tests on %s, %u skipped, %u interrupts\n", board_name,
           (unsigned)count, mli_mov_engine_name(), skipped, (unsigned)board_dma_interrupts);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || mli_mov_add_engine(board_engine) != MLI_STATUS_OK ||
        mli_mov_set_engine(argv[1]) != MLI_STATUS_OK) {
        printf("usage: NAME.elf ENGINE (%s)\n", mli_last_error());
        return 2;
    }
    (void)board_interrupts(true);
    return test_main();
}
