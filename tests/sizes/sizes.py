#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures small builds of libmli for a Cortex-M4, and compares them with the table in docs/library.md.

    sizes.py [--update] SOURCE_ROOT

Fails if a figure exceeds the documented limit; --update writes the measured figures, rounded up, into the table. Needs
arm-none-eabi-gcc; exits with 77 (skipped) without it, or with another major version than that of the table.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from stack_depth import Graph, Pointers

SKIPPED = 77
GCC, VERSION = "arm-none-eabi-gcc", "12"
FLAGS = ["-mcpu=cortex-m4", "-mthumb", "-Os", "-std=gnu11", "-ffreestanding", "-ffunction-sections", "-fdata-sections",
         '-DMLI_VERSION="0"', "-DMLI_THREAD_LOCAL=", "-fcallgraph-info=su"]
HERE = pathlib.Path(__file__).resolve().parent

SYNC = ["MLI_CHANNELS=0"]
# rows of the table: each has its program, its macros, and the functions whose stack counts
BUILDS = {
    "sync, small kernels": ("sync", [*SYNC, "MLI_SMALL_KERNELS", "MLI_DEBUG_MODE=0"], ["mli_mov_tensor_sync"]),
    "sync, small kernels, messages": ("sync", [*SYNC, "MLI_SMALL_KERNELS"], ["mli_mov_tensor_sync"]),
    "sync, fast kernels": ("sync", [*SYNC, "MLI_DEBUG_MODE=0"], ["mli_mov_tensor_sync"]),
    "device, small kernels": ("device", ["MLI_CHANNELS=1", "MLI_CPU_HANDLES=0", "MLI_SMALL_KERNELS", "MLI_NO_FAULT",
                                         "MLI_DEBUG_MODE=0"], ["mli_mov_start", "device_interrupt"]),
    "device, all defaults": ("device", [], ["mli_mov_start", "device_interrupt"]),
}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compile_all(root, directory, sources, macros):
    """Compiles the sources in parallel; returns the objects."""
    def one(source):
        name = source.relative_to(root).as_posix().replace("/", "_")
        run(GCC, *FLAGS, *("-D" + macro for macro in macros), f"-I{root}", f"-I{root}/libmli/include", "-c", str(source),
            "-o", f"{directory}/{name}.o")
        return f"{directory}/{name}.o"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, sources))


def measure(root, program, macros, functions):
    """Returns (text, data and bss, stack of each function), and the deepest calls as text."""
    unused = ("x86", "arm", "dma") if program == "sync" else ("x86", "arm")
    library = [path for path in sorted((root / "libmli/src").rglob("*.c")) if path.parent.name not in unused]
    own = [HERE / f"program_{program}.c", HERE / "memory.c"]
    with tempfile.TemporaryDirectory(prefix="mli-sizes-") as directory:
        objects = compile_all(root, directory, library + own, macros)
        elf = f"{directory}/program.elf"
        run(GCC, *FLAGS[:3], "-nostdlib", "-nostartfiles", "-Wl,--gc-sections,-e,main,-Map=" + directory + "/map",
            "-Wl,--undefined=device_interrupt" if program == "device" else "-Wl,--gc-sections", *objects, "-lgcc",
            "-Wl,--no-warn-rwx-segments", "-o", elf)
        text, data, bss = map(int, run("arm-none-eabi-size", elf).splitlines()[1].split()[:3])
        graph = Graph(pathlib.Path(directory).glob("*.ci"), Pointers(HERE / "pointers.txt"))
        depths = [graph.depth(name) for name in functions]
        stages = re.findall(r" [tT] (stage_\w+)", run("arm-none-eabi-nm", elf))
    problems = [f"{name}: linked, but no level streams" for name in stages]
    problems += [f"{place}: {what}: not in tests/sizes/pointers.txt" for place, what in sorted(graph.unlisted)]
    return (text, data + bss, [bytes for bytes, _ in depths]), [" > ".join(path) for _, path in depths], problems


def documented(text, name):
    """Returns the figures of a row, or None."""
    row = re.search(rf"^\| {re.escape(name)} \|(.*)\|$", text, re.M)
    if not row:
        return None
    cells = [cell.strip() for cell in row[1].split("|")][-3:]
    return int(cells[0]), int(cells[1]), [int(word) for word in re.findall(r"\d+", cells[2])]


def rounded(figures):
    """Returns limits with room for small changes: the figures plus 3 percent, rounded up."""
    text, data, stack = figures
    up = lambda value, unit: -(-int(value * 1.03) // unit) * unit
    return up(text, 256), up(data, 128), [up(bytes, 64) for bytes in stack]


def cells(figures, functions):
    text, data, stack = figures
    depths = [str(bytes) if len(functions) == 1 else f"{bytes} {name}" for bytes, name in zip(stack, functions)]
    return f"{text} | {data} | {', '.join(depths)}"


def check(figures, limits):
    flat = lambda f: [f[0], f[1], *f[2]]
    return limits is not None and len(flat(figures)) == len(flat(limits)) and all(
        got <= most for got, most in zip(flat(figures), flat(limits)))


def main():
    update = "--update" in sys.argv
    root = pathlib.Path(sys.argv[-1]).resolve()
    page = root / "docs/library.md"
    if not shutil.which(GCC):
        print(f"skipped: no {GCC} (Debian: gcc-arm-none-eabi)")
        return SKIPPED
    version = run(GCC, "-dumpversion").strip()
    if version.split(".")[0] != VERSION and not update:
        print(f"skipped: {GCC} {version}; the figures of docs/library.md are those of version {VERSION}")
        return SKIPPED
    text, failures = page.read_text(), 0
    for name, (program, macros, functions) in BUILDS.items():
        figures, paths, problems = measure(root, program, macros, functions)
        print(f"{name}: {cells(figures, functions)}".replace(" |", ","))
        for path in paths:
            print(f"    {path}")
        for problem in problems:
            print(problem)
        good = check(figures, documented(text, name)) and not problems
        if not good and not update:
            print(f"    FAILED: documented are {documented(text, name)}")
        failures += not good
        if update:
            text = re.sub(rf"^(\| {re.escape(name)} \|.*?)(\|[^|]*){{3}}\|$",
                          lambda row: f"{row[1]}| {cells(rounded(figures), functions)} |", text, flags=re.M)
    if update:
        page.write_text(text)
        return 0
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
