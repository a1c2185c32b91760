"""Whatever a conversation contains, it is text on the page and nothing else."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest

import segue
from segue.types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

from .conftest import Running

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCRIPT = "<script>alert(1)</script>"
TEXTS = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "</textarea></style></title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "\u202egnitset\u202c \u2066x\u2069 \u200b",
    "\x1b[31mred\x1b]8;;http://evil\x07",
    "&lt;b&gt; &amp; {{7*7}} ${7*7}",
    "x" * 100_000,
    "\ud83d half",
]


def hostile(text: str) -> segue.Context:
    """A conversation with this text in every field."""
    return segue.Context(
        [
            UserMessage([TextContent(text), ImageContent(data="PHN2Zz4=", mime_type="image/svg+xml")]),
            UserMessage([ImageContent(data="bm90IGFuIGltYWdl", mime_type=text)]),
            UserMessage([FileContent(url="https://x/y", mime_type="application/pdf", name=text)]),
            AssistantMessage(
                [
                    ThinkingContent(text, thinking_signature=text),
                    TextContent(text),
                    ToolCall(text, text, {text: text, "deep": {text: [text]}}),
                ],
                provider=text,
                model=text,
                error_message=text,
                stop_reason="error",
            ),
            ToolResultMessage(text, text, [TextContent(text)]),
        ],
        system_prompt=text,
        tools=[ToolDefinition(text, text, {"type": "object", "description": text})],
    )


class Tags(HTMLParser):
    """Collects everything in a page that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag in ("iframe", "object", "embed", "svg", "base", "form") and tag != "form":
            self.active.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style" or (value or "").strip().lower().startswith("javascript:"):
                self.active.append(f"{tag} {name}={value}")
            if name in ("src", "href") and (value or "").startswith("data:image/svg"):
                self.active.append(f"{tag} {name}")


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12].encode("ascii", "replace").decode())
def test_hostile_text_changes_nothing_but_text(studio: Running, text: str) -> None:
    context = hostile(text)
    data = context.to_json()
    [opened] = studio.shelf.add_text(data, text[:100])
    to = "openai/gpt-5.4,mistral/mistral-large-latest"
    query = f"to={to}&find={SCRIPT}"
    for path in (f"?{query}", f"?{query}&diff=1", f"?{query}&raw=1", f"/export?{query}", f"/rows?{query}"):
        page = studio.page(f"/c/{opened.id}{path}")
        tags = Tags()
        tags.feed(page)
        assert tags.active == []
        assert tags.scripts == (0 if "rows" in path else 1)
        assert not any(0x202A <= ord(each) <= 0x202E or 0x2066 <= ord(each) <= 0x2069 for each in page)
        assert "\x1b" not in page
    assert json.loads(studio.get(f"/c/{opened.id}.json?{query}").content)["messages"] == 5
    studio.page("/")
    studio.page(f"/?q={SCRIPT}")


def test_a_long_line_is_short_on_the_page_and_whole_on_request(studio: Running) -> None:
    [opened] = studio.shelf.add_text(hostile("y" * 1_000_000).to_json(), "long line")
    for more in ("", "&diff=1", "&raw=1"):
        assert len(studio.page(f"/c/{opened.id}?to=openai/gpt-5.4{more}")) < 1_200_000
    whole = studio.get(f"/c/{opened.id}/text?p=0.0.0.0")
    assert whole.text == "y" * 1_000_000
    assert whole.headers["content-type"].startswith("text/plain")
    for wrong in ("p=0.99.0.0", "p=0.0.0.99", "p=x.0.0.0", "p=9.0.0.0", "p=0.-1.0.0", f"p={chr(57) * 5000}.0.0.0", ""):
        assert studio.get(f"/c/{opened.id}/text?{wrong}").status_code == 404


@pytest.mark.parametrize(
    ("data", "mime", "shown"),
    [
        (
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            "text/html",
            True,
        ),
        ("PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", "image/png", False),
        ("PGh0bWw+PHNjcmlwdD4=", "image/png", False),
        ('not base64 "><script>', "image/png", False),
    ],
)
def test_an_image_is_shown_only_if_its_data_is_one(studio: Running, data: str, mime: str, shown: bool) -> None:
    document: dict[str, Any] = {
        "version": 1,
        "messages": [{"role": "user", "content": [{"type": "image", "data": data, "mimeType": mime}]}],
    }
    [opened] = studio.shelf.add_text(json.dumps(document).encode(), "image")
    page = studio.page(f"/c/{opened.id}?to=openai/gpt-5.4")
    assert ('<img src="data:image/png;base64,' in page) is shown
    assert page.count("<img") == shown
