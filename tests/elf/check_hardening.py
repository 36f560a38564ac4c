#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that programs and libraries were built with the hardening that the toolchain has.

    check_hardening.py --readelf READELF [--canary] [--fortify] [--branch MARK] --probe PROGRAM
                       --archives A... --libraries SO... [--programs P...]

The loader enforces branch protection only for a file of which every object carries the mark. The
probe, an empty program, tells whether the start-up code of the C library does.
"""
import argparse
import os
import re
import subprocess
import sys


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--readelf", required=True)
    parser.add_argument("--canary", action="store_true", help="a stack protector is expected")
    parser.add_argument("--fortify", action="store_true", help="_FORTIFY_SOURCE is expected")
    parser.add_argument("--branch", help="property of branch protection, as readelf prints it")
    parser.add_argument("--probe", required=True)
    for kind in ("archives", "libraries", "programs"):
        parser.add_argument("--" + kind, nargs="+", default=[])
    return parser.parse_args()


def read(args, flags, path):
    return subprocess.run([args.readelf, "-W", flags, path], check=True, capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C")).stdout


def memory_faults(args, path, program):
    """Yields the faults in the program headers and the dynamic section of the ELF file."""
    text = read(args, "-lhd", path)
    stack = re.search(r"^\s*GNU_STACK\s.*\s([R ][W ][E ])\s", text, re.M)
    if not re.search(r"Type:\s+DYN", text) or (program and not re.search(r"\(FLAGS_1\).*\bPIE\b", text)):
        yield "is not position-independent"
    if not re.search(r"^\s*GNU_RELRO\s", text, re.M):
        yield "has no GNU_RELRO segment"
    if not re.search(r"\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b", text):
        yield "binds lazily, so that RELRO leaves the PLT's addresses writable"
    if not stack or "E" in stack[1]:
        yield "has an executable stack"


def call_faults(args, path):
    """Yields missing protections. The names of the C library's functions that a file calls show
    these."""
    names = set(re.findall(r"\sUND\s+(\w+)", read(args, "--dyn-syms", path)))
    if args.canary and "__stack_chk_fail" not in names:
        yield "has no stack protector"
    if args.fortify and not any(re.fullmatch(r"__\w+_chk", name) for name in names):
        yield "calls no function of _FORTIFY_SOURCE"


def marks(args, path):
    """Returns the number of objects in a file, and how many of them are marked as built with
    branch protection."""
    members = len(re.findall(r"^File: ", read(args, "-h", path), re.M)) or 1
    marked = re.findall(rf"feature: .*\b{args.branch}\b", read(args, "-n", path))
    return members, len(marked)


def branch_faults(args, path):
    members, marked = marks(args, path)
    if marked != members:
        yield f"{marked} of {members} objects carry the mark {args.branch}"


def faults(args):
    for path in args.libraries + args.programs:
        yield from ((path, text) for text in memory_faults(args, path, path in args.programs))
        yield from ((path, text) for text in call_faults(args, path))
    if not args.branch:
        print("skipped: this compiler has no branch protection")
        return
    checked = list(args.archives)
    if marks(args, args.probe)[1]:
        checked += args.libraries + args.programs
    else:
        print(f"skipped: the C library's start-up code lacks {args.branch}; archives are checked alone")
    for path in checked:
        yield from ((path, text) for text in branch_faults(args, path))


def main():
    args = options()
    found = [f"{path}: {text}" for path, text in faults(args)]
    print(*found, sep="\n")
    print(f"{len(args.archives + args.libraries + args.programs)} files, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
