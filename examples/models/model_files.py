# SPDX-License-Identifier: BSD-3-Clause
"""Writes small ONNX and TFLite models, with NumPy as the only package.

A model is a list of tensors and nodes (class Model); write_onnx() and write_tflite() return the bytes of a file.
"""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

import numpy


@dataclass
class Tensor:
    """A tensor of a model. A tensor with `data` is a constant. `dtype` is the name of a NumPy type, or "bfloat16"."""
    name: str
    shape: tuple
    dtype: str = "float32"
    data: numpy.ndarray | None = None
    scale: list[float] = field(default_factory=list)  # TFLite: quantisation
    zero_point: list[int] = field(default_factory=list)
    axis: int = 0


@dataclass
class Node:
    """A node. `options` has, by name, the attributes of an ONNX node, or the options of a TFLite operator."""
    op: str
    inputs: list[str]
    outputs: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""


@dataclass
class Model:
    tensors: list[Tensor]
    nodes: list[Node]
    inputs: list[str]
    outputs: list[str]
    opset: int = 13

    def tensor(self, name: str) -> Tensor:
        return next(tensor for tensor in self.tensors if tensor.name == name)


def constant(name: str, data: Any, dtype: str | None = None, **quantisation: Any) -> Tensor:
    """Returns a constant tensor with the elements of an array or a list."""
    array = numpy.asarray(data, dtype)
    return Tensor(name, array.shape, dtype or array.dtype.name, array, **quantisation)


def elements(tensor: Tensor) -> bytes:
    """Returns the elements as little-endian bytes, the byte order of ONNX and of TFLite."""
    array = numpy.ascontiguousarray(tensor.data)
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


# ONNX: Protocol Buffers

ONNX_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
              "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def member(number: int, value: Any) -> bytes:
    """Returns the bytes of a field. `value` is an integer, a float, text, or bytes (such as a nested message)."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_tensor(tensor: Tensor, typed: bool = False) -> bytes:
    """Returns the bytes of a TensorProto. With `typed`, it has a list of numbers instead of raw bytes."""
    out = b"".join(member(1, int(n)) for n in tensor.shape) + member(2, ONNX_TYPES[tensor.dtype])
    out += member(8, tensor.name)
    if not typed:
        return out + member(9, elements(tensor))
    flat = numpy.asarray(tensor.data).ravel()
    if tensor.dtype in ("float32", "float64"):
        return out + member(4 if tensor.dtype == "float32" else 10, elements(tensor))
    if tensor.dtype == "float16":
        flat = flat.view(numpy.uint16)
    number = 7 if tensor.dtype == "int64" else 11 if tensor.dtype in ("uint32", "uint64") else 5
    return out + member(number, b"".join(varint(int(n)) for n in flat))


def onnx_value(tensor: Tensor) -> bytes:
    dims = b"".join(member(1, member(2, n) if isinstance(n, str) else member(1, int(n))) for n in tensor.shape)
    kind = member(1, ONNX_TYPES[tensor.dtype]) + member(2, dims)
    return member(1, tensor.name) + member(2, member(1, kind))


def onnx_attribute(name: str, value: Any) -> bytes:
    out = member(1, name)
    if isinstance(value, Tensor):
        return out + member(5, onnx_tensor(value)) + member(20, 4)
    if isinstance(value, (list, tuple)):
        return out + b"".join(member(8, int(n)) for n in value) + member(20, 7)
    if isinstance(value, str):
        return out + member(4, value) + member(20, 3)
    if isinstance(value, float):
        return out + member(2, value) + member(20, 1)
    return out + member(3, int(value)) + member(20, 2)


def write_onnx(model: Model, typed: bool = False) -> bytes:
    """Returns the bytes of an ONNX file. In the shape of a tensor, a name stands for a dimension of unknown size."""
    graph = b""
    for node in model.nodes:
        graph += member(1, b"".join(member(1, name) for name in node.inputs)
                        + b"".join(member(2, name) for name in node.outputs) + member(3, node.name)
                        + member(4, node.op)
                        + b"".join(member(5, onnx_attribute(*item)) for item in node.options.items()))
    graph += member(2, "graph")
    for tensor in model.tensors:
        if tensor.data is not None:
            graph += member(5, onnx_tensor(tensor, typed))
    graph += b"".join(member(11, onnx_value(model.tensor(name))) for name in model.inputs)
    graph += b"".join(member(12, onnx_value(model.tensor(name))) for name in model.outputs)
    for tensor in model.tensors:
        if tensor.data is None and tensor.name not in model.inputs + model.outputs:
            graph += member(13, onnx_value(tensor))
    return member(1, 8) + member(7, graph) + member(8, member(1, "") + member(2, model.opset))


# TFLite: FlatBuffers

TFLITE_TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9,
                "float64": 10, "uint64": 12, "uint32": 15, "uint16": 16, "bfloat16": 18}
# For each operator: its number in BuiltinOperator, the number of its options table in the union
# BuiltinOptions, and the field ids of the options.
TFLITE_OPERATORS: dict[str, tuple[int, int, dict[str, int]]] = {
    "ADD": (0, 11, {}), "CONCATENATION": (2, 10, {"axis": 0, "fused_activation_function": 1}),
    "CONV_2D": (3, 1, {}), "DEPTH_TO_SPACE": (5, 94, {"block_size": 0}), "RESHAPE": (22, 17, {}),
    "SPACE_TO_DEPTH": (26, 19, {"block_size": 0}), "PAD": (34, 22, {}), "TRANSPOSE": (39, 26, {}),
    "SQUEEZE": (43, 30, {}),
    "STRIDED_SLICE": (45, 32, {"begin_mask": 0, "end_mask": 1, "ellipsis_mask": 2, "new_axis_mask": 3,
                               "shrink_axis_mask": 4}),
    "SPLIT": (49, 35, {"num_splits": 0}), "PADV2": (60, 43, {}), "SLICE": (65, 48, {}), "TILE": (69, 51, {}),
    "EXPAND_DIMS": (70, 52, {}), "PACK": (83, 59, {"values_count": 0, "axis": 1}),
    "UNPACK": (88, 64, {"num": 0, "axis": 1}), "MIRROR_PAD": (100, 77, {"mode": 0}),
    "SPLIT_V": (102, 79, {"num_splits": 0}), "REVERSE_V2": (105, 81, {}), "BROADCAST_TO": (130, 99, {})}
BYTE_FIELDS = ("fused_activation_function", "mode")


class FlatBuffer:
    """Writes the root table first, then the tables that it refers to, so that all offsets point forward.

    A table is a dictionary from field ids to values. A value is a pair (type code of the struct module, number), a
    table, bytes (written as a vector that begins at a multiple of 16), a string, or a list of tables or of pairs.
    """

    def __init__(self, root: dict[int, Any], identifier: bytes):
        self.out = bytearray(4) + identifier
        self.patch(0, self.table(root))

    def patch(self, at: int, target: int) -> None:
        struct.pack_into("<I", self.out, at, target - at)

    def align(self, size: int, before: int = 0) -> None:
        while (len(self.out) + before) % size:
            self.out.append(0)

    def table(self, fields: dict[int, Any]) -> int:
        places, size, later = {}, 4, []
        for number, value in fields.items():
            code = value[0] if isinstance(value, tuple) else "I"
            width = struct.calcsize("<" + code)
            size += -size % width
            places[number] = size
            size += width
        entries = [places.get(i, 0) for i in range(max(fields, default=-1) + 1)]
        vtable = struct.pack(f"<{2 + len(entries)}H", 4 + 2 * len(entries), size, *entries)
        self.align(8, len(vtable))
        at = len(self.out) + len(vtable)
        self.out += vtable + struct.pack("<i", len(vtable)) + bytes(size - 4)
        for number, value in fields.items():
            if isinstance(value, tuple):
                struct.pack_into("<" + value[0], self.out, at + places[number], value[1])
            else:
                later.append((at + places[number], value))
        for place, value in later:
            self.patch(place, self.value(value))
        return at

    def value(self, value: Any) -> int:
        if isinstance(value, dict):
            return self.table(value)
        if isinstance(value, (bytes, str)):
            text = value.encode() + b"\0" if isinstance(value, str) else value
            self.align(16, 4)
            self.out += struct.pack("<I", len(text) - isinstance(value, str)) + text
            return len(self.out) - len(text) - 4
        if value and isinstance(value[0], tuple):
            width = struct.calcsize("<" + value[0][0])
            self.align(max(width, 4), 4)
            at = len(self.out)
            self.out += struct.pack("<I", len(value))
            for code, number in value:
                self.out += struct.pack("<" + code, number)
            return at
        self.align(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        places: dict[int, int] = {}  # by id(): a table that is listed several times is written once
        for i, table in enumerate(value):
            if id(table) not in places:
                places[id(table)] = self.table(table)
            self.patch(at + 4 + 4 * i, places[id(table)])
        return at


def ints(values: Any, code: str = "i") -> list[tuple[str, int]]:
    return [(code, n if code in "fd" else int(n)) for n in values]


def tflite_tensor(tensor: Tensor, buffer: int) -> dict[int, Any]:
    table: dict[int, Any] = {0: ints(tensor.shape), 1: ("B", TFLITE_TYPES[tensor.dtype]), 2: ("I", buffer),
                             3: tensor.name}
    if tensor.scale:
        table[4] = {2: ints(tensor.scale, "f"), 3: ints(tensor.zero_point, "q"), 6: ("i", tensor.axis)}
    return table


def tflite_operator(node: Node, code: int, indexes: dict[str, int]) -> dict[int, Any]:
    _, options_type, fields = TFLITE_OPERATORS[node.op]
    options = {fields[name]: ("B" if name in BYTE_FIELDS else "i", value) for name, value in node.options.items()}
    return {0: ("I", code), 1: ints(indexes[name] for name in node.inputs),
            2: ints(indexes[name] for name in node.outputs), 3: ("B", options_type), 4: options}


def write_tflite(model: Model) -> bytes:
    """Returns the bytes of a TFLite file."""
    indexes = {tensor.name: i for i, tensor in enumerate(model.tensors)}
    operators = sorted({node.op for node in model.nodes})
    codes = [{0: ("b", min(TFLITE_OPERATORS[op][0], 127)), 2: ("i", 1), 3: ("i", TFLITE_OPERATORS[op][0])}
             for op in operators]
    buffers: list[dict[int, Any]] = [{}]
    tensors = []
    for tensor in model.tensors:
        if tensor.data is not None:
            buffers.append({0: elements(tensor)})
        tensors.append(tflite_tensor(tensor, len(buffers) - 1 if tensor.data is not None else 0))
    graph = {0: tensors, 1: ints(indexes[name] for name in model.inputs),
             2: ints(indexes[name] for name in model.outputs),
             3: [tflite_operator(node, operators.index(node.op), indexes) for node in model.nodes], 4: "main"}
    root = {0: ("I", 3), 1: codes, 2: [graph], 3: "written by model_files.py", 4: buffers}
    return bytes(FlatBuffer(root, b"TFL3").out)
