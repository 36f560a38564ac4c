#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl import of models, and constants of models as tensors. NumPy computes the expected results of nodes."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

from harness import MLICTL, SOURCE, Case, main, make_board, needs_boards, needs_numpy, numpy, scaled
from test_tour import masked, steps

if numpy:
    sys.path.insert(0, str(SOURCE / "examples/models"))
    from model_files import Model, Node, Tensor, constant, member, onnx_tensor, write_onnx, write_tflite

SEED = int(os.environ.get("MLI_TEST_SEED", 7))
DTYPES = ("int8", "uint8", "int16", "float16", "int32", "float32", "int64", "float64", "bool")


@needs_numpy
class Models(Case):
    def save(self, name, model, **options):
        write = write_tflite if name.endswith(".tflite") else write_onnx
        return self.write(name, write(model, **options))

    def imported(self, name, *options, code=0):
        """Imports a model into the directory `out`, runs all cases, and returns import.json."""
        shutil.rmtree(self.dir / "out", ignore_errors=True)
        self.ctl("import", name, "-o", "out", *options, code=code)
        report = json.loads((self.dir / "out/import.json").read_text())
        if report["cases"]:
            self.ctl("batch", "out", "--keep", "none", code=0)
        return report

    def golden(self, report, node=0, part=""):
        job = report["nodes"][node]["job"]
        return numpy.load(self.dir / f"out/data/{job}{part}.golden.npy")

    def source(self, name):
        found = [path for path in (self.dir / "out/data").glob("*.npy") if path.stem.endswith("_tensor_" + name)]
        return numpy.load(found[0])


def stored(array):
    """Returns an array as import stores it: 4 dimensions, elements of at most 4 bytes."""
    array = numpy.ascontiguousarray(array)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.itemsize == 8:
        array = array.view(numpy.int32 if array.dtype.kind == "i" else numpy.uint32)
    if array.ndim > 4:
        array = array.reshape(-1, *array.shape[-3:])
    return array


class Nodes:
    """Makes random nodes, and their results with NumPy. A method of an operator returns its name,
    its options, its constants, and a function that computes the result."""

    def __init__(self, rng, form):
        self.rng, self.tflite = rng, form == "tflite"
        self.index = "int32" if self.tflite else "int64"

    def list(self, name, values):
        return constant(name, values, self.index)

    def transpose(self, shape):
        perm = self.rng.sample(range(len(shape)), len(shape))
        if self.tflite:
            return "TRANSPOSE", {}, [self.list("perm", perm)], lambda x: x.transpose(perm)
        return "Transpose", {"perm": perm}, [], lambda x: x.transpose(perm)

    def slice(self, shape):
        bounds = [sorted(self.rng.sample(range(n + 1), 2)) for n in shape]
        if self.tflite:
            begin, size = [b for b, _ in bounds], [e - b if e < n else -1 for (b, e), n in zip(bounds, shape)]
            index = tuple(slice(b, e) for b, e in bounds)
            return "SLICE", {}, [self.list("begin", begin), self.list("size", size)], lambda x: x[index]
        axes = self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))
        steps_of = [self.rng.choice((1, 2, 3, -1, -2)) for _ in axes]
        index = [slice(None)] * len(shape)
        starts, ends = [], []
        for axis, step in zip(axes, steps_of):
            b, e = bounds[axis]
            b, e = (b - shape[axis] if self.rng.random() < .3 else b, e) if step > 0 else (e - 1, b - 1 if b else -10**9)
            index[axis] = slice(b, e if e > -10**8 else None, step)
            if step < 0 and self.rng.random() < .1:  # ONNX cuts it to 0, NumPy to -1
                index[axis] = slice(0, index[axis].stop, step)
                b = -10**9
            starts.append(b)
            ends.append(e)
        named = [axis - len(shape) if self.rng.random() < .3 else axis for axis in axes]
        lists = [self.list(name, values) for name, values in
                 (("starts", starts), ("ends", ends), ("axes", named), ("steps", steps_of))]
        return "Slice", {}, lists, lambda x: x[tuple(index)]

    def strided(self, shape):
        if not self.tflite:
            return self.slice(shape)
        begin, end, step, masks, index = [], [], [], dict.fromkeys(
            ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0), []
        d = 0
        while d < len(shape) and len(begin) < 7:
            n, k, kind = shape[d], len(begin), self.rng.choice("nnnnsbeo.")
            b, e = sorted(self.rng.sample(range(n + 1), 2))
            s = self.rng.choice((1, 1, 2, -1))
            if kind == "n" and not masks["ellipsis_mask"] and self.rng.random() < .2:
                masks["new_axis_mask"] |= 1 << k
                index.append(None)
                d -= 1
            elif kind == "s":
                masks["shrink_axis_mask"] |= 1 << k
                index.append(b := min(b, n - 1))
            elif kind == "." and not masks["ellipsis_mask"]:
                masks["ellipsis_mask"] |= 1 << k
                index.append(Ellipsis)
                d = len(shape)
            elif s < 0:
                b, e = e - 1, b - 1 if b else -n - 1
                index.append(slice(None if kind == "b" else b, None if kind == "e" or e < 0 else e, s))
            else:
                index.append(slice(None if kind == "b" else b, None if kind == "e" else e, s))
            masks["begin_mask"] |= (kind == "b") << k
            masks["end_mask"] |= (kind == "e") << k
            begin.append(b)
            end.append(e)
            step.append(s)
            d += 1
        lists = [self.list("begin", begin), self.list("end", end), self.list("strides", step)]
        return "STRIDED_SLICE", masks, lists, lambda x: x[tuple(index)]

    def pad(self, shape):
        pads = [(self.rng.randint(0, 3), self.rng.randint(0, 3)) for _ in shape]
        if self.tflite:
            return "PAD", {}, [self.list("paddings", pads)], lambda x: numpy.pad(x, pads)
        mode = self.rng.choice(("constant", "edge", "reflect"))
        if mode == "reflect":
            pads = [(min(a, n - 1), min(b, n - 1)) for (a, b), n in zip(pads, shape)]
        if mode != "constant":
            self.keep_some(pads, (0, 0))
        return ("Pad", {"mode": mode}, [self.list("pads", [a for a, _ in pads] + [b for _, b in pads])],
                lambda x: numpy.pad(x, pads, mode))

    def keep_some(self, pads, none):
        """Removes the padding except for three dimensions: the import makes a move for each
        combination of copied samples, at most 4096 moves."""
        for d in self.rng.sample(range(len(pads)), max(0, len(pads) - 3)):
            pads[d] = none

    def tile(self, shape):
        repeats = [self.rng.choice((1, 1, 2, 3)) for _ in shape]
        return ("TILE" if self.tflite else "Tile", {}, [self.list("repeats", repeats)],
                lambda x: numpy.tile(x, repeats))

    def expand(self, shape):
        shape[self.rng.randrange(len(shape))] = 1
        to = [n if n > 1 else self.rng.randint(1, 4) for n in shape]
        return ("BROADCAST_TO" if self.tflite else "Expand", {}, [self.list("shape", to)],
                lambda x: numpy.broadcast_to(x, to))

    def reverse(self, shape):
        if not self.tflite:
            return self.tile(shape)
        axis = self.rng.randrange(len(shape))
        return "REVERSE_V2", {}, [self.list("axis", [axis])], lambda x: numpy.flip(x, axis)

    def mirror(self, shape):
        if not self.tflite:
            return self.pad(shape)
        symmetric = self.rng.random() < .5
        pads = [[self.rng.randint(0, min(2, n - 1)) for _ in "ab"] for n in shape]
        self.keep_some(pads, [0, 0])
        return ("MIRROR_PAD", {"mode": int(symmetric)}, [self.list("paddings", pads)],
                lambda x: numpy.pad(x, pads, "symmetric" if symmetric else "reflect"))

    def reshape(self, shape):
        to = [n for pair in ((n, 1) if self.rng.random() < .3 else (n,) for n in shape) for n in pair][:8]
        count = int(numpy.prod(shape))
        to = [count] if int(numpy.prod(to)) != count else to
        return ("RESHAPE" if self.tflite else "Reshape", {}, [self.list("shape", to)],
                lambda x: x.reshape(to))


KINDS = ("transpose", "slice", "strided", "pad", "tile", "expand", "reverse", "mirror", "reshape")


class Import(Models):
    def test_random_nodes_equal_numpy(self):
        print(f"MLI_TEST_SEED={SEED}")
        for form in ("onnx", "tflite"):
            rng = random.Random(SEED)
            tensors, nodes, outputs, functions = [], [], [], []
            for i in range(90):
                shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 7))]
                while numpy.prod(shape) > 600:
                    shape[rng.randrange(len(shape))] = 1
                op, options, lists, function = getattr(Nodes(rng, form), KINDS[i % len(KINDS)])(shape)
                dtype = DTYPES[rng.randrange(len(DTYPES))]
                data = rng.random() < .5
                x = numpy.array([rng.randrange(2 if dtype == "bool" else 100) for _ in range(int(numpy.prod(shape)))])
                x = x.astype(dtype).reshape(shape)
                tensors.append(constant(f"x{i}", x) if data else Tensor(f"x{i}", tuple(shape), dtype))
                for extra in lists:
                    extra.name += str(i)
                result = function(x)
                tensors += lists + [Tensor(f"y{i}", result.shape, dtype)]
                nodes.append(Node(op, [f"x{i}"] + [extra.name for extra in lists], [f"y{i}"], options))
                functions.append((function, x if data else None))
                outputs.append(f"y{i}")
            inputs = [tensor.name for tensor in tensors if tensor.name[0] == "x" and tensor.data is None]
            for typed in (False, True) if form == "onnx" else (False,):
                model = Model(tensors, nodes, inputs, outputs)
                report = self.imported(self.save(f"m.{form}", model, **({"typed": True} if typed else {})))
                self.compare(form, nodes, tensors, functions, report)

    def compare(self, form, nodes, tensors, functions, report):
        by_name = {tensor.name: tensor for tensor in tensors}
        moved = 0
        for i, (node, (function, x)) in enumerate(zip(nodes, functions)):
            got = report["nodes"][i]
            with self.subTest(form=form, op=node.op, node=i, shape=by_name[f"x{i}"].shape):
                if numpy.prod(by_name[f"y{i}"].shape) == 0:
                    self.assertIn("has no elements", got["reason"])
                    continue
                self.assertIsNotNone(got["case"], got.get("reason"))
                tensor = by_name[f"x{i}"]
                if x is None:
                    x = self.source(tensor.name).view(tensor.dtype).reshape(tensor.shape)
                golden = self.golden(report, i)
                expected = stored(function(x))
                self.assertEqual(golden.shape, expected.shape)
                self.assertEqual(golden.tobytes(), expected.tobytes())
                moved += 1
        self.assertGreater(moved, 70)

    def test_concat_split_pack(self):
        a, b = numpy.arange(24, dtype="int64").reshape(2, 3, 4), numpy.arange(16, dtype="int64").reshape(2, 2, 4)
        model = Model([constant("a", a), constant("b", b), Tensor("ab", (2, 5, 4), "int64"),
                       Tensor("p", (2, 1, 4), "int64"), Tensor("q", (2, 4, 4), "int64"),
                       constant("sizes", [1, -1], "int32"), constant("axis", 1, "int32"),
                       Tensor("pp", (2, 2, 1, 4), "int64"), Tensor("u", (2, 1, 4), "int64"), Tensor("v", (2, 1, 4), "int64")],
                      [Node("CONCATENATION", ["a", "b"], ["ab"], {"axis": 1}),
                       Node("SPLIT_V", ["ab", "sizes", "axis"], ["p", "q"], {"num_splits": 2}),
                       Node("PACK", ["p", "p"], ["pp"], {"values_count": 2, "axis": -3}),
                       Node("UNPACK", ["pp"], ["u", "v"], {"num": 2, "axis": 1})], [], ["u", "v", "q"])
        report = self.imported(self.save("m.tflite", model))
        self.assertEqual((report["cases"], report["moved"]), (1, 4))  # one chain
        ab = numpy.concatenate([a, b], 1)
        expected = [(0, "", ab), (1, ".0", ab[:, :1]), (1, ".1", ab[:, 1:]), (2, "", numpy.stack([ab[:, :1]] * 2, 1)),
                    (3, ".0", ab[:, :1]), (3, ".1", ab[:, :1])]
        for node, part, array in expected:
            self.assertEqual(self.golden(report, node, part).tobytes(), numpy.ascontiguousarray(array).tobytes(),
                             (node, part))
        jobs = json.loads((self.dir / "out" / report["nodes"][0]["case"]).read_text())["jobs"]
        last = {job["name"]: job for job in jobs}
        self.assertIn(report["nodes"][0]["job"], last[report["nodes"][1]["job"] + ".0"]["after"])

    def test_fused_chains(self):
        """A chain of nodes becomes one move. A result that a computing node also reads is kept, and compared."""
        tensors = [Tensor("x", (1, 4, 6, 3)), Tensor("y", (1, 3, 4, 6)), constant("pads", [0, 0, 1, 1, 0, 0, 1, 1], "int64"),
                   Tensor("z", (1, 3, 6, 8)), constant("one", [1], "int64"), constant("five", [5], "int64"),
                   constant("three", [3], "int64"), Tensor("s", (1, 3, 6, 4)), Tensor("r", (1, 3, 4, 6))]
        nodes = [Node("Transpose", ["x"], ["y"], {"perm": [0, 3, 1, 2]}), Node("Pad", ["y", "pads"], ["z"]),
                 Node("Slice", ["z", "one", "five", "three"], ["s"])]
        for read in (False, True):
            more = [Node("Relu", ["y"], ["r"])] if read else []
            report = self.imported(self.save("m.onnx", Model(tensors, nodes + more, ["x"], ["s"])), "--fuse")
            fused = report["nodes"][0]["fused"]
            self.assertEqual((fused["jobs_before"], fused["jobs"]), (3, 1 + read))
            jobs = json.loads((self.dir / "out" / fused["case"]).read_text())
            jobs = jobs if isinstance(jobs, list) else jobs.get("jobs", [jobs])
            self.assertEqual([bool(job.get("expect")) for job in jobs], [True] * (1 + read))
            self.assertIn(fused["case"], (self.dir / "out/cases.txt").read_text().split())
        one = Model(tensors, nodes[:1], ["x"], ["y"])
        self.assertEqual(self.imported(self.save("m.onnx", one), "--fuse")["fused"], 0)

    def test_border_of_a_quantised_tensor(self):
        quantised = {"scale": [0.5], "zero_point": [-7]}
        model = Model([constant("x", [[1, 2]], "int8", **quantised), constant("pads", [[0, 1], [2, 0]], "int32"),
                       Tensor("y", (2, 4), "int8", **quantised), constant("value", [9], "int8"),
                       Tensor("z", (2, 4), "int8", **quantised)],
                      [Node("PAD", ["x", "pads"], ["y"]), Node("PADV2", ["x", "pads", "value"], ["z"])], [], ["y", "z"])
        report = self.imported(self.save("m.tflite", model))
        self.assertEqual(self.golden(report, 0).tolist(), [[-7, -7, 1, 2], [-7] * 4])
        self.assertEqual(self.golden(report, 1).tolist(), [[9, 9, 1, 2], [9] * 4])

    def test_quantisation(self):
        weights = numpy.arange(24, dtype="int8").reshape(2, 3, 4)
        model = Model([constant("w", weights, axis=2, scale=[0.5, 0.25, 3.0, 1e-3], zero_point=[0, 0, 0, 0]),
                       constant("perm", [2, 0, 1], "int32"), Tensor("y", (4, 2, 3), "int8")],
                      [Node("TRANSPOSE", ["w", "perm"], ["y"])], [], ["y"])
        report = self.imported(self.save("m.tflite", model))
        self.ctl("run", "out/" + report["nodes"][0]["case"], code=0)
        params = json.loads((self.dir / f"out/{report['nodes'][0]['job']}.params.json").read_text())
        self.assertEqual((params["type"], params["axis"]), ("sa8", 0))
        for scale, bits, wanted in zip(params["scale"], params["scale_frac_bits"], (0.5, 0.25, 3.0, 1e-3)):
            self.assertAlmostEqual(scale / 2 ** bits / wanted, 1, delta=2**-14)

    def test_expected_parameters(self):
        """A job expects the parameters that the model gives for the output."""
        scales = dict(scale=[0.5, 0.25, 3.0, 1e-3], zero_point=[0, 0, 0, 0])
        tensor = dict(scale=[0.5], zero_point=[-7])
        weights, image = numpy.arange(24, dtype="int8").reshape(2, 3, 4), numpy.arange(6, dtype="int8").reshape(2, 3)
        model = Model([constant("w", weights, axis=2, **scales), constant("perm", [2, 0, 1], "int32"),
                       Tensor("y", (4, 2, 3), "int8", axis=0, **scales), constant("v", image, **tensor),
                       constant("turn", [1, 0], "int32"), Tensor("z", (3, 2), "int8", **tensor)],
                      [Node("TRANSPOSE", ["w", "perm"], ["y"]), Node("TRANSPOSE", ["v", "turn"], ["z"])], [], ["y", "z"])
        report = self.imported(self.save("m.tflite", model))
        expected = []
        for node in report["nodes"]:
            case = json.loads((self.dir / "out" / node["case"]).read_text())
            expected += [job["expect"]["params"] for job in case.get("jobs", [case]) if "expect" in job]
        self.assertEqual([(params["type"], params.get("axis")) for params in expected], [("sa8", 0), ("sa8", None)])
        self.assertEqual(expected[1], {"type": "sa8", "scale": 16384, "zero_point": -7, "scale_frac_bits": 15})
        out = self.ctl("batch", "out", code=0).out
        self.assertNotIn("remark", out)

    def test_a_concatenation_that_rescales_is_no_move(self):
        model = Model([Tensor("a", (2, 2), "int8", scale=[0.5], zero_point=[0]),
                       Tensor("y", (4, 2), "int8", scale=[0.25], zero_point=[0])],
                      [Node("CONCATENATION", ["a", "a"], ["y"], {"axis": 0})], ["a"], ["y"])
        report = self.imported(self.save("m.tflite", model))
        self.assertIn("rescaled", report["nodes"][0]["reason"])

    def test_reasons(self):
        tensors = [Tensor("x", ("batch", 3)), Tensor("n", (2,), "int64"), Tensor("y", ("batch", 3)),
                   Tensor("z", (3, "batch")), Tensor("far", (1, 40000)), constant("many", [1, 5000], "int64"),
                   Tensor("c", (1, 8)), constant("start", [0], "int64"), constant("end", [10], "int64"),
                   constant("zero", [0], "int64")]
        nodes = [Node("Relu", ["x"], ["y"]), Node("Transpose", ["y"], ["z"]),
                 Node("Slice", ["c", "n", "n"], ["s"]), Node("Tile", ["c", "many"], ["far"]),
                 Node("Transpose", ["nothing"], ["t"]), Node("Identity", [], ["i"]),
                 Node("Transpose", ["c"], ["u"], {"perm": [0, 0]}),
                 Node("Slice", ["c", "start", "end", "zero", "zero"], ["v"])]
        path = self.save("m.onnx", Model(tensors, nodes, ["x", "n", "c"], ["z"]))
        report = self.imported(path)
        self.assertEqual(report["unknown"], 2)
        self.assertIn("2 of them would move data, but the model does not have their shapes: onnx.shape_inference",
                      self.ctl("import", path, "--dry-run", code=0).out)
        reasons = [node.get("reason") for node in report["nodes"]]
        for reason, words in zip(reasons, ("Relu: it does not move data", "dimension 0 of y is open: give --dim batch=N",
                                           "starts is not a constant", "more than 4096 moves",
                                           "does not have the type of nothing", "input 0 is missing",
                                           "perm is not a permutation", "the step of dimension 0 is 0")):
            self.assertIn(words, reason)
        report = self.imported(path, "--dim", "batch=5")
        self.assertEqual(report["nodes"][1]["outputs"][0]["shape"], [3, 5])
        self.assertEqual(self.imported(path, "--dim", "*=5")["moved"], 1)
        for wrong in ("batch", "batch=0", "batch=x", "=3", "batch=1e9", "batch=99999999999999999999"):
            self.assertIn("NAME=N is needed", self.ctl("import", path, "--dry-run", "--dim", wrong, code=2).err)
        self.assertIn("no open dimension", self.ctl("import", path, "--dry-run", "--dim", "width=1", code=2).err)

    def test_shapes_behind_operators_that_compute(self):
        """Makes a model without the shapes of intermediate tensors, as a quantiser writes it."""
        tensors = [Tensor("x", (2, 3, 4)), constant("bias", [1, 2, 3, 4], "float32"), constant("scale", 0.5, "float32"),
                   constant("zero", 3, "int8"), constant("column", [[[1]], [[2]]], "float32"),
                   Tensor("y", (2, 3, 4), "uint8")]
        nodes = [Node("Add", ["bias", "x"], ["a"]), Node("QuantizeLinear", ["a", "scale", "zero"], ["q"]),
                 Node("Transpose", ["q"], ["t"], {"perm": [2, 0, 1]}),
                 Node("DequantizeLinear", ["t", "scale", "zero"], ["d"]), Node("Erf", ["d"], ["e"]),
                 Node("Flatten", ["e"], ["f"]), Node("Cast", ["f"], ["c"], {"to": 6}), Node("Transpose", ["c"], ["u"]),
                 Node("Mul", ["x", "column"], ["m"]), Node("Transpose", ["m"], ["v"]),
                 Node("QuantizeLinear", ["x", "scale"], ["w"]), Node("Identity", ["w"], ["y"]),
                 Node("Add", ["d", "missing"], ["n"]), Node("Transpose", ["n"], ["o"])]
        report = self.imported(self.save("m.onnx", Model(tensors, nodes, ["x"], ["y"])))
        moved = {i: node["outputs"][0] for i, node in enumerate(report["nodes"]) if node["case"]}
        self.assertEqual({i: (output["dtype"], output["shape"]) for i, output in moved.items()},
                         {2: ("int8", [4, 2, 3]), 5: ("float32", [4, 6]), 7: ("int32", [6, 4]),
                          9: ("float32", [4, 3, 2]), 11: ("uint8", [2, 3, 4])})

    def test_graphs_out_of_order(self):
        tensors = [Tensor(name, (2, 3)) for name in "abcd"]
        nodes = [Node("Identity", ["a"], ["a"]), Node("Identity", ["c"], ["b"]), Node("Identity", ["b"], ["c"]),
                 Node("Identity", ["d"], ["b"])]
        report = self.imported(self.save("m.onnx", Model(tensors, nodes, ["d"], ["b"])))
        self.assertEqual([node["case"] is None for node in report["nodes"]], [True, False, True, True])

    def test_elements_in_other_files(self):
        data = numpy.arange(12, dtype="<i2")
        self.write("weights.bin", b"\0" * 6 + data.tobytes())
        from model_files import member, varint

        def outside(name, location):
            entries = (("location", location), ("offset", "6"), ("length", "24"))
            return (member(1, 3) + member(1, 4) + member(2, 5) + member(8, name) + member(14, 1)
                    + b"".join(member(13, member(1, key) + member(2, value)) for key, value in entries))

        graph = b"".join(member(5, outside(name, where)) for name, where in
                         (("w", "weights.bin"), ("bad", "../weights.bin"), ("gone", "missing.bin")))
        model = lambda name: member(7, member(1, member(1, name) + member(2, "y") + member(4, "Transpose")) + graph)
        self.write("m.onnx", model("w"))
        report = self.imported("m.onnx")
        self.assertEqual(self.golden(report).tolist(), data.reshape(3, 4).T.tolist())
        self.write("m.onnx", model("bad"))
        self.assertIn("outside the directory", self.imported("m.onnx")["nodes"][0]["reason"])
        self.write("m.onnx", model("gone"))
        self.assertIn("missing.bin: No such file", self.ctl("import", "m.onnx", "-o", "new", code=2).err)
        self.assertFalse((self.dir / "new").exists())
        listed = json.loads(self.ctl("show", "--json", "m.onnx", code=0).out)["tensors"]
        self.assertIn('"offset": 6', listed[0]["refused"])

    def simple(self, name="m.onnx"):
        return self.save(name, Model([Tensor("x", (2, 3)), Tensor("y", (3, 2))],
                                     [Node("Transpose", ["x"], ["y"])], ["x"], ["y"]))

    def test_directory(self):
        self.simple()
        self.ctl("import", "m.onnx", "--dry-run", code=0)
        self.assertEqual(sorted(os.listdir(self.dir)), ["m.onnx"])
        (self.dir / "out").mkdir()
        self.ctl("import", "m.onnx", "-o", "out/", code=0)  # an empty directory
        self.assertIn("--force replaces it", self.ctl("import", "m.onnx", "-o", "out", code=2).err)
        self.ctl("run", "out/0_transpose_y.json", code=0)
        self.ctl("import", "m.onnx", "-o", "out", "--force", code=0)
        self.assertEqual(sorted(os.listdir(self.dir / "out")), ["0_transpose_y.json", "cases.txt", "data", "import.json"])
        self.write("out/notes.md", "mine")
        self.assertIn("files that import did not write", self.ctl("import", "m.onnx", "-o", "out", "-f", code=2).err)
        (self.dir / "other").mkdir()
        self.write("other/import.json", "{}")
        for place in ("other", "m.onnx"):
            self.ctl("import", "m.onnx", "-o", place, "--force", code=2)
        self.ctl("import", "m.onnx", "-o", "missing/out", code=2)
        self.assertEqual(sorted(os.listdir(self.dir)), ["m.onnx", "other", "out"])  # nothing hidden is left
        self.ctl("batch", "out/cases.txt", code=0)

    def test_names(self):
        names = ["a/b c", "..", "\x1b[2J", "x" * 300, "Ä", ".hidden", "con"]
        tensors = [Tensor(f"t{i}", (2,)) for i in range(len(names) + 1)]
        nodes = [Node("Identity", [f"t{i}"], [f"t{i + 1}"], {}, name) for i, name in enumerate(names)]
        for chain in (True, False):
            if not chain:
                nodes = [Node("Identity", ["t0"], [f"t{i + 1}"], {}, name) for i, name in enumerate(names)]
            report = self.imported(self.save("m.onnx", Model(tensors, nodes, ["t0"], ["t1"])), "--list")
            self.assertEqual(report["cases"], 1 if chain else len(names))
            for path in (self.dir / "out").rglob("*"):
                self.assertRegex(path.name, r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")

    def test_usage(self):
        self.simple("model.bin")
        self.assertIn("--output DIR is needed", self.ctl("import", "m.onnx", code=2).err)
        self.assertIn(".onnx or .tflite is needed", self.ctl("import", "model.bin", "--dry-run", code=2).err)
        self.ctl("import", "model.bin", "--format", "onnx", "--dry-run", code=0)
        self.assertIn("No such file", self.ctl("import", "m.onnx", "--dry-run", code=2).err)
        self.write("m.onnx", b"")
        self.assertIn("the file is empty", self.ctl("import", "m.onnx", "--dry-run", code=2).err)
        self.write("m.tflite", b"no model")
        self.assertIn("not a TFLite model", self.ctl("import", "m.tflite", "--dry-run", code=2).err)


class Sequences(Models):
    def sequences(self, kinds, arrays):
        """Writes a model with x -> Identity -> y -> Identity -> z, and its test data."""
        def value(name):
            kind = member(1, member(1, 1))  # tensor(float)
            for number in reversed(kinds):
                kind = member(number, member(1, kind))
            return member(1, name) + member(2, kind)

        def data(name):
            proto = b"".join(member(3, onnx_tensor(constant("", array))) for array in arrays)
            proto = member(1, name) + member(2, 1) + proto
            return member(1, name) + member(5, proto) if kinds == (9, 4) else proto

        node = lambda source, result: member(1, member(1, source) + member(2, result) + member(4, "Identity"))
        graph = node("x", "y") + node("y", "z") + member(11, value("x")) + member(12, value("z"))
        self.write("m.onnx", member(1, 8) + member(7, graph) + member(8, member(1, "") + member(2, 17)))
        self.write("data/input_0.pb", data("x"))
        self.write("data/output_0.pb", data("z"))

    def test_sequences_of_test_data(self):
        """Identity copies each tensor of a sequence; only the test data says how many tensors the sequence has."""
        arrays = [numpy.float32(range(6)).reshape(2, 3), numpy.float32([7, 8])]
        for kinds in ((4,), (9, 4), (9,)):  # sequence, optional(sequence), optional
            self.sequences(kinds, arrays[:1] if kinds == (9,) else arrays)
            report = self.imported("m.onnx", "--data", "data")
            count = 1 if kinds == (9,) else 2
            self.assertEqual([report[key] for key in ("moved", "given_inputs", "given_outputs")], [2, count, count])
            for i, array in enumerate(arrays[:count]):
                numpy.testing.assert_array_equal(self.golden(report, 1, f".{i}" if count > 1 else ""), array)
        for arrays in ([], [numpy.zeros((0, 3), "float32")]):
            self.sequences((4,), arrays)
            report = self.imported("m.onnx", "--data", "data")
            self.assertRegex(report["nodes"][0]["reason"], "only --data has|no elements")

    def test_damaged_sequences(self):
        rng = random.Random(SEED)
        self.sequences((9, 4), [numpy.float32(range(6)).reshape(2, 3), numpy.float32([7, 8])])
        for name in ("m.onnx", "data/input_0.pb", "data/output_0.pb"):
            content = (self.dir / name).read_bytes()
            for number in range(scaled(60)):
                damage = bytearray(content[:rng.randint(0, len(content))] if number % 3 == 0 else content)
                for _ in range(rng.randint(0, 3) if damage else 0):
                    damage[rng.randrange(len(damage))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
                self.write(name, bytes(damage))
                result = self.ctl("import", "m.onnx", "--data", "data", "-o", "out", "--json", "-f")
                self.assertIn(result.code, (0, 1, 2), (name, number, result.err))
            self.write(name, content)


class Hostile(Models):
    def models(self):
        yield "m.onnx", write_onnx(Model([constant("w", numpy.arange(6, dtype="int32").reshape(2, 3)),
                                          Tensor("y", (3, 2), "int32")],
                                         [Node("Transpose", ["w"], ["y"], {"perm": [1, 0]})], [], ["y"]), typed=True)
        yield "m.tflite", write_tflite(Model([constant("w", numpy.arange(6, dtype="int8").reshape(2, 3),
                                                       scale=[.5, .5, .5], zero_point=[0, 0, 0], axis=1),
                                              constant("perm", [1, 0], "int32"), Tensor("y", (3, 2), "int8")],
                                             [Node("TRANSPOSE", ["w", "perm"], ["y"])], [], ["y"]))

    def test_damaged_files(self):
        rng = random.Random(SEED)
        for name, content in self.models():
            damaged = [content[:size] for size in range(0, len(content), 7)]
            for _ in range(40):
                copy = bytearray(content)
                for _ in range(rng.randint(1, 3)):
                    copy[rng.randrange(len(copy))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
                damaged.append(bytes(copy))
            for number, damage in enumerate(rng.sample(damaged, scaled(len(damaged)))):
                self.write(name, damage)
                for words in (("import", name, "-o", "out", "--json", "-f"), ("show", name)):
                    result = self.ctl(*words)
                    self.assertIn(result.code, (0, 1, 2), (name, number, result.err))
                    self.assertLess(len(result.err), 2000)

    def test_shared_tables(self):
        """In a small file, 60000 tensors refer to the same table with 60000 scales. The file is
        refused quickly."""
        from model_files import FlatBuffer, ints
        tensor = {0: ints([60000]), 4: {2: ints([0.5] * 60000, "f")}}
        for count, code in ((2, 0), (60000, 2)):
            root = {0: ("I", 3), 1: [], 2: [{0: [tensor] * count}], 4: [{}]}
            self.write("m.tflite", bytes(FlatBuffer(root, b"TFL3").out))
            result = self.ctl("show", "m.tflite", code=code)
        self.assertIn("refer to the same bytes too often", result.err)


class Constants(Models):
    def test_show_diff_and_jobs(self):
        w = numpy.arange(60, dtype="float32").reshape(3, 4, 5)
        self.save("m.onnx", Model([constant("w", w), constant("n", [1], "int64")], [], [], []))
        self.save("m.tflite", Model([constant("w", w), constant("w2", w)], [], [], []))
        self.write("w.pb", onnx_tensor(constant("w", w)))
        numpy.save(self.dir / "w.npy", w)
        self.assertIn("w  float32  (3, 4, 5)  240 B", self.ctl("show", "m.onnx", code=0).out)
        for name in ("m.onnx", "m.tflite", "w.pb"):
            self.ctl("diff", name, "w.npy", "-t", "w", code=0)
            self.write("job.json", {"op": "mov", "src": {"file": name, "tensor": "w"}, "cfg": {"perm_dim": [2, 0, 1]},
                                    "dst": {"file": "out.npy"}})
            self.ctl("run", "job.json", code=0)
            self.assertTrue((numpy.load(self.dir / "out.npy") == w.transpose(2, 0, 1)).all())
            self.write("check.json", {"op": "mov", "src": {"file": "w.npy"}, "dst": {"file": "copy.npy"},
                                      "expect": {"file": name, "tensor": "w"}})
            self.ctl("batch", "check.json", "--keep", "none", code=0)
        self.assertIn('there are "w", "n"', self.ctl("show", "m.onnx", "-t", "v", code=2).err)
        self.assertIn("onnx int64", self.ctl("show", "m.onnx", "-t", "n", code=0).out)
        self.ctl("diff", "m.onnx", "m.tflite", code=1)

    def test_remote(self):
        w = numpy.arange(60, dtype="int16").reshape(3, 20)
        self.save("m.onnx", Model([constant("w", w)], [], [], []), typed=True)
        self.write("job.json", {"op": "mov", "src": {"file": "m.onnx", "tensor": "w"}, "dst": {"file": "out.npy"}})
        self.submit("job.json", code=0)
        self.assertTrue((numpy.load(self.dir / "out.npy") == w).all())


@needs_boards
class Board(Models):
    def environment(self):
        return dict(super().environment(), MLI_FIRMWARE=str(self.root / "firmware"))

    def test_cases_of_the_example(self):
        make_board(self.root / "firmware", "sifive_u")
        subprocess.run([sys.executable, "-B", SOURCE / "examples/models/make_models.py", self.dir], check=True, timeout=60)
        for name in ("tiny.onnx", "tiny.tflite"):
            self.ctl("import", name, "-o", name + ".d", "--dim", "*=2", "--fuse", code=0)
            self.ctl("batch", name + ".d", "-H", "qemu:sifive_u", "--keep", "none", code=0)


class Document(Models):
    def test_commands_of_the_document(self):
        place = self.root / "models"
        here = dict(cwd=SOURCE, stdin=subprocess.DEVNULL, text=True, timeout=60, capture_output=True,
                    env=dict(self.environment(), PATH=f"{pathlib.Path(MLICTL).parent}:{os.environ['PATH']}",
                             PYTHONDONTWRITEBYTECODE="1"))
        count = 0
        for command, output in steps((SOURCE / "docs/models.md").read_text()):
            done = subprocess.run(["/bin/sh", "-c", command.replace("/tmp/models", str(place))], **here)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            self.assertEqual(masked(done.stdout), masked(output), command)
            here["cwd"] = place
            count += 1
        self.assertGreater(count, 5)


if __name__ == "__main__":
    main()
