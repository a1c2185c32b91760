"""A real browser for tests of pages: Debian's `chromium`, driven by playwright.

Tests that need it are skipped where it is not installed (``apt-get install chromium``). axe-core, for accessibility, is
in the ``node_modules`` that ``SEGUE_NODE_MODULES`` names, or where ``scripts/browser.sh`` installs it, which installs
both.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .waiting import HANGS

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--headless",
    # A name of another site that leads to this machine, as in an attack by DNS rebinding.
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
]
PATIENCE = 1_000 * HANGS
"""Milliseconds after which something that a page must show counts as missing: only tests that fail wait for it."""
ROOT = Path(__file__).parents[2]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no chromium on this machine (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def axe() -> str:
    """The source of axe-core, or the test is skipped."""
    folders = [os.environ.get("SEGUE_NODE_MODULES", ""), str(ROOT / "build" / "node" / "node_modules")]
    for folder in filter(None, folders):
        file = Path(folder) / "axe-core" / "axe.min.js"
        if file.exists():
            return file.read_text()
    pytest.skip("axe-core is not installed (scripts/browser.sh)")


@contextmanager
def visitor(browser: Any, address: str, **settings: Any) -> Iterator[Any]:
    """A page of its own, with the cookie that ``address`` sets. It fails if a script does."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | settings)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
    page.goto(address)
    yield page
    context.close()
    assert errors == []
