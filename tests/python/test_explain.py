# SPDX-License-Identifier: BSD-3-Clause
"""Tests mli.explain(): the tensors that it explains do what mli.move() does; also tests its outputs."""
import ctypes
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import numpy as np

import mli
import mli._explain
import suite
from mli import _fold, _programs
from random_moves import RandomMove

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
CASES = 400


def memory_of(array):
    """Returns the number of bytes from the first element of an array to the end of the last one."""
    reach = sum((n - 1) * step for n, step in zip(array.shape, array.strides)) + array.itemsize
    return ctypes.string_at(array.ctypes.data, reach)


def fold_or_none(move, out, at):
    try:
        return _fold.fold_move(move.src, move.arguments, out, at)
    except mli.Error:
        return None  # more than one move of libmli


@suite.needs_service
class Folded(unittest.TestCase):
    """Runs mlictl jobs with the folded tensors that mli.explain() shows. They write the same bytes
    as mli.move()."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write_case(self, number, placed):
        """Returns (job, expected bytes of its output), or None."""
        move = RandomMove([SEED, placed, number], rank_max=6)
        move.arguments = {**dict.fromkeys(("pad", "slice", "step", "perm")), **move.arguments}
        out, at = move.destination() if placed else (None, None)
        fold = fold_or_none(move, out, at)
        if not fold:
            return None
        job = mli._explain._Job(fold, mli._explain._TYPES[fold.unit], out is None, 1)
        members = {**job.members, "name": str(number)}
        for side, name in (("src", "src"), ("dst", "out")):
            members[side]["file"] = f"{number}.{name}"
        src = memory_of(move.src)
        self.assertEqual(len(src), job.sizes["src"], str(move))
        Path(self.folder, f"{number}.src").write_bytes(src)
        if placed:
            before = memory_of(out)
            self.assertEqual(len(before), job.sizes["out"], str(move))
            Path(self.folder, f"{number}.out").write_bytes(before)
            mli.move(move.src, out=out, at=at, **move.arguments)
            return members, memory_of(out)
        return members, np.ascontiguousarray(move.expected).tobytes()

    def check_cases(self, placed):
        cases = {}
        for number in range(CASES):
            case = self.write_case(number, placed)
            if case:
                cases[number] = case
        jobs = [members for members, _ in cases.values()]
        Path(self.folder, "jobs.json").write_text(json.dumps(jobs))
        done = subprocess.run([_programs.find("mlictl"), "run", "-q", "jobs.json"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(len(cases), CASES // 3)
        for number, (members, expected) in cases.items():
            result = Path(self.folder, f"{number}.out").read_bytes()
            self.assertEqual(result, expected, f"MLI_TEST_SEED={SEED}, case {number}: {members}")

    def test_new_results(self):
        self.check_cases(False)

    def test_placed_results(self):
        self.check_cases(True)


@suite.needs_service
class Outputs(unittest.TestCase):
    def setUp(self):
        self.src = np.arange(60, dtype=np.int16).reshape(3, 4, 5)

    def test_text(self):
        text = str(mli.explain(self.src, pad=1, perm=(2, 1, 0)))
        self.assertTrue(text.startswith("move: mov src -> out, fx16\n"), text)
        self.assertIn("output     (7, 6, 5)", text)
        self.assertIn("──▶", text)

    def test_json(self):
        explanation = mli.explain(self.src, slice=np.s_[:, 1:3], step=(1, 1, 2), channels=2)
        self.assertEqual(explanation.json["steps"]["sampled"], [3, 2, 3])
        self.assertEqual(explanation.json["src"]["strides"], [20, 5, 1])
        self.assertIsNone(explanation.cost)
        self.assertEqual(repr(explanation), "<mli.Explanation of a move (3, 4, 5) -> (3, 2, 3)>")
        self.assertEqual(explanation.notes, ())

    def test_drawing(self):
        explanation = mli.explain(self.src, view="HWC")
        root = xml.etree.ElementTree.fromstring(explanation._repr_svg_())
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertNotEqual(explanation.svg, mli.explain(self.src, view="CHW").svg)

    def test_profile(self):
        explanation = mli.explain(self.src, profile="vpx5-nsim")
        self.assertGreater(explanation.cost["ns"], 0)
        self.assertGreater(explanation.cost["cycles"], 0)
        figures = {**explanation.cost, **explanation.cost["parts"]}
        self.assertEqual({name for name, value in figures.items() if isinstance(value, str)} - {"class"},
                         {"dominant", "limit"})
        self.assertEqual(str(explanation.cost["cycles"]), explanation.json["board"]["cost"]["cycles"])
        self.assertEqual(mli._explain._number_of("2.5"), 2.5)
        self.assertEqual(explanation.json["timeline"]["jobs"], 1)
        self.assertIn("on vpx5-nsim", str(explanation))
        self.assertTrue(explanation.svg.startswith("<?xml"))

    def test_profile_of_a_file(self):
        mlictl = _programs.find("mlictl")
        profile = subprocess.run([mlictl, "profile", "show", "--json", "host"], check=True,
                                 capture_output=True, text=True).stdout
        with tempfile.TemporaryDirectory() as folder:
            path = Path(os.path.relpath(folder), "mine.json")
            path.write_text(profile)
            self.assertGreater(mli.explain(self.src, profile=path).cost["ns"], 0)

    def test_placed(self):
        self.assertEqual(str(mli.explain(self.src[0], out=np.zeros((9, 9), np.int16), at=2)),
                         str(mli.explain(self.src[0], out=np.zeros((9, 9), np.int16), at=(2, 2))))
        explanation = mli.explain(self.src[0], out=np.zeros((9, 9), np.int16), at=np.array([1, 2]))
        self.assertEqual(explanation.json["dst"]["shape"], [9, 9])
        self.assertEqual(explanation.json["dst"]["first"], [1, 2])
        line = mli.explain(self.src[0, 0], out=np.zeros(9, np.int16), at=np.int64(4))
        self.assertEqual(line.json["dst"]["first"], [4])

    def test_types(self):
        for dtype, name in (("i1", "fx8"), ("?", "fx8"), ("f2", "fp16"), ("u2", "fx16"),
                            ("f4", "fp32"), ("i4", "sa32"), ("f8", "sa32"), ("V3", "fx8")):
            self.assertEqual(mli.explain(np.zeros(4, dtype)).json["type"], name)

    def test_other_arrays(self):
        self.assertEqual(mli.explain(bytearray(10)).json["src"]["shape"], [10])
        self.assertEqual(mli.explain(np.zeros(())).json["src"]["shape"], [2])

    def test_notes(self):
        explanation = mli.explain(np.zeros((2, 1, 3, 4, 5)), slice=np.s_[1])
        self.assertEqual(len(explanation.notes), 4, explanation.notes)
        self.assertTrue(str(explanation).startswith("note: "))
        self.assertIn("dimensions 3 and 4 are one dimension",
                      mli.explain(np.zeros((2, 4, 3, 4, 5), "i1"), pad=[(1, 1)] * 3 + [(0, 0)] * 2)
                      .notes)


@suite.needs_service
class Refused(unittest.TestCase):
    def check_refused(self, words, *args, **kwargs):
        with self.assertRaises(mli.Error) as caught:
            mli.explain(*args, **kwargs)
        self.assertIn(words, str(caught.exception))
        return caught.exception

    def test_as_move(self):
        self.check_refused("each dimension is allowed once", np.zeros((2, 2)), perm=(0, 0))
        self.check_refused("the shape (2, 2) is required", np.zeros((2, 2)), out=np.zeros(4))
        self.check_refused("only with `out`", np.zeros((2, 2)), at=(0, 0))
        both = np.zeros(9, np.int8)
        self.assertEqual(
            self.check_refused("overlap", both[:5], out=both[4:]).status, "INCOMPATEBLE_TENSORS")

    def test_what_is_not_one_move(self):
        self.check_refused("at most 255 zeros", np.zeros(4, np.int8), pad=300)
        self.check_refused("has no elements", np.zeros((3, 0)))
        self.check_refused("stride 0", np.broadcast_to(np.int8(1), (3, 4)))
        self.check_refused("after folding", np.zeros((2,) * 6).transpose(5, 4, 3, 2, 1, 0))

    def test_by_mlictl(self):
        error = self.check_refused("1 to 16", np.zeros(4, np.int8), channels=99)
        self.assertEqual((error.field, error.given), ("channels", 99))
        self.check_refused("known profiles", np.zeros(4, np.int8), profile="none")
        self.check_refused("--view", np.zeros(4, np.int8), view="none")
        self.assertRaises(TypeError, mli.explain, np.zeros(4, np.int8), channels="2")


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    suite.main()
