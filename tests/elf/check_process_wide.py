#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a library calls nothing that changes the state of the whole process.

    check_process_wide.py NM LIBRARY...

Such state belongs to the host program: its signal handlers, environment, locale, limits, and the hooks of libraries
that the host program also uses. The library may change the state of one thread (pthread_sigmask, prctl(PR_SET_NAME)).
"""
import fnmatch
import pathlib
import subprocess
import sys

FORBIDDEN = (
    "cJSON_InitHooks", "cJSON_GetErrorPtr",
    "sigaction", "signal", "sigprocmask", "siginterrupt", "bsd_signal", "sysv_signal", "__sysv_signal",
    "setlocale", "setenv", "unsetenv", "putenv", "clearenv", "tzset",
    "umask", "chdir", "fchdir", "chroot", "setrlimit*", "setpriority", "nice",
    "setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid", "setresuid", "setresgid",
    "atexit", "on_exit", "at_quick_exit", "pthread_atfork", "__register_atfork",
    "mallopt", "srand", "srandom", "setvbuf", "daemon",
)


def undefined(nm, library):
    flags = ["-u", "-P"] + (["-D"] if library.suffix != ".a" else [])
    out = subprocess.run([nm, *flags, str(library)], stdout=subprocess.PIPE, text=True)
    if out.returncode != 0:  # nm has printed why
        sys.exit(f"{library}: {nm} failed with exit code {out.returncode}")
    for line in out.stdout.splitlines():
        words = line.split()
        if len(words) > 1:
            yield words[0].partition("@")[0]


def main():
    nm, libraries = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    faults = 0
    for library in libraries:
        names = sorted(set(undefined(nm, library)))
        if "memcpy" not in names and "__memcpy_chk" not in names:
            print(f"{library}: nm lists no memcpy: is it one of our libraries?")
            faults += 1
        for name in names:
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in FORBIDDEN):
                print(f"{library}: uses {name}, which changes the whole process")
                faults += 1
    print(f"{len(libraries)} libraries, {faults} faults")
    return 1 if faults or not libraries else 0


if __name__ == "__main__":
    sys.exit(main())
