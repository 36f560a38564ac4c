#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares debian/libmli0.symbols with the names that the shared library exports.

    check_symbols.py NM LIBRARY SYMBOLS CHANGELOG VERSION

Also compares the version of debian/changelog with that of the project. A build of the packages fails if the names
differ; this test reports the difference earlier.
"""
import pathlib
import re
import subprocess
import sys


def main():
    nm, library, symbols, changelog, version = sys.argv[1:]
    out = subprocess.run([nm, "-D", "-P", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[0] for line in out.splitlines()}
    listed = set(re.findall(r"^ (\S+)@Base ", pathlib.Path(symbols).read_text(encoding="utf-8"), re.M))
    for name in sorted(exported - listed):
        print(f'{symbols}: {name} is missing; add " {name}@Base {version}" with the version that will have it')
    for name in sorted(listed - exported):
        print(f"{symbols}: libmli no longer exports {name}: programs that use it would break")
    packaged = re.match(r"mli \(([^)]+)\)", pathlib.Path(changelog).read_text(encoding="utf-8"))[1]
    if packaged != version:
        print(f"{changelog}: version {packaged} given; meson.build has {version}")
    print(f"{len(listed)} names compared")
    sys.exit(exported != listed or packaged != version)


if __name__ == "__main__":
    main()
