# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of mli.move(): kinds of arrays, and what is refused."""
import array
import ctypes
import gc
import os
import sys
import tempfile
import unittest
import weakref

import numpy as np

import mli

SQUARE = np.arange(16, dtype=np.int8).reshape(4, 4)


class Interface:
    """An array with __array_interface__ only."""

    def __init__(self, array, **members):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **members}


class DLPack:
    """An array with __dlpack__ only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


class BFloat16(DLPack):
    """16-bit words that say that they are bfloat16."""

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype = ctypes.c_void_p
        get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        code = get_pointer(capsule, b"dltensor") + 8 + 4 + 4 + 4
        ctypes.c_uint8.from_address(code).value = 4
        return capsule


class Kinds(unittest.TestCase):
    def moved(self, src, expected, **arguments):
        result = mli.move(src, **arguments)
        np.testing.assert_array_equal(result, expected, strict=False)
        return result

    def test_buffers(self):
        self.moved(b"abcdef", np.frombuffer(b"bdf", np.uint8), slice=np.s_[1::2])
        self.moved(array.array("f", [1, 2, 3]), [0, 1, 2, 3, 0], pad=1)
        self.moved(memoryview(SQUARE), SQUARE.T, perm=(1, 0))
        self.moved(bytearray(b"\1\2"), [1, 2])
        self.moved((ctypes.c_int16 * 3)(1, 2, 3), [1, 3], step=2)
        with tempfile.TemporaryFile() as file:
            file.write(bytes(64))
            file.flush()
            self.moved(np.memmap(file, np.uint8, "r"), np.zeros(64))

    def test_interface(self):
        src = SQUARE[::2, 1::2]
        self.moved(Interface(src), src)
        self.moved(Interface(SQUARE, strides=None), SQUARE)
        out = np.zeros((2, 2), np.int8)
        mli.move(src, out=Interface(out))
        np.testing.assert_array_equal(out, src)

    def test_bad_interfaces(self):
        for members in ({"shape": None}, {"shape": (4, "4")}, {"typestr": 3}, {"typestr": "|O8"},
                        {"data": None}, {"data": (1,)}, {"data": ("x", False)}, {"strides": (1,)},
                        {"shape": (-1, 4), "strides": None}, {"shape": (1,) * 9}):
            with self.subTest(members), self.assertRaises((mli.Error, TypeError, ValueError)):
                mli.move(Interface(SQUARE, **members))

    def test_dlpack(self):
        result = self.moved(DLPack(SQUARE[:, ::2]), SQUARE[:, ::2])
        self.assertEqual(result.dtype, np.int8)
        self.moved(DLPack(np.arange(6.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3).T, perm=(1, 0))
        out = np.zeros((4, 4), np.int8)
        mli.move(SQUARE, out=DLPack(out))
        np.testing.assert_array_equal(out, SQUARE)

    def test_bfloat16(self):
        words = np.arange(6, dtype=np.uint16).reshape(2, 3)
        result = mli.move(BFloat16(words), perm=(1, 0))
        self.assertEqual(result.itemsize, 2)
        np.testing.assert_array_equal(result.view(np.uint16), words.T)

    def test_dlpack_tensors_are_released(self):
        owner = np.zeros(4, np.int8)
        references = sys.getrefcount(owner)
        for _ in range(10):
            mli.move(DLPack(owner))
        gc.collect()
        self.assertEqual(sys.getrefcount(owner), references)

    def test_sources_die_after_the_call(self):
        src = SQUARE.copy()
        died = weakref.ref(src)
        plan = mli.Plan(src, perm=(1, 0))
        del src
        np.testing.assert_array_equal(plan.run(), SQUARE.T)
        del plan
        self.assertIsNone(died())

    def test_results_of_scalars_and_empty_arrays(self):
        self.moved(np.array(7, np.int16), np.array(7))
        self.moved(np.zeros((3, 0), np.int8), np.zeros((0, 3), np.int8), perm=(1, 0))
        self.moved(np.zeros((0,), np.int8), np.zeros(4), pad=2)
        self.moved(SQUARE, SQUARE[2:2], slice=np.s_[2:2])


class Slices(unittest.TestCase):
    def test_texts(self):
        for text, index in (("1:3, ::2", np.s_[1:3, ::2]), ("..., -1", np.s_[..., -1]),
                            ("::2", np.s_[::2]), ("-3:", np.s_[-3:]), ("2", np.s_[2])):
            np.testing.assert_array_equal(mli.move(SQUARE, slice=text), SQUARE[index])

    def test_bad_texts(self):
        for text in ("", "a", "1:2:3:4", "1,,2", "::0", "::-1", "9", "1,2,3"):
            with self.subTest(text), self.assertRaises(mli.Error):
                mli.move(SQUARE, slice=text)


class Refusals(unittest.TestCase):
    """Each refusal names the argument, and writes nothing."""

    def refused(self, error, words, *args, **kwargs):
        with self.assertRaises(error) as caught:
            mli.move(*args, **kwargs)
        for word in words.split("|"):
            self.assertIn(word, str(caught.exception))
        return caught.exception

    def test_numbers(self):
        for words, arguments in (
                ("pad: -1 given", {"pad": -1}), ("pad[1]: -2 given", {"pad": ((0, 0), (-2, 0))}),
                ("pad: |2", {"pad": ((1, 1), (1, 1), (1, 1))}),
                ("step: 0 given", {"step": 0}), ("step: |2 integers", {"step": (1,)}),
                ("slice[1]: 4 given; -4 to 3", {"slice": (0, 4)}),
                ("slice[0]: -1 given; steps", {"slice": np.s_[::-1]}),
                ("slice: 3 given", {"slice": (0, 0, 0)}),
                ("slice: ", {"slice": (..., ...)}),
                ("perm: |2 dimensions", {"perm": (0,)}), ("perm[1]: 2 given", {"perm": (0, 2)}),
                ("perm[1]: 0 given", {"perm": (0, -2)}),
                ("channels: 0 given; 1 to 16", {"channels": 0}),
                ("at: ", {"at": (0, 0)}), ("pad: ", {"pad": 2**70}), ("step: ", {"step": 2**63})):
            with self.subTest(arguments):
                self.refused(mli.Error, words, SQUARE, **arguments)

    def test_types(self):
        for words, arguments in (
                ("pad: ", {"pad": "1"}), ("pad: ", {"pad": 1.0}), ("pad[0]: ", {"pad": (1, "x")}),
                ("slice[0]: ", {"slice": 1.5}), ("slice[0]: ", {"slice": True}),
                ("slice[1]: ", {"slice": (0, None)}), ("step: ", {"step": "2"}),
                ("perm: ", {"perm": 1}), ("perm[0]: ", {"perm": ("a", "b")}),
                ("channels: ", {"channels": "x"}), ("unexpected keyword", {"colour": 1}),
                ("out: an array is required", {"out": 3})):
            with self.subTest(arguments):
                self.refused((TypeError, mli.Error), words, SQUARE, **arguments)
        self.refused(TypeError, "src: an array is required", [1, 2])
        self.refused(TypeError, "needs the argument src")
        self.refused(TypeError, "1 positional argument", SQUARE, SQUARE)

    def test_elements(self):
        self.refused(mli.Error, "Python objects", np.array([object()]))
        self.refused(mli.Error, "Python objects", np.zeros(2, [("a", "i4"), ("b", "O")]))
        self.refused(mli.Error, "strides must not be negative", SQUARE[::-1])
        self.refused(mli.Error, "at most 8 dimensions", np.zeros((1,) * 9, np.int8))
        named = np.zeros(2, [("One", "i4"), ("Other", "i2")])
        self.assertEqual(mli.move(named).dtype, named.dtype)

    def test_outputs(self):
        out = np.full((4, 4), 9, np.int8)
        readonly = out.copy()
        readonly.flags.writeable = False
        for words, arguments in (
                ("writable", {"out": readonly}), ("writable", {"out": bytes(16)}),
                ("int16') given; int8 is required", {"out": np.zeros((4, 4), np.int16)}),
                ("uint8') given; int8 is required", {"out": np.zeros((4, 4), np.uint8)}),
                ("the shape (4, 4) is required", {"out": out[:3]}),
                ("the shape (4, 4) is required", {"out": out.reshape(16)}),
                ("have room for (4, 4)", {"out": out, "at": (0, 1)}),
                ("2 integers", {"out": out, "at": (0,)}), ("at: ", {"out": out, "at": (-1, 0)})):
            with self.subTest(words):
                self.refused(mli.Error, words, SQUARE, **arguments)
        np.testing.assert_array_equal(out, np.full((4, 4), 9))

    def test_overlaps(self):
        memory = np.arange(64, dtype=np.int8)
        before = memory.copy()
        square = memory[:16].reshape(4, 4)
        self.refused(mli.Error, "overlap", square, out=square)
        self.refused(mli.Error, "overlap", square, out=memory[1:17].reshape(4, 4), perm=(1, 0))
        repeated = np.lib.stride_tricks.as_strided(memory, (4, 4), (1, 1))
        self.refused(mli.Error, "overlap", SQUARE, out=repeated)
        zero = np.lib.stride_tricks.as_strided(memory, (4, 4), (4, 0))
        self.refused(mli.Error, "overlap", SQUARE, out=zero)
        wide = memory[:32].view(np.int64)
        self.refused(mli.Error, "overlap", np.broadcast_to(wide[:1], (4,)), out=wide)
        np.testing.assert_array_equal(memory, before)
        mli.move(memory[0:32:2], out=memory[1:33:2])  # interleaved, but no byte in common
        np.testing.assert_array_equal(memory[1:33:2], before[0:32:2])

    def test_attributes(self):
        error = self.refused(mli.Error, "slice[1]", SQUARE, slice=(0, 7))
        self.assertEqual((error.status, error.field, error.given, error.allowed),
                         ("BAD_FUNC_CFG", "slice[1]", 7, "-4 to 3 are allowed"))
        self.assertIsInstance(error, ValueError)

    def test_a_sequence_that_changes_the_source(self):
        class Evil:
            def __len__(self):
                return 2

            def __getitem__(self, index):
                if index > 1:
                    raise IndexError
                memory.clear()
                return (0, 0)
        memory = bytearray(16)
        with self.assertRaises(BufferError):  # the source is locked while it is read
            mli.move(memory, pad=Evil())


class Leaks(unittest.TestCase):
    def resident(self):
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    @unittest.skipIf("MLI_TEST_SANITIZER" in os.environ, "a sanitizer keeps freed memory")
    def test_calls(self):
        def good():
            mli.move(SQUARE, pad=1, slice=np.s_[1:3], perm=(1, 0))
            mli.move(Interface(SQUARE))
            mli.Plan(SQUARE).run()

        def bad():
            for arguments in ({"pad": -1}, {"slice": "x"}, {"out": SQUARE}, {"perm": (0, 3)}):
                with self.assertRaises(mli.Error):
                    mli.move(SQUARE, **arguments)
        for call, count in ((good, 20_000), (bad, 2_000)):
            for _ in range(500):
                call()
            before = self.resident()
            for _ in range(count):
                call()
            self.assertLess(self.resident() - before, 1 << 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
