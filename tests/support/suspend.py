# SPDX-License-Identifier: BSD-3-Clause
"""Stops a process and waits until it has stopped."""
import os
import pathlib
import signal
import time

PATIENCE = 60  # seconds that a stop never takes


def _has_stopped(pid):
    try:
        return all(stat.read_text().rpartition(")")[2].split()[0] == "T"
                   for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"))
    except OSError:  # a thread has ended
        return False


def suspend(pid):
    """Sends SIGSTOP to a process and waits until all its threads have stopped.

    kill() returns earlier: a thread on another processor continues for a moment, and may still answer a request that
    is sent after kill() has returned.
    """
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + PATIENCE
    while not _has_stopped(pid):
        if time.monotonic() > end:
            raise AssertionError(f"process {pid} does not stop")
        time.sleep(0.001)
