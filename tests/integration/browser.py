# SPDX-License-Identifier: BSD-3-Clause
"""Runs a headless Chromium for tests of pages, controlled by the DevTools protocol over two pipes."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 60  # seconds


class Browser:
    """One browser with one page. `problems` are messages of the console and uncaught errors, `requests` the URLs that
    the page wanted."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="mlictl-browser-")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', CHROMIUM, "--headless=new",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._left, self._number, self._session = b"", 0, None
        self.problems, self.requests, self._events = [], [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self._out)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self):
        """Returns the next message."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._left:
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("the browser does not answer")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise AssertionError("the browser has ended")
            self._left += more
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(str(params["args"]))
        elif method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method:
            self._events.append(method)

    def call(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._read()
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise AssertionError(f"{method}: {reply['error']}")
                return reply["result"]
            self._note(reply)

    def open(self, path, scripts=True, fragment=""):
        """Loads a file and waits until it is loaded; returns the time that this took, in seconds."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self._go("about:blank")  # a new document, even if only the fragment differs
        self.problems, self.requests = [], []
        start = time.monotonic()
        self._go(f"file://{path}{fragment}")
        return time.monotonic() - start

    def _go(self, url):
        self._events = []
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self._events:
            self._note(self._read())

    def run(self, expression):
        """Returns the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"])
        return result["result"].get("value")

    def press(self, key, code=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, **more)

    def media(self, scheme="light", medium="screen"):
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, width=1100, height=1600):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def text(self):
        """Returns the text that a reader sees."""
        return self.run("document.body.innerText")
