# SPDX-License-Identifier: BSD-3-Clause
"""scripts/fuzz: builds the fuzz targets with clang, runs them, and minimises their corpora.

    tests/fuzz/corpus/TARGET   the corpus in the tree, small
    build-fuzz/found/TARGET    inputs that runs have found, which later runs begin with
    build-fuzz/crashes         inputs that ended a run, named TARGET-KIND-DIGEST
    build-fuzz/logs            the output of libFuzzer
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from stage import CPUS, ROOT

TREE = ROOT / "build-fuzz"
SOURCES = ROOT / "tests" / "fuzz"
OPTIONS = ["-Dfuzz=true", "-Dwerror=true", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1",
           "-Ddebug=true", "-Dpython=disabled", "-Dman=disabled"]
RUN = ["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1", "-reload=0", "-use_value_profile=0"]
LENGTHS = {"service": 600, "merge": 8192, "state": 4096, "json": 4096, "npz": 1500, "client": 2000}
SKIPPED = 77
# Limits of a corpus in the tree.
FILES_MAX = 90
BYTES_MAX = 180 * 1024
FILE_MAX = 16 * 1024


def targets():
    return sorted(path.stem.removeprefix("fuzz_") for path in SOURCES.glob("fuzz_*.c")
                  if "LLVMFuzzerTestOneInput" in path.read_text())


def corpus_of(target):
    return ROOT / "conf" / "profiles" if target == "profile" else SOURCES / "corpus" / target


def build(wanted):
    """Builds the targets. Returns whether the build succeeded."""
    env = dict(os.environ)
    if not shutil.which("clang"):
        print("scripts/fuzz: clang not found", file=sys.stderr)
        sys.exit(SKIPPED)
    ccache = "ccache " if shutil.which("ccache") else ""
    env |= {"CC": f"{ccache}clang", "CXX": f"{ccache}clang++"}
    log = TREE / "build.log"
    TREE.mkdir(exist_ok=True)
    with open(log, "w") as out:
        if not (TREE / "build.ninja").is_file():
            done = subprocess.run(["meson", "setup", TREE, *OPTIONS], cwd=ROOT, env=env, stdout=out,
                                  stderr=subprocess.STDOUT)
            if done.returncode:
                print(log.read_text()[-3000:])
                return False
        done = subprocess.run(["ninja", "-C", TREE, *(f"tests/fuzz/fuzz_{target}" for target in wanted)], cwd=ROOT,
                              stdout=out, stderr=subprocess.STDOUT)
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        first = next((i for i, line in enumerate(lines) if re.search(r"FAILED|error", line)), 0)
        print("\n".join(lines[first:first + 40]))
    return done.returncode == 0


def program(target):
    return TREE / "tests" / "fuzz" / f"fuzz_{target}"


def environment():
    """Findings of the sanitizers end the program, so that libFuzzer keeps the input."""
    scratch = pathlib.Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else TREE / "scratch"
    scratch.mkdir(exist_ok=True)
    return {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1", "TMPDIR": str(scratch),
            "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1", "NO_COLOR": "1"}


def command(target, *more):
    found = TREE / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    words = ["nice", "-n", "10", program(target), *RUN, f"-max_len={LENGTHS.get(target, 4096)}", *more]
    dictionary = SOURCES / "dict" / f"{target}.dict"
    if dictionary.is_file():
        words.append(f"-dict={dictionary}")
    return [str(word) for word in [*words, found, *([corpus_of(target)] if corpus_of(target).is_dir() else [])]]


def last(pattern, text, default=0):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else default


def crash_of(target, log):
    """Returns the file with the input that ended the run, or None."""
    found = re.findall(r"Test unit written to (\S+)", log)
    return pathlib.Path(found[-1]) if found else None


def reason(log):
    """Returns the line of a log that names the finding."""
    for line in log.splitlines():
        if re.search(r"does not hold|runtime error|not well-formed|FAILED:|AddressSanitizer: \S|LeakSanitizer: \S|"
                     r"libFuzzer: (timeout|out-of-memory|deadly)", line):
            return re.sub(r"^==\d+==\s*", "", line)[:160]
    return "see the log"


def run(target, seconds, seed):
    """Runs a target. Returns the lines to print, and whether it found nothing."""
    log = TREE / "logs" / f"{target}.log"
    crashes = TREE / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(exist_ok=True)
    words = command(target, f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/{target}-",
                    *([f"-seed={seed}"] if seed is not None else []))
    before = time.monotonic()
    with open(log, "w") as out:
        try:
            status = subprocess.run(words, cwd=TREE, env=environment(), stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.STDOUT, timeout=2 * seconds + 120).returncode
        except subprocess.TimeoutExpired:
            status = -1
    text = log.read_text(errors="replace")
    executions = last(r"stat::number_of_executed_units: (\d+)", text, last(r"#(\d+)\s", text))
    took = max(time.monotonic() - before, 0.001)
    new = last(r"stat::new_units_added:\s+(\d+)", text, len(re.findall(r" NEW ", text)))
    edges, features = last(r" cov: (\d+)", text), last(r" ft: (\d+)", text)
    lines = [f"{target:12}{executions:>10} executions {executions / took:>8.0f}/s {new:>6} new inputs "
             f"{edges:>6} edges {features:>6} features"]
    if status == 0 and executions > 0:
        return lines, True
    crash = crash_of(target, text)
    lines.append(f"{target}: FAILED: {reason(text)}")
    if crash:
        lines.append(f"  reproduce: {program(target).relative_to(ROOT)} {crash.relative_to(ROOT)}")
    lines.append(f"  log: {log.relative_to(ROOT)}")
    return lines, False


def covered(control):
    """Reads a control file of a merge. Returns {file: (bytes, set of edges)}."""
    names, sizes, edges = [], {}, {}
    lines = control.read_text(errors="replace").splitlines()
    count = int(lines[0])
    names = lines[2:2 + count]
    for line in lines[2 + count:]:
        words = line.split()
        if words[0] == "STARTED":
            sizes[int(words[1])] = int(words[2])
        elif words[0] == "FT":
            edges.setdefault(int(words[1]), set()).update(words[2:])
    return {names[index]: (sizes[index], found) for index, found in edges.items()}


def choose(files, most):
    """Chooses at most `most` small files that together cover the most edges: greedily, by new edges."""
    chosen, seen, total = [], set(), 0
    left = {name: about for name, about in files.items() if about[0] <= FILE_MAX}
    while left and len(chosen) < most:
        name, (size, edges) = max(left.items(), key=lambda item: (len(item[1][1] - seen), -item[1][0], item[0]))
        new = edges - seen
        if not new:
            break
        del left[name]
        if total + size > BYTES_MAX:
            continue
        chosen.append(name)
        seen |= new
        total += size
    return chosen, len(seen), len(set().union(*(edges for _, edges in files.values()))) if files else 0


def minimise(target):
    """Replaces the corpus in the tree by those files of the corpus and of found/ that cover the most edges.

    Files with other names than those of libFuzzer stay.
    """
    if target == "profile":
        return [f"{target:12}its corpus are the built-in profiles"], True
    work = TREE / "merge" / target
    shutil.rmtree(work, ignore_errors=True)
    (work / "out").mkdir(parents=True)
    corpus = corpus_of(target)
    corpus.mkdir(parents=True, exist_ok=True)
    control = work / "control"
    words = [str(word) for word in [program(target), "-merge=1", "-use_counters=0", f"-merge_control_file={control}",
                                    "-timeout=25", work / "out", corpus, TREE / "found" / target]]
    (TREE / "found" / target).mkdir(parents=True, exist_ok=True)
    with open(work / "log", "w") as out:
        status = subprocess.run(words, cwd=TREE, env=environment(), stdout=out, stderr=subprocess.STDOUT).returncode
    if status:
        return [f"{target}: FAILED: merge, see {(work / 'log').relative_to(ROOT)}"], False
    files = covered(control)
    named = {path for path in corpus.iterdir() if not re.fullmatch(r"[0-9a-f]{40}", path.name)}
    chosen, edges, all_edges = choose(files, FILES_MAX - len(named))
    keep = named | {corpus / pathlib.Path(name).name for name in chosen}
    for name in chosen:
        path = pathlib.Path(name)
        if path.parent != corpus:
            shutil.copy(path, corpus / path.name)
    for path in corpus.iterdir():
        if path not in keep:
            path.unlink()
    size = sum(path.stat().st_size for path in corpus.iterdir())
    return [f"{target:12}{len(list(corpus.iterdir())):>4} files {size:>7} B, {edges} of {all_edges} edges"], True


def options():
    parser = argparse.ArgumentParser(
        prog="scripts/fuzz", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Builds the fuzz targets (tests/fuzz) with clang, libFuzzer and sanitizers, and runs them. Prints a line\n"
                    "for each target, and a command that reproduces what it found. New inputs and crashes stay in\n"
                    "build-fuzz/, and later runs begin with them.",
        epilog="targets: " + " ".join(targets()) +
               "\n\nexit status: 0 nothing was found, 1 a target found something, 2 wrong arguments, 77 no clang")
    parser.add_argument("targets", metavar="TARGET", nargs="*", help="Run this target (default: all).")
    parser.add_argument("--time", type=int, metavar="SECONDS", default=60,
                        help="Run each target for SECONDS (default: 60 s).")
    parser.add_argument("--jobs", type=int, metavar="N", default=CPUS,
                        help=f"Run N targets at a time (default: number of processors, {CPUS}).")
    parser.add_argument("--seed", type=int, metavar="N", help="Use this seed of libFuzzer (default: from the clock).")
    parser.add_argument("--minimise", action="store_true",
                        help="Do not run: choose the corpora in the tree anew, with what runs have found.")
    found = parser.parse_args()
    for name in found.targets:
        if name not in targets():
            parser.error(f"unknown target {name}; targets are {', '.join(targets())}")
    if found.time < 1 or found.jobs < 1:
        parser.error("--time and --jobs must be at least 1")
    return found


def main():
    chosen = options()
    wanted = chosen.targets or targets()
    if not build(wanted):
        return 1
    good = True
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        work = [pool.submit(minimise, target) if chosen.minimise else pool.submit(run, target, chosen.time, chosen.seed)
                for target in wanted]
        for done in concurrent.futures.as_completed(work):
            lines, passed = done.result()
            print("\n".join(lines), flush=True)
            good = good and passed
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        os._exit(130)  # threads wait for children, which ^C has ended too
