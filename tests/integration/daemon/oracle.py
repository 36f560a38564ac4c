# SPDX-License-Identifier: BSD-3-Clause
"""A reference model, written from PROTOCOL.md alone: computes jobs element by element. Also makes random jobs."""
import itertools
import math
import random
from dataclasses import dataclass

SIZES = {"fx8": 1, "fx16": 2, "sa8": 1, "sa32": 4, "fp16": 2, "fp32": 4}
NEUTRAL = {"scale": 1, "zero_point": 0, "scale_frac_bits": 0}


def effective_strides(given, shape):
    """Returns the strides with zeros replaced: the size of the next inner dimension, 1 for the innermost."""
    strides, inner = [], 1
    for stride, extent in zip(reversed(given), reversed(shape)):
        strides.insert(0, stride or inner)
        inner = strides[0] * extent
    return strides


def source_strides(src):
    return effective_strides(src.get("strides") or [0] * len(src["shape"]), src["shape"])


def destination_strides(dst, cfg, shape):
    """Returns the strides of the destination, computed from its shape or, if it has none, from `shape`, the shape of
    the result."""
    unknown = [0] * len(shape)
    return effective_strides([a or b for a, b in zip(cfg.get("dst_mem_stride") or unknown,
                                            dst.get("strides") or unknown)],
                    dst.get("shape") or shape)


@dataclass
class Window:
    """One source dimension of a job: its padding, the first sample, and every `step`-th sample, `count` in all."""
    extent: int
    pre: int
    offset: int
    step: int
    count: int

    def index(self, n):
        """Returns the index of sample n in the source, or None in the padding."""
        at = self.offset + n * self.step - self.pre
        return at if 0 <= at < self.extent else None


def windows(src, cfg):
    rank = len(src["shape"])
    member = {name: cfg.get(name) or [neutral] * rank for name, neutral in
              (("padding_pre", 0), ("padding_post", 0), ("offset", 0), ("size", 0),
               ("sub_sample_step", 1))}
    found = []
    for d, extent in enumerate(src["shape"]):
        pre, post, offset, size, step = (values[d] for values in member.values())
        end = extent + pre + post
        size = size or end - offset
        if offset >= end or offset + size > end:
            return None
        found.append(Window(extent, pre, offset, step, -(-size // step)))
    return found


def along(axis_windows, source, before, start):
    """Returns the entries of one per-axis parameter in the result: `start` entries of `before`,
    then an entry for each index of the axis that is written."""
    name, entries = source
    samples = (axis_windows.index(n) for n in range(axis_windows.count))
    return before[:start] + [NEUTRAL[name] if i is None else entries[i] for i in samples]


def parameters(src, dst, axis, window, start):
    """Returns the quantisation members of the result. `axis` is the destination's axis; None for per-tensor
    parameters."""
    if src["type"].startswith("fx"):
        return {"frac_bits": src.get("frac_bits", 0)}
    if src["type"].startswith("fp"):
        return {}
    found = {name: src.get(name, neutral) for name, neutral in NEUTRAL.items()}
    if "axis" not in src:
        return found
    for name, value in found.items():
        entries = value if isinstance(value, list) else [value] * window.extent
        before = dst.get(name, NEUTRAL[name])
        before = before if isinstance(before, list) else [before] * start
        found[name] = along(window, (name, entries), before, start)
    return {"axis": axis, **found}


def move(params, source, destination):
    """Writes into `destination`, a bytearray of the whole file. Returns the `dst` of the result and the number of
    bytes written, or None if a window is outside of the padded source."""
    src, dst, cfg = params["src"], params["dst"], params.get("cfg", {})
    rank = len(src["shape"])
    found = windows(src, cfg)
    if found is None:
        return None
    perm = cfg.get("perm_dim") or list(range(rank))
    start = cfg.get("dst_offset") or [0] * rank
    counts = [found[perm[i]].count for i in range(rank)]
    shape = [n + o for n, o in zip(counts, start)]
    strides = destination_strides(dst, cfg, shape)
    steps = source_strides(src)
    size = SIZES[src["type"]]
    for n in itertools.product(*map(range, counts)):
        to = dst.get("offset", 0) + size * sum((a + o) * s for a, o, s in zip(n, start, strides))
        at = [found[perm[i]].index(n[i]) for i in range(rank)]
        element = bytes(size)
        if None not in at:
            off = src.get("offset", 0) + size * sum(at[i] * steps[perm[i]] for i in range(rank))
            element = source[off:off + size]
        destination[to:to + size] = element
    axis = perm.index(src["axis"]) if "axis" in src else None
    quantised = parameters(src, dst, axis, found[src.get("axis", 0)], start[axis or 0])
    return ({"type": src["type"], "shape": shape, "strides": strides, **quantised},
            size * math.prod(counts))


def span(shape, strides, size):
    """Returns the number of bytes from the first element to the end of the last element."""
    return size * (1 + sum((n - 1) * s for n, s in zip(shape, strides)))


class Jobs:
    """Random jobs on small tensors; most jobs are valid, some request a window outside of the
    source."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def strides(self, shape):
        """Returns strides with or without gaps, in C or Fortran order."""
        strides, inner = [0] * len(shape), 1
        order = range(len(shape))
        for i in order if self.random.random() < 0.25 else reversed(order):
            strides[i] = inner + self.random.choice((0, 0, 1, 3))
            inner = strides[i] * shape[i]
        return strides

    def some(self, strides):
        """Returns some of the members of a tensor; the service chooses the others."""
        return [self.random.choice((0, stride)) for stride in strides]

    def tensor(self):
        pick = self.random
        rank = pick.randint(1, 4)
        shape = [pick.randint(1, 5) for _ in range(rank)]
        tensor = {"type": pick.choice(list(SIZES)), "shape": shape}
        if pick.random() < 0.4:
            strides = self.strides(shape)
            tensor["strides"] = self.some(strides) if pick.random() < 0.5 else strides
        if pick.random() < 0.3:
            tensor["offset"] = pick.choice((1, 4, 17, 64))
        self.quantise(tensor)
        return tensor

    def quantise(self, tensor):
        pick = self.random
        if tensor["type"].startswith("fx") and pick.random() < 0.5:
            tensor["frac_bits"] = pick.randint(-128, 127)
        if tensor["type"].startswith("sa") and pick.random() < 0.7:
            tensor.update(scale=pick.randint(-32768, 32767), zero_point=pick.randint(-32768, 32767))
            if pick.random() < 0.6:
                tensor["axis"] = pick.randrange(len(tensor["shape"]))
                tensor["scale_frac_bits"] = [pick.randint(-128, 127) for _ in
                                             range(tensor["shape"][tensor["axis"]])]

    def window(self, extent):
        """Returns pre, post, offset, size and step of a dimension."""
        pick = self.random
        pre, post = (pick.choice((0, 0, 0, 1, 2, 7)) for _ in range(2))
        end = extent + pre + post
        offset = pick.randrange(end) if pick.random() < 0.5 else 0
        size = pick.randint(1, end - offset) if pick.random() < 0.5 else 0
        return pre, post, offset, size, pick.choice((1, 1, 1, 2, 3, 100))

    def cfg(self, shape):
        pick = self.random
        rank = len(shape)
        names = ("padding_pre", "padding_post", "offset", "size", "sub_sample_step")
        columns = zip(*(self.window(extent) for extent in shape))
        cfg = {name: list(values) for name, values in zip(names, columns)}
        cfg["perm_dim"] = pick.sample(range(rank), rank)
        cfg["dst_offset"] = [pick.choice((0, 0, 0, 1, 3)) for _ in shape]
        if pick.random() < 0.03:
            cfg["offset"][pick.randrange(rank)] = 1000
        return cfg

    def job(self):
        """Returns op, src, dst and cfg (without descriptors or buffers), and the number of bytes that each side needs.
        """
        src = self.tensor()
        params = {"op": "mov", "src": src, "dst": {}}
        if self.random.random() < 0.2 and not src["type"].startswith("fp"):
            rank = len(src["shape"])
            params.update(op="permute", cfg={"perm_dim": self.random.sample(range(rank), rank)})
        elif self.random.random() < 0.9:
            params["cfg"] = self.cfg(src["shape"])
        if self.random.random() < 0.3:
            params["dst"]["offset"] = self.random.choice((1, 8, 63))
        needs = [src.get("offset", 0) + span(src["shape"], source_strides(src),
                                             SIZES[src["type"]]), self.room(params)]
        return params, needs

    def room(self, params):
        """Chooses the strides of the destination. Returns the number of bytes that it needs."""
        size = SIZES[params["src"]["type"]]
        found = windows(params["src"], params.get("cfg", {}))
        if found is None:
            return 4096
        cfg = params.get("cfg", {})
        rank = len(found)
        perm, start = cfg.get("perm_dim") or list(range(rank)), cfg.get("dst_offset") or [0] * rank
        shape = [found[perm[i]].count + start[i] for i in range(rank)]
        dst = params["dst"]
        if self.random.random() < 0.3:
            dst["shape"] = [n + self.random.choice((0, 0, 1, 4)) for n in shape]
        if self.random.random() < 0.5:
            self.place(params, shape)
        return dst.get("offset", 0) + span(shape, destination_strides(dst, cfg, shape), size)

    def place(self, params, shape):
        """Chooses strides for dst and cfg. In C order, some strides are left out (0), which the
        service then computes."""
        dst, cfg = params["dst"], params.get("cfg", {})
        strides = self.strides(dst.get("shape") or shape)
        if strides == sorted(strides, reverse=True):
            strides = self.some(strides)
        dst["strides"] = strides
        if params["op"] == "mov" and cfg:
            cfg["dst_mem_stride"] = self.some(strides)
            dst["strides"] = [self.random.choice((0, 1, 9)) if over else stride
                              for over, stride in zip(cfg["dst_mem_stride"], strides)]
