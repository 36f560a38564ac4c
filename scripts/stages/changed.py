# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check: checks what changed, in one build tree with sanitizers."""
import argparse
import subprocess
import sys

import count
import stage
import tidy
import trees

# Integration tests that take some seconds and use each part of mlid and mlictl once.
INTEGRATION = ["mlictl_batch", "mlictl_commands", "mlictl_engines", "mlictl_man", "mlictl_messages", "mlid_bad_input", "mlid_close",
               "mlid_history", "mlid_lifecycle", "mlid_protocol"]
PERCENT = 10  # of the random cases
LEFT_OUT = f"""left out (scripts/test runs it):
  {100 - PERCENT} % of the random cases of leaf, property and fuzz tests
  all integration tests except {', '.join(name.split('_', 1)[1] for name in INTEGRATION)}
  the release build, the thread sanitizer, valgrind, NEON, the debug modes
  clang-tidy of sources that did not change (even if a header they include did)"""


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=stage.ROOT, capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def merge_base():
    """Returns the commit that the branch started from; on the main branch itself, returns HEAD."""
    for branch in ("origin/main", "main", "origin/master", "master"):
        base = git("merge-base", "HEAD", branch)
        if base:
            return base[0]
    return "HEAD"


def changed_files(base):
    """Returns the files that differ from the commit, untracked files included, as paths from the
    root."""
    names = git("diff", "--name-only", "--diff-filter=d", base) + \
        git("ls-files", "--others", "--exclude-standard")
    return sorted(set(names))


def logged(this, log, command):
    this.log = stage.TREES / log
    passed = this.run(command) == 0
    if not passed:
        stage.say(this.log.read_text())
    return passed


def options():
    parser = argparse.ArgumentParser(
        prog="scripts/check", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Checks what changed: format, clang-tidy and includes of the changed files, then a build with\n"
                    "the address and undefined-behaviour sanitizers and the quick tests. The last line counts the\n"
                    "test cases: \"N passed, N failed, N skipped\".",
        epilog=LEFT_OUT + "\n\nexit status: 0 no case failed, 1 a case or a step failed, 2 wrong arguments")
    parser.add_argument("--base", metavar="COMMIT",
                        help="compare with COMMIT (default: the merge base with main)")
    return parser.parse_args()


def main():
    base = options().base or merge_base()
    if not git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        print(f"scripts/check: --base {base}: no such commit", file=sys.stderr)
        return 2
    changed = changed_files(base)
    styled = [name for name in changed if name.endswith((".c", ".cpp", ".h"))]
    tidied = [name for name in changed if tidy.checked(name)]
    print(f"{len(changed)} files changed since {git('rev-parse', '--short', base)[0]}: "
          f"{len(styled)} to format, {len(tidied)} for clang-tidy", flush=True)
    stage.TREES.mkdir(exist_ok=True)
    run, suites = stage.Run(), trees.Suites()

    def sources():
        if styled:
            run.stage("clang-format", logged, "format.log", ["clang-format", "--dry-run", "-Werror", *styled])
        run.stage("include directions", logged, "includes.log",
                  [sys.executable, "-B", "tests/source/check_includes.py", ".", *styled])
        if tidied:
            run.stage("clang-tidy", lambda this: tidy.tidy(this, tidied, "sanitize", nice=10), after=["build"])

    def tests():
        run.stage("build", trees.build, "sanitize")
        run.stage("tests", lambda this: suites.test(
            this, "sanitize", "check", "--suite", "unit", "--suite", "source", "--suite", "leaf",
            "--suite", "property", "--suite", "fuzz", percent=PERCENT), after=["build"])

    def integration():
        run.stage("integration tests", lambda this: suites.test(
            this, "sanitize", "check-integration", *INTEGRATION, processes=stage.CPUS), after=["build"])

    run.lanes(tests, integration, sources)
    run.print_times()
    print(LEFT_OUT)
    steps = [(done.name, done.passed) for done in run.done if done.name not in ("tests", "integration tests")
             or done.status]
    return 0 if count.summarise(suites.logs, steps, []) else 1


if __name__ == "__main__":
    stage.main(main)
