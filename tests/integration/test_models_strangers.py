#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests models and results that others made: ONNX's own test data, ONNX's checker, flatc, and Arm NN."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from harness import PERCENT, SOURCE, Case, main, needs_numpy, numpy, sampled

try:
    import onnx
except ImportError:
    onnx = None

if numpy:
    sys.path.insert(0, str(SOURCE / "examples/models"))
    import make_models
    from model_files import write_onnx, write_tflite

# ONNX's backend tests of single nodes; Debian: libonnx-testdata.
DATA = pathlib.Path(os.environ.get("MLI_ONNX_DATA", "/usr/share/libonnx-testdata/data"))
NODES = DATA / "node"
# Operators that move elements of tensors and take no tensors of indices.
MOVES = {"Concat", "DepthToSpace", "Expand", "Flatten", "Identity", "Pad", "Reshape", "Slice", "SpaceToDepth", "Split",
         "Squeeze", "Tile", "Transpose", "Unsqueeze"}


@unittest.skipUnless(NODES.is_dir(), f"there is no {NODES}: install libonnx-testdata")
class Nodes(Case):
    def test_single_nodes_match_onnx(self):
        """Each backend test of one node that moves data gives ONNX's result, or its result has no elements."""
        counts, left = collections.Counter(), []
        moves = tuple(op.encode() for op in MOVES)
        contents = {path: (path / "model.onnx").read_bytes() for path in sorted(NODES.iterdir())}
        for path in sampled(path for path, content in contents.items() if any(op in content for op in moves)):
            listed = json.loads(self.ctl("import", str(path / "model.onnx"), "--dry-run", "--json", code=0).out)
            if len(listed["nodes"]) != 1 or listed["nodes"][0]["op"] not in MOVES:
                continue
            counts["cases"] += 1
            report = json.loads(self.ctl("import", str(path / "model.onnx"), "--data", str(path / "test_data_set_0"),
                                         "-o", str(self.dir / path.name), "--json", code=0).out)
            node = report["nodes"][0]
            if report["moved"]:
                self.assertEqual(report["given_outputs"], len(node["outputs"]), path.name)
                counts["moved"] += 1
            else:
                left.append((path.name, node["reason"]))
                self.assertIn("no elements", node["reason"], path.name)
                counts["no elements"] += 1
        result = self.ctl("batch", str(self.dir), "--keep", "none", code=0)
        self.assertIn(f"{counts['moved']} cases: {counts['moved']} passed", result.out)
        print(f"ONNX's cases of one node that moves data: {counts['cases']}; {counts['moved']} run and match, "
              f"{counts['no elements']} have no elements")
        for name, reason in left:
            print(f"  {name}: {reason}")
        if PERCENT == 100:
            self.assertGreaterEqual(counts["moved"], 76)
        self.assertEqual(counts["moved"] + counts["no elements"], counts["cases"])

    def test_all_models_can_be_read(self):
        """mlictl reads all models of ONNX's tests that are not single nodes (with MLI_SOAK, also
        these), and every case passes."""
        count = 0
        paths = sorted(DATA.glob("*/*/model.onnx"))
        for path in sampled(path for path in paths if path.parent.parent != NODES or "MLI_SOAK" in os.environ):
            self.ctl("import", str(path), "-o", str(self.dir / f"{path.parent.name}"), "-q", code=0)
            count += 1
        self.ctl("batch", str(self.dir), "--keep", "none", code=0)
        self.assertGreater(count, 50 if PERCENT == 100 else 0)


@needs_numpy
class Writers(Case):
    @unittest.skipUnless(onnx, "this python has no onnx")
    def test_onnx_accepts_the_example(self):
        model = onnx.load_model_from_string(write_onnx(make_models.onnx(make_models.weights_of(""))))
        onnx.checker.check_model(model)

    @unittest.skipUnless(onnx, "this python has no onnx")
    def test_models_of_onnx(self):
        """A model that ONNX's Python package writes, with tensors of all its types, as raw bytes and as lists."""
        from onnx import TensorProto, helper, numpy_helper
        dtypes = ("float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                  "uint64", "bool")
        arrays, nodes, constants, outputs = {}, [], [], []
        for dtype in dtypes:
            array = numpy.arange(1, 25).reshape(2, 3, 4).astype(dtype)
            for raw in (True, False):
                name = f"{dtype}_{'raw' if raw else 'list'}"
                kind = helper.np_dtype_to_tensor_dtype(array.dtype) if hasattr(
                    helper, "np_dtype_to_tensor_dtype") else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]
                tensor = (numpy_helper.from_array(array, name) if raw
                          else helper.make_tensor(name, kind, array.shape, array.ravel().tolist()))
                constants.append(tensor)
                nodes.append(helper.make_node("Transpose", [name], [name + "_t"], perm=[1, 2, 0]))
                outputs.append(helper.make_tensor_value_info(name + "_t", kind, None))
                arrays[name + "_t"] = array.transpose(1, 2, 0)
        graph = helper.make_graph(nodes, "g", [], outputs, constants)
        onnx.save(helper.make_model(graph), str(self.dir / "m.onnx"))
        report = json.loads(self.ctl("import", "m.onnx", "-o", "out", "--json", code=0).out)
        self.ctl("batch", "out", "--keep", "none", code=0)
        self.assertEqual(report["moved"], 2 * len(dtypes))
        for node in report["nodes"]:
            golden = numpy.load(self.dir / f"out/data/{node['job']}.golden.npy")
            expected = numpy.ascontiguousarray(arrays[node["outputs"][0]["tensor"]])
            self.assertEqual(golden.tobytes(), expected.tobytes(), node["job"])

    @unittest.skipUnless(shutil.which("flatc"), "there is no flatc: install flatbuffers-compiler")
    def test_models_of_flatc(self):
        """flatc verifies and reads the models that the example writes, and mlictl reads models that flatc writes."""
        schema = SOURCE / "tests/integration/tflite.fbs"
        self.write("tiny.tflite", write_tflite(make_models.tflite(make_models.weights_of(""))))
        flatc = lambda *words: subprocess.run(["flatc", *words], cwd=self.dir, check=True, timeout=60,
                                              capture_output=True, text=True)
        flatc("--json", "--strict-json", "--raw-binary", str(schema), "--", "tiny.tflite")
        tree = json.loads((self.dir / "tiny.json").read_text())
        self.assertEqual(len(tree["subgraphs"][0]["operators"]), 9)
        os.rename(self.dir / "tiny.tflite", self.dir / "ours.tflite")
        flatc("--binary", str(schema), "tiny.json")
        ours = self.ctl("import", "ours.tflite", "-o", "ours", code=0).out
        theirs = self.ctl("import", "tiny.tflite", "-o", "theirs", code=0).out
        self.assertEqual(ours.replace("ours", "x"), theirs.replace("tiny", "x").replace("theirs", "x"))
        for name in ("ours", "theirs"):
            self.ctl("batch", name, "--keep", "none", code=0)
        self.ctl("diff", "ours.tflite", "tiny.tflite", code=0)


@needs_numpy
class ArmNN(Case):
    """Arm NN's parser and reference kernels compute the results that import expects."""

    def program(self):
        program = self.dir / "armnn_run"
        compiler = shutil.which("g++")
        if not compiler or not pathlib.Path("/usr/include/armnnTfLiteParser").is_dir():
            self.skipTest("there is no g++, or no Arm NN: install libarmnntfliteparser-dev")
        subprocess.run([compiler, "-O1", "-w", SOURCE / "tests/integration/armnn_run.cpp", "-o", program, "-larmnn",
                        "-larmnnTfLiteParser"], check=True, timeout=120)
        return program

    def nodes(self, dtype, zero_point):
        from model_files import Model, Node, Tensor, constant
        quantised = {} if dtype == "float32" else {"scale": [0.5], "zero_point": [zero_point]}
        tensor = lambda name, *shape: Tensor(name, shape, dtype, **quantised)
        number = lambda name, values: constant(name, values, "int32")

        def node(op, shape, result, *lists, inputs=("x",), **options):
            lists = [number(f"c{i}", values) for i, values in enumerate(lists)]
            return Model([tensor("x", *shape), *lists, tensor("y", *result)],
                         [Node(op, [*inputs, *(each.name for each in lists)], ["y"], options)], ["x"], ["y"])

        yield node("TRANSPOSE", (2, 3, 4), (4, 2, 3), [2, 0, 1])
        yield node("SLICE", (2, 5, 4), (2, 3, 2), [0, 1, 2], [2, 3, 2])
        yield node("STRIDED_SLICE", (4, 5, 6), (4, 2, 2), [0, 1, 0], [4, 5, 6], [1, 2, 3])
        yield node("STRIDED_SLICE", (4, 5, 6), (5, 3), [1, 1, -3], [2, 2, 9], [1, 1, 1], begin_mask=2, end_mask=6,
                   shrink_axis_mask=1)
        yield node("CONCATENATION", (2, 3, 4), (2, 6, 4), inputs=("x", "x"), axis=1)
        yield node("RESHAPE", (2, 3, 4), (6, 4), [6, 4])
        yield node("PACK", (2, 3, 4), (2, 2, 3, 4), inputs=("x", "x"), values_count=2, axis=1)
        if dtype == "float32":  # of quantised tensors, Arm NN 20.08 does not use the zero point, as TFLite does
            yield node("PAD", (1, 3, 4, 2), (1, 6, 5, 2), [[0, 0], [1, 2], [0, 1], [0, 0]])

    def test_results(self):
        program = self.program()
        count = 0
        for dtype, zero_point in (("float32", 0), ("int8", -3), ("uint8", 7)):
            for model in self.nodes(dtype, zero_point):
                self.write("m.tflite", write_tflite(model))
                report = json.loads(self.ctl("import", "m.tflite", "-o", f"out{count}", "--json", code=0).out)
                data = self.dir / f"out{count}/data"
                source = next(path for path in data.glob("*_tensor_x.npy"))
                self.write("in.bin", numpy.load(source).tobytes())
                done = subprocess.run([program, "m.tflite", "in.bin", "out.bin"], cwd=self.dir, timeout=60,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, (model.nodes, done.stdout, done.stderr))
                expected = numpy.load(data / f"{report['nodes'][0]['job']}.golden.npy").tobytes()
                self.assertEqual((self.dir / "out.bin").read_bytes(), expected, (dtype, model.nodes))
                count += 1
        for i in range(count):
            self.ctl("batch", f"out{i}", "--keep", "none", code=0)
        print(f"Arm NN: {count} nodes give the same result")


if __name__ == "__main__":
    main()
