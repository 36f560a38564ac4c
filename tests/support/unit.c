/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEST_PORTS
#include "libmli/port/ports.h"
#endif

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

void unit_assert_status(mli_status got, mli_status want, const char *call, const char *file,
                        int line)
{
    if (got == want)
        return;
    print_error("%s: %s, expected %s (last error: %s)\n", call, mli_status_name(got),
                mli_status_name(want), mli_last_error());
    _fail(file, line);
}

static const char *engine;

void unit_add_ports(void)
{
#ifdef TEST_PORTS
    ports_add();
#endif
}

void unit_choose_engine(int argc, char **argv)
{
    unit_add_ports();
    engine = argc > 1 ? argv[1] : mli_mov_engine_name();
    if (mli_mov_set_engine(engine) == MLI_STATUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", engine, mli_last_error());
    exit(2);
}

void unit_restore_engine(void)
{
    assert_ok(mli_mov_set_engine(engine));
}

void unit_snapshot(void *to, void *from, size_t bytes)
{
#ifdef VALGRIND_MAKE_MEM_DEFINED
    VALGRIND_MAKE_MEM_DEFINED(from, bytes);
#endif
    memcpy(to, from, bytes);
}

void unit_fill(uint8_t *to, size_t bytes)
{
    enum { PERIOD = 251 };
    size_t filled = bytes < PERIOD ? bytes : PERIOD;

    for (size_t i = 0; i < filled; i++)
        to[i] = (uint8_t)(1 + i);
    while (filled < bytes) { /* the filled bytes are a multiple of the period */
        const size_t more = bytes - filled < filled ? bytes - filled : filled;

        memcpy(to + filled, to, more);
        filled += more;
    }
}

#ifdef TEST_MODE_RELEASE
static bool as_expected(const char *text, const char *path, mli_status status)
{
    (void)path;
    return strcmp(text, mli_status_text(status)) == 0;
}
#else
static bool as_expected(const char *text, const char *path, mli_status status)
{
    char part[64];

    (void)status;
    while (*path) {
        bool wanted = *path != '!';
        size_t n = strcspn(path += !wanted, ".");

        if (n >= sizeof(part))
            abort();
        memcpy(part, path, n);
        part[n] = '\0';
        if ((strstr(text, part) != NULL) != wanted)
            return false;
        path += n + (path[n] == '.');
    }
    return text[0] != '\0';
}
#endif

void unit_assert_names(const char *path, mli_status status, const char *file, int line)
{
    const char *text = mli_last_error();

    if (as_expected(text, path, status))
        return;
    print_error("last error \"%s\", expected one for %s that names \"%s\"\n", text,
                mli_status_name(status), path);
    _fail(file, line);
}
