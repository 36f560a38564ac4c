# SPDX-License-Identifier: BSD-3-Clause
"""scripts/torture: builds the programs and runs tests/torture.

    scripts/torture                               each distinct call of each scene fails once
    scripts/torture --all                         each call fails once, in minutes
    scripts/torture --sanitize                    the same with the address and undefined-behaviour sanitizers
    scripts/torture --scene run --fail alloc:17   repeats one run
    scripts/torture --list                        lists the scenes
    scripts/torture --shake SEED [TEST...]        integration tests with short counts and interrupted calls
    scripts/torture --help                        the other options

Exit status: 0 no defect, 1 defects or no build, 2 wrong arguments.
"""
import os
import subprocess
import sys

import stage
import trees

TARGETS = ("cli/mlictl", "daemon/mlid", "tests/torture/client_scene", "tests/torture/libtorture_preload.so",
           "tests/mli-agent")


def build(name):
    if not trees.configure(name):
        return False
    done = subprocess.run(["ninja", "-C", stage.TREES / name, *TARGETS], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        stage.say(done.stdout[-3000:])
    return done.returncode == 0


def environment(tree, slow):
    return dict(os.environ, MLICTL=f"{tree}/cli/mlictl", MLID=f"{tree}/daemon/mlid", MLI_BUILD=str(tree),
                MLI_AGENT=f"{tree}/tests/mli-agent", MLI_TEST_SLOW=slow,
                MLI_CLIENT_SCENE=f"{tree}/tests/torture/client_scene",
                MLI_TORTURE_PRELOAD=f"{tree}/tests/torture/libtorture_preload.so")


def main():
    arguments = sys.argv[1:]
    name, slow = ("sanitize", "4") if "--sanitize" in arguments else ("torture", "1")
    arguments = [word for word in arguments if word != "--sanitize"]
    script = "torture.py"
    if arguments[:1] == ["--shake"]:
        script, arguments = "shaken.py", ["--seed", *arguments[1:], *(["--all"] if len(arguments) == 2 else [])]
    if "--help" in arguments or "-h" in arguments:
        print(__doc__, flush=True)
    elif not build(name):
        return 1
    command = [sys.executable, "-B", stage.ROOT / "tests" / "torture" / script, *arguments]
    return subprocess.run(command, env=environment(stage.TREES / name, slow), check=False).returncode


if __name__ == "__main__":
    stage.main(main)
