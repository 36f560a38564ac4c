/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes cmocka and the headers it requires; has assertions about statuses. */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mli_api.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Compares two statuses. A failure prints both names and the library's last error. */
#define assert_status(got, want) unit_assert_status((got), (want), #got, __FILE__, __LINE__)
void unit_assert_status(mli_status got, mli_status want, const char *call, const char *file,
                        int line);

#define assert_ok(got) assert_status(got, MLI_STATUS_OK)

/* Chooses the engine of all tests: the only argument of a test program names it. */
void unit_choose_engine(int argc, char **argv);

/*
 * Chooses the engine of the argument again, after a test has used another engine. The pool must be
 * empty.
 */
void unit_restore_engine(void);

/* Adds the engines of devices in this build, if the test is linked with them. */
void unit_add_ports(void);

/*
 * Copies memory that must not change. The bytes of a handle after its plan are indeterminate and
 * only have to stay the same: under valgrind both copies are marked as defined, so that they can
 * be compared.
 */
void unit_snapshot(void *to, void *from, size_t bytes);

/*
 * Fills memory with the numbers 1 to 251, repeated. Copies most of the bytes, because loops are
 * slow with sanitizers.
 */
void unit_fill(uint8_t *to, size_t bytes);

/*
 * Requires that the last error names each part of a dotted path ("dst.data.capacity"), in any
 * wording, and none of the parts marked with ! ("scale.!zero_point"). With a library built with
 * debug_mode=release, requires only the text of the status.
 */
#define assert_error_names(path, status) unit_assert_names((path), (status), __FILE__, __LINE__)
void unit_assert_names(const char *path, mli_status status, const char *file, int line);

#endif /* TEST_UNIT_H */
