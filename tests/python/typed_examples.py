# SPDX-License-Identifier: BSD-3-Clause
"""Calls whose types mypy must infer or refuse. test_types.py runs mypy on this file, and runs the file itself."""
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import mli

Bytes = NDArray[np.int8]

image: Bytes = np.arange(12, dtype=np.int8).reshape(3, 4)
out: Bytes = np.zeros((4, 5), np.int8)


class Interface:
    """An array of a library other than NumPy."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.__array_interface__: dict[str, Any] = array.__array_interface__
        self._array = array


def quantised() -> None:
    weights = mli.QTensor(image, scale=[1, 2, 3], axis=0)
    assert_type(mli.move(weights, pad=1), mli.QTensor)
    assert_type(mli.move(weights, out=out, at=(1, 1)), mli.QTensor)
    assert_type(mli.permute(weights, (1, 0)), mli.QTensor)
    assert_type(mli.Plan(weights, pad=1).start().result(), mli.QTensor)
    assert_type(mli.concatenate([weights, weights]), mli.QTensor)
    assert_type(mli.check(weights).axis, int | None)
    assert_type(weights.real(), NDArray[np.float64])
    assert_type(mli.QTensor.from_float(image, 0.5, zero_point=3), mli.QTensor)


def moves() -> None:
    assert_type(mli.move(image), Bytes)
    assert_type(mli.move(image, pad=1, slice=np.s_[1:, ::2], step=(1, 2), perm=(1, 0)), Bytes)
    mli.move(image, pad=(1, 2))
    mli.move(image, pad=[(0, 1), (2, 3)], slice="1:, ...")
    mli.move(image, pad=((0, 1), (2, 3)), slice=..., step=np.int64(2))
    assert_type(mli.move(image, out=out, at=(1, 1)), Bytes)
    assert_type(mli.move(memoryview(b"abc")), NDArray[Any])
    assert_type(mli.move(b"abc", out=bytearray(4), at=1), bytearray)
    assert_type(mli.move(Interface(image), channels=2), NDArray[Any])
    assert_type(mli.permute(image, (1, 0)), Bytes)
    assert_type(mli.concatenate((image, image), axis=1), Bytes)
    assert_type(mli.concatenate(each for each in (b"a", b"b")), NDArray[Any])
    assert_type(mli.check(image, pad=1).shape, tuple[int, ...])


def plans() -> None:
    plan = mli.Plan(image, perm=[1, 0], channels=2)
    assert_type(plan, mli.Plan[Bytes])
    assert_type(plan.run(), Bytes)
    assert_type(plan.start().result(timeout=60), Bytes)
    assert_type((plan.shape, plan.bytes, plan.moves), tuple[tuple[int, ...], int, int])
    placed: mli.Plan[bytearray] = mli.Plan(b"abc", out=bytearray(3))
    assert_type(placed.out, bytearray)


async def wait() -> Bytes:
    transfer = mli.Plan(image).start()
    assert_type(transfer, mli.Transfer[Bytes])
    return await transfer


def engines() -> None:
    name, channels = mli.engine()
    assert_type((name, channels), tuple[str, int])
    mli.configure(engine="threads", channels=0)


def service() -> None:
    with mli.serve(engine="threads", channels=2) as client:
        assert_type(client, mli.Client)
        buffer = client.buffer((3, 4), np.int8)
        assert_type(buffer, mli.Buffer)
        ticket = client.start(image, perm=(1, 0), out=buffer.array().reshape(4, 3), name="first")
        client.submit(buffer.array(), pad=1, after=ticket, timeout=10)
        assert_type(client.submit(image), Bytes)
        assert_type(client.submit(memoryview(b"abc"), perm=[0]), NDArray[Any])
        assert_type(client.submit(b"abc", out=bytearray(4), at=1), bytearray)
        assert_type(client.submit(mli.QTensor(image, 3), out=out, at=(1, 1)), mli.QTensor)
        assert_type(client.start(mli.QTensor(image, 3)).result(), mli.QTensor)
        client.plan(mli.QTensor(image, 3)).start()
        assert_type(client.start(image), mli.Ticket[Bytes])
        assert_type(client.start(b"abc", out=bytearray(3)).result(), bytearray)
        assert_type(client.start(b"abc").result(), NDArray[Any])
        if TYPE_CHECKING:
            mli.aio.conect  # type: ignore[attr-defined]
            mli.serv  # type: ignore[attr-defined]
        plan = client.plan(image, step=2)
        assert_type(plan, mli.Prepared)
        plan.start().result(timeout=60)
        assert_type(client.status(ticket), mli.JobInfo)
        if TYPE_CHECKING:
            client.submit(image, pad=1.5)  # type: ignore[call-overload]


async def service_in_a_loop(path: str) -> None:
    async with await mli.aio.connect(path) as client:
        assert_type(await client.submit(image, perm=(1, 0)), Bytes)
        assert_type(await client.submit(b"abc", out=bytearray(3)), bytearray)
        assert_type(await client.submit(mli.QTensor(image, 3)), mli.QTensor)
        ticket = client.start(image)
        assert_type(ticket, mli.aio.Ticket[Bytes])
        assert_type(await ticket, Bytes)
        assert_type(await client.submit(b"abc", after=[ticket]), NDArray[Any])


def refused() -> None:
    """mypy must report an error for each call. If it does not, it reports an unused "type: ignore"
    comment."""
    try:
        mli.move([1, 2])  # type: ignore[call-overload]
        mli.move(image, 1)  # type: ignore[call-overload]
        mli.move(image, pad=1.5)  # type: ignore[call-overload]
        mli.move(image, slice=[0, 1])  # type: ignore[call-overload]
        mli.move(image, at=(0, 0))  # type: ignore[call-overload]
        mli.move(image, out=b"read-only")  # type: ignore[call-overload]
        mli.Plan(image, shape=(3, 4))  # type: ignore[call-overload]
    except TypeError:
        pass
    try:
        mli.move(image, perm=(0, 0))
    except mli.Error as error:
        assert_type((error.status, error.field, error.allowed), tuple[str, str, str])


if __name__ == "__main__":
    moves()
    quantised()
    plans()
    asyncio.run(wait())
    engines()
    if hasattr(mli, "serve"):  # built with the service
        service()
        with mli.serve() as served:
            asyncio.run(service_in_a_loop(served.path))
    refused()
