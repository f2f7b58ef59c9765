"""Headless Chromium for tests, over the DevTools protocol on a pipe: the standard library is all it takes."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one tab. `errors` collects what the page's console and its scripts complain of."""

    def __init__(self, path: str, width: int = 1360, height: int = 900) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="ireebench-browser-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        flags += ["--disable-background-networking", "--disable-dev-shm-usage", "--hide-scrollbars"]
        flags += [f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}", "about:blank"]
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", shell, path, *flags],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def close(self) -> None:
        """Ends the browser."""
        try:
            self._session = None
            self.send("Browser.close", timeout=5)
            self._process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(10)
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def send(self, method: str, timeout: float = 60, **parameters: Any) -> dict[str, Any]:
        """Sends a command and returns its result; raises RuntimeError where the browser refuses it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + timeout
        while True:
            answer = self._receive(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise OSError("the browser has gone")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        found = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = found["exceptionDetails"]
                self.errors.append(details.get("exception", {}).get("description", details["text"]))
            case "Runtime.consoleAPICalled" if found["type"] in ("error", "warning", "assert"):
                self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in found["args"]))
            case "Log.entryAdded" if found["entry"]["level"] in ("error", "warning"):
                self.errors.append(found["entry"]["text"])

    def js(self, expression: str) -> Any:
        """The value of an expression in the page; promises are awaited. Raises RuntimeError for what it throws."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return answer["result"].get("value")

    def wait(self, condition: str, timeout: float = 20) -> None:
        """Waits until an expression is true."""
        until = time.monotonic() + timeout
        while not self.js(f"Boolean({condition})"):
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {condition}")
            time.sleep(0.02)

    def open(self, page: Path) -> None:
        """Opens a file and waits until the report's script says that it is ready."""
        self.send("Page.navigate", url=page.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Presses one key, as a person would."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "/": 191, " ": 32}
        event: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", "/": "/", " ": " "}.get(key)
        down = {**event, "type": "keyDown", **({"text": text} if text else {})}
        self.send("Input.dispatchKeyEvent", **down)
        self.send("Input.dispatchKeyEvent", **{**event, "type": "keyUp"})

    def type(self, text: str) -> None:
        """Types text into what has the focus."""
        self.send("Input.insertText", text=text)

    def prefer(self, scheme: str) -> None:
        """Emulates the system's colour scheme, "light" or "dark"."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Writes a PNG of the window, or of the whole page."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """Prints to a PDF file."""
        data = self.send("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        path.write_bytes(base64.b64decode(data))
