# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of moves: what `mlictl explain` prints and draws of a job file."""
from __future__ import annotations

import json
import operator
import os
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsIndex, Union

from . import _core, _programs
from ._errors import Error, from_sentence
from ._fold import Fold, fold_move
from ._qtensor import QTensor
from ._typing import AnyArray, Destination, Offsets, Pad, Perm, Slice, Source, Step

_TYPES = {1: "fx8", 2: "fx16", 4: "sa32"}
_FLOATS = {2: "fp16", 4: "fp32"}
_Profile = Union[str, "os.PathLike[str]"]


def _bytes_of(extents: list[int], strides: list[int], unit: int) -> int:
    """Return the number of bytes from the first element to the end of the last one."""
    return sum((n - 1) * stride for n, stride in zip(extents, strides)) + unit


def _tensor_of(file: str, extents: list[int], strides: list[int], unit: int) -> dict[str, Any]:
    return {"file": file, "format": "raw", "shape": extents,
            "strides": [n // unit for n in strides]}


def _config_of(fold: Fold) -> dict[str, list[int]]:
    config = {
        "padding_pre": [axis.pre for axis in fold.axes],
        "padding_post": [axis.post for axis in fold.axes],
        "offset": [axis.offset for axis in fold.axes],
        "size": [axis.size for axis in fold.axes],
        "sub_sample_step": [axis.step for axis in fold.axes],
        "perm_dim": [[each is axis for each in fold.axes].index(True) for axis in fold.order],
    }
    if any(axis.at for axis in fold.order):
        config["dst_offset"] = [axis.at for axis in fold.order]
    return config


class _Job:
    """A job file for a move, and the sizes of its two raw files, which have no content."""

    def __init__(self, fold: Fold, element_type: str, is_new: bool,
                 channels: SupportsIndex) -> None:
        src = [axis.extent for axis in fold.axes], [axis.stride for axis in fold.axes]
        dst = [axis.dst_extent for axis in fold.order], [axis.dst_stride for axis in fold.order]
        self.sizes = {"src": _bytes_of(*src, fold.unit), "out": _bytes_of(*dst, fold.unit)}
        target: dict[str, Any] = {"file": "out", "format": "raw"} if is_new else {
            "update": True, **_tensor_of("out", *dst, fold.unit)}
        self.members = {
            "name": "move", "op": "mov", "channels": operator.index(channels),
            "cfg": _config_of(fold), "dst": target,
            "src": {"type": element_type, **_tensor_of("src", *src, fold.unit)}}

    def explain(self, *options: str) -> str:
        """Return the standard output of `mlictl explain`."""
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
        with tempfile.TemporaryDirectory(prefix="mli-explain-") as folder:
            for name, size in self.sizes.items():
                with open(Path(folder, name), "wb") as file:
                    file.truncate(size)
            done = subprocess.run(
                [_programs.find("mlictl"), "explain", "--no-memcpy", *options, "-"],
                input=json.dumps(self.members), cwd=folder, env=environment, capture_output=True,
                encoding="utf-8")
        if done.returncode == 0:
            return done.stdout
        raise _error_of(done)


def _error_of(done: subprocess.CompletedProcess[str]) -> Error:
    """Return the exception for a failed `mlictl explain`."""
    for line in done.stdout.splitlines():
        if line.startswith("{") and "error" in json.loads(line):
            error = json.loads(line)["error"]
            return from_sentence(error["name"].removeprefix("MLI_STATUS_"), error["message"])
    return Error("ARGUMENT_ERROR", "mlictl explain", None,
                 done.stderr.strip() or f"ended with the code {done.returncode}")


def _absolute(profile: _Profile) -> str:
    """Return the name of a profile, or the absolute path of its file."""
    name = os.fspath(profile)
    return os.path.abspath(name) if "/" in name or name.endswith(".json") else name


def _number_of(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _with_numbers(cost: dict[str, Any]) -> dict[str, Any]:
    """Return a cost with numbers for its cycles, which JSON of mlictl has as texts."""
    cycles = {name: _number_of(value) for name, value in cost.items() if name.endswith("cycles")}
    parts = {name: _number_of(value) for name, value in cost["parts"].items()}
    return {**cost, **cycles, "parts": parts}


class Explanation:
    """What a move does: `str()` is a text, `svg` a drawing, which notebooks show.

    Attributes
    ----------
    notes : tuple of str
        How the explained tensors differ from the arrays; empty for arrays of at most 4 dimensions
        with elements of 1, 2 or 4 bytes.
    """

    def __init__(self, job: _Job, notes: list[str], options: list[str],
                 profile: _Profile | None) -> None:
        self.notes = tuple(notes)
        self._job = job
        self._options = options + ([] if profile is None else ["--profile", _absolute(profile)])
        self._drawing_options = options
        lines = job.explain(*self._options, "--json").splitlines()
        self._members = [json.loads(line) for line in lines]

    @cached_property
    def json(self) -> dict[str, Any]:
        """The object of `mlictl explain --json`; with a profile also its timeline."""
        explained: dict[str, Any] = {}
        for members in self._members:
            explained.update(members)
        return {key: value for key, value in explained.items() if key not in ("file", "pointer")}

    @property
    def cost(self) -> dict[str, Any] | None:
        """What the move costs on the profile's board, or None without a profile.

        The members of `json["board"]["cost"]`, with cycles as numbers: int, or float for fractions.
        """
        board: dict[str, Any] = self.json.get("board", {})
        cost = board.get("cost")
        return None if cost is None else _with_numbers(cost)

    @cached_property
    def svg(self) -> str:
        """The drawing, as the text of an SVG file."""
        return self._job.explain(*self._drawing_options, "--svg", "-")

    def _repr_svg_(self) -> str:
        return self.svg

    @cached_property
    def _text(self) -> str:
        notes = "".join(f"note: {note}\n" for note in self.notes)
        return notes + self._job.explain(*self._options).rstrip("\n")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        shapes = [tuple(self.json[side]["shape"]) for side in ("src", "dst")]
        return f"<mli.Explanation of a move {shapes[0]} -> {shapes[1]}>"


def _type_of(array: AnyArray, unit: int) -> str:
    dtype = array.dtype
    if dtype.kind == "f" and dtype.itemsize == unit:
        return _FLOATS[unit]
    return _TYPES[unit]


def explain(src: Source | QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
            step: Step | None = None, perm: Perm | None = None,
            out: Destination | QTensor | None = None, at: Offsets | None = None,
            channels: SupportsIndex = 1, profile: _Profile | None = None,
            view: str | None = None) -> Explanation:
    r"""Explain a move without moving: shapes, plan, channels, cost and a picture.

    The arguments are those of mli.move(), and

    profile : str, optional
        Name or path of a target profile. A model then predicts the cost of the move on that board,
        which is in `explanation.cost` and in the text.
    view : str, optional
        The dimensions that are rows and columns of the picture, as "HWC" or "0,1".

    Arrays that mli.move() folds (more than 4 dimensions, elements of 8 bytes) are explained as the
    folded tensors; `notes` says how they differ. The program mlictl makes the explanation.

    Raises mli.Error as mli.move() does, or if libmli needs several moves for this one.

    >>> import mli, numpy
    >>> explanation = mli.explain(numpy.zeros((3, 4), numpy.int8), pad=1, perm=(1, 0))
    >>> explanation.json["steps"]["placed"]
    [6, 5]
    >>> print("\n".join(str(explanation).splitlines()[:3]))
    move: mov src -> out, fx8
      source     (3, 4)
      pad        (5, 6)
    """
    quantised = src.type if isinstance(src, QTensor) else None
    src = _core.as_array(src.data if isinstance(src, QTensor) else src, "src")
    out = out.data if isinstance(out, QTensor) else out
    arguments: dict[str, Any] = {"pad": pad, "slice": slice, "step": step, "perm": perm}
    if out is not None or at is not None:
        arrays: dict[str, Any] = {"out": out, "at": at}
        _core.Plan(src, channels=channels, **arrays, **arguments)  # checks
    fold = fold_move(src, arguments, out, at)
    job = _Job(fold, quantised or _type_of(src, fold.unit), out is None, channels)
    return Explanation(job, fold.notes, ["--view", view] if view else [], profile)
