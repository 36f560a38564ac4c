# SPDX-License-Identifier: BSD-3-Clause
"""Options of `mlictl batch` that the plugin of pytest passes on, and why it refuses the others."""
from __future__ import annotations

import difflib
import shlex
from typing import Iterator, NamedTuple


class _Option(NamedTuple):
    letter: str = ""
    has_value: bool = True
    of_place: bool = False  # says where the jobs run
    refused: str = ""  # what to use instead; "": the option is passed on


_OPTIONS = {
    "again": _Option(has_value=False, refused="pytest has no queue; use `mlictl batch --queue`"),
    "channels": _Option("c", of_place=True),
    "engine": _Option("e", of_place=True),
    "flaky": _Option(),
    "host": _Option("H", of_place=True),
    "limit-bytes": _Option(of_place=True),
    "profile": _Option(of_place=True),
    "repeat": _Option(),
    "require-expect": _Option(has_value=False),
    "retries": _Option(),
    "socket": _Option("s", of_place=True),
    "timeout": _Option(),
    "tuning": _Option(of_place=True),
    "update-golden": _Option(has_value=False),
    "fail-fast": _Option(refused="use -x of pytest"),
    "follow": _Option(has_value=False, refused="pytest has no queue; use `mlictl batch --queue`"),
    "filter": _Option(refused="select tests by -k of pytest"),
    "help": _Option("h", refused="pytest --help has the options of the plugin"),
    "html": _Option(refused="use --junitxml of pytest"),
    "jobs": _Option("j", refused="run several processes of pytest, as by -n of pytest-xdist"),
    "json": _Option(refused="use --junitxml of pytest"),
    "junit": _Option(refused="use --junitxml of pytest"),
    "keep": _Option(refused="pytest keeps no cases; repeat a failed case by `mlictl batch`"),
    "lease": _Option(refused="pytest has no queue; use `mlictl batch --queue`"),
    "list": _Option("l", refused="use --collect-only of pytest"),
    "password-file": _Option(refused="pytest has no queue; use `mlictl batch --queue`"),
    "queue": _Option(refused="run `mlictl batch --queue` instead of pytest"),
    "quiet": _Option("q", refused="use -q of pytest"),
    "reconnect": _Option(refused="pytest has no queue; use `mlictl batch --queue`"),
    "remove": _Option(has_value=False, refused="pytest has no queue; use `mlictl batch --queue`"),
    "rerun": _Option(refused="use --last-failed of pytest"),
    "resume": _Option(refused="use --last-failed of pytest"),
    "root": _Option(refused="pytest has no queue; use `mlictl batch --queue`"),
    "shard": _Option(refused="give each process of pytest its own job files, those that "
                             "`mlictl batch --list --shard` prints"),
    "tap": _Option(refused="use --junitxml of pytest"),
    "unused": _Option(has_value=False, refused="run `mlictl batch --unused` instead of pytest"),
    "verbose": _Option("v", refused="use -v of pytest"),
}


class BatchOptions(NamedTuple):
    """Checked options of `mlictl batch`."""
    words: list[str]
    names: set[str]  # long names

    @property
    def of_place(self) -> list[str]:
        """The given options that choose where the jobs run; they cannot be used with a service."""
        return sorted(f"--{name}" for name in self.names if _OPTIONS[name].of_place)


def _split(word: str) -> tuple[str, bool]:
    """Return the long name of an option, and whether `word` also contains its value. Raises
    ValueError."""
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        if name in _OPTIONS:
            return name, bool(equals)
        near = difflib.get_close_matches(name, _OPTIONS, 1)
        hint = f"; did you mean --{near[0]}?" if near else "; `mlictl batch --help` lists the options"
        raise ValueError(f"unknown option --{name}{hint}")
    if not word.startswith("-") or word == "-":
        raise ValueError(f"{word!r} is no option: job files are arguments of pytest")
    for name, option in _OPTIONS.items():
        if option.letter == word[1]:
            return name, len(word) > 2
    raise ValueError(f"unknown option {word}; `mlictl batch --help` lists the options")


def _names(words: list[str]) -> Iterator[str]:
    """Yield the long names of the options. Raises ValueError for options that cannot be used."""
    rest = iter(words)
    for word in rest:
        name, has_value = _split(word)
        option = _OPTIONS[name]
        if option.refused:
            raise ValueError(f"--{name} cannot be used here: {option.refused}")
        if has_value and not option.has_value:
            raise ValueError(f"--{name} takes no value")
        if option.has_value and not has_value and next(rest, None) is None:
            raise ValueError(f"--{name} needs a value")
        yield name


def parse(text: str) -> BatchOptions:
    """Return the options in a text, which is quoted as for a shell.

    Raises ValueError for options that `mlictl batch` does not have, that are given twice, or that
    make no sense for one case at a time.

    >>> parse("--engine threads:tiny=0 -c2").names == {"engine", "channels"}
    True
    """
    words = shlex.split(text)
    names = list(_names(words))
    for name in names:
        if names.count(name) > 1 and _OPTIONS[name].has_value:
            raise ValueError(f"--{name} is given twice")
    return BatchOptions(words, set(names))
