# SPDX-License-Identifier: BSD-3-Clause
"""A service of this program's own: mlid as a child process."""
from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import tempfile
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from . import _client, _programs
from ._errors import Error
from ._service import Client
from ._service_error import ServiceError

if TYPE_CHECKING:
    from types import TracebackType

_PATIENCE = 12.0  # seconds for the start, and for the end
_SOCKET_PATH_MAX = 107

_running: weakref.WeakSet[Server] = weakref.WeakSet()


class _Process(threading.Thread):
    """Starts the program and waits for its end.

    The kernel ends the program when the thread that started it ends. So this thread stays as long as
    the program, whatever thread called serve().
    """

    def __init__(self, output: int) -> None:
        super().__init__(name="mlid", daemon=True)
        self.command: list[str] = []
        self._environment = [os.fsencode(f"{name}={value}") for name, value in os.environ.items()
                             if name not in ("NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID")]
        self._output = output
        self.started = threading.Event()
        self.ended = threading.Event()
        self.failure: OSError | None = None
        self.pid = 0
        self.code: int | None = None  # exit code; negative: number of the signal

    def run(self) -> None:
        try:
            self.pid = _client.start_tied([os.fsencode(word) for word in self.command],
                                          self._environment, self._output)
        except OSError as failure:
            self.failure = failure
        self.started.set()
        if self.pid:
            try:
                self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            except ChildProcessError:
                self.code = 0  # the program has waited for all its children itself
        self.ended.set()

    def kill(self, number: int) -> None:
        if self.pid and not self.ended.is_set():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass


def _make_directory() -> str:
    """Return a new directory that only this user can use, with a short path."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    for parent in (runtime, None, "/tmp"):
        if parent is not None and not os.access(parent, os.W_OK):
            continue
        if parent == runtime and runtime is None:
            continue
        directory = tempfile.mkdtemp(prefix="mli-", dir=parent)
        if len(os.fsencode(directory)) + len("/mlid.sock") <= _SOCKET_PATH_MAX:
            return directory
        os.rmdir(directory)
    raise ServiceError(-8, "MISUSE", "the path of the directory for the socket is too long: set "
                                     "TMPDIR to a shorter one")


def _check_config(config: dict[str, Any], options: dict[str, Any]) -> str:
    """Return the configuration as JSON. Raises mli.Error for keys that the options would override."""
    if not isinstance(config, dict):
        raise TypeError(f"config: a dictionary is required, not {type(config).__name__}")
    for key in config.keys() & {"socket", "log_level", *options}:
        if key == "socket":
            allowed = "serve() makes the socket: Server.path is its path"
        else:
            allowed = f"give it as the argument {key}= of serve()"
        raise Error("ARGUMENT_ERROR", f"config[{key!r}]", config[key], allowed)
    return json.dumps(config, allow_nan=False)


class Server:
    """A running mlid: see serve().

    Attributes
    ----------
    path : str
        The socket, for other clients.
    """

    def __init__(self, command: list[str], config: str) -> None:
        """Start a command with a configuration as JSON."""
        self._owner = os.getpid()
        self._last_log = ""
        self._clients: weakref.WeakSet[Client] = weakref.WeakSet()
        self._log = os.memfd_create("mlid.log", os.MFD_CLOEXEC)
        self._process = _Process(self._log)
        self._directory = self.path = ""
        _running.add(self)
        try:
            self._directory = _make_directory()
            self.path = os.path.join(self._directory, "mlid.sock")
            file = os.path.join(self._directory, "mlid.json")
            with open(file, "w", encoding="utf-8") as out:
                out.write(config)
            self._process.command = [*command, "--config", file, "--socket", self.path,
                                     "--remove-directory"]
            self._process.start()
            self._await_start()
            os.unlink(file)  # so that the service can remove the directory if this program is killed
        except BaseException:
            self.close()
            raise

    def _await_start(self) -> None:
        """Wait until the service listens."""
        end = time.monotonic() + _PATIENCE
        self._process.started.wait(_PATIENCE)
        if self._process.failure is not None:
            raise self._process.failure
        while True:
            try:
                _client.connect(self.path).close()
                return
            except ServiceError as error:
                if error.name != "NO_SERVICE" or time.monotonic() > end:
                    raise
            if self._process.ended.wait(0.002):
                raise ServiceError(-2, "NO_SERVICE", self._why_not_started())

    def _why_not_started(self) -> str:
        lines = self.log().strip().splitlines()
        said = "\n".join(lines[-5:]) or f"exit status {self._process.code}"
        return f"mlid does not start: {said.removeprefix('mlid: ')}"

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """False when the process has ended."""
        return not self._process.ended.is_set()

    def log(self) -> str:
        """Return what the service has written to its log so far, also after its end."""
        if self._log < 0:
            return self._last_log
        size = os.fstat(self._log).st_size
        return os.pread(self._log, size, 0).decode(errors="replace")

    def connect(self) -> Client:
        """Return another client of the service."""
        if self._log < 0:
            raise ServiceError(-8, "MISUSE", "the server is closed: mli.serve() starts another")
        client = Client(self.path)
        client._server = self
        self._clients.add(client)
        return client

    def close(self) -> None:
        """Close the clients of connect(), end the service and remove its directory.

        Unfinished jobs of these clients are cancelled.
        """
        if self._log < 0 or os.getpid() != self._owner:
            return
        _running.discard(self)
        for client in list(self._clients):
            try:
                client.close()
            except ServiceError:
                pass  # another thread uses it
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):  # the second ends it at once
            self._process.kill(number)
            self._process.kill(signal.SIGCONT)  # a stopped process ends when it continues
            if not self._process.pid or self._process.ended.wait(_PATIENCE):
                break
        shutil.rmtree(self._directory, ignore_errors=True)
        self._last_log = self.log()
        os.close(self._log)
        self._log = -1

    def __enter__(self) -> Client:
        return self.connect()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_log", -1) >= 0:
            self.close()

    def __repr__(self) -> str:
        return f"<mli.Server {self.path}: process {self.pid}>"


@atexit.register
def _close_all() -> None:
    for server in list(_running):
        server.close()


def serve(engine: str | None = None, channels: int | None = None, *, profile: str | None = None,
          config: dict[str, Any] | None = None, log_level: str = "warning") -> Server:
    """Start a service of its own, as a child process, and return its mli.Server.

    >>> import mli
    >>> with mli.serve(engine="threads", channels=4) as client:
    ...     client.info()["channels"]
    4

    The socket is in a directory that only this user can use. Service and directory go when the
    `with` block ends, or the program, even if the program is killed.

    Parameters
    ----------
    engine : str, optional
        As for mlid --engine: "threads" (the default), "inline", or "fault:threads,...", which
        injects faults.
    channels : int, optional
        DMA channels, 1 to 16. Default: those of the profile, else 4.
    profile : str, optional
        Target profile of the board whose memories the service emulates: a name or a path.
    config : dict, optional
        More of mlid's configuration, mlid.json(5). `socket`, `log_level` and keys that
        the call gives as arguments too are refused.
    log_level : str
        "error", "warning", "info" or "debug"; `server.log()` returns the log, also after the end.

    Raises
    ------
    mli.ServiceError
        mlid does not start, for example because the engine does not exist.
    mli.Error
        The program mlid was not found, or a key of `config` cannot be used.
    """
    for name, word in (("engine", engine), ("log_level", log_level)):
        if not isinstance(word, str) and (word is not None or name == "log_level"):
            raise TypeError(f"{name}: a string is required, not {word!r}")
    command = [_programs.find("mlid"), "--log-level", log_level]
    options = {"engine": engine, "channels": channels, "profile": profile}
    given = {name: value for name, value in options.items() if value is not None}
    text = _check_config({} if config is None else config, given)
    for name, value in given.items():
        command += [f"--{name}", str(value)]
    return Server(command, text)
