# SPDX-License-Identifier: BSD-3-Clause
"""Builds a wheel of the package, installs it with pip into a new environment, and uses it."""
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import suite

PROGRAM = """
import subprocess
import numpy as np
import mli
from mli import _programs
image = np.arange(12, dtype=np.int8).reshape(3, 4)
assert (mli.move(image, pad=1, perm=(1, 0)) == np.pad(image, 1).T).all()
for name in ("mlictl", "mlid"):
    path = _programs.find(name)
    assert path.startswith(mli.__path__[0]), path
    print(subprocess.run([path, "--version"], check=True, capture_output=True, text=True).stdout)
"""


def without_builds(folder, names):
    """Returns the names in a folder of the sources that copies leave out."""
    patterns = (".git", ".mesonpy-*", "build*", "tests") if pathlib.Path(folder) == suite.SOURCE else ()
    return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}


@suite.not_sanitized
@suite.needs_module("mesonpy", "python3-mesonpy")
@suite.needs_module("pip", "python3-pip")
@suite.needs_module("ensurepip", "python3-venv")
class Wheel(unittest.TestCase):
    def run_it(self, *command, folder=None):
        """Runs a command whose environment does not have the package of the build tree."""
        env = {name: value for name, value in os.environ.items()
               if name not in ("PYTHONPATH", "MLICTL", "MLID", "MAKEFLAGS", "NINJA_STATUS")}
        env["CC"] = env.get("MLI_CC", "cc")
        env["CFLAGS"] = "-O0 -U_FORTIFY_SOURCE"
        done = subprocess.run([str(word) for word in command], cwd=folder, env=env, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self):
        """Builds a wheel from a copy of the sources: meson-python writes into the folder of the sources."""
        copy = self.folder / "mli"
        shutil.copytree(suite.SOURCE, copy, ignore=without_builds)
        # Compiles without optimisation and vector kernels, which would take most of the time: the test is about what
        # the wheel contains.
        self.run_it(sys.executable, "-m", "pip", "wheel", copy, "--wheel-dir", self.folder, "--no-build-isolation",
                    "--no-deps", "--no-index", "--disable-pip-version-check",
                    "--config-settings=setup-args=-Dlevels=[]")
        wheels = list(self.folder.glob("*.whl"))
        self.assertEqual(len(wheels), 1)
        return wheels[0]

    def check_contents(self, wheel):
        self.assertRegex(wheel.name, r"^mli-[\d.]+-cp311-abi3-linux_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        stray = [name for name in names if not name.startswith("mli/") and ".dist-info/" not in name]
        self.assertEqual(stray, [])
        built = {path.name for path in suite.PACKAGE.iterdir() if path.is_file() and path.suffix in (".py", ".pyi")}
        built |= {"py.typed", *(path.name for path in suite.PACKAGE.glob("*.so")), "bin/mlictl", "bin/mlid"}
        self.assertIn("mli.pytest_plugin = mli.pytest_plugin", self.entry_points(wheel))
        self.assertLessEqual(built, {name.removeprefix("mli/") for name in names})

    def entry_points(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
            return archive.read(name).decode()

    def test_wheel(self):
        wheel = self.build()
        self.check_contents(wheel)
        python = self.folder / "venv" / "bin" / "python"
        self.run_it(sys.executable, "-m", "venv", "--system-site-packages", self.folder / "venv")
        self.run_it(python, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)
        output = self.run_it(python, "-c", PROGRAM, folder=self.folder)
        self.assertIn("mlictl", output)
        self.assertIn("mlid", output)


if __name__ == "__main__":
    suite.main()
