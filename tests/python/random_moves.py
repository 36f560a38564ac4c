# SPDX-License-Identifier: BSD-3-Clause
"""Makes random moves: arguments of mli.move(), and the result computed by NumPy."""
import random

import numpy as np

DTYPES = ["i1", "u2", "f4", "f8", "c16", "V3", "S5", "M8[s]", "?", "<f2", ">i4"]


class RandomMove:
    """A random source and random arguments. `expected` is NumPy's result."""

    def __init__(self, seed, rank_max=8, elements=2000):
        """`seed` is a sequence of numbers."""
        self.rng = rng = random.Random(repr(tuple(seed)))  # quicker than NumPy's for one number
        self.dtype = np.dtype(rng.choice(DTYPES))
        rank = rng.randrange(rank_max + 1)
        self.shape = self._shape(rank, rng.choice((elements // 20, elements // 4, elements)))
        self.src = self._array(self.shape)
        self.arguments = {}
        padded = self._pad()
        window = self._slice(padded)
        window = self._step(window)
        self.expected = self._perm(window)

    def _shape(self, rank, elements):
        shape = []
        for _ in range(rank):
            shape.append(self.rng.randrange(1, max(2, min(12, elements) + 1)))
            elements //= shape[-1]
        self.rng.shuffle(shape)
        return tuple(shape)

    def _array(self, shape):
        """Returns an array with random bytes and random strides."""
        rng = self.rng
        steps = [rng.randrange(1, 3) for _ in shape]
        larger = [n * step + rng.randrange(0, 2) for n, step in zip(shape, steps)]
        if np.prod(larger, dtype=float) > 4_000:
            steps, larger = [1] * len(shape), shape
        order = rng.sample(range(len(shape)), len(shape))
        count = int(np.prod([larger[d] for d in order], dtype=int))
        data = np.frombuffer(bytearray(rng.randbytes(count * self.dtype.itemsize)), np.uint8)
        if self.dtype == bool:
            data %= 2
        whole = data.view(self.dtype).reshape([larger[d] for d in order]).transpose(np.argsort(order))
        array = whole[(*(slice(0, n * step, step) for n, step in zip(shape, steps)), ...)]
        if shape and 0 not in shape and rng.random() < 0.1:  # a dimension that repeats one sample
            d = rng.randrange(len(shape))
            array = np.broadcast_to(np.take(array, [0], d), shape)
        return array

    def _pad(self):
        rng, rank = self.rng, len(self.shape)
        if rng.random() < 0.5 or rank == 0:
            return self.src
        most = 600 if rng.random() < 0.02 and rank < 3 else 3 if rank < 5 else 2
        pad = [(rng.randrange(most), rng.randrange(most)) for _ in range(rank)]
        self.arguments["pad"] = pad
        zeros = np.zeros([n + a + b for n, (a, b) in zip(self.shape, pad)], self.dtype)
        zeros[tuple(slice(a, a + n) for n, (a, _) in zip(self.shape, pad))] = self.src
        return zeros

    def _slice(self, array):
        rng = self.rng
        if rng.random() < 0.4:
            return array
        index = []
        for n in array.shape:
            kind = rng.random()
            if kind < 0.15:
                index.append(rng.randrange(-n, n))
            elif kind < 0.4:
                index.append(slice(None))
            else:
                start = rng.randrange(-n - 1, n)
                stop = rng.randrange(start, n + 2) if start >= 0 else None
                index.append(slice(start, stop, rng.randrange(1, 4)))
        if rng.random() < 0.3:
            d = rng.randrange(0, len(index) + 1)
            index = index[:d] + [Ellipsis] + index[d + rng.randrange(0, len(index) - d + 1):]
        self.arguments["slice"] = tuple(index)
        return array[tuple(index)] if Ellipsis in index else array[(*index, ...)]

    def _step(self, array):
        """Draws a step for each source dimension, unless an integer in `slice` has removed a dimension."""
        rng, rank = self.rng, len(self.shape)
        if rng.random() < 0.7 or rank == 0 or array.ndim != rank:
            return array
        step = [rng.randrange(1, 4) for _ in range(rank)]
        self.arguments["step"] = step
        return array[tuple(slice(None, None, n) for n in step)]

    def _perm(self, array):
        if self.rng.random() < 0.4:
            return array
        perm = self.rng.sample(range(array.ndim), array.ndim)
        self.arguments["perm"] = [d - array.ndim if self.rng.random() < 0.2 else d for d in perm]
        return array.transpose(perm)

    def destination(self):
        """Returns (array, `at`): a destination with random bytes that is larger than the result."""
        most = 3 if self.expected.size < 100 and self.expected.ndim <= 4 else 2
        before, after = ([self.rng.randrange(most) * (self.rng.random() < most / 8)
                          for _ in range(self.expected.ndim)] for _ in range(2))
        shape = [n + a + b for n, a, b in zip(self.expected.shape, before, after)]
        out = self._array(shape)
        if not out.flags.writeable or 0 in out.strides:
            out = out.copy()
        return out, before

    def __repr__(self):
        return (f"dtype {self.dtype}, shape {self.shape}, strides {self.src.strides}, "
                f"{self.arguments}")
