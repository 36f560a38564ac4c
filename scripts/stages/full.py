# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test: builds and tests everything.

One lane tests, one compiles the next tree and then tests bare targets at a lower priority, and one runs clang-tidy
at the lowest priority, so that it takes the processor time that the other two leave.
"""
import hashlib
import os
import shutil
import subprocess
import sys

import count
import stage
import tidy
import trees

NICE = 10  # of compilers, so that tests that measure time are not held up
NICEST = 19  # of clang-tidy
VALGRIND = "valgrind --quiet --error-exitcode=1 --leak-check=full --child-silent-after-fork=yes"
BARE = ("cortex-m0", "cortex-m4", "riscv32-elf", "sifive_u")  # scripts/cross --all tests the other targets
SUITES_OF_TSAN = ("threads",)
MUTANTS = 12  # of some 1 600
PERCENT = 8  # of the random cases in instrumented programs; the release build runs all
BARE_PERCENT = 3  # of the random cases on bare metal; scripts/cross without --percent runs more
TIDY_DAYS = 3  # clang-tidy checks the sources that changed in the last days,
TIDY_MOST = 40  # but not more than these: some 15 s of processor time
TIDY_PART = 8  # and an eighth of all sources; the commit chooses both, so that each source has its turn. All with --soak
# Factors for the timeouts of tests. The timeouts in meson.build files are at most 120 s
# (mlictl_queue: 300 s), and 60 s for most of the unit tests, which valgrind runs: a test that
# hangs costs at most 10 minutes.
PATIENCE, PATIENCE_VALGRIND = 2, 5
VALGRIND_PART = 6  # valgrind runs a sixth of its tests, chosen by the commit; all with --soak


def fuzz_seconds():
    """Returns the time of each fuzzer; 0: the fuzzers do not run."""
    if "--fuzz-time" in sys.argv[1:]:
        return int(sys.argv[sys.argv.index("--fuzz-time") + 1])
    return 30 if "--soak" in sys.argv[1:] else 0


def fuzzers(this):
    """Builds the fuzz targets with clang and runs each, in parallel on the processors.

    One seed, so that two runs of one commit try about the same inputs; scripts/fuzz draws others.
    """
    this.log = stage.TREES / "fuzz.log"
    passed = this.run(["scripts/fuzz", "--seed", 1, "--time", fuzz_seconds()], nice=NICE) == 0
    stage.say(this.log.read_text().strip())
    return passed


def without_fuzzers():
    """Returns the reason why the fuzzers do not run, or None."""
    if fuzz_seconds() > 0 and not shutil.which("clang"):
        return "fuzzers: clang not found"
    return None


def git(*words):
    return subprocess.run(["git", *words], cwd=stage.ROOT, check=True, capture_output=True, text=True).stdout.split()


def tracked(*patterns):
    return git("ls-files", *patterns)


def style(this):
    this.log = stage.TREES / "format.log"
    passed = this.run(["clang-format", "--dry-run", "-Werror", *tracked("*.c", "*.cpp", "*.h")], nice=NICEST) == 0
    if not passed:
        stage.say(this.log.read_text())
    return passed


def turn(name=""):
    """Returns a number that depends only on the commit and the name."""
    head = git("rev-parse", "HEAD")[0]
    return int(hashlib.sha256(f"{head} {name}".encode()).hexdigest(), 16)


def sample(names, part):
    """Returns about one in `part` of the names, chosen by the commit."""
    return [name for name in names if turn(name) % part == 0]


def tidy_sample(sources):
    """Returns sources that changed in the last days, those that are not committed first, and a sample of all."""
    now = set(git("diff", "--name-only", "HEAD"))
    changed = now.union(git("log", f"--since={TIDY_DAYS} days ago", "--name-only", "--format="))
    waiting = sorted(changed.intersection(sources), key=lambda path: (path not in now, turn(path)))
    chosen = {*waiting[:TIDY_MOST], *sample(sources, TIDY_PART)}
    return [path for path in sources if path in chosen]


def sources_tidy(this, soak):
    sources = [path for path in tracked("*.c") if tidy.checked(path)]
    return tidy.tidy(this, sources if soak else tidy_sample(sources), "sanitize", nice=NICEST, nodes=tidy.NODES_OF_ALL)


def memcheck(this, suites, soak):
    """Tests of the suite memcheck under valgrind: a sample, because a program needs seconds to start there."""
    names = trees.tests("release", "memcheck")
    return suites.test(this, "release", "valgrind", "--suite", "memcheck",
                       *(names if soak else sample(names, VALGRIND_PART)),
                       percent=PERCENT, multiplier=PATIENCE_VALGRIND, wrap=VALGRIND)


def debug_modes(this):
    """Compiles libmli and its ports with each -Ddebug_mode. The unit tests run libmli in each mode."""
    return all(trees.build(this, f"mode-{mode}", nice=NICE) for mode in ("release", "assert", "debug", "full"))


def without_boards(this, suites):
    """mlictl without its optional part for boards: no part of it is left, and messages say so."""
    return trees.build(this, "no-boards", ("boards",), NICE) and \
        suites.test(this, "no-boards", "tests", "--suite", "boards", multiplier=PATIENCE)


def bare_targets(this):
    """The property tests on processors and a board without an operating system."""
    this.log = stage.TREES / "bare.log"
    passed = this.run(["scripts/cross", "--percent", BARE_PERCENT, *BARE], nice=NICE) == 0
    lines = this.log.read_text().strip().splitlines()
    stage.say("\n".join(line for line in lines if not passed or ", see " not in line))
    return passed


def mutants(this, soak):
    """Changes sources, each of which a test must notice: a sample, or all changes in a soak."""
    this.log = stage.TREES / "mutants.log"
    passed = this.run(["scripts/mutants", "--tree", "release", *([] if soak else ["--sample", MUTANTS])]) == 0
    stage.say(this.log.read_text().strip())
    return passed


def torture(this):
    """Makes each call of mlictl, libmli_client and mlid fail once. (The tests in the build trees
    only do this for a sample of calls.)"""
    this.log = stage.TREES / "torture.log"
    passed = this.run(["scripts/torture", "--all"]) == 0
    stage.say("\n".join(this.log.read_text().splitlines()[-8:] if passed else [this.log.read_text()]))
    return passed


def coverage(this):
    """Branches that no test takes: each needs a reason."""
    this.log = stage.TREES / "coverage.log"
    passed = this.run(["scripts/coverage", "--no-html"]) == 0
    stage.say("\n".join(this.log.read_text().splitlines()[-8:] if passed else [this.log.read_text()]))
    return passed


def without_coverage():
    """Returns the reason why the coverage cannot be measured, or None."""
    missing = [tool for tool in ("clang-19", "llvm-cov-19") if not shutil.which(tool)]
    return f"coverage: {' and '.join(missing)} not found" if missing else None


def without_bare():
    """Returns the reason why the targets of BARE cannot be tested, or None."""
    missing = [tool for tool in ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "qemu-system-arm",
                                 "qemu-system-riscv32", "qemu-system-riscv64") if not shutil.which(tool)]
    return f"bare metal under qemu: {' and '.join(missing)} not found" if missing else None


def without_neon():
    """Returns the reason why the kernels for NEON cannot be tested, or None."""
    missing = [tool for tool in ("aarch64-linux-gnu-gcc", "qemu-aarch64") if not shutil.which(tool)]
    return f"NEON under qemu: {' and '.join(missing)} not found" if missing else None


def main():
    quick, soak = "--quick" in sys.argv[1:], "--soak" in sys.argv[1:]
    os.environ["MLI_TEST_TURN"] = str(turn() % 1000000)  # tests that run a sample of a list take another part of it
    stage.TREES.mkdir(exist_ok=True)
    run, suites, no_neon, no_bare = stage.Run(), trees.Suites(), without_neon(), without_bare()
    no_fuzzers = without_fuzzers()
    no_coverage = without_coverage() if soak else None

    def compile_trees():
        run.stage("build sanitize", trees.build, "sanitize", (), NICE)
        run.stage("build release", trees.build, "release", (), NICE)
        run.stage("build tsan", trees.build, "tsan", SUITES_OF_TSAN, NICE)
        if not no_neon:
            run.stage("build aarch64", trees.build, "aarch64", (), NICE)
        if not quick:
            run.stage("debug modes", debug_modes)
            run.stage("no boards", without_boards, suites)
        if not no_bare:
            run.stage("bare metal under qemu", bare_targets)

    def check_sources():
        run.stage("clang-format", style)
        if not quick:
            run.stage("clang-tidy", sources_tidy, soak, after=["build sanitize"])

    def test():
        run.stage("test sanitize", lambda this: suites.test(
            this, "sanitize", "tests", "--no-suite", "docs", "--no-suite", "source",
            percent=PERCENT, multiplier=PATIENCE), after=["build sanitize"])
        run.stage("test release", lambda this: suites.test(
            this, "release", "tests", multiplier=0 if soak else PATIENCE, soak=soak), after=["build release"])
        run.stage("test tsan", lambda this: suites.test(
            this, "tsan", "tests", "--suite", "threads", percent=PERCENT,
            multiplier=PATIENCE), after=["build tsan"])
        if not quick:
            run.stage("test release under valgrind", memcheck, suites, soak, after=["build release"])
        if soak:
            run.stage("torture", torture)
        if soak and not no_coverage:
            run.stage("coverage", coverage)
        if not quick:
            run.stage("mutants", mutants, soak, after=["build release"])
        if not no_neon:
            run.stage("test aarch64 under qemu", lambda this: suites.test(
                this, "aarch64", "tests", "leaf neon", "moves_inline", percent=PERCENT, multiplier=PATIENCE),
                after=["build aarch64"])
        if fuzz_seconds() > 0 and not no_fuzzers:
            run.stage("fuzzers", fuzzers)

    run.lanes(test, compile_trees, check_sources)
    run.print_times()
    steps = [(done.name, done.passed) for done in run.done if not done.name.startswith("test ") or done.status]
    skipped = [reason for reason in (no_neon, no_bare, no_fuzzers, no_coverage) if reason]
    return 0 if count.summarise(suites.logs, steps, skipped) else 1


if __name__ == "__main__":
    stage.main(main)
