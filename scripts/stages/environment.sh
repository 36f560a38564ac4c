# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# The environment of scripts/test and scripts/check, which source it.
# Debian's Python has NumPy; a different Python that is first in PATH may lack NumPy.
export PATH="/usr/bin:$PATH"
# The address sanitizer records no stacks of allocations, which take a third of the page faults of each start:
# repeat a failed test with ASAN_OPTIONS=malloc_context_size=30 to see where a block was allocated.
export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:handle_sigill=1:malloc_context_size=1:${ASAN_OPTIONS:-}"
export TSAN_OPTIONS="halt_on_error=1:${TSAN_OPTIONS:-}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}"
