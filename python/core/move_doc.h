/* SPDX-License-Identifier: BSD-3-Clause */
/* The docstring of mli.move(). */
#ifndef CORE_MOVE_DOC_H
#define CORE_MOVE_DOC_H

/* clang-format off */
#define MOVE_DOC \
    "move($module, src, *, pad=None, slice=None, step=None, perm=None, out=None, at=None, channels=1)\n" \
    "--\n\n" \
    "Copy, pad, slice, subsample, permute and place an array, in one pass over its data.\n" \
    "\n" \
    "The steps happen in the order of the arguments: pad `src` with zeros, cut the window\n" \
    "`slice` out of the padded array, keep every `step`-th sample, permute the dimensions, and\n" \
    "write the result at the offsets `at` of `out`.\n" \
    "\n" \
    "Parameters\n" \
    "----------\n" \
    "src : array\n" \
    "    Any object with the buffer protocol, `__array_interface__` or `__dlpack__` (memory of\n" \
    "    the processor): 0 to 8 dimensions, elements of any plain type, strides of 0 or more.\n" \
    "pad : int, (before, after), or [(before, after), ...]\n" \
    "    Zero samples around `src`: the same for all dimensions, or a pair for each dimension.\n" \
    "slice : int, slice, ..., a tuple of these, or str\n" \
    "    Index of the padded array in NumPy's notation, as ``np.s_[1:9, ::2]``, or the same as\n" \
    "    text, ``\"1:9, ::2\"``. Indices count from 0; negative ones count from the end. An\n" \
    "    integer removes its dimension. Steps are 1 or more.\n" \
    "step : int, or a sequence with one for each dimension of `src`\n" \
    "    Keep every step-th sample of the window, beginning with the first.\n" \
    "perm : sequence of int\n" \
    "    Dimension i of the result is dimension perm[i] of the window, as in\n" \
    "    `numpy.transpose()`.\n" \
    "out : array\n" \
    "    Receives the result: writable, with the element type of `src`, and without bytes that\n" \
    "    the move reads. Without `at` it has the shape of the result. Default: a new NumPy array\n" \
    "    in C order. Memory of `out` outside the result does not change.\n" \
    "at : int, or a sequence with one for each dimension of the result\n" \
    "    Offsets of the result in `out`, from 0 on; an integer is that of all dimensions.\n" \
    "    Default: 0.\n" \
    "channels : int\n" \
    "    DMA channels that share the move, 1 to 16. More than `mli.engine()` counts are taken as\n" \
    "    all of them: see `mli.configure()`. With 1, the calling thread moves the data.\n" \
    "\n" \
    "Returns\n" \
    "-------\n" \
    "array\n" \
    "    `out`, or the new array. It belongs to the caller, and shares no memory with `src`.\n" \
    "\n" \
    "Raises\n" \
    "------\n" \
    "mli.Error\n" \
    "    An argument is refused, and nothing was written: see its attributes `status`, `field`,\n" \
    "    `given` and `allowed`. With the status DMA_ERROR the engine failed, and the result may\n" \
    "    be partly written.\n" \
    "TypeError\n" \
    "    An argument has the wrong type, as a list for `src`.\n" \
    "MemoryError\n" \
    "    There is no memory for the result.\n" \
    "\n" \
    "Notes\n" \
    "-----\n" \
    "Other threads run during moves of more than 32 KiB: do not change `src`, nor use `out`,\n" \
    "meanwhile. Ctrl-C takes effect when the move is complete; with `channels` above 1, or while\n" \
    "the result of a Transfer is awaited, at once.\n" \
    "\n" \
    "Examples\n" \
    "--------\n" \
    ">>> import numpy as np\n" \
    ">>> image = np.arange(12, dtype=np.int8).reshape(3, 4)\n" \
    ">>> mli.move(image, pad=((1, 0), (0, 1)), slice=np.s_[:2])\n" \
    "array([[0, 0, 0, 0, 0],\n" \
    "       [0, 1, 2, 3, 0]], dtype=int8)\n" \
    ">>> mli.move(image, slice=\"1, ::2\")\n" \
    "array([4, 6], dtype=int8)\n" \
    ">>> mosaic = np.zeros((4, 6), np.int8)\n" \
    ">>> mli.move(image, perm=(1, 0), out=mosaic, at=(0, 3))\n" \
    "array([[ 0,  0,  0,  0,  4,  8],\n" \
    "       [ 0,  0,  0,  1,  5,  9],\n" \
    "       [ 0,  0,  0,  2,  6, 10],\n" \
    "       [ 0,  0,  0,  3,  7, 11]], dtype=int8)\n" \
    ">>> mli.move(image, perm=(0, 0))\n" \
    "Traceback (most recent call last):\n" \
    "mli.Error: perm[1]: 0 given; each dimension is allowed once (BAD_FUNC_CFG)\n"
/* clang-format on */

#endif /* CORE_MOVE_DOC_H */
