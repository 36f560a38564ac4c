#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tiny.tflite and tiny.onnx: a small quantised network of operators that move data and one convolution.

    make_models.py DIRECTORY [--weights conv1.npy]

The weights (5, 5, 3, 32 in HWCN order, int8) may come from a .npy file; by default they are consecutive numbers.
"""
import argparse
import pathlib

import numpy

from model_files import Model, Node, Tensor, constant, write_onnx, write_tflite

ZERO = -128  # zero point of the activations, whose values begin at 0
ACTIVATION = {"scale": [0.0235], "zero_point": [ZERO]}


def weights_of(path: str) -> numpy.ndarray:
    if path:
        return numpy.load(path).astype(numpy.int8)
    return (numpy.arange(5 * 5 * 3 * 32) % 251 - 125).astype(numpy.int8).reshape(5, 5, 3, 32)


def act(name: str, *shape: int) -> Tensor:
    return Tensor(name, shape, "int8", **ACTIVATION)


def tflite(weights: numpy.ndarray) -> Model:
    """A network in NHWC: pad, convolution, two branches, concatenation, space to depth, flatten."""
    channels = weights.shape[3]
    per_axis = {"scale": [0.001 * (1 + i % 7) for i in range(channels)], "zero_point": [0] * channels}
    tensors = [
        act("image", 1, 32, 32, 3), act("padded", 1, 36, 36, 3), act("conv1", 1, 32, 32, channels),
        constant("conv1_weights", weights, "int8", axis=3, **per_axis),
        Tensor("conv1_nhwc", (channels, 5, 5, 3), "int8", axis=0, **per_axis),
        constant("weights_perm", [3, 0, 1, 2], "int32"), constant("paddings", [[0, 0], [2, 2], [2, 2], [0, 0]], "int32"),
        constant("left_begin", [0, 0, 0, 0], "int32"), constant("left_size", [1, 32, 16, channels], "int32"),
        constant("even_end", [1, 32, 32, channels], "int32"), constant("even_step", [1, 1, 2, 1], "int32"),
        act("left", 1, 32, 16, channels), act("even", 1, 32, 16, channels), act("both", 1, 32, 16, 2 * channels),
        act("blocks", 1, 16, 8, 8 * channels), constant("nchw", [0, 3, 1, 2], "int32"),
        act("planes", 1, 8 * channels, 16, 8), act("flat", 1, 8 * channels * 128),
    ]
    nodes = [
        Node("TRANSPOSE", ["conv1_weights", "weights_perm"], ["conv1_nhwc"]),
        Node("PAD", ["image", "paddings"], ["padded"]),
        Node("CONV_2D", ["padded", "conv1_nhwc"], ["conv1"]),
        Node("SLICE", ["conv1", "left_begin", "left_size"], ["left"]),
        Node("STRIDED_SLICE", ["conv1", "left_begin", "even_end", "even_step"], ["even"]),
        Node("CONCATENATION", ["left", "even"], ["both"], {"axis": 3}),
        Node("SPACE_TO_DEPTH", ["both"], ["blocks"], {"block_size": 2}),
        Node("TRANSPOSE", ["blocks", "nchw"], ["planes"]),
        Node("RESHAPE", ["planes"], ["flat"]),
    ]
    return Model(tensors, nodes, ["image"], ["flat"])


def onnx(weights: numpy.ndarray) -> Model:
    """A similar network in NCHW: the batch size is open, and an int64 constant of rank 6 is transposed."""
    channels = weights.shape[3]
    perm = [3, 2, 0, 1]
    tensors = [
        Tensor("image", ("batch", 3, 32, 32), "float32"), Tensor("padded", ("batch", 3, 36, 36)),
        constant("pads", [0, 0, 2, 2, 0, 0, 2, 2], "int64"), constant("conv1_weights", weights, "int8"),
        constant("conv1_scale", [0.001 * (1 + i % 7) for i in range(channels)], "float32"),
        constant("conv1_zero", [0] * channels, "int8"), Tensor("conv1_real", weights.shape),
        Tensor("conv1_kernel", tuple(weights.shape[i] for i in perm)), Tensor("conv1", ("batch", channels, 32, 32)),
        Tensor("relu", ("batch", channels, 32, 32)),
        constant("starts", [0, 1], "int64"), constant("ends", [32, 2**31 - 1], "int64"),
        constant("axes", [2, -1], "int64"), constant("steps", [1, 2], "int64"),
        Tensor("odd", ("batch", channels, 32, 16)), constant("parts", [12, 20], "int64"),
        Tensor("low", ("batch", 12, 32, 16)), Tensor("high", ("batch", channels - 12, 32, 16)),
        Tensor("swapped", ("batch", channels, 32, 16)), Tensor("large", ("batch", channels // 4, 64, 32)),
        constant("grid", numpy.arange(2 * 3 * 4 * 5 * 2).reshape(1, 2, 3, 4, 5, 2), "int64"),
        Tensor("grid_turned", (1, 2, 5, 3, 4, 2), "int64"),
    ]
    nodes = [
        Node("DequantizeLinear", ["conv1_weights", "conv1_scale", "conv1_zero"], ["conv1_real"], {"axis": 3}),
        Node("Transpose", ["conv1_real"], ["conv1_kernel"], {"perm": perm}, "kernel"),
        Node("Pad", ["image", "pads"], ["padded"], {}, "border"),
        Node("Conv", ["padded", "conv1_kernel"], ["conv1"], {}, "conv1"),
        Node("Relu", ["conv1"], ["relu"]),
        Node("Slice", ["relu", "starts", "ends", "axes", "steps"], ["odd"], {}, "odd_columns"),
        Node("Split", ["odd", "parts"], ["low", "high"], {"axis": 1}, "parts"),
        Node("Concat", ["high", "low"], ["swapped"], {"axis": 1}, "swap"),
        Node("DepthToSpace", ["swapped"], ["large"], {"blocksize": 2, "mode": "CRD"}, "enlarge"),
        Node("Transpose", ["grid"], ["grid_turned"], {"perm": [0, 1, 4, 2, 3, 5]}, "grid"),
    ]
    return Model(tensors, nodes, ["image"], ["large", "grid_turned"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--weights", default="")
    options = parser.parse_args()
    weights = weights_of(options.weights)
    options.directory.mkdir(parents=True, exist_ok=True)
    (options.directory / "tiny.tflite").write_bytes(write_tflite(tflite(weights)))
    (options.directory / "tiny.onnx").write_bytes(write_onnx(onnx(weights)))


if __name__ == "__main__":
    main()
