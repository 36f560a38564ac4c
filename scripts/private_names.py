#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a static library whose private names cannot collide with the names of a program.

    private_names.py --nm NM --objcopy OBJCOPY --ar AR --public PREFIX --private PREFIX
                     --output LIBRARY OBJECT...

Each global name that the objects define and that does not begin with the public prefix gets the
private prefix in front. Names that begin with two underscores are the compiler's and stay. Debug
information keeps the names of the source.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def options():
    parser = argparse.ArgumentParser()
    for name in ("nm", "objcopy", "ar", "public", "private", "output"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("objects", nargs="+")
    return parser.parse_args()


def defined(nm, objects):
    """Returns the global names that the objects define."""
    out = subprocess.run([nm, "-g", "-P", "--defined-only", *objects],
                         check=True, capture_output=True, text=True)
    return {words[0] for line in out.stdout.splitlines() if len(words := line.split()) >= 3}


def write_map(names, args, path):
    private = sorted(name for name in names if not name.startswith((args.public, "__")))
    path.write_text("".join(f"{name} {args.private}{name}\n" for name in private))


def main():
    args = options()
    names = defined(args.nm, args.objects)
    if not names:
        sys.exit(f"private_names: {args.nm} finds no symbols; objects of link-time optimisation have none: "
                 "build with -Db_lto=false")
    output = pathlib.Path(args.output)
    with tempfile.TemporaryDirectory(dir=output.parent) as folder:
        folder = pathlib.Path(folder)
        write_map(names, args, folder / "map")
        members = []
        for number, source in enumerate(args.objects):
            member = folder / f"{number:03}_{pathlib.Path(source).name}"
            subprocess.run([args.objcopy, f"--redefine-syms={folder / 'map'}", source, member], check=True)
            members.append(member)
        archive = folder / "library.a"
        subprocess.run([args.ar, "rcsD", archive, *members], check=True)
        archive.replace(output)


if __name__ == "__main__":
    main()
