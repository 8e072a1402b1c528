"""A real browser on the real app: each visitor may talk to the app only, and their browser must log no error.

``laurel`` is the app's address, ``serve(script, **environment)`` that of any other script. ``page`` is one visitor,
``new_page(**options)`` makes more of them, each with a context of their own.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
TIMEOUT_MS = 15_000
# A page opened by its address asks for these under its own path first; the framework then finds them at the root.
USUAL_404 = re.compile(r"/[a-z_]+/_stcore/(health|host-config)$")
LOGS = pytest.StashKey[list[Path]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a browser these tests are skipped, but never where CI runs them."""
    if CHROMIUM.exists() or os.environ.get("CI"):
        return
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.skip(reason="no /usr/bin/chromium: apt-get install chromium"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what its servers logged."""
    report = yield
    if report.failed:
        for log in item.session.stash.get(LOGS, []):
            report.sections.append((f"Log of {log.stem}", log.read_text(errors="replace")[-4_000:]))
    return report


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """Debian's Chromium, which runs as root only without its sandbox."""
    args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]
    return {**browser_type_launch_args, "executable_path": str(CHROMIUM), "args": args}


@contextmanager
def served(script: Path, log: Path, **environment: str) -> Iterator[str]:
    """The script's address while it is served on a free port; ends the server it started and no other."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    port = address.rpartition(":")[2]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", port]
    paths = {"PYTHONPATH": str(ROOT)}  # a script elsewhere than app.py finds the same packages
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **paths, **environment}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_until_healthy(address, server, log)
        yield address
    finally:
        _end(server)


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Callable[..., str]]:
    """Serves a script: `serve(path)` gives its address; the server lives as long as the tests.

    Further arguments are its environment. The same script in the same environment is served once.
    """
    logs = request.session.stash.setdefault(LOGS, [])
    addresses: dict[tuple, str] = {}
    with ExitStack() as servers:

        def start(script: Path, **environment: str) -> str:
            what = (script, *sorted(environment.items()))
            if what not in addresses:
                logs.append(tmp_path_factory.mktemp("server") / f"{script.stem}.log")
                addresses[what] = servers.enter_context(served(script, logs[-1], **environment))
            return addresses[what]

        yield start


@pytest.fixture(scope="session")
def laurel(serve: Callable[..., str]) -> str:
    """The app's own address."""
    return serve(ROOT / "app.py")


@pytest.fixture(scope="session", autouse=True)
def _patience() -> None:
    """A chart in a cold browser on two shared cores needs seconds, whatever the page does."""
    expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture
def context(context: BrowserContext) -> Iterator[BrowserContext]:
    """A visitor who may reach nothing but the app, and whose browser logs no error."""
    watch = _Watch.of(context)
    yield context
    watch.check()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes further visitors, watched like ``page``; options are those of `Browser.new_context`."""
    made: list[tuple[BrowserContext, _Watch]] = []

    def make(**options: object) -> Page:
        context = browser.new_context(**options)
        made.append((context, _Watch.of(context)))
        return context.new_page()

    yield make
    for context, _ in made:
        context.close()
    for _, watch in made:
        watch.check()


def chart(page: Page, name: str = "") -> None:
    """Wait until a chart (the one of that view's name) is drawn."""
    place = f".st-key-{name}-figure " if name else ""
    page.locator(f"{place}.js-plotly-plot .main-svg").first.wait_for()


def settled(page: Page) -> None:
    """Wait until the script has run to its end; a list of options that is open before closes again."""
    page.wait_for_timeout(300)  # what was typed or uploaded has to reach the server first
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()


@dataclass
class _Watch:
    """What a visitor's browser asked for, and the errors that it logged."""

    hosts: dict[str, str] = field(default_factory=dict)  # an address, and one of the requests to it
    errors: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, context: BrowserContext) -> _Watch:
        watch = cls()
        context.set_default_timeout(TIMEOUT_MS)
        context.on("request", lambda request: watch._note_request(request.url))
        context.on("console", watch._note_message)
        context.on("weberror", lambda error: watch.errors.append(str(error.error)))
        return watch

    def check(self) -> None:
        elsewhere = [url for url in self.hosts.values() if not url.startswith("http://127.0.0.1:")]
        assert not elsewhere, f"the page asked another host: {elsewhere}"
        assert len(self.hosts) <= 1, f"the page asked more than one server: {list(self.hosts.values())}"
        assert not self.errors, f"the browser logged errors: {self.errors}"

    def _note_request(self, url: str) -> None:
        if not url.startswith(("data:", "blob:", "file:")):  # the last is a page that the visitor saved
            self.hosts.setdefault("/".join(url.split("/")[:3]), url)

    def _note_message(self, message: ConsoleMessage) -> None:
        source = message.location.get("url", "")
        if message.type == "error" and not USUAL_404.search(source):
            self.errors.append(f"{message.text} ({source})")


def _wait_until_healthy(address: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')}")


def _end(server: subprocess.Popen) -> None:
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait(10)
