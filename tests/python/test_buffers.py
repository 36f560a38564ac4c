# SPDX-License-Identifier: BSD-3-Clause
"""Tests mli.Buffer: its arrays in shared memory stay inside that memory, and cannot have Python objects."""
import asyncio
import os
import unittest

import numpy as np

import mli
import mli.aio
import suite

OBJECTS = (object, [("a", "i4"), ("b", "O")], [("a", [("b", "O")], 2)])


class Buffers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = mli.serve()
        cls.addClassCleanup(server.close)
        cls.client = server.connect()
        cls.addClassCleanup(cls.client.close)

    def setUp(self):
        self.buffer = self.client.buffer((4, 4), np.int8)
        self.buffer.array()[...] = np.arange(16).reshape(4, 4)

    def refused(self, words, *args):
        with self.assertRaises(mli.Error) as caught:
            self.buffer.array(*args)
        for word in words.split("|"):
            self.assertIn(word, str(caught.exception))

    def test_offsets_outside_the_buffer(self):
        for offset in (-1, -16, -4096, -2**20, -2**40, -2**63, -2**70):
            with self.subTest(offset):
                self.refused(f"offset: {offset} given; 0 to 16", (2,), "u1", offset)
        for offset in (17, 2**40, 2**63, 2**70):
            with self.subTest(offset):
                self.refused(f"offset: {offset} given; 0 to 16", (0,), "u1", offset)
        self.refused("shape: (2,) given|2 bytes|has 1", (2,), "u1", 15)
        with self.assertRaisesRegex(TypeError, "offset: an integer is required"):
            self.buffer.array((2,), "u1", 1.0)

    def test_shapes_that_do_not_fit(self):
        for shape in ((17,), (4, 5), (2**62, 4), (2**32, 2**32), 2**70):
            with self.subTest(shape):
                self.refused("shape: |the buffer has 16", shape)
        self.refused("shape[0]: -1 given", -1)
        self.refused("shape[1]: -4 given", (4, -4))
        self.refused("24 bytes", (3,), "f8")
        for shape in (2.5, (1, "2"), "4", [[1]]):
            with self.subTest(shape), self.assertRaises(TypeError):
                self.buffer.array(shape)

    def test_arrays_that_fit(self):
        np.testing.assert_array_equal(self.buffer.array(np.int64(3), "u1", np.int8(13)), [13, 14, 15])
        self.assertEqual(self.buffer.array((), "i2", 14).shape, ())
        self.assertEqual(self.buffer.array((0, 9), "f8", 16).size, 0)
        self.assertEqual(self.buffer.array(np.array([2, 2])).tolist(), [[0, 1], [2, 3]])
        self.assertEqual(self.client.buffer(np.int64(16)).array().shape, (16,))

    def test_objects_are_refused(self):
        fd = os.memfd_create("test")
        self.addCleanup(os.close, fd)
        os.truncate(fd, 4096)
        for dtype in OBJECTS:
            for call in (lambda: self.buffer.array((1,), dtype), lambda: self.client.buffer((2,), dtype),
                         lambda: self.client.register(fd, (2,), dtype)):
                with self.subTest(dtype), self.assertRaises(mli.Error) as caught:
                    call()
                self.assertEqual((caught.exception.status, caught.exception.field), ("NOT_SUPPORTED", "dtype"))

    def test_aio(self):
        async def scenario():
            async with await mli.aio.connect(self.client.path) as client:
                with self.assertRaises(mli.Error):
                    await client.buffer((2,), object)
                buffer = await client.buffer((2,))
                with self.assertRaises(mli.Error):
                    buffer.array(offset=-1)
        asyncio.run(scenario())


if __name__ == "__main__":
    suite.main()
