"""Pages look right: at the widths of laptops, in the light and in the dark."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.browser import visitor

import segue
from segue.types import AssistantMessage, TextContent, ToolCall, UserMessage

from .conftest import EXAMPLE, TWO, Running, show

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())
FOUR = f"{TWO},openai/gpt-5.4,google/gemini-2.5-pro"
SCHEMES = ("light", "dark")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CONTRAST = """(each) => {
    const light = (colour) => {
        const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255);
        const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        const colour = getComputedStyle(element).backgroundColor;
        return /, 0\\)$/.test(colour) ? behind(element.parentElement) : colour;
    };
    const style = getComputedStyle(each);
    const line = style.outlineStyle === "none" ? style.borderTopColor : style.outlineColor;
    const [one, other] = [light(line), light(behind(each.parentElement))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
}"""
"""The contrast of the line around an element, its outline if it has one, with what is behind it."""


@pytest.fixture
def narrow(browser: Any, studio: Running) -> Iterator[Any]:
    with visitor(browser, studio.server.url("/"), viewport={"width": 800, "height": 700}) as found:
        yield found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_fields_and_buttons_have_a_line_around_them_that_can_be_seen(studio: Running, page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for address in ("/", f"/c/{studio.open().id}?to={TWO}", f"/c/{studio.open().id}?to={TWO}&raw=1"):
        page.goto(studio.base + address)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        for control in page.locator("main :is(button, select, textarea, input:not([type=hidden]))").all():
            assert control.evaluate(CONTRAST) >= 3, control.evaluate("each => each.outerHTML")  # WCAG 1.4.11


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_focus_can_be_seen_wherever_it_is(studio: Running, page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for address in ("/", f"/c/{studio.open().id}?to={TWO}&find=deploys", f"/c/{studio.open().id}?to={TWO}&raw=1"):
        page.goto(studio.base + address)
        for _ in range(30):
            page.keyboard.press("Tab")
            place = page.evaluate_handle("document.activeElement")
            if place.evaluate("each => each === document.body"):
                break  # after the last one
            assert place.evaluate("each => getComputedStyle(each).outlineStyle") != "none"
            assert place.evaluate("each => parseFloat(getComputedStyle(each).outlineWidth)") >= 2
            assert place.evaluate(CONTRAST) >= 3, place.evaluate("each => each.outerHTML")
    show(studio, page)
    for key in ("j", "2", "/"):
        page.keyboard.press(key)
        page.wait_for_function("() => document.activeElement !== document.body")
        assert page.evaluate_handle("document.activeElement").evaluate(CONTRAST) >= 3, key
        page.keyboard.press("Escape")


def test_what_is_above_the_columns_stays_on_the_page_however_many_there_are(studio: Running, narrow: Any) -> None:
    narrow.goto(f"{studio.base}/c/{studio.open().id}?to={FOUR}")
    assert narrow.evaluate("document.documentElement.scrollWidth > innerWidth")  # the columns are wider
    for part in narrow.locator("#tools > *, #frame, #strip, #keys, #end").all():
        assert part.evaluate("each => each.getBoundingClientRect().right <= innerWidth"), part.inner_text()
    narrow.evaluate("scrollTo(document.body.scrollWidth, 0)")
    for part in narrow.locator("#tools > *, #frame > summary, #strip, #keys, #end").all():
        assert part.evaluate("each => each.getBoundingClientRect().left >= 0"), part.inner_text()


def test_a_narrow_page_has_the_format_and_whole_links_to_blocks(studio: Running, narrow: Any) -> None:
    show(studio, narrow)
    assert narrow.get_by_text("a conversation of segue").is_visible()
    link = narrow.get_by_role("link", name="block 2 of message 1")
    link.focus()
    box = link.evaluate("each => each.getBoundingClientRect().toJSON()")
    block = link.evaluate("each => each.nextElementSibling.getBoundingClientRect().toJSON()")
    assert box["left"] >= 0
    assert box["right"] <= block["left"] + 1


def test_what_opens_a_panel_stays_where_it_is(studio: Running, narrow: Any) -> None:
    show(studio, narrow)
    column = narrow.get_by_role("region", name="mistral/mistral-large-latest")
    names = ("policy", "findings", "Python")
    summaries = [column.locator("summary", has_text=name) for name in names]
    before = [each.bounding_box() for each in summaries]
    for each in summaries:
        each.click()
        assert [each.bounding_box() for each in summaries] == before
        each.click()


def test_a_panel_is_reached_whole_on_a_low_page(studio: Running, narrow: Any) -> None:
    narrow.set_viewport_size({"width": 800, "height": 500})
    show(studio, narrow, "#m6")
    column = narrow.get_by_role("region", name="mistral/mistral-large-latest")
    column.locator("summary", has_text="policy").click()
    column.get_by_role("button", name="apply").click()  # fails if it cannot be scrolled into view
    assert narrow.evaluate("document.getElementById('heads').getBoundingClientRect().bottom <= innerHeight")


def test_a_name_of_a_call_is_on_the_line_of_its_arrow(studio: Running, narrow: Any) -> None:
    call = ToolCall("c", "a_tool_with_a_name", {"path": "/a/path/that/is/longer/than/the/line/that/it/is/on/in/here"})
    context = segue.Context([AssistantMessage([call], stop_reason="toolUse", provider="openai", model="gpt-5.4")])
    [opened] = studio.shelf.add_text(context.to_json(), "call")
    narrow.goto(f"{studio.base}/c/{opened.id}?to={TWO}")
    for one in narrow.locator(".call").all():
        tops = one.evaluate(
            "each => ['.arrow', 'b'].map(one => each.querySelector(one).getBoundingClientRect().bottom)"
        )
        assert abs(tops[0] - tops[1]) < 4


def test_what_differs_is_beside_a_dotted_line_as_a_whole(studio: Running, page: Any) -> None:
    show(studio, page)
    for row in ("#m2", "#m6"):  # a result under another id, and results that were filled in
        marks = page.locator(f"{row} .changed :is(.ok, .failed)")
        assert marks.count()
        for mark in marks.all():
            assert "dotted" in mark.evaluate("each => getComputedStyle(each.closest('.new')).borderLeftStyle")


def test_a_text_without_words_is_not_a_gap(studio: Running, page: Any) -> None:
    [opened] = studio.shelf.add_text(
        segue.Context([UserMessage([TextContent("\n\n"), TextContent("x")])]).to_json(), ""
    )
    page.goto(f"{studio.base}/c/{opened.id}?to=")
    assert "(blank text)" in page.get_by_role("article", name="message 0,").aria_snapshot()


def test_what_was_not_read_is_counted_and_folded(studio: Running, page: Any) -> None:
    lines = [segue.Context([UserMessage("x")]).to_json(), *[b"not JSON"] * 5]
    [opened] = studio.shelf.add_text(b"\n".join(lines), "lines.jsonl")
    page.goto(f"{studio.base}/c/{opened.id}?to=")
    stored = page.get_by_role("region", name="as stored")
    stored.get_by_text("not read: 5 places").click()
    assert stored.get_by_role("listitem").count() == 5
    assert re.search(r"lines\.jsonl:6.*not JSON", stored.aria_snapshot())
