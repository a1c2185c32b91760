"""A real browser for tests of pages: Debian's `chromium`, driven by playwright.

Tests that need it are skipped where it is not installed (``apt-get install chromium``). axe-core, for accessibility, is
``node_modules/axe-core`` in the folder of ``SEGUE_NODE_MODULES``, or below the project (``npm install axe-core``).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--headless",
]
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
    folders = [os.environ.get("SEGUE_NODE_MODULES", ""), str(ROOT / "node_modules")]
    for folder in filter(None, folders):
        file = Path(folder) / "axe-core" / "axe.min.js"
        if file.exists():
            return file.read_text()
    pytest.skip("axe-core is not installed (npm install axe-core, SEGUE_NODE_MODULES=its node_modules)")
