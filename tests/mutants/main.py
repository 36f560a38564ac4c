# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mutants: changes one thing in a source, and expects a test to fail.

    main.py       options, and the run
    suites.py     the sources, and the tests of each
    mutants.py    the changes; c_tokens.py splits C
    tree.py       the build tree: compile and link commands, tests
    judge.py      compiles a mutant, links tests with it, runs them
    results.py    verdicts kept for the next run
    survivors.py  reads survivors.txt, the explained survivors
    report.py     counts and prints
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/stages"))

import judge  # noqa: E402
import mutants  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import suites  # noqa: E402
import survivors  # noqa: E402
import tree  # noqa: E402
import trees  # noqa: E402, of scripts/stages

EXPLAINED = ROOT / "tests/mutants/survivors.txt"


def options():
    parser = argparse.ArgumentParser(
        prog="scripts/mutants", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Makes copies of sources with one small change each (mutants), and runs quick unit and property\n"
                    "tests with each. A mutant that no test finds is printed with a command that repeats it, unless\n"
                    "tests/mutants/survivors.txt explains it. Verdicts are kept in the build tree: an interrupted\n"
                    "run resumes. --sample and --only judge anew.",
        epilog=f"exit status: 0 all survivors are explained and, without --sample and --only, {report.GOAL} % are\n"
               "found; 1 otherwise; 2 wrong arguments")
    parser.add_argument("--file", action="append", metavar="SOURCE", choices=list(suites.TESTS),
                        help="mutate only this source; may be repeated (default: all)")
    parser.add_argument("--only", action="append", metavar="MUTANT", help="judge only this mutant, and print it")
    parser.add_argument("--sample", type=int, metavar="N", help="judge N mutants at random (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of --sample (default: 1)")
    parser.add_argument("--tree", default="release", metavar="TREE",
                        help="use this build tree in build-test/ (default: release)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="judge this number of mutants at a time (default: 2)")
    parser.add_argument("--fresh", action="store_true", help="forget the verdicts of earlier runs")
    parser.add_argument("--list", action="store_true", help="print the names of the mutants only")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser.parse_args()


def chosen(args):
    """Returns the mutants that the options choose, by source."""
    sources = args.file or list(suites.TESTS)
    every = [mutant for source in sources for mutant in mutants.of(source, (ROOT / source).read_text())
             if suites.is_for(source, mutant.function)]
    if args.only:
        every = [mutant for mutant in every if mutant.name in args.only]
        missing = set(args.only) - {mutant.name for mutant in every}
        if missing:
            sys.exit(f"scripts/mutants: --only: no such mutant: {', '.join(sorted(missing))}")
    if args.sample:
        every = random.Random(args.seed).sample(every, min(args.sample, len(every)))
    by_source = {}
    for mutant in every:
        by_source.setdefault(mutant.source, []).append(mutant)
    return by_source


def excuse_duplicates(court, source, survived, tally):
    """Adds survivors to the tally. A survivor is a duplicate if it compiles to the same object as
    an explained mutant, even if the sample does not contain that mutant."""
    if not survived:
        return
    explained = {court.object_of(mutant): mutant.name for mutant in mutants.of(source, (ROOT / source).read_text())
                 if survivors.key_of(mutant) in tally.explained}
    for mutant, verdict in survived:
        if verdict.object in explained:
            verdict = judge.Verdict("duplicate", reason=explained[verdict.object])
        tally.add(mutant, verdict)


def judge_source(args, where, source, its_mutants, folder, store, tally):
    """Judges the mutants of a source. Returns a message if the tests fail without a mutant."""
    tests, survived = suites.TESTS[source], []

    def count(mutant, verdict):
        if verdict.outcome == "survived" and survivors.key_of(mutant) not in tally.explained:
            survived.append((mutant, verdict))
        else:
            tally.add(mutant, verdict)

    tests_print = results.print_of_tests(where, tests)
    waiting = []
    for mutant in its_mutants:
        known = None if args.only or args.sample else store.find(mutant, tests_print)
        if known:
            count(mutant, known)
        else:
            waiting.append(mutant)
    court = judge.Judge(where, source, tests, folder)
    message = court.prepare((ROOT / source).read_text()) if waiting else None
    if message:
        return message
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for mutant, verdict in zip(waiting, pool.map(court.judge, waiting)):
            store.add(mutant, verdict, tests_print)
            count(mutant, verdict)
            if args.only:
                print(survivors.show(mutant))
                print(f"  {verdict.outcome} {verdict.test} {verdict.reason}".rstrip())
    excuse_duplicates(court, source, survived, tally)
    print(f"{source}: {len(its_mutants)} mutants, {len(waiting)} judged now", file=sys.stderr, flush=True)
    return None


def stale_entries(explained, args):
    """Returns the entries of survivors.txt that no mutant of the chosen sources has."""
    sources = tuple(f"{source}:" for source in args.file or suites.TESTS)
    keys = {survivors.key_of(mutant) for source in args.file or suites.TESTS
            for mutant in mutants.of(source, (ROOT / source).read_text())}
    known = tuple(f"{source}:" for source in suites.TESTS)
    return [entry for entry in explained.values() if entry.key not in keys
            and (entry.place.startswith(sources) or not entry.place.startswith(known))]


def build(name, sources):
    """Builds the tests of the sources. Returns the tree, or None."""
    path = trees.TREES / name
    if name not in trees.OPTIONS and not path.is_dir():
        sys.exit(f"scripts/mutants: --tree: {path} does not exist; {' or '.join(trees.OPTIONS)} would be made")
    if not trees.configure(name) or subprocess.run(["ninja", "-C", str(path), "build.ninja"],
                                                   stdout=subprocess.DEVNULL).returncode != 0:
        return None
    where = tree.Tree(path, ROOT)
    return where if where.build([test for source in sources for test in suites.TESTS[source]]) else None


def main():
    args = options()
    by_source = chosen(args)
    if args.list:
        print("\n".join(mutant.name for its_mutants in by_source.values() for mutant in its_mutants))
        return 0
    explained = survivors.read(EXPLAINED)
    stale = stale_entries(explained, args)
    tally = report.Tally(explained, args.tree == "sanitize")
    where = build(args.tree, by_source)
    if not where:
        print("scripts/mutants: the tests do not build", file=sys.stderr)
        return 1
    store = results.Results(where.path / "mutants.jsonl", args.fresh)
    folder = tempfile.mkdtemp(prefix="mutants-")
    try:
        for source, its_mutants in by_source.items():
            message = judge_source(args, where, source, its_mutants, folder, store, tally)
            if message:
                print(f"scripts/mutants: {message}", file=sys.stderr)
                return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(report.as_json(tally, stale) if args.json else report.text(tally, stale))
    whole = not args.sample and not args.only
    share = report.percent(tally.total())
    return 1 if tally.survivors or stale or tally.needless or share is None or \
        (whole and share < report.GOAL) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        os._exit(130)
