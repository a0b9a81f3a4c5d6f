"""A real Chromium, asked through its own protocol what it shows of an address."""

import asyncio
import base64
import contextlib
import json
import re
import shutil
import subprocess
import time

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60  # seconds


class Tab:
    """A page that is open."""

    def __init__(self, connection):
        self._connection, self._number, self.said = connection, 0, []

    async def ask(self, method, **parameters):
        self._number += 1
        await self._connection.write_message(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(await self._connection.read_message())
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self.said.append(message)

    async def value(self, script):
        found = await self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    async def until(self, script):
        """Wait until a script gives something that is true."""
        begin = time.monotonic()
        while not (value := await self.value(script)):
            assert time.monotonic() - begin < PATIENCE, f"{script} never came true"
            await asyncio.sleep(0.1)
        return value

    async def picture(self, file):
        await asyncio.sleep(0.5)  # what moves comes to rest
        size = await self.value("document.documentElement.scrollHeight")
        width = await self.value("innerWidth")
        await self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=size, deviceScaleFactor=1, mobile=False
        )
        await asyncio.sleep(0.5)
        found = await self.ask("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(found["data"]))

    def complaints(self):
        """What the page's scripts complained of, and what could not be loaded."""
        return [each for each in self.said
                if each["method"] == "Runtime.exceptionThrown" or each["method"] == "Network.loadingFailed"
                or (each["method"] == "Runtime.consoleAPICalled" and each["params"]["type"] == "error")]  # fmt: skip

    def asked_for(self):
        """The addresses that the page asked for."""
        return [each["params"]["request"]["url"] for each in self.said if each["method"] == "Network.requestWillBeSent"]


def browse(address, look, folder, *, width=1200, dark=False):
    """Open an address, and let a function look at it."""

    async def through(debugger):
        from tornado.websocket import websocket_connect

        connection = await websocket_connect(debugger, max_message_size=1 << 28)
        tab = Tab(connection)
        for room in ("Page", "Runtime", "Network"):
            await tab.ask(f"{room}.enable")
        await tab.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await tab.ask("Emulation.setEmulatedMedia", features=[scheme])
        await tab.ask("Page.navigate", url=address)
        return await look(tab)

    with opened(folder) as port:
        return asyncio.run(through(_tab(port)))


@contextlib.contextmanager
def opened(folder):
    """A browser that listens."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"]
    command = [BROWSER, *flags, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr:
                if found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line):
                    yield int(found[1])
                    break
        finally:
            process.terminate()


def _tab(port):
    import urllib.request

    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as answer:
        return next(each["webSocketDebuggerUrl"] for each in json.load(answer) if each["type"] == "page")
