# SPDX-License-Identifier: BSD-3-Clause
"""What a file system may have kept of recorded changes when the power was cut.

The rules are those that POSIX leaves to a file system, stricter than ext4, XFS or btrfs are in practice:

- fsync() of a file keeps its content and size, fsync() of a directory keeps its names. Nothing else keeps anything.
- Of the later changes of a directory, any number of the first ones are kept. A rename is kept whole or not at all,
  and does not wait for the content of the file.
- Of the later changes of a file, each sector is kept or not. The size is the size after any number of these changes.
  A sector that was written for the first time and not kept reads as zeros.
- Directories and files are kept independently of each other.
"""
import copy
import os
import pathlib

SECTOR = 512


class File:
    """A file: its content on the disk, and later changes, which a power cut may lose."""

    def __init__(self, content=b""):
        self.durable, self.now, self.sizes = content, bytearray(content), []

    def write(self, offset, data):
        self.resize(max(len(self.now), offset + len(data)))
        self.now[offset:offset + len(data)] = data

    def resize(self, size):
        del self.now[size:]
        self.now.extend(bytes(size - len(self.now)))
        self.sizes.append(size)

    def data(self, content):
        if content != self.now:
            self.now = bytearray(content)
            self.sizes.append(len(content))

    def sync(self):
        self.durable, self.sizes = bytes(self.now), []

    def after_cut(self, pick):
        """Returns one of the contents that the file may have after a power cut."""
        if not self.sizes:
            return self.durable
        kind = pick.choice(("old", "new", "zeros", "mixture", "mixture"))
        if kind == "old":
            return self.durable
        if kind == "new":
            return bytes(self.now)
        size = len(self.now) if kind == "zeros" else pick.choice([len(self.durable), *self.sizes])
        old = self.durable[:size].ljust(size, b"\0")
        if kind == "zeros":
            return old
        new = bytes(self.now[:size]).ljust(size, b"\0")
        return b"".join(pick.choice((old, new))[at:at + SECTOR] for at in range(0, size, SECTOR))


class Directory:
    """A directory: its names on the disk, and later changes: {name: inode, or None if removed}."""

    def __init__(self):
        self.durable, self.changes = {}, []

    def change(self, **names):
        self.changes.append(names)

    def sync(self):
        self.durable, self.changes = self.after(len(self.changes)), []

    def after(self, count):
        names = dict(self.durable)
        for change in self.changes[:count]:
            names.update(change)
        return {name: inode for name, inode in names.items() if inode is not None}

    def now(self):
        return self.after(len(self.changes))


class Disk:
    """A model of a disk that contains the directory `root` in its present state. apply() changes
    it."""

    def __init__(self, root):
        self.root = os.stat(root).st_ino
        self.nodes = {}
        self.scan(pathlib.Path(root))

    def scan(self, path):
        node = self.nodes[path.stat().st_ino] = Directory()
        for entry in path.iterdir():
            inode = entry.stat().st_ino
            node.durable[entry.name] = inode
            if entry.is_dir():
                self.scan(entry)
            else:
                self.nodes[inode] = File(entry.read_bytes())

    def apply(self, name, numbers, data):
        """Applies a record of record.c. Returns whether it belongs to this disk."""
        handler = getattr(self, "on_" + name)
        return handler(*numbers, data)

    def on_open(self, parent, inode, size, name):
        directory = self.nodes.get(parent)
        if directory is None:
            return False
        if directory.now().get(name.decode()) != inode:
            self.nodes[inode] = File(bytes(size))
            directory.change(**{name.decode(): inode})
        return True

    def on_nameless(self, inode, _):
        self.nodes[inode] = File()
        return True

    def on_write(self, inode, offset, data):
        return self.on_file(inode, "write", offset, data)

    def on_data(self, inode, data):
        return self.on_file(inode, "data", data)

    def on_size(self, inode, size, _):
        return self.on_file(inode, "resize", size)

    def on_sync(self, inode, _):
        return self.on_file(inode, "sync")

    def on_file(self, inode, call, *arguments):
        node = self.nodes.get(inode)
        if node is not None:
            getattr(node, call)(*arguments)
        return node is not None

    def on_link(self, parent, inode, name):
        directory = self.nodes.get(parent)
        if directory is not None:
            directory.change(**{name.decode(): inode})
        return directory is not None

    def on_rename(self, parent, target, length, names):
        if parent != target:
            raise AssertionError("a rename between directories, which this model does not know")
        directory = self.nodes.get(parent)
        if directory is not None:
            old, new = names[:length].decode(), names[length:].decode()
            directory.change(**{new: directory.now()[old], old: None})
        return directory is not None

    def on_unlink(self, parent, name):
        directory = self.nodes.get(parent)
        if directory is not None:
            directory.change(**{name.decode(): None})
        return directory is not None

    def on_mkdir(self, parent, inode, name):
        self.nodes[inode] = Directory()
        return self.on_link(parent, inode, name)

    def after_cut(self, pick, all_names=False):
        """Returns {path: content, or None for a directory} after a power cut. With `all_names`, no
        change of a directory is lost."""
        files, contents = {}, {}

        def walk(inode, path):
            directory = self.nodes[inode]
            count = len(directory.changes)
            for name, child in directory.after(count if all_names else pick.randint(0, count)).items():
                node = self.nodes[child]
                if isinstance(node, Directory):
                    files[path + name] = None
                    walk(child, path + name + "/")
                    continue
                if child not in contents:  # hard links
                    contents[child] = node.after_cut(pick)
                files[path + name] = contents[child]
        walk(self.root, "")
        return files


class Copy(Disk):
    """A copy of a disk."""

    def __init__(self, disk):
        self.root, self.nodes = disk.root, copy.deepcopy(disk.nodes)


def read_log(path):
    """Returns the records of record.c: (name, numbers, bytes)."""
    records = []
    with open(path, "rb") as log:
        for head in log:
            name, *numbers = head.split()
            *numbers, length = map(int, numbers)
            records.append((name.decode(), numbers, log.read(length)))
    return records


def make(files, root):
    """Writes the files below the directory `root`, which must be empty."""
    for path, content in files.items():
        if content is None:
            os.mkdir(os.path.join(root, path))
        else:
            with open(os.path.join(root, path), "wb") as file:
                file.write(content)
