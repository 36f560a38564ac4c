# SPDX-License-Identifier: BSD-3-Clause
"""Private sysroots in build-cross/TARGET/: the libraries that the service and the tests need, for another processor.

Debian's packages of the processor are unpacked if this Debian release has the processor. Otherwise Debian's
sources are compiled. Nothing is installed on the machine and no foreign architecture is added to its dpkg: apt
works in a directory of its own. The C library comes with the cross compiler.
"""
import os
import pathlib
import re
import shutil
import subprocess

MIRROR = os.environ.get("MLI_DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
PACKAGES = ("libcjson-dev", "libcmocka-dev", "libmd-dev", "libuv1-dev")
SOURCES = ("cjson", "cmocka", "libmd", "libuv1")
# The libraries that the packages PACKAGES need, by name; other dependencies are C libraries.
RUNTIME = re.compile(r"lib(cjson|cmocka|md|uv)\d\w*")
CMAKE = {
    "cjson": ["-DENABLE_CJSON_TEST=OFF", "-DENABLE_CUSTOM_COMPILER_FLAGS=OFF"],
    "cmocka": ["-DWITH_EXAMPLES=OFF"],
    "libuv1": ["-DLIBUV_BUILD_TESTS=OFF"],
}
TOOLS = ("cmake", "make")  # compile the sources


class Failed(Exception):
    """A sysroot cannot be made. The text is the reason."""


def run(command, folder, log, env=None):
    with open(log, "a") as out:
        done = subprocess.run(list(map(str, command)), cwd=folder, stdout=out, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise Failed(f"{command[0]} {command[1]} fails, see {log}")


def release():
    """Returns the name of the Debian release of this machine: its cross compilers have the same C library."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.M)
    return found[1] if found else "stable"


class Apt:
    """apt-get for one architecture, with all its files in a folder of its own."""

    def __init__(self, folder, architecture, log):
        self.folder, self.architecture, self.log = folder, architecture, log
        for name in ("etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "files"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        kind = "deb" if architecture else "deb-src"
        (folder / "etc/apt/sources.list").write_text(f"{kind} [signed-by={KEYS}] {MIRROR} {release()} main\n")

    def get(self, *arguments):
        options = {"Dir": self.folder, "Dir::State::status": self.folder / "status", "APT::Sandbox::User": "root",
                   "Acquire::Languages": "none", "Acquire::Retries": "3",
                   "Dir::Etc::sourceparts": "-", "Dir::Etc::trustedparts": "-"}
        if self.architecture:
            options.update({"APT::Architecture": self.architecture, "APT::Architectures": self.architecture})
        words = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        run(["apt-get", *words, *arguments], self.folder / "files", self.log)


def depends(package):
    text = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True, capture_output=True, text=True).stdout
    return {name for name in re.findall(r"[\w.+-]+", text) if RUNTIME.fullmatch(name)}


def unpack(architecture, folder, root, log):
    """Downloads Debian's packages of the architecture and unpacks them."""
    apt = Apt(folder / "apt", architecture, log)
    apt.get("update")
    apt.get("download", *PACKAGES)
    files = apt.folder / "files"
    apt.get("download", *sorted(set.union(*map(depends, files.glob("*.deb")))))
    for package in sorted(files.glob("*.deb")):
        run(["dpkg-deb", "-x", package, root], folder, log)
    for file in root.glob("usr/lib/*/pkgconfig/*.pc"):
        file.write_text(re.sub(r"(?<=[=LI])/usr\b", f"{root}/usr", file.read_text()))


def compile_sources(compiler, folder, root, log):
    """Downloads Debian's sources and compiles them. compiler: the words of its command."""
    apt = Apt(folder / "apt", None, log)
    apt.get("update")
    apt.get("source", "--download-only", *SOURCES)
    prefix = root / "usr"
    env = {"CC": " ".join(compiler), "CFLAGS": "-O2"}
    for name in SOURCES:
        archive = next(path for path in (apt.folder / "files").glob(f"{name}_*.orig.tar.*") if path.suffix != ".asc")
        source, build = folder / "source" / name, folder / "source" / f"{name}-build"
        for path in (source, build):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir(parents=True)
        run(["tar", "-xf", archive, "--strip-components=1", "-C", source], folder, log)
        if name in CMAKE:
            run(["cmake", source, "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_INSTALL_PREFIX={prefix}",
                 "-DCMAKE_INSTALL_LIBDIR=lib", "-DBUILD_SHARED_LIBS=ON", "-DBUILD_TESTING=OFF",
                 "-DUNIT_TESTING=OFF", *CMAKE[name]], build, log, env)
        else:
            host = compiler[-1].removesuffix("-gcc") if compiler[-1].endswith("-gcc") else \
                next(word for word in compiler if word.endswith("-gcc")).removesuffix("-gcc")
            run([source / "configure", f"--host={host}", f"--prefix={prefix}", "--disable-static"], build, log, env)
        run(["make", "-j2", "install"], build, log, env)


def libraries(root):
    """Returns the folders of the sysroot with shared libraries."""
    return sorted({path.parent for pattern in ("usr/lib/*.so*", "usr/lib/*/*.so*", "lib/*/*.so*")
                   for path in root.glob(pattern)})


def make(folder, architecture, compiler, log):
    """Makes the sysroot folder/sysroot if it is missing, and returns its path.

    architecture: Debian's name, whose packages are unpacked. If it is None, the libraries are
    compiled from their sources with `compiler`.
    """
    root = folder / "sysroot"
    stamp = folder / "sysroot.made"
    if stamp.exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(folder / "apt", ignore_errors=True)
    root.mkdir(parents=True)
    log.unlink(missing_ok=True)
    if architecture:
        unpack(architecture, folder, root, log)
    else:
        compile_sources(compiler, folder, root, log)
    stamp.touch()
    return root
