# SPDX-License-Identifier: BSD-3-Clause
"""Build trees in build-test/: how each is configured, compiled and tested."""
import json
import os
import re
import shutil
import subprocess

from stage import CPUS, ROOT, TREES, say

# gcc needs minutes for the kernels with both sanitizers at -O1 or -O2, and seconds at -Og.
# -g1 names the functions and lines of a stack. Variables, which -g adds, take a fifth of the time of the compiler.
# Undefined behaviour traps, and the address sanitizer prints the line (handle_sigill in environment.sh). The messages of
# libubsan need 10 MB of data in mlictl, half of the page faults of each start.
TRAP = "-fsanitize-undefined-trap-on-error"
OPTIONS = {
    "sanitize": ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=g", "-Db_pie=false",
                 f"-Dc_args=-g1 {TRAP}", f"-Dc_link_args={TRAP}"],
    "tsan": ["-Db_sanitize=thread", "-Db_lundef=false", "-Doptimization=1", "-Dc_args=-g1"],
    "release": ["-Dbuildtype=release", "-Dbench=true"],
    "torture": ["-Dbuildtype=debugoptimized"],
    "no-boards": ["-Dboards=disabled", "-Doptimization=0", "-Dpython=disabled", "-Dman=disabled"],
    "aarch64": ["--cross-file", "tests/cross/aarch64.ini", "-Dbuildtype=release", "-Dservice=false"],
    **{f"mode-{mode}": ["-Dservice=false", "-Dtests=false", "-Doptimization=0", "-Ddebug=false", "-Dlevels=[]",
                        f"-Ddebug_mode={mode}"]
       for mode in ("release", "assert", "debug", "full")},
}


def configure(name):
    """Makes the build tree if it is missing. Returns whether the tree exists."""
    if (TREES / name / "build.ninja").is_file():
        return True
    env = dict(os.environ)
    if "CC" not in env and shutil.which("ccache"):
        env["CC"] = "ccache gcc"
    if "-Db_pie=false" in OPTIONS[name]:
        # -no-pie is not in c_link_args: there it comes after -shared, and undoes -shared. An instrumented program has
        # 400 000 addresses to relocate in each start, and starts in three quarters of the time without relocations.
        env["CC"] = f"{env.get('CC', 'cc')} -no-pie"
    done = subprocess.run(["meson", "setup", TREES / name, "-Dwerror=true", *OPTIONS[name]],
                          cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        say(done.stdout[-3000:] + done.stderr)
    return done.returncode == 0


def introspect(name):
    """Returns the tests of the tree, as meson describes them."""
    return json.loads(subprocess.run(["meson", "introspect", "--tests", TREES / name], cwd=ROOT, check=True,
                                     capture_output=True, text=True).stdout)


def tests(name, suite):
    """Returns the names of the tests of a suite."""
    return [test["name"] for test in introspect(name) if f"mli:{suite}" in test["suite"]]


def targets(name, suites):
    """Returns the files that the tests of the suites need, as ninja names them."""
    tree = TREES / name
    files = {word for test in introspect(name) if set(suites) & set(test["suite"])
             for word in test["cmd"] if os.path.normpath(word).startswith(f"{tree}/")}
    return sorted(os.path.relpath(file, tree) for file in files)


def build(stage, name, suites=(), nice=0):
    """Compiles the tree, or only the files that the suites need."""
    if not configure(name):
        return False
    stage.log = TREES / name / "ninja.log"
    only = targets(name, [f"mli:{suite}" for suite in suites]) + \
        targets(name, suites) if suites else []
    if stage.run(["ninja", "-C", TREES / name, "-j", CPUS, *only], nice=nice) == 0:
        return True
    lines = stage.log.read_text(errors="replace").splitlines()
    for number, line in enumerate(lines):
        if re.search(r"FAILED|error", line):
            say("\n".join(lines[number:number + 60]))
            break
    return False


class Suites:
    """Runs of meson test, and the logs of their results."""

    def __init__(self):
        self.logs = []
        for old in TREES.glob("*/meson-logs/*.json"):
            old.unlink()

    def test(self, stage, name, label, *arguments, percent=100, processes=2 * CPUS, multiplier=2, wrap="", soak=False):
        """Runs tests of the tree.

        Most tests wait more than they compute, so more tests than processors run at a time. Tests
        with random cases run `percent` percent of the cases, or with `soak` those of a soak run.
        """
        logs = TREES / name / "meson-logs"
        stage.log = logs / f"{label}.out"
        command = ["meson", "test", "-C", TREES / name, "--no-rebuild", "--print-errorlogs", "--logbase", label,
                   "--num-processes", processes, "--timeout-multiplier", multiplier, *arguments]
        if wrap:
            command += ["--wrap", wrap]
        status = stage.run(command, env={"MLI_TEST_PERCENT": str(percent), **({"MLI_SOAK": "1"} if soak else {})})
        # meson adds the name of the --wrap program to the name of the log.
        self.logs.append(next(logs.glob(f"{label}*.json"), logs / f"{label}.json"))
        if status != 0:
            say("\n".join(line for line in stage.log.read_text(errors="replace").splitlines()
                          if not re.search(r"^\s*\d+/\d+ .* (OK|SKIP) |^$|^Full log|^ninja:", line)))
            if "Sanitizer" in stage.log.read_text(errors="replace"):
                say("With ASAN_OPTIONS=malloc_context_size=30, a report shows where a block was allocated.")
        return status == 0
