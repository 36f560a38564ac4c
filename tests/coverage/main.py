# SPDX-License-Identifier: BSD-3-Clause
"""scripts/coverage: measures which branches the unit, property and fuzz tests take.

    main.py      options, and the report
    llvm.py      the build tree, the tests, llvm-cov
    branches.py  the branches of a source, and those that no test takes
    scope.py     the files and the goal
    entries.py   reads uncovered.txt, the explained branches
"""
import argparse
import json
import os
import sys

import branches
import entries
import llvm
import scope

EXPLAINED = branches.ROOT / "tests/coverage/uncovered.txt"
OTHERS = ("libmli/port/", "boards/", "target/", "daemon/", "client/src/", "cli/")  # in the summary only


def options():
    parser = argparse.ArgumentParser(
        prog="scripts/coverage", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Builds everything with clang's coverage, runs the unit, property and fuzz tests, and prints the\n"
                    "covered lines, functions and branches of each folder. HTML: build-coverage/html/index.html.\n"
                    "An uncovered branch of libmli/src (without the kernels of instruction sets), daemon/job or proto\n"
                    "must have an entry in tests/coverage/uncovered.txt.",
        epilog=f"exit status: 0 all tests passed, {scope.GOAL} % of the branches of each checked folder are covered, and\n"
               "the entries match; 1 otherwise; 2 wrong arguments; 77 clang-19 is missing")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--mcdc", action="store_true", help="also report MC/DC: which conditions alone decided a decision")
    parser.add_argument("--no-run", action="store_true", help="report the profiles of the last run")
    parser.add_argument("--no-html", action="store_true", help="write no HTML")
    parser.add_argument("--file", metavar="PREFIX", default="", help="list only the uncovered branches of these paths")
    return parser.parse_args()


def measure(exported):
    """Returns the counts of each file, and the uncovered sides of branches in the files of the
    scope."""
    counts, missing = {}, []
    for name, entry in sorted(exported.items()):
        if scope.in_scope(name) or name.startswith(OTHERS):
            pair, its_missing = branches.uncovered(name, entry, (branches.ROOT / name).read_text())
            counts[name] = branches.counts(entry, pair)
            missing += its_missing if scope.in_scope(name) else []
    return counts, missing


def by_folder(counts):
    """Adds up the counts of each folder, and of each part of the scope."""
    folders = {}
    for name, its_counts in counts.items():
        folders.setdefault(os.path.dirname(name) + "/", branches.Counts()).add(its_counts)
    parts = {}
    for part in scope.SCOPE:
        parts[part] = branches.Counts()
        for name, its_counts in counts.items():
            if name.startswith(part) and scope.in_scope(name):
                parts[part].add(its_counts)
    return folders, parts


def share(pair):
    return 100 * pair[0] / pair[1] if pair[1] else 100.0


def table(rows, mcdc):
    def cell(pair):
        return f"{pair[0]:6} of {pair[1]:5} {share(pair):5.1f} %"

    head = f"{'':24} {'lines':>22} {'functions':>22} {'branches':>22}" + (f" {'MC/DC':>22}" if mcdc else "")
    return [head] + [f"{name:24}  {cell(row.lines)}  {cell(row.functions)}  {cell(row.branches)}"
                     + (f"  {cell(row.mcdc)}" if mcdc else "") for name, row in rows.items()]


def report(args, counts, missing, failed):
    folders, parts = by_folder(counts)
    unexplained, stale = entries.compare(missing, entries.read(EXPLAINED))
    below = [name for name, row in parts.items() if not row.branches[1] or share(row.branches) < scope.GOAL]
    if args.json:
        print(json.dumps({
            "folders": {name: vars(row) for name, row in folders.items()},
            "checked": {name: vars(row) for name, row in parts.items()},
            "explained": len(missing) - len(unexplained),
            "uncovered": [vars(side) for side in unexplained],
            "stale": [entry.line for entry in stale],
            "failed": failed,
        }, indent=1))
    else:
        for side in unexplained:
            if side.file.startswith(args.file):
                print(f"{entries.show(side)}\n"
                      f"  (line {side.line}: no test takes this side; uncovered.txt has no reason)\n")
        for entry in stale:
            print(f"uncovered.txt:{entry.line}: remove the entry: a test takes \"{entry.key[2]}\" {entry.key[3]} in "
                  f"{entry.key[0]}, or the source has changed")
        for name in failed:
            print(f"failed: {name}")
        print("\n".join(table(folders, args.mcdc) + ["checked:"] + table(parts, args.mcdc)))
        print(f"{len(missing)} sides of branches are uncovered, {len(missing) - len(unexplained)} of them explained; "
              f"below {scope.GOAL} %: {', '.join(below) or 'none'}")
    return 1 if unexplained or stale or below or failed else 0


def main():
    args = options()
    if llvm.missing_tools():
        print(f"scripts/coverage: {' and '.join(llvm.missing_tools())} not found: "
              f"scripts/install-deps packages {' '.join(llvm.PACKAGES)}", file=sys.stderr)
        return 77
    if not llvm.configure():
        return 1
    chosen, failed = llvm.tests(), []
    if not args.no_run:
        if not llvm.build(chosen):
            return 1
        failed = llvm.run(chosen)
    counts, missing = measure(llvm.export(chosen))
    if not args.no_html:
        llvm.html(chosen, [name for name in counts if scope.in_scope(name)], args.mcdc)
        print(f"{llvm.OUTPUT / 'html/index.html'}", file=sys.stderr)
    return report(args, counts, missing, failed)


if __name__ == "__main__":
    sys.exit(main())
