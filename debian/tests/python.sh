#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# the Python package
set -eux
cd "$(mktemp -d)"
cat >program.py <<'PYTHON'
import asyncio

import mli
import numpy as np

image = np.arange(12, dtype=np.int8).reshape(3, 4)
expected = np.pad(image, 1)[::2].T
assert (mli.move(image, pad=1, slice=np.s_[::2], perm=(1, 0)) == expected).all()


async def wait():
    return await mli.Plan(image, perm=(1, 0), channels=2).start()

assert (asyncio.run(wait()) == image.T).all()
PYTHON
python3 program.py
test -e /usr/lib/python3/dist-packages/mli/py.typed
