#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no source file includes what its folder must not know.

    check_includes.py ROOT

Each rule says of the files that match a pattern what they may include ("only") or must not include
("never"). Patterns are matched against the path from the root and against the included name as it
is written.
"""
import pathlib
import re
import sys

PUBLIC = r"mli_(api|engine|explain|plan|types|mov_api|kernels_api|helpers_api|compat_embarc|config)\.h"
ENGINE = r".*engine.*|.*pool.*|.*exec.*"

# (files, "only" or "never", included names, why)
RULES = [
    (r"libmli/.*", "never", r"uv\.h", "libmli runs on bare metal"),
    (r"libmli/src/.*", "never", r".*(proto|daemon|cli)/.*|(fault|json|jsonw|job|rpc|frame|npy|"
     r"service|config)\.h", "libmli knows nothing of the service around it"),
    (r"libmli/include/.*", "only", PUBLIC + r"|std(int|bool|def)\.h",
     "a public header needs public headers only"),
    (r"libmli/src/exec/(leaf|nest|piece|tile|c/|x86/|arm/).*", "only",
     r"(\.\./)?(leaf|level|nest|piece|words|tile\w*)\.h|(\.\./c/)?kernels_c\.h|(\.\./)*bytes\.h|"
     r"(lanes|tiles|target|cpu|\w+_(avx2|avx512|neon))\.h|std(int|def|bool)\.h|"
     r"(cpuid|immintrin|arm_neon)\.h", "leaf kernels know bytes and steps"),
    (r"libmli/src/(plan|geometry|overlap|quant|transfer)\.[ch]", "never", ENGINE,
     "the planner knows no engine"),
    (r"libmli/src/(dma/engine.*|exec/.*)", "never", r".*(geometry|transfer|quant|tensor)\.h",
     "an engine knows plans, not tensors"),
    (r"libmli/port/.*", "never", r"\.\./.*|.*src/.*|.*(proto|daemon|cli)/.*",
     "a port is built on the public headers"),
    (r"libmli/port/mock/mock_device\.[ch]", "only", r"mock_device\.h|std\w+\.h|string\.h",
     "a device knows nothing of the library"),
    (r"tests/unit/port/(?!test_split\.c).*", "never", r"dma/.*|.*src/.*",
     "what a port relies on is public"),
    (r"proto/.*", "never", r"uv\.h|.*libmli/src.*|.*(daemon|cli)/.*", "proto is the layer below"),
    (r"(?!tests/).*", "never", r".*cJSON.*",
     "cJSON's hooks and last error are process-wide: they belong to the host program"),
    (r"(?!cli/tensor/npz\.c$|tests/).*", "never", r"zip\.h",
     "libzip stays in npz.c: it may be absent"),
    (r"client/include/.*", "only", PUBLIC + r"|std(int|bool|def)\.h",
     "a public header needs public headers only"),
    (r"client/src/.*", "never", r"uv\.h|.*libmli/src.*|.*(daemon|cli)/.*|(service|config)\.h",
     "the client library stands on proto and the public headers"),
    (r"examples/.*", "only", r"mli_\w+\.h|std\w+\.h|string\.h", "an example needs what is installed"),
    (r"cli/.*", "never", r"uv\.h|.*libmli/src.*|.*client/src.*", "mlictl is a client"),
    (r"cli/batch/(basis|count|digest|events|journal|junit|lines|merge|outline|progress|report|result|"
     r"sentence|shard|sink|state|summary|tap)\.[ch]", "never",
     r"(attempt|book|cases|connector|evidence|keep|runner|trial|client|execute|sequence|mli_client)\.h",
     "what tells of a batch does not know whether anything runs"),
    (r"cli/batch/(result|outline|summary|state|journal|report|sink|events|lines|progress|tap|junit|"
     r"merge)\.[ch]", "never", r"(client|service|attempt|trial|runner|book)\.h",
     "reports do not know whether anything runs"),
    (r"daemon/.*", "never", r".*libmli/src.*|.*cli/.*", "the service uses the public API"),
]

# The headers of daemon/ that cli/ may see: those that embed the service, and the process's only
# handler of SIGBUS.
EMBEDDING = {"service.h", "config.h", "sigbus.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def sources(root):
    for folder in ("libmli", "proto", "client", "daemon", "cli", "tests", "bench", "examples"):
        yield from (p for p in sorted((root / folder).rglob("*")) if p.suffix in (".c", ".h"))


def complaints(root):
    daemon_headers = {p.name for p in (root / "daemon").rglob("*.h")} - EMBEDDING
    daemon_headers -= {p.name for p in (root / "cli").rglob("*.h")}
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            for files, kind, what, why in RULES:
                if re.fullmatch(files, name) is None:
                    continue
                if (re.fullmatch(what, match[2]) is None) == (kind == "only"):
                    yield f"{name}:{line}: includes {match[2]}: {why}"
            if name.startswith("cli/") and pathlib.PurePath(match[2]).name in daemon_headers:
                yield f"{name}:{line}: includes {match[2]}: a private header of the daemon"


def main():
    root = pathlib.Path(sys.argv[1])
    count = sum(1 for _ in sources(root))
    found = list(complaints(root))
    print(*found, sep="\n")
    print(f"{count} files, {len(found)} includes in the wrong direction")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
