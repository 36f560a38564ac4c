# SPDX-License-Identifier: BSD-3-Clause
"""Each DLPack tensor is released exactly once and while no exception is pending, even if the call was refused."""
import ctypes
import os
import unittest

import numpy as np

import mli
import suite


class Managed(ctypes.Structure):
    """DLManagedTensor: https://dmlc.github.io/dlpack/latest/c_api.html"""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int * 2), ("rank", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # a capsule that dies must not be an object again
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, Destructor]
is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.restype, is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]


class Tensor:
    """A DLPack tensor of four numbers. Its deleter runs Python code, which fails if mli calls it
    while an exception is set."""

    def __init__(self, bits=8, shape=(4,), strides=None, device=1):
        self.events = []
        self.memory = np.arange(4, dtype=np.int8)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self.deleter = Deleter(lambda _: self.release())
        self.destructor = Destructor(self.destroy)
        self.managed = Managed(
            self.memory.ctypes.data, (device, 0), len(shape), 0, bits, 1, ctypes.addressof(self.shape),
            ctypes.addressof(self.strides) if strides else None, 0, None, ctypes.cast(self.deleter, ctypes.c_void_p))

    def release(self):
        self.events.append(sum([1, 2, 3]))
        self.events.append("released")

    def destroy(self, capsule):
        if is_valid(capsule, b"dltensor"):  # not taken
            self.release()

    def __dlpack__(self):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", self.destructor)


class Releases(unittest.TestCase):
    def test_after_refusals(self):
        memory = np.zeros(4, np.int8)
        calls = {
            "int4": (Tensor(4), lambda t: mli.move(t)),
            "perm": (Tensor(), lambda t: mli.move(t, perm=(3,))),
            "out": (Tensor(), lambda t: mli.move(t, out=np.zeros(3, np.int8))),
            "strides": (Tensor(strides=(-1,)), lambda t: mli.move(t)),
            "9 dimensions": (Tensor(shape=(1,) * 9), lambda t: mli.move(t)),
            "device": (Tensor(device=2), lambda t: mli.move(t)),
            "check": (Tensor(4), lambda t: mli.check(t)),
            "Plan": (Tensor(4), lambda t: mli.Plan(t)),
            "as out": (Tensor(4), lambda t: mli.move(memory, out=t)),
        }
        for name, (tensor, call) in calls.items():
            with self.subTest(name):
                with self.assertRaises(mli.Error):
                    call(tensor)
                self.assertEqual(tensor.events, [6, "released"])

    def test_after_moves(self):
        tensor = Tensor()
        self.assertEqual(mli.move(tensor, out=np.zeros(4, np.int8)).tolist(), [0, 1, 2, 3])
        self.assertEqual(tensor.events, [6, "released"])


class Once(unittest.TestCase):
    """mli asks an object for its DLPack tensor only once, because the next answer may be different."""

    def calls(self, arguments):
        """Returns calls that take an object as an array of shape (2, 2), by name."""
        yield "move", mli.move
        yield "perm", lambda x: mli.move(x, perm=(1, 0))
        yield "permute", lambda x: mli.permute(x, (1, 0))
        yield "check", mli.check
        yield "plan", lambda x: mli.Plan(x).run()
        yield "concatenate", lambda x: mli.concatenate([x])
        yield "refused type", lambda x: mli.move(x, out=np.zeros((2, 2), np.float64))
        if arguments == "programs":
            yield "explain", lambda x: str(mli.explain(x))

    def test_capsules(self):
        class Single:
            """Has one capsule, which is of no use after a consumer has taken it."""

            def __init__(self):
                self.tensor = Tensor(shape=(2, 2))
                self.capsule = self.tensor.__dlpack__()

            def __dlpack__(self):
                return self.capsule

        for name, call in self.calls("programs" if os.environ.get("MLICTL") else ""):
            with self.subTest(name):
                single = Single()
                try:
                    call(single)
                except mli.Error as error:
                    self.assertEqual((name, error.status), ("refused type", "TYPE_MISMATCH"))
                self.assertEqual(single.tensor.events, [6, "released"])

    def test_interfaces_that_change(self):
        """Reads an array of a larger type and then one of a smaller type: nothing is written outside of the result."""
        memory = np.arange(1 << 20, dtype=np.uint8)

        class Changing:
            reads = 0

            @property
            def __array_interface__(self):
                self.reads += 1
                return {"version": 3, "data": (memory.ctypes.data, False), "shape": (2, 2),
                        "typestr": "|V65536" if self.reads == 1 else "|i1"}

        for name, call in self.calls(""):
            with self.subTest(name):
                changing = Changing()
                try:
                    call(changing)
                except mli.Error as error:
                    self.assertEqual((name, error.status), ("refused type", "TYPE_MISMATCH"))
                self.assertEqual(changing.reads, 1)

    def test_an_array_that_lies_about_its_type(self):
        class Liar(np.ndarray):
            @property
            def dtype(self):
                return np.dtype(np.int8)

        result = mli.move(np.arange(1000.).view(Liar))
        self.assertEqual(result.dtype, np.float64)
        np.testing.assert_array_equal(result, np.arange(1000.))


if __name__ == "__main__":
    suite.main()
