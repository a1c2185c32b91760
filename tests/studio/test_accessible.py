"""Everybody can use the studio: axe finds nothing on any page, the keyboard is enough, and no colour means anything
alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.browser import axe, visitor
from support.gateways import Served
from support.providers import MODELS
from support.waiting import free_port

import segue
from segue.session import Compacted
from segue.studio import id_of
from segue.types import TextContent, ToolCall, UserMessage

from .conftest import EXAMPLE, TWO, Running, show
from .test_browser_live import grow
from .test_gateway import NAME, ask
from .test_hostile import PIXEL

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())
MODEL = "mistral/mistral-large-latest"
LOOKS = (("light", 1280), ("dark", 800))
"""Colours do not depend on the width, nor does what fits depend on the colours."""
RULES = "{resultTypes: ['violations']}"
"""All rules of axe; only what is violated is collected."""
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def violations(page: Any, source: str, part: str = "document") -> list[str]:
    """What axe objects to in the light and in the dark, on a wide and on a narrow page, with everything unfolded."""
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.evaluate(source)
    found = []
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        seen = page.evaluate(f"axe.run({part}, {RULES}).then(result => result.violations)")
        found += [f"{page.url}, {scheme}: {each['id']} in {each['nodes'][0]['html']}" for each in seen]
    return found


def pages(studio: Running) -> list[str]:
    """One page of every kind. Short ones: axe looks at every element."""
    short = studio.shelf.add_text(segue.Context(CONTEXT.messages[:4]).to_json(), "short")[0].id
    body = segue.encode(segue.Context(CONTEXT.messages[:4]), MODEL, None, "off").json()
    refused = studio.shelf.add_text(body, "a body")[0].id
    long = segue.Context([UserMessage([TextContent("x"), segue.ImageContent(PIXEL, "image/png")])] * 9)
    waiting = studio.shelf.add_text(long.to_json(), "long")[0].id
    faulty = studio.shelf.add_text(
        b"\n".join([segue.Context(CONTEXT.messages[:1]).to_json(), *[b"not JSON"] * 40]), "lines"
    )
    if not any(info.id == "s" for info in studio.store.sessions()):
        studio.store.create("s", time=1, title="a session")
        grow(studio, "s", CONTEXT.messages[:2])
        summary = Compacted(key="k", time=1, summary=UserMessage("so far"), first="s1", model="a/b")
        studio.store.append("s", [summary], after=2)
    return [
        f"/c/{short}?to={TWO}&find=deploys&2.preset=or#m1.b0",
        f"/c/{short}?to={TWO}&diff=1",
        f"/c/{short}?to={TWO}&raw=1&find=deploys",
        f"/c/{refused}?to=nowhere/x",
        f"/c/{id_of('session', 's')}?to={MODEL}",
        f"/c/{id_of('log', 's')}?to={MODEL}",
        f"/c/{faulty[0].id}?to=",
        f"/c/{waiting}?to=&raw=0#m4",
        f"/c/{waiting}?to={MODEL}&raw=1&at=4",
        "/",
        "/?q=deploys",
        "/?q=nothing-of-that-kind",
        "/c/nothing",
    ]


def test_axe_finds_nothing_on_any_page(
    start: Callable[..., Running], browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in ("screen", "rows", "app", "raw"):
        monkeypatch.setattr(f"segue.studio.{room}.CHUNK", 4)  # so that a short conversation has parts that wait
    source = axe()
    with Served(tmp_path, {NAME: MODELS[NAME]}) as served:
        studio = start(gateway=served.url)
        with visitor(browser, studio.server.url("/gateway"), bypass_csp=True) as page:
            found = violations(page, source)  # an empty list
            name = ask(served, "hello")
            for path in [*pages(studio), "/gateway", f"/gateway/{name}"]:
                page.goto(studio.base + path)
                found += violations(page, source)
            page.goto(f"{studio.base}/c/{studio.open().id}?to={MODEL}")
            page.keyboard.press("?")
            found += violations(page, source, "'#help'")
            file = tmp_path / "export.html"
            file.write_text(studio.page(f"/c/{studio.shelf.documents()[1].id}/export?to={MODEL}"))
            page.goto(file.as_uri())
            found += violations(page, source)
    away = start(gateway=f"http://127.0.0.1:{free_port()}")
    with visitor(browser, away.server.url("/gateway"), bypass_csp=True) as page:
        found += violations(page, source)
    assert found == []


def test_everything_is_reached_and_used_with_the_keyboard_alone(studio: Running, page: Any) -> None:
    show(studio, page)
    names = []
    for _ in range(60):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate(
                "() => { const e = document.activeElement;"
                " return e.getAttribute('aria-label') || e.textContent || e.name || ''; }"
            )
        )
        if names[-1] == "policy" and names.count("policy") == 2:
            page.keyboard.press("Enter")  # opens the policy of the second model
        if page.evaluate("document.activeElement.name === '2.reasoning'"):
            page.keyboard.press("d")  # the choice that begins with it: drop
            page.wait_for_url("**2.reasoning=drop**")
            break
    page.locator("#m1").get_by_text("thought left out").wait_for()
    show(studio, page)
    clickable = page.evaluate(
        "() => [...document.querySelectorAll('[data-visit], [data-copy], [data-copy-from], [data-key], .more, #keys')]"
        ".filter(each => !each.matches('a[href], button, form')).length"
    )
    assert clickable == 0
    unreachable = page.evaluate(
        "() => [...document.querySelectorAll('a, button')].filter(each => each.tabIndex < 0).map(each => each.href)"
    )
    assert unreachable == []
    expected = {"segue studio", "keys", "switches", f"raw body for {TWO.split(',')[0]}", f"remove {MODEL}", "policy"}
    assert expected <= {name.strip() for name in names}


def test_no_colour_means_anything_alone(studio: Running, page: Any) -> None:
    call = segue.AssistantMessage([ToolCall("c", "f", {})], stop_reason="toolUse")
    failed = segue.ToolResultMessage("c", "f", [TextContent("no")], is_error=True)
    messages = [*CONTEXT.messages, call, failed]
    [opened] = studio.shelf.add_text(segue.Context(messages, tools=CONTEXT.tools).to_json(), "marks")
    page.goto(f"{studio.base}/c/{opened.id}?to=deepseek/deepseek-chat,{MODEL}")
    words = {".change.lost": "lost", ".change.adapted": "adapted", ".finding.refused": "refused", ".failed": "failed"}
    for selector, word in words.items():
        texts = page.locator(f"#feed {selector}").all_text_contents()
        assert texts
        assert all(word in text for text in texts), selector
    lines = "each => getComputedStyle(each).textDecoration"
    assert "line-through" in page.locator(".lost .word").first.evaluate(lines)
    assert "line-through" in page.locator(".lost .excerpt").first.evaluate(lines)
    assert "dotted" in page.locator(".adapted .word").first.evaluate(lines)
    page.goto(f"{studio.base}/c/{opened.id}?to=deepseek/deepseek-chat,{MODEL}&diff=1")
    assert "line-through" in page.locator("del").first.evaluate(lines)
    assert "underline" in page.locator("ins").first.evaluate(lines)
    for row in page.locator(".row:has(ins), .row:has(del)").all():
        assert any(word in row.inner_text().lower() for word in ("changed", "only here"))
