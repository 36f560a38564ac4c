# SPDX-License-Identifier: BSD-3-Clause
"""Tests the fixture mli_golden of the pytest plugin, and how pytest finds the plugin."""
import json
import os
import re
import stat
import sys

import numpy as np

import suite
from pytest_scene import PLUGIN, Scene


class Goldens(Scene):
    ONE = """
    def test_one(mli_golden):
        mli_golden(mli.move(image, pad=1), "one.npy")
    """

    def change(self, name, change):
        array = np.load(self.golden(name))
        changed = change(array)
        np.save(self.golden(name), array if changed is None else changed)

    def test_missing_then_written(self):
        self.write_test(self.ONE)
        output = self.fails()
        self.assertIn("golden/one.npy: missing", output)
        self.assertIn("pytest -p mli.pytest_plugin --mli-update test_it.py::test_one", output)
        self.assertFalse(self.golden("one.npy").exists())
        self.assertRegex(self.passes("--mli-update"), r"golden files written =+\s+golden/one.npy\n")
        golden = np.load(self.golden("one.npy"))
        np.testing.assert_array_equal(golden, np.pad(np.arange(24).reshape(2, 3, 4), 1))
        self.assertEqual(golden.dtype, np.int16)
        self.assertNotIn("golden files written", self.passes())
        self.assertEqual([path.name for path in self.golden("").iterdir()], ["one.npy"])

    def test_update_leaves_equal_files(self):
        self.write_test(self.ONE)
        self.passes("--mli-update")
        os.utime(self.golden("one.npy"), (1, 1))
        self.assertNotIn("golden files written", self.passes("--mli-update"))
        self.assertEqual(self.golden("one.npy").stat().st_mtime, 1)
        self.change("one.npy", lambda array: array + 1)
        self.assertIn("golden files written", self.passes("--mli-update"))
        self.passes()

    def test_update_keeps_the_mask(self):
        self.write_test(self.ONE)
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        self.passes("--mli-update")
        self.assertEqual(stat.S_IMODE(self.golden("one.npy").stat().st_mode), 0o640)

    def test_mismatch(self):
        self.write_test("""
        def test_one(mli_golden):
            arguments = dict(src=image, pad=[(0, 0), (1, 1), (1, 1)], perm=(1, 2, 0))
            mli_golden(mli.move(**arguments), "one.npy", move=arguments)
        """)
        self.passes("--mli-update")

        def change(array):
            array[0, 0, 0] = 7
            array[1:3, 2, 1] -= 100

        self.change("one.npy", change)
        output = self.fails()
        for line in ("golden/one.npy: 3 of 60 elements differ (5 %), in [0:3, 0:3, 0:2]; "
                     "the largest difference is 100 at [1, 2, 1]",
                     "[0, 0, 0]: got 0, expected 7; a zero of the padding",
                     "[1, 2, 1]: got 13, expected -87; from src[1, 0, 1], which is 13",
                     "[2, 2, 1]: got 17, expected -83; from src[1, 1, 1], which is 17"):
            self.assertIn(line, output)
        self.assertIn('>       mli_golden(mli.move(**arguments), "one.npy", move=arguments)', output)
        self.assertNotIn("_pytest_golden.py", output)

    def test_many_differences(self):
        self.write_test(self.ONE)
        self.passes("--mli-update")
        self.change("one.npy", lambda array: array - 1)
        output = self.fails()
        self.assertEqual(len(re.findall(r"got \d+, expected -?\d+", output)), 10, output)
        self.assertIn("... 110 more", output)

    def test_moves(self):
        self.write_test("""
        def test_plan(mli_golden):
            mli_golden(name="plan.npy", move=mli.Plan(image, slice=np.s_[1, ::2]))

        def test_placed(mli_golden):
            out = np.ones((4, 4), np.int16)
            plan = mli.Plan(image, slice=np.s_[1, ::2, 1:3], out=out, at=(1, 1))
            mli_golden(plan.run(), "placed.npy", move=plan)

        def test_placed_by_arguments(mli_golden):
            arguments = dict(src=image, slice=np.s_[1, ::2, 1:3], out=np.ones((4, 4), np.int16), at=[1, 1])
            mli_golden(move=arguments, name="arguments.npy")

        def test_quantised(mli_golden):
            arguments = dict(src=mli.QTensor(np.ones((2, 2), np.int8), [1, 2], axis=1), perm=(1, 0))
            mli_golden(move=arguments, name="quantised.npy")

        def test_wrong(mli_golden):
            mli_golden(np.zeros(3), "wrong.npy", move=dict(src=image))
        """)
        output = self.fails("--mli-update")
        self.assertIn("1 failed, 4 passed", output)
        self.assertIn("it must have made the shape (3,)", output)
        for name in ("plan", "placed", "arguments", "quantised"):
            self.change(f"{name}.npy", lambda array: array + 1)
        output = self.fails()
        self.assertIn("[1, 3]: got 23, expected 24; from src[1, 2, 3]\n", output)
        for origin in ("", ", which is 13"):
            self.assertIn(f"[1, 1]: got 13, expected 14; from src[1, 0, 1]{origin}\n", output)
        self.assertIn("[0, 0]: got 1, expected 2; not written by the move", output)
        self.assertIn("[0, 1]: got 1, expected 2; from src[1, 0], which is 1", output)

    def test_layouts(self):
        self.write_test(self.ONE)
        self.passes("--mli-update")
        self.change("one.npy", lambda array: array[1:].astype(np.int32))
        self.assertIn("golden/one.npy: dtype int32 expected, got int16; shape (3, 5, 6) expected, "
                      "got (4, 5, 6)", self.fails())

    def test_byte_orders_are_equal(self):
        self.write_test(self.ONE)
        self.passes("--mli-update")
        self.change("one.npy", lambda array: array.astype(">i2"))
        self.passes()

    def test_bits(self):
        self.write_test("""
        import pytest
        values = {"zero": np.array([0.0]), "nan": np.array([np.nan, np.inf]), "scalar": np.float32(3),
                  "complex": np.array([1 + 2j]), "bool": np.array([True, False]),
                  "text": np.array(["a", "bc"]), "date": np.array(["2020-01-01"], "M8[D]"),
                  "void": np.zeros(2, "i1,f4"), "empty": np.zeros((0, 3)), "u8": np.array([2**64 - 1], "u8")}

        @pytest.mark.parametrize("name", values)
        def test_value(mli_golden, name):
            mli_golden(values[name], f"bits/{name}.npy")
        """)
        self.passes("--mli-update")
        self.passes()
        self.change("bits/zero.npy", lambda array: -array)
        self.change("bits/u8.npy", lambda array: array * 0)
        self.change("bits/text.npy", lambda array: array[::-1])
        self.change("bits/scalar.npy", lambda array: array + np.float32(0.5))
        output = self.fails()
        self.assertIn("4 failed, 6 passed", output)
        self.assertIn("[0]: got 0.0, expected -0.0", output)
        self.assertIn("as numbers they are equal, but their bits differ", output)
        self.assertIn(f"[0]: got {2**64 - 1}, expected 0", output)
        self.assertIn("[]: got 3.0, expected 3.5", output)

    def test_tolerance(self):
        self.write_test("""
        def test_absolute(mli_golden):
            mli_golden(np.array([1.0, 2.0, np.nan, np.inf]), "a.npy", tolerance=0.01)

        def test_relative(mli_golden):
            mli_golden(np.array([100, -100], np.int8), "r.npy", relative=0.02)

        def test_text(mli_golden):
            mli_golden(np.array(["a"]), "t.npy", tolerance=1)
        """)
        output = self.fails("--mli-update")
        self.assertIn("tolerances require numbers", output)
        self.change("a.npy", lambda array: array + 0.009)
        self.change("r.npy", lambda array: array + np.int8(1))
        self.assertIn("1 failed, 2 passed", self.fails())
        self.change("a.npy", lambda array: np.array([1.02, 2, 0, -np.inf]))
        self.change("r.npy", lambda array: -array)
        output = self.fails()
        self.assertIn("3 of 4 elements differ (75 %), in [0:4]; the largest difference is inf at [3]", output)
        self.assertIn("the largest difference is 201 at [0]", output)

    def test_parameters(self):
        self.write_test("""
        def test_it(mli_golden):
            mli_golden(mli.QTensor(np.zeros((2, 3), np.int8), [1, 2, 3], axis=1), "q.npy")
        """)
        self.passes("--mli-update")
        self.passes()
        path = self.golden("q.json")
        params = json.loads(path.read_text())
        self.assertEqual(params["scale"], [1, 2, 3])
        path.write_text(json.dumps(dict(params, scale=[1, 2, 4]), indent=4))
        self.assertIn("golden/q.json: the parameters differ\nE         scale[2]: got 3, expected 4\n", self.fails())
        path.write_text(json.dumps(dict(params, zero_point=0)))  # one number for all indices
        self.passes()
        path.write_text("?")
        self.assertIn("golden/q.json: not a readable JSON file", self.fails())
        path.unlink()
        self.assertIn("golden/q.json: missing", self.fails())
        self.passes("--mli-update")
        self.passes()

    def test_broken_files(self):
        self.write_test(self.ONE)
        self.golden("").mkdir()
        for content in (b"", b"no array", b"\x93NUMPY\x01\x00"):
            self.golden("one.npy").write_bytes(content)
            self.assertIn("golden/one.npy: not a readable .npy file: ", self.fails())
        np.save(self.golden("one.npy"), np.array([{}]), allow_pickle=True)
        self.assertIn("not a readable .npy file: ", self.fails())
        self.passes("--mli-update")

    def test_one_golden_for_two_tests(self):
        self.write_test("""
        import pytest

        @pytest.mark.parametrize("n", [1, 2])
        def test_it(mli_golden, n):
            mli_golden(np.zeros(n), "same.npy")
        """)
        output = self.fails("--mli-update")
        self.assertIn("the test test_it.py::test_it[1] of this run has written it", output)

    def test_wrong_use(self):
        self.write_test("""
        import pytest

        @pytest.mark.parametrize("name", ["", "a", "/tmp/a.npy", "../a.npy", "a.json"])
        def test_names(mli_golden, name):
            with pytest.raises(ValueError, match="a relative path that ends with .npy"):
                mli_golden(np.zeros(3), name)

        def test_objects(mli_golden):
            with pytest.raises(TypeError, match="Python objects"):
                mli_golden([{}], "a.npy")
            with pytest.raises(TypeError, match="requires an array or a move"):
                mli_golden(name="a.npy")
        """)
        self.passes("--mli-update")
        self.assertFalse(self.golden("").exists())

    TWO = """
    import os

    def test_it(mli_golden):
        tensor = mli.QTensor(np.ones((2, 3), np.int8), [3, 5], axis=0)
        mli_golden(tensor if "QUANTISED" in os.environ else tensor.data, "w.npy")
    """

    def test_lost_parameters(self):
        self.write_test(self.TWO)
        self.passes("--mli-update", env={"QUANTISED": "1"})
        output = self.fails()
        self.assertIn("golden/w.json: parameters are expected, but the test gives an array without", output)
        self.assertIn("golden/w.json (removed)", self.passes("--mli-update"))
        self.assertFalse(self.golden("w.json").exists())
        self.passes()
        self.assertIn("golden/w.json: missing", self.fails(env={"QUANTISED": "1"}))

    def test_other_json_beside(self):
        """A job file, or other JSON, may have the name of a file of golden parameters: it is
        ignored. A broken JSON file is reported, because it may be a file of parameters."""
        self.write_test(self.TWO)
        self.passes("--mli-update")
        for text in ('{"op": "mov", "src": {"file": "w.npy"}}', "[1]", "3"):
            self.golden("w.json").write_text(text)
            self.passes("--mli-update")
            self.assertEqual(self.golden("w.json").read_text(), text)
        self.golden("w.json").write_text("")
        self.assertIn("golden/w.json: not a readable JSON file", self.fails())

    def test_both_differ(self):
        self.write_test(self.TWO)
        self.passes("--mli-update", env={"QUANTISED": "1"})
        params = json.loads(self.golden("w.json").read_text())
        self.golden("w.json").write_text(json.dumps(dict(params, scale=[3, 6])))
        self.change("w.npy", lambda array: array + 1)
        output = self.fails(env={"QUANTISED": "1"})
        self.assertIn("golden/w.npy: 6 of 6 elements differ", output)
        self.assertIn("golden/w.json: the parameters differ\nE         scale[1]: got 5, expected 6\n", output)
        self.assertEqual(output.count("To accept what the test got"), 1)

    def test_assert(self):
        self.write_test("""
        def make(scale, value):
            return mli.QTensor(np.full((2, 3), value, np.int8), scale, axis=0)

        def test_it():
            assert make([3, 5], 7) == make([3, 6], 8)

        def test_shapes():
            assert make(1, 1) == mli.QTensor(np.ones((2, 4), np.int8), 1, axis=0)

        def test_equal():
            assert make(1, 1) == make(1, 1)
        """)
        output = self.fails()
        self.assertIn("2 failed, 1 passed", output)
        self.assertIn("scale[1]: got 5, expected 6\n", output)
        self.assertIn("6 of 6 elements differ", output)
        self.assertIn("the shapes differ: got (2, 3), expected (2, 4)", output)

    def test_wrong_arguments(self):
        self.write_test("""
        import pytest

        @pytest.mark.parametrize("words, arguments", [
            ("tolerance: -1 given", dict(array=image, tolerance=-1)),
            ("relative: nan given", dict(array=image, relative=float("nan"))),
            ("tolerance: inf given", dict(array=image, tolerance=float("inf"))),
            ("move: .* required, not int", dict(array=image, move=3)),
            ("move: .* required, not int", dict(move=3)),
            ('move: .* required, not a dictionary without "src"', dict(move={})),
            ("without masked elements", dict(array=np.ma.array([1, 2], mask=[0, 1]))),
        ])
        def test_it(mli_golden, words, arguments):
            with pytest.raises((TypeError, ValueError), match=words):
                mli_golden(name="a.npy", **arguments)

        def test_swapped(mli_golden):
            with pytest.raises(TypeError, match="the array comes first"):
                mli_golden("a.npy", image)

        def test_nothing_masked(mli_golden):
            mli_golden(np.ma.array([1, 2]), "b.npy")

        @pytest.mark.skipif(not hasattr(mli, "serve"), reason="built without the service")
        def test_prepared(mli_golden):
            with mli.serve() as client:
                plan = client.plan(client.buffer(3).array())
                with pytest.raises(TypeError, match="required, not mli.*Prepared"):
                    mli_golden(image, "a.npy", move=plan)
        """)
        self.passes("--mli-update")
        self.assertEqual([path.name for path in self.golden("").iterdir()], ["b.npy"])

    def test_unreadable_arrays(self):
        self.write_test(self.ONE)
        self.passes("--mli-update")
        for content, words in ((b"", "it is empty"), (b"PK", "it begins with b'PK'"),
                               (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull")):
            self.golden("one.npy").write_bytes(content)
            self.assertIn("golden/one.npy: not a readable .npy file: ", output := self.fails())
            self.assertIn(words, output)

    def test_folders_of_tests(self):
        self.write_test(self.ONE, "a/test_a.py")
        self.write_test(self.ONE, "b/test_b.py")
        output = self.passes("--mli-update")
        self.assertIn("a/golden/one.npy\nb/golden/one.npy\n", output)
        self.passes("--rootdir", ".", str(self.folder / "a"))


class Loading(Scene):
    def test_entry_point(self):
        """The plugin of an installed package works with and without the option -p."""
        info = self.folder / "site" / "mli-0.0.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mli\nVersion: 0.0.0\n")
        (info / "RECORD").write_text("")
        (info / "entry_points.txt").write_text(
            "[pytest11]\nmli.pytest_plugin = mli.pytest_plugin\n")
        self.write_test(Goldens.ONE)
        path = {"PYTHONPATH": f"{suite.PACKAGE.parent}:{info.parent}"}
        self.assertIn("got: pytest --mli-update test_it.py::test_one\n", self.new_process(path)[1])
        for plugin in ((), PLUGIN):
            with self.subTest(plugin):
                status, output = self.new_process(path, "--mli-update", "-W", "error", *plugin)
                self.assertEqual(status, 0, output)
        _, output = self.new_process(path, "-p", "no:mli.pytest_plugin")
        self.assertIn("fixture 'mli_golden' not found", output)
        self.assertIn("--mli-update", self.passes("--help"))

    def new_process(self, env, *words):
        return suite.run([sys.executable, "-m", "pytest", *words], cwd=self.folder, env=env)


if __name__ == "__main__":
    suite.main()
