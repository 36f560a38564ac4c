# SPDX-License-Identifier: BSD-3-Clause
"""Tests the arguments of mli.move(): kinds of arrays, and refusals."""
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
    """An array of 16-bit words whose dtype says that they are bfloat16."""

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

    def test_numpy_integers_and_arrays(self):
        self.moved(SQUARE, np.pad(SQUARE, [(1, 0), (0, 2)]), pad=np.array([[1, 0], [0, 2]]))
        self.moved(SQUARE, np.pad(SQUARE, [(1, 2), (1, 2)]), pad=np.array([1, 2]))
        self.moved(SQUARE, np.pad(SQUARE, 1), pad=np.array(1))
        self.moved(SQUARE, np.pad(SQUARE, 2), pad=np.uint8(2))
        self.moved(SQUARE, SQUARE[::2, ::3], step=np.array([2, 3]))
        self.moved(SQUARE, SQUARE[::2, ::2], step=np.array(2))
        self.moved(SQUARE, SQUARE.T, perm=np.array([1, 0]))
        self.moved(SQUARE, SQUARE.T, perm=(-1, -2))
        self.moved(SQUARE, SQUARE[1], slice=np.int16(1))
        self.moved(SQUARE, SQUARE[1], slice=np.array(1))

    def test_pointers(self):
        result = mli.move((ctypes.c_void_p * 2)(1, 2))
        self.assertEqual(result.tobytes(), np.array([1, 2], np.uintp).tobytes())

    def test_interfaces_of_bytes(self):
        for data in (bytes(range(16)), bytearray(range(16))):
            self.moved(Interface(SQUARE, data=data), SQUARE)
            self.moved(Interface(SQUARE[:2], data=data, offset=8), SQUARE[2:])
        out = bytearray(16)
        mli.move(SQUARE, out=Interface(SQUARE, data=out))
        self.assertEqual(out, bytes(range(16)))
        for members in ({"data": bytes(15)}, {"data": bytes(16), "offset": 1}, {"data": bytes(16), "offset": -1},
                        {"data": bytes(16), "strides": (5, 1)}, {"data": bytes(16), "strides": (-4, 1)},
                        {"data": bytes(16), "strides": (2**62, 2**62)}, {"data": bytes(16), "shape": (2**62, 4)}):
            with self.subTest(members), self.assertRaises(mli.Error):
                mli.move(Interface(SQUARE, **members))
        self.moved(Interface(SQUARE, data=b"", shape=(0, 4)), SQUARE[:0])
        with self.assertRaises(mli.Error):
            mli.move(SQUARE, out=Interface(SQUARE, data=bytes(16)))

    def test_types_of_interfaces(self):
        fields = [("x", "<i2"), ("y", "<i2")]
        for typestr, descr, dtype in (("i4", None, "i4"), ("<i4,<i2", None, "<i4,<i2"), ("|V4", fields, fields),
                                      ("|V4", None, "V4"), ("<M8[s]", None, "M8[s]")):
            size = np.dtype(dtype).itemsize
            members = {"descr": descr} if descr else {}
            src = Interface(np.arange(size, dtype=np.uint8), shape=(1,), typestr=typestr, **members)
            with self.subTest(typestr, descr=descr):
                result = mli.move(src)
                self.assertEqual((result.dtype, result.tobytes()), (np.dtype(dtype), bytes(range(size))))
        for typestr in ("<i3", "|t1", 5, None, int):
            with self.subTest(typestr), self.assertRaisesRegex(mli.Error, "the member typestr"):
                mli.move(Interface(SQUARE, typestr=typestr))

    def test_null_addresses(self):
        for shape, arguments in (((4,), {}), ((4,), {"slice": "1:"}), ((2, 2), {"pad": 1})):
            with self.assertRaisesRegex(mli.Error, "src: the address of the elements is null"):
                mli.move(Interface(SQUARE, data=(0, False), shape=shape), **arguments)
        self.assertEqual(mli.move(Interface(SQUARE, data=(0, False), shape=(0,))).shape, (0,))

    def test_numpy_scalars(self):
        for value in (np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.bytes_(b"ab"), np.str_("ab"),
                      np.float32(3), np.bool_(True), np.array((1, 2.0), "i4,f8")[()]):
            with self.subTest(value):
                result = mli.move(value)
                self.assertEqual((result.dtype, result.shape, result[()]), (value.dtype, (), value))
                with self.assertRaisesRegex(mli.Error, "out: a writable array"):
                    mli.move(result, out=value)

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


class Structure(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int8), ("y", ctypes.c_float)]


class Pair(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Packed(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("x", ctypes.c_int8), ("y", ctypes.c_float)]


class Bits(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int, 3), ("y", ctypes.c_int, 7)]


class Union(ctypes.Union):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_float)]


class Subclass(np.ndarray):
    """A buffer that mli reads with the buffer protocol."""


class Arrays(unittest.TestCase):
    """Plain NumPy arrays, which mli reads without the buffer protocol, and buffers of a subclass of NumPy's array."""

    def outcome(self, src, **arguments):
        try:
            result = mli.move(src, **arguments)
        except mli.Error as error:
            return str(error)
        return result.dtype, result.shape, result.tobytes()

    def assert_as_buffer(self, array, **arguments):
        buffer = array.view(Subclass)
        self.assertEqual(self.outcome(array, **arguments), self.outcome(buffer, **arguments))
        out = np.ones(array.shape, array.dtype)
        self.assertEqual(self.outcome(array, out=out), self.outcome(buffer, out=out))
        self.assertEqual(self.outcome(out, out=array), self.outcome(out, out=buffer))

    def test_types_and_layouts(self):
        layouts = (lambda a: a, lambda a: a.reshape(3, 4), lambda a: a.reshape(3, 4).T, lambda a: a[3:3],
                   lambda a: a[5], lambda a: a[::5], lambda a: a[::-1], lambda a: a.reshape((1, 2) * 2 + (3, 1, 1, 1)),
                   lambda a: a.reshape((1,) * 9 + (12,)), lambda a: np.broadcast_to(a[:1], (4, 1)))
        for code in np.typecodes["All"].replace("O", "") + "?":
            dtype = np.dtype({"S": "S3", "U": "U3", "V": "V3", "M": "M8[s]", "m": "m8[s]"}.get(code, code))
            count = 12 * dtype.itemsize
            flat = np.frombuffer(bytearray(k % 251 for k in range(count)), dtype)
            for number, layout in enumerate(layouts):
                for array in (layout(flat), layout(flat.newbyteorder())):
                    with self.subTest(dtype=dtype, layout=number):
                        self.assert_as_buffer(np.asarray(array))
            with self.subTest(dtype=dtype):
                self.assert_as_buffer(flat.reshape(4, 3), perm=(1, 0), pad=1)

    def test_arrays_that_must_not_be_written(self):
        fixed = np.zeros(3, np.int8)
        fixed.flags.writeable = False
        warning = np.broadcast_arrays(np.zeros(1, np.int8), np.zeros(3, np.int8))[0]
        for out in (fixed, warning):
            with self.assertRaisesRegex(mli.Error, "out: a writable array is required"):
                mli.move(np.ones(3, np.int8), out=out)

    def test_arrays_that_change_in_place(self):
        array = np.arange(12, dtype=np.int16)
        for shape in ((3, 4), (12,), (2, 6)):
            array.shape = shape
            array.dtype = np.int16 if array.dtype == np.uint16 else np.uint16
            result = mli.move(array)
            self.assertEqual((result.shape, result.dtype), (shape, array.dtype))

    def test_references(self):
        src, out = np.zeros((4, 4)), np.zeros((4, 4))
        before = sys.getrefcount(src), sys.getrefcount(out), sys.getrefcount(src.dtype)
        for _ in range(100):
            mli.move(src, out=out)
            mli.move(src)
            self.outcome(src, out=out[:2])
        self.assertEqual((sys.getrefcount(src), sys.getrefcount(out), sys.getrefcount(src.dtype)), before)


class Formats(unittest.TestCase):
    """Buffers whose formats NumPy reads in another way, or does not read."""

    def test_bytes_of_all_formats(self):
        for kind in (Structure, Pair, Packed, Bits, Union, ctypes.c_char, ctypes.c_wchar, ctypes.c_longdouble):
            memory = bytes(range(1, 1 + 6 * ctypes.sizeof(kind)))
            flat = (kind * 6).from_buffer_copy(memory)
            for src in (flat, memoryview(flat), ((kind * 2) * 3).from_buffer_copy(memory)):
                with self.subTest(kind=kind, src=src):
                    result = mli.move(src)
                    self.assertEqual(result.tobytes(), memory)
                    self.assertIs(mli.move(src, out=result), result)
                    self.assertIs(mli.move(result, out=src), src)

    def test_broadcast_sources(self):
        """A repeated dimension is written by copies, each of which doubles the written part, not by one move for each
        index."""
        for shape, src in (((1000, 1000), np.int8(1)), ((300, 200, 3), np.float32([1, 2, 3])),
                           ((7, 300, 5), np.arange(35.).reshape(7, 1, 5)), ((2,) * 8, np.array([b"abc", b"xyz"], "V3"))):
            wide = np.broadcast_to(src, shape)
            for perm in (None, tuple(reversed(range(wide.ndim)))):
                plan = mli.Plan(wide, perm=perm)
                with self.subTest(shape, perm=perm):
                    self.assertLess(plan.moves, 30)
                    np.testing.assert_array_equal(plan.run(), wide if perm is None else wide.transpose(perm))
                    np.testing.assert_array_equal(plan.start().result(), plan.out)

    def test_strides_beyond_all_addresses(self):
        src = Interface(np.zeros(4, np.uint8), shape=(3, 3), strides=(2**62, 2**62))
        with self.assertRaisesRegex(mli.Error, "the strides must be below"):
            mli.move(src)

    def test_characters(self):
        chars = (ctypes.c_char * 2)()
        mli.move(memoryview(b"ab").cast("c"), out=chars)
        self.assertEqual(bytes(chars), b"ab")
        mli.move(np.array([b"x", b"y"]), out=chars)
        self.assertEqual(bytes(chars), b"xy")


    def test_formats_that_numpy_does_not_have(self):
        words = memoryview(bytes(range(16)))
        long_doubles = (ctypes.c_longdouble * 2)(1, 2)
        for src, dtype in ((words.cast("n"), np.intp), (words.cast("@N"), np.uintp), (long_doubles, np.longdouble)):
            with self.subTest(dtype):
                result = mli.move(src)
                self.assertEqual(result.dtype, dtype)
                self.assertEqual(result.tobytes(), bytes(src))


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
                ("pad: |the rank of the source is 2", {"pad": ((1, 1), (1, 1), (1, 1))}),
                ("the shape of the result must be below 2^63 bytes", {"pad": 2**31}),
                ("the shape of the result must be below 2^63 bytes", {"pad": 2**50}),
                ("step: 0 given", {"step": 0}), ("step: |a sequence of length 2", {"step": (1,)}),
                ("slice[1]: 4 given; -4 to 3", {"slice": (0, 4)}),
                ("slice[0]: -1 given; steps", {"slice": np.s_[::-1]}),
                ("slice: 3 given", {"slice": (0, 0, 0)}),
                ("slice: 2 given; at most one ellipsis", {"slice": (..., ...)}),
                ("perm: |a sequence of length 2", {"perm": (0,)}), ("perm[1]: 2 given", {"perm": (0, 2)}),
                ("perm[1]: -2 given; each", {"perm": (0, -2)}),
                ("perm[0]: -3 given; -2 to 1", {"perm": (-3, 0)}),
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
                ("out: an array that can be written|it receives the result", {"out": 3}),
                ("out: an array that can be written|it receives the result", {"out": [1]}),
                ("slice[0]: |numpy.newaxis", {"slice": np.s_[None, :]}),
                ("slice[0]: ", {"slice": (None,) * 9})):
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
        dated = np.zeros(2, [("a", "M8[s]"), ("b", "O")])  # NumPy exports it only by its interface
        self.refused(mli.Error, "src: |Python objects", dated)
        self.refused(mli.Error, "src: |Python objects", dated, slice=np.s_[:0])
        self.refused(mli.Error, "out: |Python objects", np.zeros(2, "V16"), out=dated)
        self.assertEqual(mli.move(np.zeros(2, [("a", "M8[s]")])).dtype.names, ("a",))
        named = np.zeros(2, [("One", "i4"), ("Other", "i2")])
        self.assertEqual(mli.move(named).dtype, named.dtype)

    def test_types_of_out(self):
        """Two types are equal if NumPy's types are equal: units and fields matter, but the names of equal C types do
        not."""
        fields = [("a", "i4"), ("b", "i4")]
        for src, out in (("M8[s]", "M8[ms]"), ("m8[s]", "f8"), ("M8[s]", ">M8[s]"), (">i4", "<i4"),
                         (fields, [("x", "f4"), ("y", "f4")]), ("q", "Q"), ("f4", "i4")):
            with self.subTest(src=src, out=out), self.assertRaises(mli.Error) as caught:
                mli.move(np.zeros(2, src), out=np.zeros(2, out))
            self.assertEqual((caught.exception.status, caught.exception.field), ("TYPE_MISMATCH", "out"))
        for src, out in (("l", "q"), ("L", "Q"), ("M8[s]", "M8[s]"), (fields, fields), ("V8", "f8"), ("f8", "V8")):
            with self.subTest(src=src, out=out):
                mli.move(np.zeros(2, src), out=np.zeros(2, out))
        numbers = (ctypes.c_int64 * 2)()
        mli.move(np.array([1, 2]), out=numbers)
        self.assertEqual(list(numbers), [1, 2])
        self.assertEqual(mli.concatenate([np.array([1]), array.array("q", [2])]).tolist(), [1, 2])

    def test_names_of_arrays_in_messages(self):
        out = np.zeros(4, np.int8)
        with self.assertRaisesRegex(TypeError, r"arrays\[1\]: an array is required"):
            mli.concatenate([out, [1]])
        with self.assertRaisesRegex(mli.Error, "out: -1 given"):
            mli.concatenate([out[:2], out[2:]], out=out[::-1])

    def test_exceptions_of_index_pass(self):
        """If __index__ raises an exception, mli passes it on, and does not replace it by a message about the argument.
        """
        class Index:
            def __init__(self, error):
                self.error = error

            def __index__(self):
                raise self.error

        src = np.zeros((3, 4), np.uint8)
        for error in (ValueError("boom"), TypeError("boom"), KeyError("boom")):
            index = Index(error)
            for arguments in ({"slice": slice(index, None)}, {"slice": slice(None, index)},
                              {"slice": slice(None, None, index)}, {"slice": index}, {"pad": index},
                              {"step": index}, {"perm": (index, 0)}, {"channels": index}):
                with self.subTest(arguments, error=error), self.assertRaises(type(error)) as caught:
                    mli.move(src, **arguments)
                self.assertIs(caught.exception, error)
        with self.assertRaisesRegex(mli.Error, "steps from 1 on are allowed"):
            mli.move(src, slice=np.s_[::0])

    def test_exceptions_of_integers(self):
        class Interrupted:
            def __index__(self):
                raise KeyboardInterrupt

        for arguments in ({"pad": Interrupted()}, {"step": Interrupted()}, {"perm": [Interrupted()]},
                          {"slice": (Interrupted(),)}):
            with self.assertRaises(KeyboardInterrupt):
                mli.move(np.zeros(2, np.int8), **arguments)

    def test_outputs(self):
        out = np.full((4, 4), 9, np.int8)
        readonly = out.copy()
        readonly.flags.writeable = False
        for words, arguments in (
                ("writable", {"out": readonly}), ("writable", {"out": bytes(16)}),
                ("int16') given; dtype('int8') is required", {"out": np.zeros((4, 4), np.int16)}),
                ("uint8') given; dtype('int8') is required", {"out": np.zeros((4, 4), np.uint8)}),
                ("dtype('int8') is required", {"out": array.array("B", bytes(16))}),
                ("the shape (4, 4) is required", {"out": out[:3]}),
                ("the shape (4, 4) is required", {"out": out.reshape(16)}),
                ("have room for (4, 4) at the offsets `at`, (0, 1)", {"out": out, "at": (0, 1)}),
                ("a sequence of length 2", {"out": out, "at": (0,)}), ("at: ", {"out": out, "at": (-1, 0)})):
            with self.subTest(words):
                self.refused(mli.Error, words, SQUARE, **arguments)
        np.testing.assert_array_equal(out, np.full((4, 4), 9))

    def test_advice_for_out(self):
        """The message does not advise to copy the array, as the message about a source does: with a copy of `out`, the
        result would be lost."""
        out = np.zeros((4, 4), np.int8)
        for given in (out[::-1], [1], 3):
            with self.assertRaises((mli.Error, TypeError)) as caught:
                mli.move(SQUARE, out=given)
            self.assertNotIn("ascontiguousarray", str(caught.exception))
            self.assertNotIn("asarray", str(caught.exception))
        self.refused(mli.Error, "out: -4 given|leave `out` away and assign", SQUARE, out=out[::-1])
        quantised = mli.QTensor(out, 1)
        self.refused(TypeError, "out: |`tensor.data`", SQUARE, out=quantised)

    def test_offsets(self):
        for at, error in ((1.0, TypeError), ("0,0", TypeError), ((0, 0.5), TypeError), ((0,), mli.Error),
                          (-1, mli.Error), ((0, -1), mli.Error), (2**62, mli.Error)):
            with self.subTest(at):
                self.refused(error, "at", SQUARE, out=np.zeros((9, 9), np.int8), at=at)
        for at in (2, (2, 2), np.int8(2), np.array(2), np.array([2, 2])):
            out = mli.move(SQUARE, out=np.zeros((9, 9), np.int8), at=at)
            np.testing.assert_array_equal(out[2:6, 2:6], SQUARE)
            self.assertEqual(out.sum(), SQUARE.sum())
        whole = mli.move(np.int8(7), out=np.zeros((), np.int8), at=0)
        self.assertEqual(whole, 7)

    def test_axes_of_concatenate(self):
        for axis, error in ((None, TypeError), (1.0, TypeError), ("0", TypeError), (2, mli.Error), (-3, mli.Error)):
            with self.subTest(axis), self.assertRaisesRegex(error, "axis"):
                mli.concatenate([SQUARE, SQUARE], axis=axis)
        with self.assertRaisesRegex(mli.Error, "at least one dimension"):
            mli.concatenate([np.int8(1), np.int8(2)])
        self.assertEqual(mli.concatenate([SQUARE, SQUARE], axis=np.int64(-1)).shape, (4, 8))

    def test_the_reason_of_the_buffer(self):
        view = memoryview(b"abc")
        view.release()
        error = self.refused(mli.Error, "src: |released memoryview", view)
        self.assertEqual(error.status, "BAD_TENSOR")

    def test_overlaps(self):
        memory = np.arange(64, dtype=np.int8)
        before = memory.copy()
        square = memory[:16].reshape(4, 4)
        error = self.refused(mli.Error, "overlap", square, out=square)
        self.assertEqual(error.field, "out")
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
