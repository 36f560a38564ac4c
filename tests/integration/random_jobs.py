# SPDX-License-Identifier: BSD-3-Clause
"""Makes random job files, whose moves pass tensors on through buffers and files, and computes the outputs with NumPy.
"""
import numpy

DTYPES = {"int8": "fx8", "int16": "fx16", "float32": "fp32"}


class Tensor:
    """A tensor in a file or in a buffer, which later jobs can read."""

    def __init__(self, place, shape, offset=0, strides=None):
        self.place, self.shape, self.offset, self.strides = place, list(shape), offset, strides


def packed(shape, elem):
    strides = []
    for extent in reversed(shape):
        strides.insert(0, elem)
        elem *= extent
    return strides


class Program:
    """Makes a job file and computes its outputs."""

    def __init__(self, rng, directory):
        self.rng, self.directory = rng, directory
        self.dtype = numpy.dtype(rng.choice(list(DTYPES)))
        self.elem = self.dtype.itemsize
        self.type = DTYPES[self.dtype.name]
        self.memory = {}  # bytes of each buffer and file
        self.buffers, self.jobs, self.tensors, self.outputs = {}, [], [], []
        self.named = rng.random() < 0.5
        for number in range(rng.randint(1, 3)):
            self.add_source(number)

    def add_source(self, number):
        rng, shape = self.rng, [self.rng.randint(1, 7) for _ in range(self.rng.randint(1, 4))]
        data = numpy.frombuffer(rng.randbytes(int(numpy.prod(shape)) * self.elem), self.dtype).reshape(shape)
        if rng.random() < 0.6:
            name = f"in{number}.npy"
            fortran = rng.random() < 0.2
            numpy.save(self.directory / name, numpy.asfortranarray(data) if fortran else data)
        else:
            name = f"in{number}.bin"
            (self.directory / name).write_bytes(data.tobytes())
        self.memory[name] = bytearray(data.tobytes())
        self.tensors.append(Tensor(name, shape))

    def view(self, tensor):
        strides = tensor.strides or packed(tensor.shape, self.elem)
        return numpy.ndarray(tensor.shape, self.dtype, self.memory[tensor.place], tensor.offset, strides)

    def reference(self, tensor):
        """Returns "src" of a job that reads the tensor."""
        if tensor.place.endswith(".npy"):
            return {"file": tensor.place, "type": self.type}
        src = {"type": self.type, "shape": tensor.shape, "offset": tensor.offset}
        src["buffer" if tensor.place in self.buffers else "file"] = tensor.place
        if tensor.strides:
            src["strides"] = [s // self.elem for s in tensor.strides]
        if self.dtype.name == "float32":
            src["dtype"] = "float32"
        return src

    def choose_source(self):
        """Chooses a tensor, preferably a recent one, and sometimes reads it in another shape."""
        rng = self.rng
        tensor = self.tensors[max(rng.randrange(len(self.tensors)), rng.randrange(len(self.tensors)))]
        if tensor.place.endswith(".npy") or tensor.strides or rng.random() < 0.7:
            return tensor
        shape = list(tensor.shape)
        d = rng.randrange(len(shape))
        if len(shape) < 4 and shape[d] % 2 == 0 and rng.random() < 0.5:
            shape[d:d + 1] = [2, shape[d] // 2]
        elif d + 1 < len(shape):
            shape[d:d + 2] = [shape[d] * shape[d + 1]]
        elif len(shape) < 4:
            shape.insert(rng.randrange(len(shape) + 1), 1)
        return Tensor(tensor.place, shape, tensor.offset)

    def choose_move(self, shape):
        """Returns a random cfg, and a function that makes the same move with NumPy."""
        rng, rank = self.rng, len(shape)
        pads = [(rng.randint(0, 3) if rng.random() < 0.25 else 0, rng.randint(0, 3) if rng.random() < 0.25 else 0)
                for _ in shape]
        window = []
        for extent, pad in zip(shape, pads):
            extent += sum(pad)
            start = rng.randrange(extent) if rng.random() < 0.3 else 0
            stop = rng.randint(start + 1, extent) if rng.random() < 0.3 else extent
            window.append((start, stop, rng.randint(2, 3) if rng.random() < 0.2 else 1))
        perm = list(range(rank))
        if rng.random() < 0.4:
            rng.shuffle(perm)
        cfg = {"padding_pre": [p[0] for p in pads], "padding_post": [p[1] for p in pads],
               "offset": [w[0] for w in window], "size": [w[1] - w[0] for w in window],
               "sub_sample_step": [w[2] for w in window], "perm_dim": perm}

        def move(data):
            return numpy.pad(data, pads)[tuple(slice(*w) for w in window)].transpose(perm)
        return cfg, move

    def new_buffer(self, size):
        name = f"b{len(self.buffers)}"
        self.buffers[name] = size
        self.memory[name] = bytearray(size)
        return name

    def place(self, result, source, cfg):
        """Chooses a destination for a result, and writes the result to its model. Returns the
        model's tensor and the member "dst" of the job."""
        rng, size = self.rng, result.nbytes
        kind = rng.random()
        if kind < 0.2:
            name = f"t{len(self.jobs)}.{rng.choice(['npy', 'bin'])}"
            self.memory[name] = bytearray(size)
            target = Tensor(name, result.shape)
            dst = {"file": name}
        elif kind < 0.45:
            target, dst = self.place_inside(result, cfg)
        else:
            known = [b for b, bytes_ in self.buffers.items() if bytes_ >= size + 8 and b != source.place]
            name = rng.choice(known) if known and rng.random() < 0.4 else self.new_buffer(size + rng.randint(8, 64))
            offset = rng.choice([0, 0, self.elem])
            target = Tensor(name, result.shape, offset)
            dst = {"buffer": name, "offset": offset}
        self.view(target)[...] = result
        return target, dst

    def place_inside(self, result, cfg):
        """Places a result inside a larger tensor, in a new buffer or in an old one."""
        rng = self.rng
        before = [rng.randint(0, 2) for _ in result.shape]
        shape = [b + n + rng.randint(0, 2) for b, n in zip(before, result.shape)]
        name = self.new_buffer(int(numpy.prod(shape)) * self.elem)
        whole = Tensor(name, shape)
        self.tensors.append(whole)
        cfg["dst_offset"] = before
        strides = packed(shape, self.elem)
        offset = sum(b * s for b, s in zip(before, strides))
        return Tensor(name, result.shape, offset, strides), {"buffer": name, "shape": shape}

    def concatenate(self):
        """Makes two jobs that write next to each other into one buffer or one new file."""
        rng, tensor = self.rng, self.choose_source()
        shape = [2 * tensor.shape[0] + rng.randint(0, 1)] + tensor.shape[1:]
        size = int(numpy.prod(shape)) * self.elem
        if rng.random() < 0.5:
            name, kind = self.new_buffer(size), "buffer"
        else:
            name, kind = f"c{len(self.jobs)}.{rng.choice(['npy', 'bin'])}", "file"
            self.memory[name] = bytearray(size)
        whole = Tensor(name, shape)
        for half in range(2):
            at = [half * tensor.shape[0]] + [0] * (len(shape) - 1)
            self.add_job(tensor, {"dst_offset": at}, {kind: name, "shape": shape})
            self.view(whole)[at[0]:at[0] + tensor.shape[0]] = self.view(tensor)
        self.tensors.append(whole)

    def add_job(self, tensor, cfg, dst):
        job = {"op": "mov", "src": self.reference(tensor), "cfg": cfg, "dst": dst}
        if self.named:
            job["name"] = f"j{len(self.jobs)}"
            if self.jobs:
                job["after"] = [self.jobs[-1]["name"]]
        self.jobs.append(job)

    def step(self, output=False):
        tensor = self.choose_source()
        cfg, move = self.choose_move(tensor.shape)
        result = numpy.ascontiguousarray(move(self.view(tensor)))
        if output:
            name = f"out{len(self.outputs)}.npy"
            self.add_job(tensor, cfg, {"file": name})
            self.outputs.append((name, result))
            return
        target, dst = self.place(result, tensor, cfg)
        self.add_job(tensor, cfg, dst)
        self.tensors.append(target)

    def make(self, steps, outputs):
        for _ in range(steps):
            if self.rng.random() < 0.1:
                self.concatenate()
            else:
                self.step()
        for _ in range(outputs):
            self.step(output=True)
        return {"buffers": [{"name": n, "bytes": b} for n, b in self.buffers.items()], "jobs": self.jobs}
