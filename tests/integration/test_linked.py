#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links the installed libraries with a program that has functions with the names of our private functions.

The program is examples/double_buffer and a file that defines each private name as a function.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import test_tiling
from harness import SOURCE, main

BUILD = pathlib.Path(os.environ["MLI_BUILD"])
CC = shlex.split(os.environ["MLI_CC"])
MESON = shlex.split(os.environ.get("MESONINTROSPECT", "meson introspect"))[:-1]
DESTDIR = tempfile.TemporaryDirectory()
ROOT = pathlib.Path(DESTDIR.name)


def tool(*words, env=None, cwd=None):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          env=dict(os.environ, **env or {}), cwd=cwd)
    if done.returncode != 0:
        raise AssertionError(f"{words}:\n{done.stdout}{done.stderr}")
    return done.stdout


def private_names():
    """Returns the global names of the libraries before they were made private."""
    libraries = os.environ["MLI_INTERNAL"].split(":")
    out = tool(os.environ["MLI_NM"], "-g", "-P", "--defined-only", *libraries)
    found = {line.split()[0] for line in out.splitlines() if len(line.split()) > 2}
    return sorted(name for name in found if not name.startswith(("mli_", "_")))


def write_names(path, names):
    """Writes functions that return their own numbers; before main() the program checks that its functions return these
    numbers."""
    lines = [f"int {name}(void); int {name}(void) {{ return {number}; }}"
             for number, name in enumerate(names)]
    table = ", ".join(names)
    path.write_text("\n".join(lines) + f"""
int abort(void);
static int (*volatile const all[])(void) = {{{table}}};
__attribute__((constructor)) static void check(void)
{{
    for (int i = 0; i < {len(names)}; i++)
        if (all[i]() != i)
            abort();
}}
""")


def install():
    tool(*MESON, "install", "-C", BUILD, "--no-rebuild", "--tags", "devel,runtime",
         env={"DESTDIR": str(ROOT)})
    path = next(ROOT.rglob("mli.pc")).parent
    return {"PKG_CONFIG_PATH": str(path), "PKG_CONFIG_SYSROOT_DIR": str(ROOT)}


class Linked(test_tiling.Tiling):
    options = []

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        env = install()
        names = private_names()
        assert len(names) > 400 and {"json_parse", "pool_claim"} <= set(names), names
        write_names(ROOT / "names.c", names)
        flags = shlex.split(tool("pkg-config", "--cflags", "mli_client", env=env))
        libraries = shlex.split(tool("pkg-config", "--libs", *cls.options, "mli_client", env=env))
        binary = ROOT / cls.__name__
        tool(*CC, "-w", "-fno-builtin", "-o", binary, SOURCE / "examples/double_buffer/tiling.c",
             ROOT / "names.c", *flags, *cls.whole(libraries))
        os.environ["TILING"] = str(binary)
        os.environ["LD_LIBRARY_PATH"] = env["PKG_CONFIG_PATH"].removesuffix("/pkgconfig")

    @classmethod
    def whole(cls, libraries):
        return libraries


class LinkedStatically(Linked):
    """Links our archives; the C library and cJSON (Debian has no archive of cJSON) stay shared."""
    options = ["--static"]

    @classmethod
    def whole(cls, libraries):
        """Returns the options that link all members of our archives, including unused members."""
        ours = [f"-l:lib{word[2:]}.a" for word in libraries if word.startswith("-lmli")]
        others = [word for word in libraries if not word.startswith("-lmli")]
        return ["-Wl,--whole-archive", *others, *ours, "-Wl,--no-whole-archive", *others]


del test_tiling  # unittest runs every Case it finds in a module


@unittest.skipUnless("MLI_PLAIN_FS" in os.environ, "libraries with sanitizers need a program with sanitizers")
class Recipe(unittest.TestCase):
    def test_recipe_of_the_document(self):
        """docs/client.md says how to compile app.c."""
        recipe = re.search(r"(?m)^    (cc app\.c .*)$", (SOURCE / "docs/client.md").read_text()).group(1)
        env = install()
        shutil.copy(SOURCE / "examples/double_buffer/tiling.c", ROOT / "app.c")
        tool("sh", "-e", "-c", recipe, env=env, cwd=ROOT)
        self.assertIn("mli_client_connect", tool(os.environ["MLI_NM"], "--defined-only", ROOT / "a.out"))


class Names(unittest.TestCase):
    def test_every_global_name_has_our_prefix(self):
        install()
        archives, shared = list(ROOT.rglob("libmli*.a")), list(ROOT.rglob("libmli*.so"))
        self.assertEqual((len(archives), len(shared)), (2, 1))
        for path, flag in [(archive, "-g") for archive in archives] + [(shared[0], "-D")]:
            out = tool(os.environ["MLI_NM"], flag, "-P", "--defined-only", path)
            found = [words[0] for words in map(str.split, out.splitlines()) if len(words) > 2]
            self.assertGreater(len(found), 20)
            # Names that begin with two underscores are helpers that the compiler shares between objects.
            self.assertEqual([name for name in found if not name.startswith(("mli_", "__"))], [], path)


if __name__ == "__main__":
    main()
