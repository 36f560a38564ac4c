/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/proto_unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool same_pointer(const struct fault *fault, const char *pointer)
{
    return fault->has_pointer == (pointer != NULL) &&
           strcmp(fault->pointer, pointer ? pointer : "") == 0;
}

void proto_assert_fault(const struct fault *fault, enum fault_code code, const char *pointer,
                        const char *text, const char *what, const char *file, int line)
{
    if (fault->code == code && same_pointer(fault, pointer) && strcmp(fault->text, text) == 0)
        return;
    print_error("%s\n  got      %s %s\n           %s\n  expected %s %s\n           %s\n", what,
                fault_name(fault->code), fault->has_pointer ? fault->pointer : "(nowhere)",
                fault->text, fault_name(code), pointer ? pointer : "(nowhere)", text);
    _fail(file, line);
}

void proto_assert_no_fault(int status, const struct fault *fault, const char *call,
                           const char *file, int line)
{
    if (status == 0)
        return;
    print_error("%s: %s at %s\n", call, fault->text, fault->has_pointer ? fault->pointer : "?");
    _fail(file, line);
}

size_t proto_count_fds(void)
{
    DIR *directory = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}
