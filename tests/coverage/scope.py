# SPDX-License-Identifier: BSD-3-Clause
"""The files of which each uncovered branch needs a reason."""
GOAL = 95  # percent of the branches of each folder of SCOPE
SCOPE = ("libmli/src/", "daemon/job/", "proto/", "boards/serial/")
# Kernels of an instruction set, which tests/leaf compares with plain C on the processors that have it.
KERNELS = ("libmli/src/exec/x86/", "libmli/src/exec/arm/")


def in_scope(name):
    return name.startswith(SCOPE) and not name.startswith(KERNELS)
