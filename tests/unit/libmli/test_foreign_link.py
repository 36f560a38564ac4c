#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links a program compiled with embARC's prototypes, and expects the linker to refuse.

    test_foreign_link.py NM FOREIGN.a LIBMLI.a LIBMLI.so -- CC...

Every mli_ name that the program calls must be missing from the library: a call to a name
in both would pass wrong parameters.
"""
import re
import subprocess
import sys
import tempfile


def names(nm, library, *options):
    out = subprocess.run([nm, *options, library], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in out.stdout.splitlines() if len(line.split()) > 1}


def main():
    split = sys.argv.index("--")
    nm, foreign, static, shared = sys.argv[1:split]
    compiler = sys.argv[split + 1:]
    called = {n for n in names(nm, foreign, "--undefined-only") if n.startswith("mli_")}
    failures = []

    if len(called) != 11:
        failures.append(f"{foreign} calls {len(called)} functions of the library, not 11")
    for library, options in ((static, ()), (shared, ("--dynamic",))):
        defined = names(nm, library, "--defined-only", *options)
        if "mli_mov_tensor_sync" not in defined:
            failures.append(f"{library} does not define mli_mov_tensor_sync: is it the library?")
        failures += [f"{library} defines {n}" for n in sorted(called & defined)]
    for library in (static, shared):
        with tempfile.TemporaryDirectory() as folder:
            link = subprocess.run(
                [*compiler, "-o", folder + "/program", "-Wl,--whole-archive", foreign,
                 "-Wl,--no-whole-archive", library, "-pthread"], capture_output=True, text=True)
        refused = set(re.findall(r"undefined (?:reference to|symbol:?) [`']?(mli_\w+)",
                                 link.stdout + link.stderr))
        if link.returncode == 0:
            failures.append(f"the program links with {library}")
        failures += [f"the linker found {n} in {library}" for n in sorted(called - refused)]
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(called)} names, {len(failures)} failures")
    return bool(failures)


sys.exit(main())
