"""A real browser on the real app: each test gets pages that may talk to the app only and must log no error."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
# A page opened by its address asks for these under its own path first; the framework then finds them at the root.
USUAL_404 = re.compile(r"/[a-z_]+/_stcore/(health|host-config)$")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser these tests are skipped, but never where CI runs them."""
    if CHROMIUM.exists() or os.environ.get("CI"):
        return
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.skip(reason="no /usr/bin/chromium: apt-get install chromium"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """Debian's Chromium, which runs as root only without its sandbox."""
    args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
    return {**browser_type_launch_args, "executable_path": str(CHROMIUM), "args": args}


@contextmanager
def served(script: Path, log: Path) -> Iterator[str]:
    """The script's address while it is served on a free port; ends the server it started and no other."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def laurel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app's own address."""
    with served(ROOT / "app.py", tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], str]]:
    """Serves another script: `serve(path)` gives its address; the server lives as long as the tests."""
    stacks = []

    def start(script: Path) -> str:
        server = served(script, tmp_path_factory.mktemp("server") / "log.txt")
        stacks.append(server)
        return server.__enter__()

    yield start
    for server in stacks:
        server.__exit__(None, None, None)


@pytest.fixture
def context(context: BrowserContext) -> Iterator[BrowserContext]:
    """A visitor who may reach nothing but this machine, and whose browser logs no error."""
    context.set_default_timeout(20_000)
    elsewhere: list[str] = []
    errors: list[str] = []
    context.on("request", lambda request: _note_elsewhere(request.url, elsewhere))
    context.on("console", lambda message: _note_error(message, errors))
    yield context
    assert not elsewhere, f"the page asked another host: {elsewhere}"
    assert not errors, f"the browser logged errors: {errors}"


def chart(page: Page, name: str = "") -> None:
    """Wait until a chart (the one of that view's name) is drawn."""
    place = f".st-key-{name}-figure " if name else ""
    page.locator(f"{place}.js-plotly-plot .main-svg").first.wait_for()


def _wait_until_healthy(address: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    server.terminate()
    pytest.fail(f"the server did not start:\n{log.read_text()}")


def _note_elsewhere(url: str, elsewhere: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
        elsewhere.append(url)


def _note_error(message: ConsoleMessage, errors: list[str]) -> None:
    if message.type == "error" and not USUAL_404.search(message.location.get("url", "")):
        errors.append(f"{message.text} ({message.location.get('url', '')})")
