# SPDX-License-Identifier: BSD-3-Clause
"""Builds the tree for coverage, runs the tests in it, and reads the counts with llvm-cov."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/stages"))

import trees  # noqa: E402

TREE = trees.TREES / "coverage"
OUTPUT = ROOT / "build-coverage"
PACKAGES = ("clang-19", "llvm-19", "libclang-rt-19-dev")
SUITES = ("unit", "property", "fuzz")
PERCENT = 10  # of the random cases, as in scripts/check
FLAGS = "-fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -fprofile-update=atomic"

# Tests that measure or inspect the machine code, which the counters of coverage change.
LEFT_OUT = {"freestanding": "the counters need a C library", "foreign_link": "a linker error is expected",
            "interrupts": "stops after each instruction", "interrupted": "stops after each instruction",
            "stack_": "measures the stack", "target tile_layers": "measures the time of planning"}


def missing_tools():
    return [tool for tool in ("clang-19", "llvm-cov-19", "llvm-profdata-19") if not shutil.which(tool)]


def configure():
    """Configures the tree if it is missing. Assertions are off, because an assertion is a branch that no test may
    take."""
    if (TREE / "build.ninja").is_file():
        return subprocess.run(["ninja", "-C", TREE, "build.ninja"], stdout=subprocess.DEVNULL).returncode == 0
    cache = "ccache " if shutil.which("ccache") else ""
    done = subprocess.run(
        ["meson", "setup", TREE, "-Doptimization=1", "-Db_ndebug=true", "-Db_lundef=false", "-Dhardening=false",
         *(f"-D{language}_{kind}={FLAGS}" for language in ("c", "cpp") for kind in ("args", "link_args"))],
        cwd=ROOT, env={**os.environ, "CC": f"{cache}clang-19", "CXX": f"{cache}clang++-19"}, capture_output=True,
        text=True)
    if done.returncode != 0:
        print(done.stdout[-3000:] + done.stderr, file=sys.stderr)
    return done.returncode == 0


def tests():
    """Returns the tests to run, as meson describes them."""
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", TREE], check=True, capture_output=True,
                                       text=True).stdout)
    return [test for test in listed
            if any(suite.split(":")[-1] in SUITES for suite in test["suite"])
            and not test["name"].startswith(tuple(LEFT_OUT)) and "python" not in test["suite"]]


def programs(chosen):
    """Returns the programs of the tests."""
    return sorted({test["cmd"][0] for test in chosen if test["cmd"][0].startswith(f"{TREE}/")})


def build(chosen):
    targets = [os.path.relpath(program, TREE) for program in programs(chosen)]
    return subprocess.run(["nice", "ninja", "-C", TREE, *targets], stdout=sys.stderr,
                          env={**os.environ, "LLVM_PROFILE_FILE": "/dev/null"}).returncode == 0


def run(chosen):
    """Runs the tests and merges their profiles. Returns the names of the tests that failed."""
    profiles = TREE / "profiles"
    shutil.rmtree(profiles, ignore_errors=True)
    profiles.mkdir()
    subprocess.run(["nice", "meson", "test", "-C", TREE, "--no-rebuild", "--logbase", "coverage",
                    "--timeout-multiplier", "4", *dict.fromkeys(test["name"] for test in chosen)], stdout=sys.stderr,
                   env={**os.environ, "MLI_TEST_PERCENT": str(PERCENT), "LLVM_PROFILE_FILE": f"{profiles}/%2m.profraw"})
    log = TREE / "meson-logs/coverage.json"
    results = [json.loads(line) for line in log.read_text().splitlines()]
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", *profiles.glob("*.profraw"), "-o", TREE / "profdata"],
                   check=True)
    return [result["name"] for result in results if result["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")]


def _llvm_cov(command, chosen, *options):
    first, *others = programs(chosen)
    return ["llvm-cov-19", command, first, *(f"-object={other}" for other in others),
            f"-instr-profile={TREE / 'profdata'}", *options]


def export(chosen):
    """Returns what llvm-cov reports for each source, by the path of the source from the root."""
    text = subprocess.run(_llvm_cov("export", chosen, "-skip-expansions", "-skip-functions"), check=True,
                          capture_output=True, text=True).stdout
    return {os.path.relpath(entry["filename"], ROOT): entry for entry in json.loads(text)["data"][0]["files"]}


def html(chosen, sources, mcdc):
    """Writes HTML of the sources to OUTPUT/html."""
    shutil.rmtree(OUTPUT / "html", ignore_errors=True)
    subprocess.run(_llvm_cov("show", chosen, "-format=html", "-show-branches=count", "-show-directory-coverage",
                             *(["-show-mcdc"] if mcdc else []), f"-output-dir={OUTPUT / 'html'}",
                             "-sources", *(str(ROOT / source) for source in sources)), check=True)
