# SPDX-License-Identifier: BSD-3-Clause
"""Lists the files in which each uncovered branch needs a reason."""
GOAL = 95  # percent of the branches of each folder of SCOPE
SCOPE = ("libmli/src/", "daemon/job/", "proto/", "boards/serial/")
# Kernels of an instruction set; tests/leaf compares them with plain C on processors that have it.
KERNELS = ("libmli/src/exec/x86/", "libmli/src/exec/arm/")


def in_scope(name):
    return name.startswith(SCOPE) and not name.startswith(KERNELS)
