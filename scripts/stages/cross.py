# SPDX-License-Identifier: BSD-3-Clause
"""scripts/cross: builds and tests for other processors, with cross compilers and QEMU.

To add a processor or a board: write tests/cross/NAME.ini and a line in TARGETS.
"""
import argparse
import ast
import configparser
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import sysroot
from stage import CPUS, ROOT

TREES = ROOT / "build-cross"
SKIPPED = 77
SUITES = ("unit", "leaf", "property", "firmware")
SLOWER = 10  # programs under QEMU need up to this multiple of the time
# Tests that fail because of QEMU's emulation of processes:
NOT_IN_QEMU = {
    "debug_mode_debug": "QEMU prints a line when a program aborts",
    "debug_mode_full": "QEMU prints a line when a program aborts",
    "daemon fresh": "QEMU accepts every advice of madvise()",
    "fork": "QEMU aborts when the child of a process with threads starts a thread",
}
# QEMU 7.2 gives most programs a wrong address with SIGBUS: one page too high for 32-bit processors.
NO_SIGBUS = {name: "QEMU gives programs a wrong address with SIGBUS" for name in (
    "daemon buffers", "daemon engines", "daemon life", "daemon prepared", "daemon region",
    "daemon sigbus")}
# Tests that need many minutes under QEMU and depend little on the processor: models of boards and tiles.
TOO_SLOW = re.compile(r"controller .*|target (box_cutter|decoders|encoders|tile_layers|tile_plan)")
LINUX = "linux"
BARE = "bare"
BOARD = "board"


@dataclasses.dataclass(frozen=True)
class Target:
    """One processor. `architecture` is Debian's name of the processor if this release has packages for it."""
    name: str
    what: str
    compiler: str  # package of the cross compiler
    architecture: str = None
    kind: str = LINUX
    sigbus: bool = False  # QEMU gives programs the right address with SIGBUS
    packages: tuple = ()  # further packages


TARGETS = {target.name: target for target in (
    Target("aarch64", "AArch64, NEON", "gcc-aarch64-linux-gnu", "arm64", sigbus=True),
    Target("aarch64-strict", "AArch64, aligned accesses only", "gcc-aarch64-linux-gnu", "arm64", sigbus=True),
    Target("armhf", "ARMv7", "gcc-arm-linux-gnueabihf", "armhf"),
    Target("armel", "ARMv5TE", "gcc-arm-linux-gnueabi", "armel"),
    Target("i386", "i686", "gcc-i686-linux-gnu", "i386", sigbus=True),
    Target("riscv64", "RV64GC", "gcc-riscv64-linux-gnu", sigbus=True),
    Target("s390x", "IBM Z, big-endian", "gcc-s390x-linux-gnu", "s390x"),
    Target("powerpc", "32-bit PowerPC, big-endian", "gcc-powerpc-linux-gnu"),
    Target("arc", "ARC HS", "gcc-arc-linux-gnu"),
    Target("cortex-m0", "ARMv6-M, bare metal", "gcc-arm-none-eabi", kind=BARE,
           packages=("picolibc-arm-none-eabi", "qemu-system-arm")),
    Target("cortex-m4", "ARMv7E-M, bare metal", "gcc-arm-none-eabi", kind=BARE,
           packages=("picolibc-arm-none-eabi", "qemu-system-arm")),
    Target("cortex-m7", "ARMv7E-M, bare metal", "gcc-arm-none-eabi", kind=BARE,
           packages=("picolibc-arm-none-eabi", "qemu-system-arm")),
    Target("riscv32-elf", "RV32IM, bare metal", "gcc-riscv64-unknown-elf", kind=BARE,
           packages=("picolibc-riscv64-unknown-elf", "qemu-system-misc")),
    Target("riscv64-elf", "RV64IMAC, bare metal", "gcc-riscv64-unknown-elf", kind=BARE,
           packages=("picolibc-riscv64-unknown-elf", "qemu-system-misc")),
    Target("sifive_u", "SiFive FU540 with its PDMA, images", "gcc-riscv64-unknown-elf", kind=BOARD,
           packages=("picolibc-riscv64-unknown-elf", "qemu-system-misc")),
    Target("zynq", "Zynq-7000 with the PL330, images", "gcc-arm-none-eabi", kind=BOARD,
           packages=("picolibc-arm-none-eabi", "qemu-system-arm")),
    Target("raspi2b", "Raspberry Pi 2 with the DMA of the BCM2835, images", "gcc-arm-none-eabi", kind=BOARD,
           packages=("picolibc-arm-none-eabi", "qemu-system-arm")),
    Target("zcu102", "Zynq UltraScale+ with ZDMA, images", "gcc-aarch64-linux-gnu", kind=BOARD,
           packages=("picolibc-aarch64-linux-gnu", "qemu-system-arm")),
)}


class Skipped(Exception):
    """The target cannot be built or run here. The text is the reason."""


class Failed(Exception):
    """A step failed. The text names it and its log."""


def run(command, log, env=None):
    """Runs a command at low priority with its output appended to the log; returns its exit status."""
    with open(log, "a") as out:
        return subprocess.run(["nice", "-n", "10", *map(str, command)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}).returncode


def excerpt(log):
    """Returns the lines of a log that say what failed."""
    lines = log.read_text(errors="replace").splitlines()
    for number, line in enumerate(lines):
        if re.search(r"FAILED|error:|ERROR:", line):
            break
    else:
        number = -20
    return "\n".join(line[:200] for line in lines[number:][:20])


class CrossFile:
    """The commands in tests/cross/NAME.ini."""

    def __init__(self, name):
        self.path = ROOT / "tests" / "cross" / f"{name}.ini"
        parser = configparser.ConfigParser()
        parser.read(self.path)
        binaries = {key: ast.literal_eval(value) for key, value in parser["binaries"].items()}
        self.binaries = {key: [value] if isinstance(value, str) else value for key, value in binaries.items()}
        self.qemu = ast.literal_eval(parser.get("properties", "qemu", fallback="''"))

    def command(self, key):
        """Returns the words of a command, or [] if the file does not name it."""
        return self.binaries.get(key, [])


def install(packages, commands):
    """Installs the packages that are missing. Returns the commands that are still missing."""
    subprocess.run([ROOT / "scripts/install-deps", "packages", *packages], stdout=subprocess.DEVNULL)
    return [command for command in commands if not shutil.which(command)]


def say_step(target, step, log):
    """Prints which step begins: some take minutes."""
    print(f"{target}: {step}, see {log.relative_to(ROOT)}", file=sys.stderr, flush=True)


class Build:
    """The tree and the logs of one target."""

    def __init__(self, target, percent):
        self.target, self.percent = target, percent
        self.folder = TREES / target.name
        self.tree = self.folder / "tree"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = CrossFile(target.name)
        self.wrapper = list(self.file.command("exe_wrapper"))
        if target.name == "arc" and shutil.which(self.file.qemu):
            self.wrapper = [self.file.qemu, "-L", "/usr/arc-linux-gnu"]
        if target.kind == BOARD:  # mlictl finds the agent in this folder
            self.tree = self.folder
            self.file.qemu = (ROOT / "boards/firmware/boards" / target.name / "qemu.args").read_text().split()[0]

    def log(self, name):
        path = self.folder / f"{name}.log"
        path.unlink(missing_ok=True)
        return path

    def step(self, name, command, env=None):
        log = self.log(name)
        say_step(self.target.name, name, log)
        if run(command, log, env) != 0:
            print(excerpt(log), file=sys.stderr)
            raise Failed(f"{name} fails, see {log.relative_to(ROOT)}")

    def write_local(self, root):
        """Writes a second cross file: ccache, and the libraries of the sysroot."""
        compiler = (["ccache"] if shutil.which("ccache") else []) + self.file.command("c")
        lines = ["[binaries]", f"c = {compiler!r}"]
        if root:
            folders = sysroot.libraries(root)
            lines.append("pkgconfig = 'pkg-config'")
            if self.wrapper:
                path = ":".join(map(str, folders))
                if "--library-path" in self.wrapper:  # a loader, not QEMU
                    self.wrapper[-1] += f":{path}"
                else:
                    self.wrapper += ["-E", f"LD_LIBRARY_PATH={path}"]
                lines.append(f"exe_wrapper = {self.wrapper!r}")
            lines += ["[properties]", "pkg_config_libdir = '" + ":".join(f"{folder}/pkgconfig" for folder in folders) + "'"]
        local = self.folder / "local.ini"
        local.write_text("\n".join(lines) + "\n")
        return local

    def configure(self, root, *options):
        local = self.write_local(root)
        if not (self.tree / "build.ninja").is_file():
            self.step("configure", ["meson", "setup", self.tree, "--cross-file", self.file.path, "--cross-file", local,
                                    "-Dbuildtype=release", "-Doptimization=2", "-Dwerror=true", "-Dman=disabled",
                                    *options])
        # The list of tests must be that of the current meson.build files.
        self.step("configure", ["ninja", "-C", self.tree, "build.ninja"])

    def compile(self, *files):
        self.step("build", ["ninja", "-C", self.tree, "-j", CPUS, "-k", 0, *files])

    def introspect(self, what):
        text = subprocess.run(["meson", "introspect", what, self.tree], check=True, capture_output=True, text=True)
        return json.loads(text.stdout)

    def tests(self):
        return [test for test in self.introspect("--tests") if not TOO_SLOW.fullmatch(test["name"]) and
                {suite.split(":")[-1] for suite in test["suite"]} & set(SUITES)]

    def test_files(self):
        """Returns the files that the tests need, as ninja names them."""
        wanted = {target for test in self.tests() for target in test["depends"]}
        return sorted(os.path.relpath(file, self.tree) for target in self.introspect("--targets")
                      if target["id"] in wanted for file in target["filename"])

    def run_tests(self):
        """Runs the suites. Returns a text of the result; raises Failed if a test failed."""
        log = self.log("test")
        say_step(self.target.name, "test", log)
        tests = sorted(test["name"] for test in self.tests())
        run(["meson", "test", "-C", self.tree, "--no-rebuild", "--print-errorlogs", "--logbase", "cross",
             "--num-processes", 2 * CPUS, "--timeout-multiplier", SLOWER, *tests], log,
            {"MLI_TEST_PERCENT": str(self.percent), "MLI_TEST_SLOW": str(SLOWER)})
        found = self.tree / "meson-logs" / "cross.json"
        if not found.is_file():
            raise Failed(f"no test ran, see {log.relative_to(ROOT)}")
        results = [json.loads(line) for line in found.read_text().splitlines()]
        bad = [test["name"].split(" / ")[-1] for test in results
               if test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")]
        known = NOT_IN_QEMU if self.target.sigbus else {**NOT_IN_QEMU, **NO_SIGBUS}
        limits, failed = [name for name in bad if name in known], [name for name in bad if name not in known]
        skipped = [test["name"].split(" / ")[-1] for test in results if test["result"] == "SKIP"]
        text = f"{len(results) - len(bad) - len(skipped)} of {len(results)} test programs"
        text += f" (QEMU cannot run {', '.join(limits)})" if limits else ""
        text += f" (skipped: {', '.join(skipped)})" if skipped else ""
        if failed:
            raise Failed(f"{text}; failed: {', '.join(failed)}; see {log.relative_to(ROOT)}")
        if len(results) < len(tests):
            raise Failed(f"{text}; {len(tests) - len(results)} others did not run: meson was stopped; "
                         f"see {log.relative_to(ROOT)}")
        return text

    def size(self, path):
        """Returns the sizes of code and of variables in a library, as a text."""
        tool = self.file.command("nm")[0].removesuffix("nm") + "size"
        lines = subprocess.run([tool, path], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        text, data, bss = (sum(int(line.split()[i]) for line in lines) for i in range(3))
        return f"{path.name} {text / 1024:.0f} KiB code, {(data + bss) / 1024:.1f} KiB data"

    def wrapped(self, program):
        """Writes a script that runs a program of the tree under QEMU, and returns its path."""
        script = self.folder / "bin" / pathlib.Path(program).name
        script.parent.mkdir(exist_ok=True)
        words = " ".join(f"'{word}'" for word in [*self.wrapper, str(self.tree / program)])
        script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        script.chmod(0o755)
        return script


def native_tools():
    """Builds mlictl and mlid for this machine, and returns their paths."""
    tree, log = TREES / "native", TREES / "native.log"
    say_step("native mlictl and mlid", "build", log)
    if not (tree / "build.ninja").is_file():
        env = {"CC": "ccache gcc"} if shutil.which("ccache") else {}
        if run(["meson", "setup", tree, "-Dbuildtype=release", "-Doptimization=2", "-Dtests=false", "-Dman=disabled",
                "-Dnpz=disabled"], log, env) != 0:
            raise Failed(f"native build: meson fails, see {log.relative_to(ROOT)}")
    if run(["ninja", "-C", tree, "-j", CPUS, "cli/mlictl", "daemon/mlid"], log) != 0:
        raise Failed(f"native build: ninja fails, see {log.relative_to(ROOT)}")
    return tree / "cli/mlictl", tree / "daemon/mlid"


def test_service(build):
    """Runs mlid and mlictl under QEMU. Then runs only one of them under QEMU, and the other one
    natively."""
    mlictl, mlid = build.wrapped("cli/mlictl"), build.wrapped("daemon/mlid")
    native_mlictl, native_mlid = native_tools()
    examples = [sys.executable, "-B", ROOT / "tests/integration/test_examples.py", "Examples", "WithNumpy"]
    for name, client, daemon in (("service", mlictl, mlid), ("native client", native_mlictl, mlid),
                                 ("native daemon", mlictl, native_mlid)):
        build.step(name.replace(" ", "-"), examples, {"MLICTL": str(client), "MLID": str(daemon)})
    byte_order = [sys.executable, "-B", ROOT / "tests/integration/test_byte_order.py"]
    programs, native = (mlictl, mlid), (native_mlictl, native_mlid)
    for name, here, far in (("byte-order", programs, native), ("byte-order-native", native, programs)):
        names = ("MLICTL", "MLID", "MLI_FAR_MLICTL", "MLI_FAR_MLID")
        build.step(name, byte_order, dict(zip(names, map(str, here + far))))
    build.step("selftest", [mlictl, "selftest", "--iterations", "200", "--timeout", "1m", "--max-bytes", "256KiB"])
    return "mlid and mlictl, also with native ones: examples, batch, selftest"


def check_arc(build):
    """Checks that no thread-local variable is accessed by its offset in the module, because gcc
    for ARC doubles this offset."""
    reader = build.file.command("nm")[0].removesuffix("nm") + "readelf"
    objects = sorted(str(path) for path in build.tree.rglob("*.o"))
    text = subprocess.run([reader, "-rW", *objects], capture_output=True, text=True).stdout
    found = set(re.findall(r"R_ARC_TLS_(?:DTPOFF\w*|GD\w*)", text))
    if found or not objects:
        raise Failed(f"objects have relocations {', '.join(sorted(found))}: compile with -ftls-model=initial-exec")
    return "no module-relative thread-local variables"


def linux(build):
    target, steps = build.target, []
    try:
        root = sysroot.make(build.folder, target.architecture, build.file.command("c"), build.folder / "sysroot.log")
    except sysroot.Failed as error:
        raise Skipped(f"no sysroot: {error}") from error
    build.configure(root, "-Dnpz=disabled")
    libmli = f"libmli/libmli.so.{version()}"
    build.compile(libmli, *build.test_files(), "cli/mlictl", "daemon/mlid")
    steps.append(build.size(build.tree / libmli))
    if target.name == "arc":
        steps.append(check_arc(build))
    if not build.wrapper:
        return [*steps, f"built, not run: {build.file.qemu} is not in PATH"]
    return [build.run_tests(), test_service(build), *steps]


def version():
    return re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]


def bare(build):
    archive = build.tree / "libmli/libmli.a"
    build.configure(None)
    build.compile(os.path.relpath(archive, build.tree), *build.test_files())
    compiler = build.file.command("c")
    helpers = subprocess.run([*compiler, "-print-libgcc-file-name"], check=True, capture_output=True, text=True).stdout
    build.step("symbols", [ROOT / "tests/unit/libmli/freestanding_symbols.sh", build.file.command("nm")[0], archive,
                           helpers.strip()])
    return [build.run_tests(), build.size(archive), "needs only the compiler's library"]


def board(build):
    """Builds the images of a board and runs their tests."""
    build.configure(None, f"-Dboard={build.target.name}")
    build.compile()
    if "MLICTL" not in os.environ and not any(ROOT.glob("build-test/*/cli/mlictl")):
        os.environ["MLICTL"] = str(native_tools()[0])  # the test of the agent calls it
    text = build.run_tests()
    counts = re.findall(r"property \w+: passed, (\d+) cases", (build.tree / "meson-logs" / "cross.txt").read_text())
    return [text, f"{sum(map(int, counts))} random moves and permutes on the board"]


KINDS = {LINUX: linux, BARE: bare, BOARD: board}
PERCENT = {LINUX: 10, BARE: 10, BOARD: 100}  # of the random cases, by default


def test_target(target, percent):
    """Builds and tests a target. Returns "passed", "failed" or "skipped", and prints the result line."""
    begin = time.monotonic()
    build = Build(target, percent)
    needed = [build.file.command("c")[0]]
    if target.name != "arc":
        needed.append((build.wrapper or [build.file.qemu])[0])  # QEMU, or the loader of the C library
    packages = [target.compiler, *target.packages]
    if target.kind == LINUX:
        packages += [f"libc6-dev-{target.architecture or target.name}-cross", "qemu-user"]
        if not target.architecture:
            packages += sysroot.TOOLS
            needed += sysroot.TOOLS
    try:
        missing = install(packages, needed)
        if missing:
            raise Skipped(f"{' and '.join(missing)} cannot be installed")
        verdict, steps = "passed", KINDS[target.kind](build)
    except Skipped as reason:
        verdict, steps = "skipped", [str(reason)]
    except Failed as reason:
        verdict, steps = "failed", [str(reason)]
    print(f"{target.name:15}{verdict}: {'; '.join(steps)} ({time.monotonic() - begin:.0f} s)", flush=True)
    return verdict


def options():
    parser = argparse.ArgumentParser(
        prog="scripts/cross", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Builds for other processors and tests the programs under QEMU, in build-cross/. Installs the\n"
                    "cross compiler and QEMU, and unpacks Debian packages of the processor into a private folder.\n"
                    "Prints one line for each target, and its steps to standard error.",
        epilog="exit status: 0 no target failed, 1 a target failed, 2 wrong arguments, 77 all targets were skipped")
    parser.add_argument("targets", metavar="TARGET", nargs="*", help="Build and test this target.")
    parser.add_argument("--all", action="store_true", help="Build and test all targets.")
    parser.add_argument("--list", action="store_true", help="Print all targets.")
    parser.add_argument("--percent", type=int, metavar="N",
                        help="Run N percent of the random cases (default: 10; boards: 100).")
    found = parser.parse_args()
    unknown = [name for name in found.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]}; targets are {', '.join(TARGETS)}")
    if not found.list and found.all == bool(found.targets):
        parser.error("name targets, or --all; --list prints the targets")
    if found.percent is not None and not 1 <= found.percent <= 100:
        parser.error(f"--percent {found.percent}: 1 to 100 allowed")
    return found


def main():
    chosen = options()
    if chosen.list:
        for target in TARGETS.values():
            print(f"{target.name:15} {target.what}")
        return 0
    TREES.mkdir(exist_ok=True)
    verdicts = [test_target(TARGETS[name], chosen.percent or PERCENT[TARGETS[name].kind])
                for name in (TARGETS if chosen.all else chosen.targets)]
    if "failed" in verdicts:
        return 1
    return 0 if "passed" in verdicts else SKIPPED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
