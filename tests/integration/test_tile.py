#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl tile: tiled moves are equal to moves without tiles, and a convolution that is computed tile by tile is
equal to one that is computed as a whole."""
import ast
import hashlib
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import time
import xml.dom.minidom

from harness import SOURCE, Case, main, npy, sampled, scaled, wait_for

SEED = 12


def parse_npy(content):
    """Returns shape and bytes of a .npy file of 1-byte elements."""
    size = int.from_bytes(content[8:10], "little")
    header = ast.literal_eval(content[10:10 + size].decode())
    return header["shape"], content[10 + size:]


class Grid:
    """A tensor of signed bytes with three dimensions."""

    def __init__(self, shape, data):
        self.shape, self.data = shape, data

    def at(self, row, column, channel):
        value = self.data[(row * self.shape[1] + column) * self.shape[2] + channel]
        return value - 256 if value > 127 else value


def convolve(grid, weights, kernel, stride, dilation, channels):
    """Returns the shape and the bytes of a convolution without padding, modulo 256. The weights have the dimensions
    (ky, kx, cin, cout)."""
    rows = (grid.shape[0] - (kernel[0] - 1) * dilation[0] - 1) // stride[0] + 1
    columns = (grid.shape[1] - (kernel[1] - 1) * dilation[1] - 1) // stride[1] + 1
    out = bytearray()
    for row, column, n in itertools.product(range(rows), range(columns), channels):
        out.append(sum(grid.at(row * stride[0] + y * dilation[0], column * stride[1] + x * dilation[1], c) *
                       weights[y, x, c, n]
                       for y in range(kernel[0]) for x in range(kernel[1]) for c in range(grid.shape[2])) % 256)
    return (rows, columns, len(channels)), bytes(out)


class Tile(Case):
    def plan(self, *arguments, code=0):
        return self.ctl("tile", "--json", *arguments, code=code).json[0]

    def random_file(self, rng, shape, name="in.npy"):
        size = 1
        for extent in shape:
            size *= extent
        self.write(name, npy("|i1", shape, rng.randbytes(size)))

    def move_options(self, rng, shape):
        rank, options = len(shape), []
        pads = [rng.randrange(3) for _ in shape] if rng.random() < 0.5 else [0] * rank
        if any(pads):
            options += ["--pad", ",".join(map(str, pads))]
        if rng.random() < 0.6:
            slices = []
            for extent, pad in zip(shape, pads):
                begin = rng.randrange(extent)
                end = rng.randrange(begin + 1, extent + 2 * pad + 1)
                slices.append(f"{begin}:{end}:{rng.randrange(1, 3)}")
            options += ["--slice", ",".join(slices)]
        if rng.random() < 0.6:
            options += ["--perm", ",".join(map(str, rng.sample(range(rank), rank)))]
        return options

    def test_random_moves(self):
        rng = random.Random(SEED)
        tiles = 0
        for n in range(max(8, scaled(25))):
            shape = tuple(rng.randrange(1, 14) for _ in range(rng.randrange(1, 5)))
            self.random_file(rng, shape)
            options = self.move_options(rng, shape)
            plan = self.plan("in.npy", "out.npy", *options, "--budget", rng.randrange(40, 1000), "--buffers",
                             rng.randrange(1, 4), "-o", "tiles.json", "-f")
            tiles += plan["steps"]
            self.assertEqual(plan["traffic"]["bytes"], plan["traffic"]["least"])
            self.assertNotIn("race", self.ctl("validate", "tiles.json", code=0).err)
            self.ctl("run", "tiles.json", code=0)
            self.ctl("mov", "-f", "in.npy", "want.npy", *options, code=0)
            with self.subTest(seed=SEED, case=n, shape=shape, options=options):
                self.assertEqual(self.read("out.npy"), self.read("want.npy"))
        self.assertGreater(tiles, 30)

    def test_a_move_on_a_board(self):
        """The buffers are at their addresses in VCCM, in this process and in mlid."""
        self.random_file(random.Random(SEED), (64, 40, 24))  # 61 440 bytes through 16 KiB
        plan = self.plan("in.npy", "out.npy", "--perm", "2,0,1", "--profile", "vpx5-nsim", "--budget", "16KiB", "-o",
                         "tiles.json")
        self.ctl("mov", "in.npy", "want.npy", "--perm", "2,0,1", code=0)
        buffers = json.loads(self.read("tiles.json"))["buffers"]
        address = [b["address"] for b in buffers if "address" in b]
        self.assertEqual(address, [b["address"] for b in plan["buffers"]])
        self.assertEqual(address[0], "0x90000000")
        self.assertEqual([b["memory"] for b in buffers[:-1]], ["vccm"] * (len(buffers) - 1))
        self.ctl("run", "--profile", "vpx5-nsim", "tiles.json", code=0)
        self.assertEqual(self.read("out.npy"), self.read("want.npy"))
        board = self.root / "board"
        board.mkdir()
        daemon = self.start_daemon(board, "--profile", "vpx5-nsim")
        self.ctl("submit", "--socket", daemon.socket, "tiles.json", code=0)
        self.assertEqual(self.read("out.npy"), self.read("want.npy"))
        # Only `after` orders detached jobs.
        (self.dir / "out.npy").unlink()
        self.ctl("submit", "--socket", daemon.socket, "--detach", "tiles.json", code=0)
        self.assertTrue(wait_for(lambda: self.exists("out.npy") and self.read("out.npy") == self.read("want.npy")))
        self.assertEqual(daemon.stop(), 0)

    def test_elementwise(self):
        rng = random.Random(SEED)
        self.random_file(rng, (9, 8, 7))
        self.random_file(rng, (9, 8, 7), "second.npy")
        plan = self.plan("in.npy", "out.npy", "--elementwise", "--with", "second.npy", "--budget", "600", "-o",
                         "tiles.json")
        self.assertEqual(plan["traffic"]["bytes"], 3 * 9 * 8 * 7)
        jobs = [job["name"] for job in json.loads(self.read("tiles.json"))["jobs"]]
        self.assertIn("second1", jobs)
        self.ctl("run", "tiles.json", code=0)
        self.assertEqual(parse_npy(self.read("out.npy")), parse_npy(self.read("in.npy")))
        # Computes the sum of both tensors for each tile, and assembles the tiles.
        plan = self.plan("in.npy", "sum.npy", "--elementwise", "--with", "second.npy", "--budget", "600", "-o",
                         "tiles.json", "--tiles", "tiles", "--stitch", "stitch.json", "-f")
        self.ctl("run", "tiles.json", code=0)
        for tile in plan["tiles"]:
            shape, first = parse_npy(self.read(f"tiles/in_{tile['in']['number']}.npy"))
            second = parse_npy(self.read(f"tiles/second_{tile['second']['number']}.npy"))[1]
            self.write(f"tiles/out_{tile['out']['number']}.npy",
                       npy("|i1", shape, bytes(sum(pair) % 256 for pair in zip(first, second))))
        self.ctl("run", "stitch.json", code=0)
        both = (parse_npy(self.read(name))[1] for name in ("in.npy", "second.npy"))
        self.assertEqual(parse_npy(self.read("sum.npy"))[1], bytes(sum(pair) % 256 for pair in zip(*both)))

    def test_a_batch_compares_the_result(self):
        self.random_file(random.Random(SEED), (9, 8, 7))
        self.ctl("mov", "in.npy", "golden.npy", "--perm", "2,0,1", code=0)
        (self.dir / "cases").mkdir()
        for golden, code in (("golden.npy", 0), ("in.npy", 1)):
            self.plan("in.npy", "out.npy", "--perm", "2,0,1", "--budget", "300", "--expect", golden, "-o",
                      "cases/tiles.json", "-f")
            self.ctl("batch", "cases", code=code)
        self.plan("in.npy", "out.npy", "--perm", "2,0,1", "--budget", "300", "--expect",
                  "sha256:" + hashlib.sha256(self.read("golden.npy")).hexdigest(), "-o", "cases/tiles.json", "-f")
        self.ctl("batch", "cases", "--profile", "vpx5-nsim", code=0)
        self.assertFalse(self.exists("out.npy"))

    def check_convolution(self, rng, shape, kernel, stride, dilation, pad, channels, budget, *more):
        self.random_file(rng, shape)
        weights = {key: rng.randrange(-128, 128)
                   for key in itertools.product(*map(range, (*kernel, shape[2], channels)))}
        pair = "{0[0]}x{0[1]}".format
        plan = self.plan("in.npy", "out.npy", "--window", pair(kernel), "--stride", pair(stride), "--dilate",
                         pair(dilation), "--pad", ",".join(map(str, pad)), "--out-channels", channels, "--budget",
                         budget, "-o", "tiles.json", "--tiles", "tiles", "--stitch", "stitch.json", "-f", *more)
        self.assertNotIn("race", self.ctl("validate", "tiles.json", code=0).err)
        self.ctl("run", "tiles.json", code=0)
        sums = {}
        for tile in plan["tiles"]:
            tile_shape, data = parse_npy(self.read(f"tiles/in_{tile['in']['number']}.npy"))
            self.assertEqual(list(tile_shape), tile["in"]["shape"])
            first, count = tile["out"]["at"][2], tile["out"]["shape"][2]
            part = {(y, x, c - tile["in"]["at"][2], n): weight for (y, x, c, n), weight in weights.items()}
            out_shape, out = convolve(Grid(tile_shape, data), part, kernel, stride, dilation,
                                      range(first, first + count))
            self.assertEqual(list(out_shape), tile["out"]["shape"])
            number = tile["out"]["number"]
            sums[number] = bytes(sum(pair) % 256 for pair in zip(out, sums.get(number, bytes(len(out)))))
            self.write(f"tiles/out_{number}.npy", npy("|i1", out_shape, sums[number]))
        self.assertNotIn("race", self.ctl("validate", "stitch.json", code=0).err)
        self.ctl("run", "-f" if "-f" in more else "-q", "stitch.json", code=0)
        top, bottom, left, right = pad
        padded = ",".join((f"{top}:{bottom}", f"{left}:{right}", "0"))
        self.ctl("mov", "-f", "in.npy", "padded.npy", "--pad", padded, code=0)
        want = convolve(Grid(*parse_npy(self.read("padded.npy"))), weights, kernel, stride, dilation, range(channels))
        self.assertEqual(parse_npy(self.read("out.npy")), want)
        return plan

    def test_convolutions(self):
        rng = random.Random(SEED)
        plan = self.check_convolution(rng, (12, 11, 3), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 4, 600)
        self.assertGreater(plan["steps"], 3)
        self.check_convolution(rng, (13, 9, 2), (3, 2), (2, 1), (1, 2), (0, 2, 1, 0), 3, 250)
        self.check_convolution(rng, (7, 7, 2), (1, 1), (3, 3), (1, 1), (0, 0, 0, 0), 5, 60, "--buffers", "1", "--no-hold")
        plan = self.check_convolution(rng, (6, 6, 24), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 2, 300, "--accumulator", "2")
        self.assertGreater(len(plan["tiles"]), 1 + max(tile["out"]["number"] for tile in plan["tiles"]))

    def test_weights_are_loaded(self):
        rng = random.Random(SEED)
        self.random_file(rng, (12, 12, 8))
        self.random_file(rng, (3, 3, 8, 6), "w.npy")
        self.plan("in.npy", "--window", "3", "--out-channels", "6", "--weights", "w.npy", "--budget", "1000", "-o",
                  "tiles.json")
        jobs = json.loads(self.read("tiles.json"))["jobs"]
        self.assertTrue(any(job["src"].get("file") == "w.npy" for job in jobs))
        self.ctl("run", "tiles.json", code=0)
        # With --tiles, the job file also saves the tiles of the weights.
        self.plan("in.npy", "--window", "3", "--out-channels", "6", "--weights", "w.npy", "--budget", "1000", "-o",
                  "tiles.json", "--tiles", "tiles", "-f")
        self.ctl("run", "tiles.json", code=0)
        for name in ("in_0.npy", "weights_0.npy"):
            self.assertTrue(self.exists(f"tiles/{name}"), name)

    def test_double_buffering_overlaps(self):
        """With two buffers, loads overlap kernels, so the same tiles take less time than with one buffer."""
        layer = ("--shape", "56x56x64", "--window", "3x3", "--pad", "same", "--profile", "vpx5-nsim", "--compute", "1")
        one, two = (self.plan(*layer, "--buffers", n, "--trace", f"{n}.json", "-f")["time"] for n in (1, 2))
        self.assertLess(two["ns"], one["ns"])
        self.assertLess(two["ns"], two["loads_ns"] + two["stores_ns"] + two["kernels_ns"])
        self.assertGreaterEqual(two["ns"], max(two["kernels_ns"], two["loads_ns"] + two["stores_ns"]))

        def spans(name, prefix):
            events = [e for e in json.loads(self.read(name)) if e.get("ph") == "X"]
            return [(e["ts"], e["ts"] + e["dur"]) for e in events if e["name"].startswith(prefix)]

        def overlapping(name):
            return sum(a[0] + 0.01 < b[1] and b[0] + 0.01 < a[1] for a in spans(name, "load") for b in spans(name, "kernel"))
        self.assertEqual(overlapping("1.json"), 0)
        self.assertGreater(overlapping("2.json"), 1)

    def test_the_kernels_add_up(self):
        """With three input channels and 0.5 cycles for each result, no time of the kernels is lost when it is divided
        among the tiles."""
        plan = json.loads(self.ctl("tile", "--shape", "64x64x3", "--type", "sa8", "--window", "7x7", "--stride",
                                   "2", "--pad", "same", "--out-channels", "64", "--profile", "vpx5-nsim",
                                   "--compute", "0.5", "--json", code=0).out)
        self.assertNotIn(".", plan["time"]["cycles"])

    def test_the_time_is_that_of_explain(self):
        """Without kernels, the schedule of the plan is equal to that of the job file, which is computed separately."""
        rng = random.Random(SEED)
        self.random_file(rng, (60, 50, 16))
        for kernel, channels in ((3, 16), (1, 90)):
            self.random_file(rng, (kernel, kernel, 16, channels), "w.npy")
            plan = self.plan("in.npy", "--window", kernel, "--out-channels", channels, "--weights", "w.npy", "--profile",
                             "vpx5-nsim", "--budget", "24KiB", "-o", "jobs.json", "-f")
            self.assertGreater(plan["steps"], 4)
            explained = self.ctl("explain", "--json", "--no-memcpy", "--profile", "vpx5-nsim", "jobs.json",
                                 code=0).json[-1]["timeline"]
            self.assertEqual(explained["jobs"], sum(part["transfers"] for part in plan["traffic"].values()
                                                    if isinstance(part, dict)))
            self.assertAlmostEqual(explained["ns"] / plan["time"]["ns"], 1, delta=0.02)

    def test_the_shortest_time(self):
        """On a board the predicted time decides: it counts short rows, descriptors, kernel calls, and waits for busy
        buffers."""
        vpx, zdma = ("--profile", "vpx5-nsim"), ("--profile", "zynqmp-zdma", "--memory", "ocm")
        wide = ("--shape", "224x224x32", "--window", "1x1", "--out-channels", "256")
        half = ("--stride", "2", "--pad", "same", "--budget", "64KiB")
        layers = {
            ("--shape", "56x56x64", "--window", "1x1", "--stride", "2", "--out-channels", "128", *vpx): 31,
            ("--shape", "224x224x32", "--window", "1x1", "--stride", "2", "--out-channels", "64", *vpx): 230,
            ("--shape", "112x112x64", "--window", "3x3", "--depthwise", *half, *vpx): 150,
            ("--shape", "112x112x64", "--window", "3x3", "--pool", *half, *vpx): 150,
        }
        for layer, most_us in sampled(layers.items()):
            plan = self.plan(*layer)
            self.assertLess(plan["time"]["ns"] / 1000, most_us, layer)
            least = self.plan(*layer, "--least", "traffic", "--slack", "0")
            self.assertEqual(least["traffic"]["bytes"], plan["traffic"]["best"])
            self.assertEqual((least["traffic"]["bytes"], least["steps"]),
                             (plan["least_traffic"]["bytes"], plan["least_traffic"]["steps"]))
            self.assertGreater(least["time"]["ns"], plan["time"]["ns"])
            self.assertLessEqual(least["least_time"]["ns"], plan["time"]["ns"])
            text = self.ctl("tile", *layer, code=0).out
            self.assertRegex(text, rf"(?m)^least traffic: {least['steps']} tiles, .*, {least['traffic']['bytes']} B \(")
        boards = (zdma, vpx, ("--profile", "zynq7000-pl330", "--memory", "ocm"),
                  ("--profile", "hexagon-v68", "--memory", "vtcm"), ("--profile", "xdna-aie2", "--memory", "memtile"))
        for board in sampled(boards):
            free = self.plan(*wide, *board, "--call", "0")
            self.assertEqual(free["time"]["kernels_ns"], 0)
            for compute in ("0.1", "1"):
                plan = self.plan(*wide, *board, "--compute", compute)["time"]
                self.assertLess(plan["ns"], 1.05 * (free["time"]["ns"] + plan["kernels_ns"]), board)
        # A memory may begin at address 0.
        self.plan("--shape", "56x56x64", "--window", "3x3", "--profile", "host", "--memory", "ddr", "--budget", "100KiB")
        # Each call of a kernel takes a fixed time, so a plan with many small tiles is slow.
        calls = self.plan(*wide, *vpx, "--compute", "1", "--call", "1000")
        self.assertLess(calls["steps"], 200)
        self.assertEqual(calls["time"]["kernels_ns"], 224 * 224 * 256 + 1000 * calls["steps"])

    def test_pictures(self):
        self.ctl("tile", "--shape", "40x30x8", "--window", "3x3", "--pad", "same", "--profile", "vpx5-nsim", "--budget",
                 "8KiB", "--compute", "0.5", "--svg", "tiles.svg", "--timeline", "time.svg", code=0)
        for name, words in (("tiles.svg", ("rows: 40 in", "columns: 30 in", "input channels: 8 in")),
                            ("time.svg", ("model of vpx5-nsim", "core", "vccm"))):
            text = self.read(name).decode()
            xml.dom.minidom.parseString(text)
            for word in words:
                self.assertIn(word, text)
        self.assertIn(">3x3 window, padding 1,1,1,1: (40, 30, 8) -&gt; (40, 30, 8) sa8</text>", text)
        self.assertNotIn("vector memory", text)
        self.ctl("tile", "--shape", "224x224x32", "--perm", "HWC:CHW", "--profile", "vpx5-nsim", "--svg", "move.svg",
                 "--timeline", "move-time.svg", code=0)
        self.assertIn(">0 ms</text>", self.read("move-time.svg").decode())  # 21 ms
        text = self.read("move.svg").decode()
        self.assertIn(">move (224, 224, 32) -&gt; (32, 224, 224) sa8</text>", text)
        self.assertIn("black: the result; blue: its tiles", text)
        for number in range(16):
            self.assertIn(f">{number}</text>", text)
        self.ctl("tile", "--shape", "14x14x512", "--window", "3x3", "--pad", "same", "--profile", "vpx5-nsim", "--budget",
                 "64KiB", "--svg", "window.svg", code=0)
        text = self.read("window.svg").decode()
        for words in ("black: the input", "yellow: zeros", "numbers: the first tile at each place"):
            self.assertIn(words, text)
        self.assertEqual(text.count('fill="#f2c14e"'), 4)

    def test_text_and_members_agree(self):
        layer = ("--shape", "224x224x32", "--window", "3x3", "--pad", "same", "--budget", "256KiB")
        text, plan = self.ctl("tile", *layer, code=0).out, self.plan(*layer)
        self.assertEqual(plan["layer"]["padding"], [1, 1, 1, 1])
        self.assertLessEqual(plan["traffic"]["bytes"], 1.05 * plan["traffic"]["best"])
        least = self.plan(*layer, "--slack", "0")["traffic"]
        self.assertEqual(least["bytes"], plan["traffic"]["best"])
        for number in (plan["steps"], plan["traffic"]["bytes"], plan["buffers"][0]["bytes"]):
            self.assertIn(str(number), text)
        self.assertIn("no buffer is overwritten while in use", text)
        self.assertTrue(plan["exhaustive"])

    def test_the_tour_of_the_docs(self):
        """Runs the commands of docs/tiles.md that need no NumPy, and compares their output."""
        text = (SOURCE / "docs/tiles.md").read_text()
        lines = [line[4:] for line in text.splitlines() if line.startswith("    ") or not line]
        commands = []
        for number, line in enumerate(lines):
            if line.startswith("$ "):
                command = line[2:].split("  #")[0]
                while command.endswith("\\"):
                    number += 1
                    command = command[:-1] + lines[number].strip()
                commands.append((command, lines[number + 1:]))
        self.assertGreater(len(commands), 12)
        ran = 0
        for command, after in commands:
            words = shlex.split(command)
            if words[0] == "cmp":
                self.assertEqual(self.read(words[1]), self.read(words[2]))
            if "|" in words:
                shown = [line for line in self.ctl(*words[1:words.index("|")], code=0).out.splitlines()
                         if re.search(words[-1], line)]
                self.assertEqual(after[:len(shown)], shown, command)
                continue
            if words[0] != "mlictl" or words[1] == "submit" or "stitch.json" in words[:3]:
                continue
            ran += 1
            redirected = ">" in words
            words = words[1:words.index(">")] if redirected else words[1:]
            result = self.ctl(*words)
            self.assertEqual(result.code, 2 if "1000" in words else 0, f"{command}: {result}")
            shown = (result.out + result.err).rstrip("\n").split("\n")
            if not redirected and shown != [""]:
                self.assertEqual(after[:len(shown)], shown, command)
        self.assertGreater(ran, 10)
        self.assertEqual(self.read("tiles.svg"), (SOURCE / "docs/tiles.svg").read_bytes())
        for words in ("28 tiles", "core", "vccm: at most 193 KiB of 256 KiB in use"):  # 2 inputs, weights, 1 output
            self.assertIn(words, self.read("tiles-timeline.svg").decode())
            self.assertIn(words, (SOURCE / "docs/tiles-timeline.svg").read_text())

    def test_the_smallest_budget_fits(self):
        layer = ("--shape", "56x56x64", "--window", "3x3", "--out-channels", "128")
        err = self.ctl("tile", *layer, "--budget", "1000", code=2).err
        smallest = err.split("at least ")[1].split()[0]
        self.assertLessEqual(self.plan(*layer, "--budget", smallest)["used"], int(smallest))
        self.ctl("tile", *layer, "--budget", int(smallest) - 1, code=2)

    def test_refused(self):
        self.random_file(random.Random(SEED), (6, 5, 4))
        self.random_file(random.Random(SEED), (6, 5, 3), "other.npy")
        shape = ("--shape", "6x5x4")
        for words, arguments in {
                "--budget or --profile is needed": (*shape,),
                "the tensor is missing": ("--budget", "100"),
                "--budget 10XB": (*shape, "--budget", "10XB"),
                "--stride requires --window": (*shape, "--stride", "2", "--budget", "100"),
                "--perm requires a move": (*shape, "--window", "3", "--perm", "2,0,1", "--budget", "100"),
                "needs a tensor of rank 3": ("--shape", "6x5", "--window", "3", "--budget", "100"),
                "the kernel covers 7 rows, but the padded input has 6": (*shape, "--window", "7", "--budget", "9KiB"),
                "--window 0x3": (*shape, "--window", "0x3", "--budget", "100"),
                "--pad 1,2: same, valid": (*shape, "--window", "3", "--pad", "1,2", "--budget", "100"),
                "--output requires a file": (*shape, "--budget", "100", "-o", "t.json"),
                "--output requires OUT": ("in.npy", "--budget", "100", "-o", "t.json"),
                "OUT requires --output": ("in.npy", "out.npy", "--budget", "100"),
                "OUT requires --stitch": ("in.npy", "out.npy", "--window", "3", "--budget", "9K", "-o", "t.json"),
                "--tiles requires --window": ("in.npy", "out.npy", "--tiles", "d", "--budget", "100", "-o", "t.json"),
                "--with: other.npy has the shape (6, 5, 3)": ("in.npy", "--elementwise", "--with", "other.npy",
                                                              "--budget", "100"),
                "--memory vram: profile vpx5-nsim has": (*shape, "--profile", "vpx5-nsim", "--memory", "vram"),
                "--memory is needed": (*shape, "--profile", "bcm2835"),
                "--budget: 1048576 B given, but vccm": (*shape, "--profile", "vpx5-nsim", "--budget", "1MiB"),
                "--timeline requires --profile": (*shape, "--budget", "100", "--timeline", "t.svg"),
                "--channels requires --profile": (*shape, "--budget", "100", "--channels", "2"),
                "--channels 2: the board of profile vpx5-nsim has 1 DMA channel\n": (*shape, "--profile", "vpx5-nsim",
                                                                                     "--channels", "2"),
                "--depthwise cannot be combined with --pool": (*shape, "--window", "3", "--depthwise", "--pool",
                                                               "--budget", "9K"),
                "--least time requires --profile": (*shape, "--budget", "100", "--least", "time"),
                "--least speed: time or traffic is needed": (*shape, "--budget", "100", "--least", "speed"),
                "--call x: cycles for each call of the kernel are needed": (*shape, "--budget", "100", "--call", "x"),
                "--compute x": (*shape, "--budget", "100", "--compute", "x"),
                "--accumulator: a dense --window": (*shape, "--window", "3", "--depthwise", "--accumulator", "4",
                                                    "--budget", "9K"),
                "in.npy is the same file as src.file": ("in.npy", "in.npy", "--budget", "100", "-o", "t.json"),
                "--output out.npy: this is also the file of OUT": ("in.npy", "out.npy", "--budget", "100", "-o",
                                                                   "out.npy"),
                "--stitch - cannot be combined with --output -": (*self.STITCHED, "-o", "-", "--stitch", "-"),
                "--svg - cannot be combined with --json": (*shape, "--budget", "100", "--svg", "-", "--json"),
        }.items():
            with self.subTest(arguments=arguments):
                result = self.ctl("tile", *arguments, code=2)
                self.assertIn(words, result.err)
                self.assertEqual(sorted(self.listing()), ["in.npy", "other.npy"])

    STITCHED = ("in.npy", "out.npy", "--window", "3", "--pad", "same", "--budget", "300", "--tiles", "d")

    def test_all_outputs_or_none(self):
        """If one output is refused, the other outputs and the directory of the tiles stay as they were."""
        self.random_file(random.Random(SEED), (6, 5, 4))
        self.write("tiles.json", b"old")
        self.write("old.json", b"old")
        before = self.listing()
        outputs = {"--output": "tiles.json", "--stitch": "stitch.json", "--svg": "t.svg"}
        for words, more in {
                "no/x.svg": ("--timeline", "no/x.svg"),
                "/dev/full": ("--timeline", "/dev/full"),
                "no/trace.json": ("--trace", "no/trace.json"),
                "--timeline ./in.npy: this is also the file of IN": ("--timeline", "./in.npy"),
                "old.json exists and is not a drawing": ("--timeline", "old.json"),
                "no/stitch.json": ("--stitch", "no/stitch.json"),
                "--svg tiles.json: this is also the file of --output": ("--svg", "tiles.json"),
                "--timeline ./t.svg: this is also the file of --svg": ("--timeline", "./t.svg"),
        }.items():
            with self.subTest(more=more):
                options = itertools.chain(*{**outputs, more[0]: more[1]}.items())
                self.assertIn(words, self.ctl("tile", *self.STITCHED, "-f", "--profile", "vpx5-nsim", *options,
                                              code=2).err)
                self.assertEqual(self.listing(), before)
                self.assertEqual(self.read("tiles.json"), b"old")
        self.ctl("tile", *self.STITCHED, "-f", *itertools.chain(*outputs.items()), code=0)
        self.assertEqual(set(self.listing()), {*before, "d", "stitch.json", "t.svg"})

    def test_files_of_tiles_are_taken(self):
        self.random_file(random.Random(SEED), (6, 5, 4))
        options = self.STITCHED[2:]
        for words, arguments in {
                "OUT d/out_0.npy": ("in.npy", "d/out_0.npy", "--stitch", "stitch.json"),
                "OUT ./d/../d/in_1.npy": ("in.npy", "./d/../d/in_1.npy", "--stitch", "stitch.json"),
                "--stitch d/in_1.npy": ("in.npy", "out.npy", "--stitch", "d/in_1.npy"),
                "--svg d/in_1.npy": ("in.npy", "out.npy", "--stitch", "stitch.json", "--svg", "d/in_1.npy"),
        }.items():
            with self.subTest(arguments=arguments):
                err = self.ctl("tile", *options, "-o", "tiles.json", *arguments, code=2).err
                self.assertIn(words + ": this is also the file of a tile in --tiles d", err)
                self.assertEqual(list(self.listing()), ["in.npy"])
        # The directory may contain files with other names.
        self.ctl("tile", "in.npy", "d/out_900.npy", *options, "-o", "d/tiles.json", "--stitch", "d/stitch.json", code=0)
        self.ctl("run", "d/tiles.json", code=0)
        self.assertTrue(self.exists("d/in_1.npy"))

    def test_standard_output(self):
        """If an output is "-", nothing else is printed on standard output, and no file gets the name "-"."""
        self.random_file(random.Random(SEED), (6, 5, 4))
        stitched = (*self.STITCHED, "--profile", "vpx5-nsim", "-f")
        for option in ("--output", "--stitch", "--svg", "--timeline", "--trace"):
            names = {"--output": "tiles.json", "--stitch": "stitch.json", option: "saved"}
            arguments = list(itertools.chain(*names.items()))
            self.ctl("tile", *stitched, *arguments, code=0)
            arguments[arguments.index("saved")] = "-"
            printed = self.ctl("tile", *stitched, *arguments, code=0).out
            self.assertEqual(printed, self.read("saved").decode(), option)
            (self.dir / "saved").unlink()
        self.assertFalse(self.exists("-"))

    def test_tensors_that_exceed_the_board(self):
        """Tensors that do not fit in the board's memory get a plan, which says that they do not fit."""
        boards = (("vpx5-nsim", "vccm"), ("hexagon-v68", "vtcm"))
        for board, memory in sampled(boards):
            for layer in (("256x256x200x128", "--perm", "3,1,0,2"), ("65535x32768", "--perm", "1,0"),
                          ("60000x60000", "--elementwise")):
                words = ("--shape", *layer, "--profile", board, "--memory", memory, "--budget", "250000")
                predicted = self.plan(*words)["time"]
                self.assertGreater(predicted["ns"], 0)
                text = self.ctl("tile", *words, code=0).out
                self.assertEqual("B for them: the plan assumes a larger" in text,
                                 predicted["tensors"]["bytes"] > predicted["tensors"]["room"])
                if board == "vpx5-nsim":
                    self.assertIn(f"the tensors need {predicted['tensors']['bytes']} B, but ddr has 1073741824 B", text)
        # A layer of the same kind that fits without tiling takes the same time for each byte.
        small, large = (self.plan("--shape", f"{rows}x32768", "--elementwise", "--profile", "vpx5-nsim")
                        for rows in (8192, 32768))
        self.assertLess(small["time"]["tensors"]["bytes"], small["time"]["tensors"]["room"])
        self.assertGreater(large["time"]["tensors"]["bytes"], large["time"]["tensors"]["room"])
        self.assertAlmostEqual(large["time"]["ns"] / small["time"]["ns"], 4, delta=0.1)

    def test_the_dtype_is_kept(self):
        """For inputs of any dtype, a tiled move gives the same file as an untiled move, and the
        files of the tiles have the same dtype."""
        rng = random.Random(SEED)
        for dtype, item in (("|u1", 1), ("|b1", 1), ("<u2", 2), ("<f4", 4)):
            shape = (7, 6, 5)
            self.write("in.npy", npy(dtype, shape, bytes(rng.randrange(2) for _ in range(7 * 6 * 5 * item))))
            self.ctl("mov", "-f", "in.npy", "want.npy", "--perm", "2,0,1", code=0)
            self.plan("in.npy", "out.npy", "--perm", "2,0,1", "--budget", "400", "-o", "tiles.json", "-f")
            self.ctl("run", "tiles.json", code=0)
            self.assertEqual(self.read("out.npy"), self.read("want.npy"), dtype)
            self.plan("in.npy", "--window", "3", "--budget", "1000", "--pool", "-o", "tiles.json", "--tiles", "d", "-f")
            self.ctl("run", "tiles.json", code=0)
            self.assertIn(f"'{dtype}'".encode(), self.read("d/in_0.npy"))
        src = {"file": "in.raw", "type": "sa8", "shape": [2], "dtype": "uint8"}
        self.write("in.raw", b"ab")
        for words, given, code in (("", {}, 0), ("src.dtype", {"dtype": "uint9"}, 2),
                                   ("src.type: sa8 has elements of 1 B", {"dtype": "uint16", "shape": [1]}, 2),
                                   ("remove it from the job", {"file": "want.npy", "shape": None}, 2)):
            job = {key: value for key, value in {**src, **given}.items() if value is not None}
            self.write("job.json", json.dumps({"op": "mov", "src": job, "dst": {"file": "raw.npy"}}).encode())
            self.assertIn(words, self.ctl("run", "job.json", code=code).err)
        self.assertIn(b"'|u1'", self.read("raw.npy"))

    def test_a_signal(self):
        """SIGINT ends the program with exit code 4, and leaves no file."""
        self.write("in.npy", npy("|i1", (3000, 3000), bytes(9_000_000)))
        words = [os.environ["MLICTL"], "tile", "in.npy", "out.npy", "--perm", "1,0", "--profile", "vpx5-nsim", "--budget",
                 "600", "-o", "tiles.json", "--svg", "t.svg", "-q"]
        for _ in range(20):  # the program may end before the signal comes
            before = self.listing()
            program = subprocess.Popen(words, cwd=self.dir, stderr=subprocess.PIPE, text=True)
            while program.poll() is None and not catches(program.pid, signal.SIGINT):
                time.sleep(0.001)
            program.send_signal(signal.SIGINT)
            err = program.communicate(timeout=60)[1]
            if program.returncode != 0:
                break
            for name in ("tiles.json", "t.svg"):
                (self.dir / name).unlink()
        self.assertEqual((program.returncode, err), (4, "mlictl: cancelled\n"))
        self.assertEqual(self.listing(), before)


def catches(pid, number):
    """Returns whether a process has a handler for a signal."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return any(line.startswith("SigCgt:") and int(line.split()[1], 16) >> (number - 1) & 1
               for line in status.splitlines())


if __name__ == "__main__":
    main()
