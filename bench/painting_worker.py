"""The studio in a browser, in the environment that has both: prints milliseconds to the first paint as JSON.

``python -m bench.painting_worker MESSAGES ROUNDS``: a page with the first messages, and one with all of them at once.
"""

import json
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import segue
from segue.studio import Server, Shelf, rows, screen
from segue.types import (
    AssistantMessage,
    Message,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

TARGETS = "mistral/mistral-large-latest,openai/gpt-5.4"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--headless"]
PAINT = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"


def conversation(count: int) -> segue.Context:
    """A long conversation with tools, of a model that is not one of the targets."""
    messages: list[Message] = []
    for at in range(count // 4):
        call = ToolCall(f"toolu_{at}", "search_logs", {"query": f"level:error page:{at}", "since": "09:00"})
        thought, text = (
            ThinkingContent(f"Page {at} is next. " * 6, thinking_signature="sig"),
            TextContent("Let me look."),
        )
        origin = {"provider": "anthropic", "model": "claude-sonnet-5", "protocol": "anthropic-messages"}
        messages += [
            UserMessage(f"Question {at}: what happened on page {at}?"),
            AssistantMessage([thought, text, call], stop_reason="toolUse", **origin),
            ToolResultMessage(call.id, call.name, [TextContent("09:10 POST /pay 422 card_token missing\n" * (at % 9))]),
            AssistantMessage([TextContent(f"Answer {at}: the token was missing. " * 4)], **origin),
        ]
    return segue.Context(messages)


def read(lines: Iterable[bytes], name: str) -> Iterator[Any]:
    context = segue.Context.from_json(b"".join(lines))
    yield SimpleNamespace(context=context, form="a conversation of segue", protocol=None, body=None)


def main(count: int, rounds: int) -> None:
    from playwright.sync_api import sync_playwright

    shelf = Shelf(read)
    [opened] = shelf.add_text(conversation(count).to_json(), "long")
    server = Server(shelf)
    thread = threading.Thread(target=server.run)
    thread.start()
    taken: dict[str, list[float]] = {"chunks": [], "at once": []}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for number in range(rounds + 1):
            for name, size in (("chunks", 200), ("at once", 10 * count)):
                rows.CHUNK = screen.CHUNK = size
                page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
                page.set_default_timeout(300_000)
                page.goto(server.url("/"))
                began = perf_counter()
                page.goto(f"http://127.0.0.1:{server.port}/c/{opened.id}?to={TARGETS}", wait_until="commit")
                page.locator("#m0").wait_for()
                page.evaluate(PAINT)
                if number:  # the first round fills the caches of the server
                    taken[name].append((perf_counter() - began) * 1_000)
                page.context.close()
        browser.close()
    server.stop()
    thread.join()
    print(json.dumps(taken))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
