/* SPDX-License-Identifier: BSD-3-Clause */
/* cmocka with what its header needs before it, and assertions that speak of statuses. */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mli_api.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The two statuses by name, and the library's last error, where they differ. */
#define assert_status(got, want) unit_assert_status((got), (want), #got, __FILE__, __LINE__)
void unit_assert_status(mli_status got, mli_status want, const char *call, const char *file,
                        int line);

#define assert_ok(got) assert_status(got, MLI_STATUS_OK)

/* A test program's one argument: the engine all of its tests run on, unless they say otherwise. */
void unit_choose_engine(int argc, char **argv);

/* The same again, for a test that had another one. The pool is empty. */
void unit_restore_engine(void);

/* The engines that this build has beside the library's, where the test is linked with them. */
void unit_add_ports(void);

/*
 * Copies what must not change. What a handle holds beyond its plan is indeterminate and has only to
 * stay as it is: under valgrind both copies are called defined, so that they can be compared.
 */
void unit_snapshot(void *to, void *from, size_t bytes);

/*
 * The last error must name each part of a dotted path ("dst.data.capacity"), in any wording, and
 * none of the parts marked with ! ("scale.!zero_point"). A library built with debug_mode=release
 * says only what the status means.
 */
#define assert_error_names(path, status) unit_assert_names((path), (status), __FILE__, __LINE__)
void unit_assert_names(const char *path, mli_status status, const char *file, int line);

#endif /* TEST_UNIT_H */
