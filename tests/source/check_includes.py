#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the names of headers, and which file includes which header.

    check_includes.py ROOT [FILE...]

Without FILEs all sources are checked. A source includes headers by their paths from the root, no two
headers of a program have the same file name, and no source includes a header that the rules below forbid.
"""
import collections
import pathlib
import re
import sys

PUBLIC = r"mli_(api|engine|explain|plan|tuning|types|mov_api|kernels_api|helpers_api|compat_embarc|config)\.h"
SERVICE = r"(proto|target|client|daemon|cli|boards)/.*"

# (files, kind, included names, reason): a file whose path matches `files` includes only headers that match
# ("only"), or no header that matches ("never"). Both are regular expressions for the whole path.
RULES = [
    (r"(libmli|proto|target|client|daemon|cli|bench|boards)/.*", "never", r"tests/.*|.*\.c", "tests are built on the rest"),
    (r"(libmli|proto|target|client|daemon|cli|boards)/.*", "never", r"bench/.*", "benchmarks are built on the rest"),
    (r"libmli/.*", "never", r"uv\.h", "libmli runs on bare metal"),
    (r"libmli/.*", "never", SERVICE, "libmli knows nothing of the service around it"),
    (r"libmli/include/.*", "only", PUBLIC + r"|std(int|bool|def)\.h",
     "a public header needs public headers only"),
    (r"libmli/src/exec/(copy|leaf|tile|c/|x86/|arm/).*", "only",
     r"libmli/src/exec/(copy|leaf|tile\w*|tuning)\.h|libmli/src/exec/x86/\w+\.h|"
     r"libmli/src/builtins\.h|std(int|def|bool)\.h|(immintrin|arm_neon)\.h",
     "leaf kernels know bytes and steps"),
    (r"libmli/src/(plan|geometry|overlap|quant|transfer)\.[ch]", "never",
     r"libmli/src/(dma|exec)/.*|mli_engine\.h", "the planner knows no engine"),
    (r"libmli/src/(dma/engine.*|exec/.*)", "never", r"libmli/src/(geometry|transfer|quant|tensor)\.h",
     "an engine knows plans, not tensors"),
    (r"libmli/port/.*", "never", r"libmli/src/.*", "a port is built on the public headers"),
    (r"libmli/port/mock/mock_(device|bus|clock)\.[ch]", "only",
     r"libmli/port/mock/mock_device\.h|std\w+\.h|string\.h|pthread\.h|sched\.h|semaphore\.h",
     "a device knows nothing of the library"),
    (r"boards/drivers/.*", "never",
     r"libmli/src/.*|target/(?!controller/pl330_program\.h).*|(proto|client|daemon|cli)/.*|boards/(firmware|serial|link)/.*",
     "a driver is built on libmli's public headers and does not know the board"),
    (r"(boards|tests)/firmware/.*", "never", r"libmli/src/.*|uv\.h|(target|daemon)/.*|cli/(?!selftest/).*|boards/link/.*",
     "firmware is built on libmli's public headers"),
    (r"tests/unit/port/(?!test_split\.c).*", "never", r"libmli/src/.*",
     "what a port relies on is public"),
    (r"proto/.*", "never", r"uv\.h|libmli/.*|(target|client|daemon|cli)/.*", "proto is the layer below"),
    (r"boards/serial/.*", "only", r"boards/serial/.*|mli_mov_api\.h|std\w+\.h|string\.h",
     "both ends of the line use it, one of them on bare metal"),
    (r"boards/link/.*", "never", r"uv\.h|libmli/.*|(client|daemon)/.*|boards/(drivers|firmware)/.*",
     "mlictl knows a board by its serial line"),
    (r"(libmli|proto|target|client|daemon|cli|bench|python)/.*", "never", r"boards/.*",
     "boards may be absent: mlictl calls cli/link/boards.h"),
    (r"target/controller/pl330_program\.[ch]", "only", r"target/controller/pl330_program\.h|std\w+\.h",
     "a driver on bare metal uses it, too"),
    (r"target/.*", "never", r"uv\.h|libmli/.*|proto/(wire|file)/.*|(client|daemon|cli)/.*",
     "target stands on the public headers and JSON"),
    (r"proto/json/.*", "never", r"proto/(wire|file)/.*", "JSON knows no protocol and no file format"),
    (r"proto/wire/.*", "never", r"proto/file/.*", "the wire knows no files"),
    (r"(daemon|client)/.*", "never", r"proto/file/.*", "only mlictl reads job files and tensor files"),
    (r"(?!proto/json/json\.c$|tests/.*\.c$).*", "never", r".*cJSON.*", "json.c alone knows where the values are"),
    (r"(?!cli/tensor/npz\.c$|tests/).*", "never", r"zlib\.h",
     "zlib stays in npz.c: it may be absent"),
    (r"(?!cli/queue/redis\.c$).*", "never", r"hiredis(/.*)?\.h", "hiredis may be absent"),
    (r"cli/queue/.*", "never", r"cli/(batch|job|link|report)/.*", "a queue does not know what its cases are"),
    (r"client/include/.*", "only", PUBLIC + r"|std(int|bool|def)\.h",
     "a public header needs public headers only"),
    (r"client/src/.*", "never", r"uv\.h|libmli/.*|(daemon|cli)/.*",
     "the client library stands on proto and the public headers"),
    (r"examples/.*", "only", r"mli_\w+\.h|std\w+\.h|string\.h", "an example needs what is installed"),
    (r"cli/.*", "never", r"uv\.h|libmli/src/.*|client/.*", "mlictl is a client"),
    (r"cli/.*", "never", r"daemon/(?!(service|config/config|memory/sigbus)\.h).*",
     "mlictl embeds the service, and shares the process's only handler of SIGBUS"),
    (r"cli/report/.*", "never",
     r"cli/(batch|link|run)/.*|mli_client\.h|daemon/service\.h",
     "reports do not know whether anything runs"),
    (r"daemon/.*", "never", r"libmli/src/.*|cli/.*|client/.*", "the service uses the public API"),
]

# The folders of mlictl in layers, the lowest layer first: a file may include headers of its own folder and of folders
# in lower lines. "cli" stands for the files in cli itself. cli/cmd/main.c draws the layers.
LAYERS = (
    "cli/term",
    "cli",
    "cli/file cli/queue",
    "cli/model",
    "cli/tensor",
    "cli/diagnose",
    "cli/job cli/selftest",
    "cli/link cli/calibrate",
    "boards/link cli/explain cli/run",
    "cli/report cli/make",
    "cli/tile cli/optimise",
    "cli/import",
    "cli/batch",
    "cli/cmd",
)
LAYER = {folder: height for height, line in enumerate(LAYERS) for folder in line.split()}

# Headers that are included without a path: the public headers, as programs include them, and a
# generated header.
WITHOUT_PATH = PUBLIC + r"|mli_client\.h|leaf_levels\.h"

# Headers of firmware and of each of its boards; no program has both these and headers of the host.
FIRMWARE = re.compile(r"(boards/firmware/(boards/\w+/)?|tests/firmware/)?")

# The functions and constants of cJSON that may be used outside tests. Its hooks and last error are process-wide and
# belong to the host program, cJSON_Print() writes 9007199254740991 as 9.00719925474099e+15, and cJSON_GetObjectItem()
# ignores case.
CJSON = re.compile(r"\bcJSON_(?!(?:ParseWithLength|Delete|False|True|NULL|Number|String|Array|Object)\b)\w+")

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def sources(root):
    for folder in ("libmli", "proto", "target", "client", "daemon", "cli", "boards", "tests", "bench", "examples"):
        yield from (p for p in sorted((root / folder).rglob("*")) if p.suffix in (".c", ".h"))


def broken_rules(name, included):
    """Yields the reasons why the file `name` must not include the header `included`."""
    for files, kind, headers, reason in RULES:
        if re.fullmatch(files, name) and (re.fullmatch(headers, included) is None) == (kind == "only"):
            yield reason


def breaks_layers(name, included):
    """Returns whether the file `name` of mlictl includes a header of a folder that is not below its own."""
    own, other = (path.rpartition("/")[0] for path in (name, included))
    if own not in LAYER:
        return own.startswith("cli/")
    return other in LAYER and other != own and LAYER[other] >= LAYER[own]


def include_errors(root, path):
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        place = f"{name}:{text.count(chr(10), 0, match.start(2)) + 1}: includes {match[2]}"
        if match[1] == '"' and "/" not in match[2] and not re.fullmatch(WITHOUT_PATH, match[2]):
            yield f"{place}: write its path from the root"
        yield from (f"{place}: {reason}" for reason in broken_rules(name, match[2]))
        if breaks_layers(name, match[2]):
            yield f"{place}: its folder is not in a lower layer (LAYERS in this test)"


def cjson_errors(root, path):
    name = path.relative_to(root).as_posix()
    text = path.read_text()
    for match in () if name.startswith("tests/") else CJSON.finditer(text):
        yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]} must not be used"


def duplicate_headers(root, paths):
    by_name = collections.defaultdict(list)
    for path in paths:
        if path.suffix == ".h":
            name = path.relative_to(root).as_posix()
            by_name[path.name, FIRMWARE.match(name)[0]].append(name)
    for (name, _), same in by_name.items():
        if len(same) > 1:
            yield f"{name}: {len(same)} headers have this name, rename all but one: {', '.join(same)}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    every = list(sources(root))
    wanted = {pathlib.Path(name).resolve() for name in sys.argv[2:]}
    checked = [path for path in every if path in wanted] if wanted else every
    errors = [error for path in checked for error in include_errors(root, path)]
    errors += [error for path in checked for error in cjson_errors(root, path)]
    errors += duplicate_headers(root, every)
    if errors:
        print(*errors, sep="\n")
    print(f"{len(checked)} files checked, {len(errors)} errors")
    return 1 if errors or not every else 0


if __name__ == "__main__":
    sys.exit(main())
