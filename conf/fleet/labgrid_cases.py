# SPDX-License-Identifier: BSD-3-Clause
"""Runs job files as test cases on a board of labgrid, and fetches their report:

    pytest --lg-env labgrid-env.yaml labgrid_cases.py

The directory cases/ must be beside this file. The report is written to report.xml beside this file.
"""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
REMOTE = "/tmp/mlictl-cases"


def test_cases(target):
    board = target.get_driver("SSHDriver")
    board.run_check(f"rm -rf {REMOTE} && mkdir {REMOTE}")
    board.put(str(HERE / "cases"), REMOTE)
    out, err, code = board.run(f"cd {REMOTE} && mlictl batch cases --junit report.xml --keep none", timeout=3600)
    board.get(f"{REMOTE}/report.xml", str(HERE / "report.xml"))
    assert code == 0, "\n".join(out + err)
