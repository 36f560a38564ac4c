#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes every call of a command fail once, and checks what the command does.

    torture.py                               every call of every scene
    torture.py --every 20 --seed 7           one distinct call in 20
    torture.py --scene run --fail alloc:17   repeats one run, and prints all of it

Exit status: 0 no defect, 1 defects, 2 wrong arguments, 77 not possible with this build.
"""
import argparse
import concurrent.futures
import os
import sys
import tempfile
import threading
import time
import traceback

import report
import mlid_scene
import scenes
import tolerated

from scene import PERCENT, PRELOAD

SAMPLE = {"mlictl": 8, "mlid": 4}  # one call in 8 or 4, with MLI_TEST_PERCENT=100
SCENES = 3  # with less than half of the calls, one scene in 3 runs: the two runs without a failure take most of the time
BUDGET = 90  # seconds, after which a sample starts no other scene
GIVE_UP = 12  # different defects of a scene that are printed


class Tally:
    """Counts the runs of a scene and their results, and collects the defects by the place of the
    failed call."""

    def __init__(self, scene):
        self.scene, self.calls, self.distinct, self.failed = scene, 0, 0, 0
        self.right = self.refused = self.aborted = self.missed = 0
        self.defects = {}
        self.seconds = 0

    def line(self):
        defects = sum(len(found) for found in self.defects.values())
        return (f"{self.scene.name:22} {self.calls:5} calls {self.failed:5} failed {self.right:5} right "
                f"{self.refused:5} refused {self.aborted:4} aborted {defects:4} defects {self.seconds:4.0f} s")


def place(stack):
    """Returns the innermost frames that are in the project's sources, as text."""
    shown = [f"{function} ({at})" for function, at in stack]
    return " < ".join(shown[:7])


def numbers(kind, good, options):
    """Returns the numbers of the calls to fail: all calls, or one call for each distinct stack."""
    count = good.report.counts[kind]
    if options.all:
        return list(range(1, count + 1))
    first = {}
    for number, stack in enumerate(good.stacks[kind], 1):
        first.setdefault(stack, number)
    return sorted(first.values())


def plan(scene, good, options):
    """Returns (kind, number) for each call to fail. With --every, the choice depends only on the seed."""
    cases = [(kind, number) for kind in options.kinds for number in numbers(kind, good, options)]
    offset = sum(map(ord, scene.name)) + options.seed
    every = options.every * (20 if getattr(scene, "slow", False) else 1)
    return [case for at, case in enumerate(cases) if (at + offset) % every == 0]


class Driver:
    def __init__(self, options):
        self.options = options
        self.symbols = report.Symbols()
        self.lock = threading.Lock()
        self.end = time.monotonic() + BUDGET

    def stack(self, outcome):
        with self.lock:
            return self.symbols.stack(outcome.report)

    @staticmethod
    def shown(outcome):
        return f"exit code {outcome.code}\n{outcome.out}{outcome.err}{sorted(outcome.files)}\n"

    @staticmethod
    def judge(stage, kind, outcome, good, stack):
        """Returns two lists: the defects, and the tolerated defects."""
        wrong, ignored = [], []
        for text in stage.judge(kind, outcome, good):
            (ignored if tolerated.reason(text, outcome.report.name, stack) else wrong).append(text)
        return wrong, ignored

    def try_one(self, stage, good, kind, fail, tally):
        outcome = stage.run(fail)
        if outcome.report.failed == 0 or any("/libasan." in module for module, _ in outcome.report.frames):
            tally.missed += 1  # past the last call, or a call of the sanitizer
            return
        tally.failed += 1
        stack = self.stack(outcome)
        wrong, ignored = self.judge(stage, kind, outcome, good, stack)
        if wrong:
            for text in wrong:
                key = (text, outcome.report.name, tuple(stack[:4]))
                tally.defects.setdefault(key, []).append((fail, outcome, stack))
        elif any("ended by signal" in text for text in ignored):
            tally.aborted += 1  # by a library
        elif outcome.code == good.code and not (isinstance(stage, mlid_scene.MlidStage) and outcome.out):
            tally.right += 1
        else:
            tally.refused += 1

    def scene(self, scene):
        tally = Tally(scene)
        begin = time.monotonic()
        if self.options.sample and begin > self.end:
            return None
        with tempfile.TemporaryDirectory(prefix="mli-torture-") as directory:
            stage = scene.stage(directory)
            try:
                good = stage.run("alloc:0")
                if good.report.pid == 0:
                    raise AssertionError(f"the library was not loaded: {good.err}")
                if good.code is None or good.code not in (0, 1):
                    raise AssertionError(f"without faults: {good.code}\n{good.out}{good.err}")
                good.stacks = {kind: good.report.stacks(kind) for kind in report.KINDS}
                if not self.options.sample:
                    again = stage.run("alloc:0")
                    if stage.differs(again, good):
                        raise AssertionError(f"two runs differ:\n{self.shown(good)}{self.shown(again)}")
                tally.calls = sum(good.report.counts[kind] for kind in self.options.kinds)
                for kind, number in plan(scene, good, self.options):
                    self.try_one(stage, good, kind, f"{kind}:{number}{self.options.on}", tally)
            finally:
                wrong = stage.close()
            for text in wrong:
                tally.defects[(text, "", ())] = [("", None, ())]
        tally.seconds = time.monotonic() - begin
        return tally


def show(tally, options):
    print(tally.line(), flush=True)
    for (text, call, _), found in list(tally.defects.items())[:None if options.verbose else GIVE_UP]:
        fail, outcome, stack = found[0]
        print(f"    {text} [{len(found)}]: {call}() < {place(stack)}")
        if outcome:
            print(f"        exit code {outcome.code}: {(outcome.err.strip() or '(no message)')[:300]}")
            print(f"        scripts/torture --scene {tally.scene.name} --fail {fail}", flush=True)


def repeat(driver, scene, fail):
    """Runs the command with one failing call, and prints everything."""
    with tempfile.TemporaryDirectory(prefix="mli-torture-") as directory:
        stage = scene.stage(directory)
        good = stage.run("alloc:0")
        outcome = stage.run(fail)
        stack = driver.stack(outcome)
        wrong, ignored = driver.judge(stage, fail.partition(":")[0], outcome, good, stack)
        if not outcome.report.failed:
            print(f"{fail} is past the last call ({outcome.report.counts})")
        print(f"{scene.program} {' '.join(map(str, scene.words))}: exit code {outcome.code}")
        print(f"--- standard output\n{outcome.out}--- standard error\n{outcome.err}---")
        print(f"{outcome.report.name}() fails: {os.strerror(max(outcome.report.error, 0))}")
        for function, at in stack:
            print(f"    {function} at {at}")
        wrong += stage.close()
    for text in ignored:
        print(f"tolerated: {text}: {tolerated.reason(text, outcome.report.name, stack)}")
    print("\n".join(f"defect: {text}" for text in wrong) or "no defect")
    return 1 if wrong else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scene", action="append", help="Run only this scene (default: all); may be repeated.")
    parser.add_argument("--fail", metavar="KIND:N", help="Repeat one run of one scene; KIND:N:on fails all from N.")
    parser.add_argument("--kind", action="append", choices=report.KINDS, help="Fail only this kind (default: all).")
    parser.add_argument("--part", choices=("mlictl", "mlid"), help="Run only this part of the scenes (default: both).")
    parser.add_argument("--sample", action="store_true",
                        help="Fail a few of the calls of a few scenes, as MLI_TEST_PERCENT says.")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="Fail one call in K (default: 1).")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MLI_TEST_SEED", os.environ.get("MLI_TEST_TURN", "0"))),
                        help="Choose other calls with --every (default: $MLI_TEST_SEED, else $MLI_TEST_TURN, else 0).")
    parser.add_argument("--all", action="store_true", help="Fail each call (default: each distinct stack once).")
    parser.add_argument("--on", action="store_const", const=":on", default="",
                        help="Fail all calls from the chosen one, as a full disk does.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="Run this many scenes at a time.")
    parser.add_argument("--list", action="store_true", help="List the scenes.")
    parser.add_argument("-v", "--verbose", action="store_true", help="Print all defects of a scene.")
    options = parser.parse_args()
    options.kinds = options.kind or report.KINDS
    if options.sample:
        options.every = SAMPLE[options.part or "mlictl"] * 100 // PERCENT
    return options


def sampled(chosen, options):
    """Returns the scenes of a sample. A sample without some scenes tests more calls of the others:
    `options.every` becomes smaller."""
    if not options.sample or PERCENT >= 50 or len(chosen) < SCENES:
        return chosen
    options.every = max(1, options.every // SCENES)
    return [scene for at, scene in enumerate(chosen) if (at + options.seed) % SCENES == 0]


def main():
    options = arguments()
    parts = {"mlictl": scenes.all_scenes(), "mlid": mlid_scene.all_scenes()}
    chosen = [scene for name, part in parts.items() if options.part in (None, name) for scene in part
              if not options.scene or scene.name in options.scene]
    if options.list:
        print("\n".join(f"{scene.name:22} {' '.join(map(str, scene.words))}" for scene in chosen))
        return 0
    if not chosen:
        print(f"{options.scene}: no such scene; --list lists them", file=sys.stderr)
        return 2
    if not PRELOAD:
        print("skipped: this build has no library that makes calls fail")
        return 77
    for why in scenes.left_out():
        print(f"skipped: scenes of {why}")
    driver = Driver(options)
    if options.fail:
        return repeat(driver, chosen[0], options.fail)
    chosen = sampled(chosen, options)
    print(f"seed {options.seed}, one in {options.every}, {len(chosen)} scenes", flush=True)
    tallies, broken, left_out = [], 0, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(driver.scene, scene): scene for scene in chosen}
        for done in concurrent.futures.as_completed(runs):
            try:
                tally = done.result()
                if tally:
                    tallies.append(tally)
                    show(tally, options)
                else:
                    left_out.append(runs[done].name)
            except Exception:
                broken += 1
                print(f"{runs[done].name}: the scene cannot run\n{traceback.format_exc()}", flush=True)
    if left_out:
        print(f"not run, after {BUDGET} s: {' '.join(sorted(left_out))}")
    failed = sum(tally.failed for tally in tallies)
    defects = sum(len(found) for tally in tallies for found in tally.defects.values())
    print(f"in all: {len(tallies)} scenes, {sum(t.calls for t in tallies)} calls, {failed} failed runs, "
          f"{sum(t.right for t in tallies)} right results, {sum(t.refused for t in tallies)} refusals, "
          f"{sum(t.aborted for t in tallies)} aborts of libraries, {sum(t.missed for t in tallies)} past the end, "
          f"{defects} defects")
    if failed == 0:
        print("no call failed: the test is void")
        return 1
    return 1 if defects or broken else 0


if __name__ == "__main__":
    sys.exit(main())
