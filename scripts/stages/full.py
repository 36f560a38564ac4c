# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test: builds and tests everything.

One lane tests while the other one compiles the next tree or runs clang-tidy, at a lower priority.
"""
import os
import shutil
import subprocess
import sys

import count
import stage
import tidy
import trees

NICE = 10  # of compilers, so that tests that measure time are not held up
VALGRIND = "valgrind --quiet --error-exitcode=1 --leak-check=full --child-silent-after-fork=yes"
SUITES_OF_TSAN = ("threads",)
PERCENT = 10  # of the random cases in instrumented programs; the release build runs all


def tracked(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], cwd=stage.ROOT, check=True, capture_output=True,
                          text=True).stdout.split()


def style(this):
    this.log = stage.TREES / "format.log"
    passed = this.run(["clang-format", "--dry-run", "-Werror", *tracked("*.c", "*.cpp", "*.h")], nice=NICE) == 0
    if not passed:
        stage.say(this.log.read_text())
    return passed


def sources_tidy(this):
    return tidy.tidy(this, [path for path in tracked("*.c") if tidy.checked(path)], "sanitize", nice=NICE)


def debug_modes(this):
    """The unit tests run libmli in each mode; this compiles it as -Ddebug_mode does, ports included."""
    return all(trees.build(this, f"mode-{mode}", nice=NICE) for mode in ("release", "assert", "debug", "full"))


def without_neon():
    """Returns why the kernels for NEON cannot be tested, or None."""
    missing = [tool for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(tool)]
    return f"NEON under qemu: {' and '.join(missing)} not found" if missing else None


def main():
    quick, soak = "--quick" in sys.argv[1:], "--soak" in sys.argv[1:]
    patience = 0 if soak else 2  # multiplies the timeouts of tests; 0: no timeouts
    if soak:
        os.environ["MLI_SOAK"] = "1"
    stage.TREES.mkdir(exist_ok=True)
    run, suites, no_neon = stage.Run(), trees.Suites(), without_neon()

    def compile_and_check():
        run.stage("build sanitize", trees.build, "sanitize", (), NICE)
        run.stage("build release", trees.build, "release", (), NICE)
        run.stage("build tsan", trees.build, "tsan", SUITES_OF_TSAN, NICE)
        if not no_neon:
            run.stage("build aarch64", trees.build, "aarch64", (), NICE)
        run.stage("clang-format", style)
        if not quick:
            run.stage("clang-tidy", sources_tidy, after=["build sanitize"])
            run.stage("debug modes", debug_modes)

    def test():
        run.stage("test sanitize", lambda this: suites.test(
            this, "sanitize", "tests", "--no-suite", "docs", "--no-suite", "source",
            percent=PERCENT, multiplier=patience), after=["build sanitize"])
        run.stage("test release", lambda this: suites.test(
            this, "release", "tests", multiplier=patience), after=["build release"])
        run.stage("test tsan", lambda this: suites.test(
            this, "tsan", "tests", "--suite", "threads", percent=PERCENT), after=["build tsan"])
        if not quick:
            run.stage("test release under valgrind", lambda this: suites.test(
                this, "release", "valgrind", "--suite", "memcheck",
                percent=PERCENT, multiplier=10, wrap=VALGRIND), after=["build release"])
        if not no_neon:
            run.stage("test aarch64 under qemu", lambda this: suites.test(
                this, "aarch64", "tests", "leaf neon", "moves_inline", percent=PERCENT, multiplier=4),
                after=["build aarch64"])

    run.lanes(compile_and_check, test)
    run.print_times()
    steps = [(done.name, done.passed) for done in run.done if not done.name.startswith("test ") or done.status]
    return 0 if count.summarise(suites.logs, steps, [no_neon] if no_neon else []) else 1


if __name__ == "__main__":
    stage.main(main)
