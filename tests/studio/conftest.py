"""A studio that runs, with its shelf, and a client that has its cookie."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.browser import chromium, visitor

from segue.cli.studio import read_lines
from segue.session import Store, open_store
from segue.studio import Opened, Server, Shelf

EXAMPLE = Path(__file__).parents[2] / "examples" / "three-models.json"
TWO = "anthropic/claude-sonnet-5,mistral/mistral-large-latest"


class Running:
    """A studio that runs, and how it is asked."""

    def __init__(self, server: Server, shelf: Shelf, store: Store) -> None:
        self.server = server
        self.shelf = shelf
        self.store = store
        self.base = f"http://127.0.0.1:{server.port}"
        self.client = httpx2.Client(base_url=self.base, follow_redirects=True)
        self.client.get(server.url("/"))

    def get(self, path: str) -> httpx2.Response:
        return self.client.get(path)

    def page(self, path: str) -> str:
        response = self.get(path)
        assert response.status_code == 200, response.text
        return response.text

    def json(self, path: str) -> dict[str, object]:
        found: dict[str, object] = self.get(path).json()
        return found

    def open(self, path: Path = EXAMPLE) -> Opened:
        return self.shelf.add_file(str(path))[0]

    def paste(self, text: str | bytes) -> httpx2.Response:
        return self.client.post("/open", data={"text": text if isinstance(text, str) else text.decode()})


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home without transcripts of other tools: the first page lists all that there are on a machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Running]]:
    """Starts studios, which end with the module."""
    running: list[tuple[Running, threading.Thread]] = []

    def begin(**settings: str) -> Running:
        store = open_store(str(tmp_path_factory.mktemp("studio") / "sessions.db"))
        shelf = Shelf(read_lines, store)
        server = Server(shelf, **settings)  # type: ignore[arg-type]  # all settings of tests are texts
        thread = threading.Thread(target=server.run, name="studio")
        thread.start()
        studio = Running(server, shelf, store)
        running.append((studio, thread))
        return studio

    yield begin
    for studio, thread in running:
        studio.client.close()
        studio.server.stop()
        thread.join()
        studio.store.close()


@pytest.fixture(scope="module")
def studio(start: Callable[..., Running]) -> Running:
    return start()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module. Not for more: its driver occupies the event loop of the thread."""
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Any, studio: Running) -> Iterator[Any]:
    """A page with the studio's cookie."""
    with visitor(browser, studio.server.url("/"), permissions=["clipboard-read", "clipboard-write"]) as found:
        yield found


def show(studio: Running, page: Any, more: str = "") -> None:
    """Open the example for two models."""
    page.goto(f"{studio.base}/c/{studio.open().id}?to={TWO}{more}")


def press(page: Any, key: str, expected: str) -> None:
    """Press a key, and wait for the element with this label to have the focus."""
    page.keyboard.press(key)
    page.wait_for_function(
        "label => (document.activeElement.getAttribute('aria-label') || '').startsWith(label)", arg=expected
    )
