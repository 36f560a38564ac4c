#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times moves from Python beside the C calls of libmli and beside NumPy.

usage: PYTHONPATH=BUILD/python bench/python/moves.py [--quick] [--json FILE]

The 26 cases of bench-moves, on elements of 1, 2 and 4 bytes. The C call, `call` and NumPy write
the same array, in turns. The time of NumPy is the least of 9 rounds; the times of the C call and
of `call` are the least of 36 rounds, because their difference is smaller than the noise of a
round (--quick: 3 and 12 rounds). `call` is mli.move(src, out=...), as a multiple of the C call:
the median over rounds that time one call right after the other, because other programs disturb
most rounds in the third-level cache. NumPy is measured in two ways, both as multiples of `call`:
`NumPy` is the expression that people write (np.pad, an index, transpose, an assignment to the
result); `views` is the fastest way that we found: one copy between two strided views that are
made beforehand, and a fill of the padding. Small calls are in nanoseconds. The last lines say
which goals hold; the exit status is 1 if a goal is missed.
"""
import argparse
import json
import math
import statistics
import sys
import time
import timeit

import numpy as np

import mli

FREE = 0  # the dimension that gives the result its size

CASES = [  # name, shape, arguments
    ("transpose, odd", (FREE, 387), {"perm": (1, 0)}),
    ("transpose, powers of two", (FREE, 512), {"perm": (1, 0)}),
    ("[M,16] -> [16,M]", (FREE, 16), {"perm": (1, 0)}),
    ("[M,3] -> [3,M]", (FREE, 3), {"perm": (1, 0)}),
    ("HWC -> CHW, C=3", (FREE, 224, 3), {"perm": (2, 0, 1)}),
    ("HWC -> CHW, C=32", (FREE, 56, 32), {"perm": (2, 0, 1)}),
    ("HWC -> CHW, C=64", (FREE, 28, 64), {"perm": (2, 0, 1)}),
    ("CHW -> HWC, C=3", (3, FREE, 224), {"perm": (1, 2, 0)}),
    ("CHW -> HWC, C=32", (32, FREE, 56), {"perm": (1, 2, 0)}),
    ("NHWC -> NCHW", (2, FREE, 28, 32), {"perm": (0, 3, 1, 2)}),
    ("reverse rank 4", (8, 12, FREE, 20), {"perm": (3, 2, 1, 0)}),
    ("(0,2,1,3), inner 64", (2, FREE, 8, 64), {"perm": (0, 2, 1, 3)}),
    ("(1,0,3,2)", (4, FREE, 24, 40), {"perm": (1, 0, 3, 2)}),
    ("copy", (FREE,), {}),
    ("slice half H,W of CHW", (FREE, 56, 56), {"slice": np.s_[:, :28, :28]}),
    ("slice half H,W of HWC", (FREE, 56, 32), {"slice": np.s_[::1, :28]}),
    ("rows of 17 of 64", (FREE, 64), {"slice": np.s_[:, :17]}),
    ("subsample 2 on H,W of CHW", (FREE, 56, 56), {"step": (1, 2, 2)}),
    ("subsample 2 on H,W of HWC", (FREE, 56, 32), {"step": (2, 2, 1)}),
    ("subsample 3 innermost", (FREE, 1023), {"step": (1, 3)}),
    ("pad 1 around H,W of CHW", (FREE, 28, 28), {"pad": ((0, 0), (1, 1), (1, 1))}),
    ("pad 1 around H,W of HWC, C=32", (FREE, 28, 32), {"pad": ((1, 1), (1, 1), (0, 0))}),
    ("pad 1 around H,W of HWC, C=3", (FREE, 112, 3), {"pad": ((1, 1), (1, 1), (0, 0))}),
    ("concat at a channel offset", (FREE, 28, 28), {"at": (16, 0, 0)}),
    ("concat at a W offset", (FREE, 28, 28), {"at": (0, 0, 28)}),
    ("pad, crop, step 2, HWC -> CHW", (FREE, 56, 32),
     {"pad": ((1, 1), (1, 1), (0, 0)), "slice": np.s_[:, :57], "step": (2, 2, 1),
      "perm": (2, 0, 1)}),
]
SIZES = {"384 KiB": 384 << 10, "8 MiB": 8 << 20}


class Race:
    """One case at one size: the arrays, and the three ways to do it."""

    def __init__(self, shape, arguments, elem, size):
        self.arguments = dict(arguments)
        at = self.arguments.pop("at", None)
        shape = self._fit(shape, elem, size)
        rng = np.random.default_rng(1)
        count = math.prod(shape)
        self.src = rng.integers(0, 256, count * elem, np.uint8).view(f"u{elem}").reshape(shape)
        result = mli.check(self.src, **self.arguments).shape
        at = at or (0,) * len(result)
        extents = [n + a for n, a in zip(result, at)]
        self.out = np.ones(extents, self.src.dtype)
        self.place = tuple(slice(a, None) for a in at)
        self.arguments |= {"out": self.out, "at": at}
        self.plan = mli.Plan(self.src, **self.arguments)
        self.call_often = self._write_loop()

    def _write_loop(self):
        """Returns a function that repeats the call as people write it, without a dictionary."""
        keywords = "".join(f", {name}={name}" for name in self.arguments)
        names = ", ".join(["move", "src", *self.arguments])
        scope = {}
        exec(f"def bind({names}):\n"
             f"    def call_often(runs):\n"
             f"        for _ in runs:\n"
             f"            move(src{keywords})\n"
             f"    return call_often\n", scope)
        return scope["bind"](mli.move, self.src, **self.arguments)

    def _fit(self, shape, elem, size):
        """Returns the shape for which the result has about `size` bytes."""
        def bytes_of(n):
            tried = tuple(n if extent == FREE else extent for extent in shape)
            virtual = np.broadcast_to(np.zeros((), f"u{elem}"), tried)
            return mli.check(virtual, **self.arguments).bytes
        free = max(1, round(100 * size / bytes_of(100)))
        return tuple(free if extent == FREE else extent for extent in shape)

    def by_c(self, runs):
        return self.plan._time(runs) / runs

    def by_call(self, runs):
        start = time.perf_counter_ns()
        self.call_often(range(runs))
        return (time.perf_counter_ns() - start) / runs

    def by_numpy(self, runs):
        out = self.out[self.place]
        start = time.perf_counter_ns()
        for _ in range(runs):
            self._write_numpy_expression(out)
        return (time.perf_counter_ns() - start) / runs

    def _write_numpy_expression(self, out):
        given = self.arguments
        result = self.src
        if "pad" in given:
            result = np.pad(result, given["pad"])
        if "slice" in given:
            result = result[given["slice"]]
        if "step" in given:
            result = result[tuple(slice(None, None, by) for by in given["step"])]
        if "perm" in given:
            result = result.transpose(given["perm"])
        out[...] = result

    def by_views(self, runs):
        steps = self._numpy_steps()
        start = time.perf_counter_ns()
        for _ in range(runs):
            for step, *args in steps:
                step(*args)
        return (time.perf_counter_ns() - start) / runs

    def _numpy_steps(self):
        """Returns the steps of the move with views of NumPy, each as (function, arguments...)."""
        given = self.arguments
        out = self.out[self.place]
        perm = given.get("perm", tuple(range(self.src.ndim)))
        target = out.transpose(np.argsort(perm))
        index = given.get("slice", ())
        index = tuple(index) + (slice(None),) * (self.src.ndim - len(index))
        pad = given.get("pad", ((0, 0),) * self.src.ndim)
        step = given.get("step", (1,) * self.src.ndim)
        sources, targets = [], []
        for d, extent in enumerate(self.src.shape):
            start, stop, by = index[d].indices(extent + sum(pad[d]))
            padded = range(start, stop, by)[::step[d]]
            inside = [k for k, at in enumerate(padded) if 0 <= at - pad[d][0] < extent]
            first = padded[inside[0]] - pad[d][0]
            sources.append(slice(first, first + (len(inside) - 1) * padded.step + 1, padded.step))
            targets.append(slice(inside[0], inside[-1] + 1))
        steps = [(out.fill, 0)] if "pad" in given else []
        return [*steps, (np.copyto, target[tuple(targets)], self.src[tuple(sources)])]

    def check(self):
        """Compares both results of NumPy with the result of mli.move()."""
        mli.move(self.src, **self.arguments)
        expected = self.out.copy()
        for way in (self.by_numpy, self.by_views):
            self.out[self.place] = 1
            way(1)
            if not np.array_equal(expected, self.out):
                raise SystemExit("bench: NumPy and mli.move() have different results")


def race(case, elem, size, rounds):
    """Returns (least nanoseconds of the C call, of the Python call, of NumPy's expression and of its
    views, median of Python call / C call)."""
    case = Race(case[1], case[2], elem, size)
    case.check()
    ways = (case.by_c, case.by_call, case.by_numpy, case.by_views)
    runs = [max(1, int(2e6 / way(1))) for way in ways]
    least, ratios = [math.inf] * len(ways), []
    for turn in range(4 * rounds):
        times = [way(runs[i]) for i, way in enumerate(ways if turn % 4 == 0 else ways[:2])]
        ratios.append(times[1] / times[0])
        for i, taken in enumerate(times):
            least[i] = min(least[i], taken)
    return *least, statistics.median(ratios)


def small_calls(rounds):
    """Returns nanoseconds of calls on 8x8x8 bytes."""
    src = np.arange(512, dtype=np.int16).astype(np.int8).reshape(8, 8, 8)
    out = np.empty_like(src)
    plan = mli.Plan(src, perm=(2, 0, 1), out=out)
    calls = {
        "mli.move(src)": lambda: mli.move(src),
        "mli.move(src, perm=...)": lambda: mli.move(src, perm=(2, 0, 1)),
        "mli.move(src, perm=..., out=out)": lambda: mli.move(src, perm=(2, 0, 1), out=out),
        "plan.run()": plan.run,
        "(plan in C)": None,
        "(src.transpose(...).copy() of NumPy)": lambda: src.transpose(2, 0, 1).copy(),
    }
    count = 20_000
    return {name: min(timeit.repeat(call, number=count, repeat=rounds)) / count * 1e9 if call
            else min(plan._time(count) for _ in range(rounds)) / count
            for name, call in calls.items()}


def faster(cells, way):
    """Returns the geometric mean of way / call."""
    return math.exp(sum(math.log(cell[way] / cell["call_ns"]) for cell in cells) / len(cells))


def print_means(cells):
    print("\ngeometric mean: NumPy / call, views / call")
    for elem in (1, 2, 4):
        of = [cell for cell in cells if cell["elem"] == elem]
        print(f"  elements of {elem} B {faster(of, 'numpy_ns'):6.2f} {faster(of, 'views_ns'):6.2f}")
    print(f"  all              {faster(cells, 'numpy_ns'):6.2f} {faster(cells, 'views_ns'):6.2f}")


def print_goals(goals):
    for name, value, limit, holds in goals:
        print(f"  {'ok  ' if holds else 'MISS'} {name:58} {value:8.3f}, goal {limit}")
    return all(holds for *_, holds in goals)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    options = parser.parse_args()
    rounds = 3 if options.quick else 9
    print(f"mli {mli.__version__}, NumPy {np.__version__}, Python {sys.version.split()[0]}\n")
    small = small_calls(rounds)
    print("8x8x8 elements of 1 byte")
    for name, ns in small.items():
        print(f"  {name:44} {ns:6.0f} ns")
    cells = []
    for label, size in SIZES.items():
        print(f"\nresults of {label}: call / C, NumPy / call, views / call")
        print(f"{'':32}{'1 byte':>20}{'2 bytes':>20}{'4 bytes':>20}")
        for case in CASES:
            row = []
            for elem in (1, 2, 4):
                c, call, numpy, views, ratio = race(case, elem, size, rounds)
                row.append(f"{ratio:5.2f} {numpy / call:6.1f} {views / call:6.1f}")
                cells.append({"case": case[0], "size": size, "elem": elem, "c_ns": c,
                              "call_ns": call, "call_by_c": ratio, "numpy_ns": numpy,
                              "views_ns": views})
            print(f"{case[0]:32}" + "".join(f"{text:>20}" for text in row))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"small_ns": small, "cells": cells}, file, indent=1)
    worst = max(cell["call_by_c"] for cell in cells)
    mean = faster(cells, "numpy_ns")
    calls = max(ns for name, ns in small.items() if name.startswith("mli.move")) / 1000
    run = small["plan.run()"] / 1000
    print_means(cells)
    print("\nthe verdict")
    return 0 if print_goals([
        ("worst call beside the C call, from 64 KiB on", worst, "<= 1.15", worst <= 1.15),
        ("geometric mean, faster than NumPy's expression", mean, ">= 4", mean >= 4),
        ("call on 8x8x8, microseconds", calls, "<= 1.5", calls <= 1.5),
        ("run of a plan on 8x8x8, microseconds", run, "<= 0.6", run <= 0.6),
    ]) else 1


if __name__ == "__main__":
    sys.exit(main())
