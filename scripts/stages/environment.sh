# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# The environment of scripts/test and scripts/check, which source it.
# Debian's Python has NumPy; a different Python that is first in PATH may lack NumPy.
export PATH="/usr/bin:$PATH"
export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:${ASAN_OPTIONS:-}"
export TSAN_OPTIONS="halt_on_error=1:${TSAN_OPTIONS:-}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:${UBSAN_OPTIONS:-}"
