#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that sources include headers by their paths, and none that their folder must not know.

    check_includes.py ROOT

Each rule says of the files that match a pattern what they may include ("only") or must not include
("never"). Patterns are matched against the path from the root and against the included name.
"""
import pathlib
import re
import sys

PUBLIC = r"mli_(api|engine|explain|plan|types|mov_api|kernels_api|helpers_api|compat_embarc|config)\.h"
SERVICE = r"(proto|client|daemon|cli)/.*"

# (files, "only" or "never", included names, why)
RULES = [
    (r"(libmli|proto|client|daemon|cli|bench)/.*", "never", r"tests/.*|.*\.c", "tests are built on the rest"),
    (r"(libmli|proto|client|daemon|cli)/.*", "never", r"bench/.*", "benchmarks are built on the rest"),
    (r"libmli/.*", "never", r"uv\.h", "libmli runs on bare metal"),
    (r"libmli/.*", "never", SERVICE, "libmli knows nothing of the service around it"),
    (r"libmli/include/.*", "only", PUBLIC + r"|std(int|bool|def)\.h",
     "a public header needs public headers only"),
    (r"libmli/src/exec/(leaf|nest|piece|tile|c/|x86/|arm/).*", "only",
     r"libmli/src/exec/(leaf|level|nest|piece|tile\w*|tuning)\.h|libmli/src/exec/(c|x86|arm)/\w+\.h|"
     r"libmli/src/bytes\.h|std(int|def|bool)\.h|(cpuid|immintrin|arm_neon)\.h",
     "leaf kernels know bytes and steps"),
    (r"libmli/src/(plan|geometry|overlap|quant|transfer)\.[ch]", "never",
     r"libmli/src/(dma|exec)/.*|mli_engine\.h", "the planner knows no engine"),
    (r"libmli/src/(dma/engine.*|exec/.*)", "never", r"libmli/src/(geometry|transfer|quant|tensor)\.h",
     "an engine knows plans, not tensors"),
    (r"libmli/port/.*", "never", r"libmli/src/.*", "a port is built on the public headers"),
    (r"libmli/port/mock/mock_device\.[ch]", "only",
     r"libmli/port/mock/mock_device\.h|std\w+\.h|string\.h", "a device knows nothing of the library"),
    (r"tests/unit/port/(?!test_split\.c).*", "never", r"libmli/src/.*",
     "what a port relies on is public"),
    (r"proto/.*", "never", r"uv\.h|libmli/.*|(client|daemon|cli)/.*", "proto is the layer below"),
    (r"proto/json/.*", "never", r"proto/(wire|file)/.*", "JSON knows no protocol and no file format"),
    (r"proto/wire/.*", "never", r"proto/file/.*", "the wire knows no files"),
    (r"(daemon|client)/.*", "never", r"proto/file/.*", "only mlictl reads job files and tensor files"),
    (r"(?!tests/).*", "never", r".*cJSON.*",
     "cJSON's hooks and last error are process-wide: they belong to the host program"),
    (r"(?!cli/tensor/npz\.c$|tests/).*", "never", r"zip\.h",
     "libzip stays in npz.c: it may be absent"),
    (r"client/include/.*", "only", PUBLIC + r"|std(int|bool|def)\.h",
     "a public header needs public headers only"),
    (r"client/src/.*", "never", r"uv\.h|libmli/.*|(daemon|cli)/.*",
     "the client library stands on proto and the public headers"),
    (r"examples/.*", "only", r"mli_\w+\.h|std\w+\.h|string\.h", "an example needs what is installed"),
    (r"cli/.*", "never", r"uv\.h|libmli/src/.*|client/.*", "mlictl is a client"),
    (r"cli/.*", "never", r"daemon/(?!(service|config/config|memory/sigbus)\.h).*",
     "mlictl embeds the service, and shares the process's only handler of SIGBUS"),
    (r"cli/batch/(fingerprint|merge|report\w*|result|shard|state_file)\.[ch]", "never",
     r"cli/batch/(attempt|batch|cases|connector|kept|resume|workers)\.h|"
     r"cli/link/.*|cli/job/(execute|sequence)\.h|mli_client\.h|daemon/service\.h",
     "reports do not know whether anything runs"),
    (r"daemon/.*", "never", r"libmli/src/.*|cli/.*|client/.*", "the service uses the public API"),
]

# Public headers, included as programs include them, and a generated one.
WITHOUT_PATH = PUBLIC + r"|mli_client\.h|leaf_levels\.h"

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def sources(root):
    for folder in ("libmli", "proto", "client", "daemon", "cli", "tests", "bench", "examples"):
        yield from (p for p in sorted((root / folder).rglob("*")) if p.suffix in (".c", ".h"))


def in_wrong_direction(name, included):
    for files, kind, what, why in RULES:
        if re.fullmatch(files, name) is None:
            continue
        if (re.fullmatch(what, included) is None) == (kind == "only"):
            yield why


def complaints(root):
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            if match[1] == '"' and "/" not in match[2] and not re.fullmatch(WITHOUT_PATH, match[2]):
                yield f"{name}:{line}: includes {match[2]}: the path from the root is needed"
            for why in in_wrong_direction(name, match[2]):
                yield f"{name}:{line}: includes {match[2]}: {why}"


def main():
    root = pathlib.Path(sys.argv[1])
    count = sum(1 for _ in sources(root))
    found = list(complaints(root))
    print(*found, sep="\n")
    print(f"{count} files, {len(found)} includes in the wrong direction")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
