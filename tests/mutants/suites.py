# SPDX-License-Identifier: BSD-3-Clause
"""The mutated sources, and the tests that must notice a mutant of each.

Tests have the names that `meson test --list` prints. The tests of a source run in this order, and the first that fails
ends the run: quick tests that find many mutants come first. Tests with random cases run PERCENT percent of them, as in
scripts/check.

To add a source: list it here with quick unit and property tests, run `scripts/mutants --file SOURCE`, and test or
explain (survivors.txt) what survives.
"""
import re

PERCENT = 10

TESTS = {
    "libmli/src/geometry.c": ["geometry", "status_move", "status_permute", "cfg", "strides", "subtensor", "move", "overlap",
                              "moves_inline", "moves_c", "explain", "explained"],
    "libmli/src/plan.c": ["geometry", "move", "strides", "subtensor", "moves_inline", "moves_c", "split", "legalise", "explain",
                          "explained"],
    "libmli/src/overlap.c": ["lattice", "status_move", "overlap", "moves_c"],
    "libmli/src/quant.c": ["quant", "status_move", "subtensor", "convert", "moves_inline", "moves_c"],
    "daemon/job/scheduler.c": ["daemon scheduler_model", "daemon scheduler_bounds", "daemon scheduler", "daemon jobs", "daemon crowd"],
    "daemon/job/task.c": ["daemon refs", "daemon jobs", "daemon status", "daemon history", "daemon wait", "daemon after", "daemon deadline",
                          "daemon events", "daemon life", "daemon sharing", "daemon crowd"],
    "daemon/job/history.c": ["daemon registry", "daemon history_limits", "daemon history", "daemon jobs", "daemon memory"],
    "proto/wire/frame.c": ["proto frame", "proto frame_payload", "proto memory", "proto fdpass", "client calls"],
}

# For sources that these tests cover only in part: a pattern for the names of the functions that
# are mutated.
FUNCTIONS = {
    "daemon/job/task.c": r"refs?_\w+|entry_\w+|task_info",
    "proto/wire/frame.c": r"compact|frame_\w+",
}


def is_for(source, function):
    """Returns whether the function is mutated."""
    return source not in FUNCTIONS or re.fullmatch(FUNCTIONS[source], function) is not None
