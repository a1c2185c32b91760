"""The studio in a real browser, as its accessibility tree shows it. Skipped where there is no browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import axe, chromium

import segue
from segue.session import MessageAdded
from segue.studio import id_of
from segue.types import AssistantMessage, Message, TextContent, UserMessage

from .conftest import EXAMPLE, TWO, Running
from .test_hostile import hostile

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser: Any, studio: Running) -> Iterator[Any]:
    """A page with the studio's cookie. It fails if a script does."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, permissions=["clipboard-read"])
    page = context.new_page()
    page.set_default_timeout(30_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
    page.goto(studio.server.url("/"))
    yield page
    context.close()
    assert errors == []


def shown(studio: Running, page: Any, more: str = "") -> None:
    page.goto(f"{studio.base}/c/{studio.open().id}?to={TWO}{more}")


def press(page: Any, key: str, expected: str) -> None:
    """Press a key, and wait for the element with this label to have the focus."""
    page.keyboard.press(key)
    page.wait_for_function(
        "label => (document.activeElement.getAttribute('aria-label') || '').startsWith(label)", arg=expected
    )


def test_the_screen_is_a_feed_of_messages_beside_heads_of_columns(studio: Running, page: Any) -> None:
    shown(studio, page)
    assert "a conversation of segue" in page.locator("#top").aria_snapshot()
    heads = page.locator("#heads").aria_snapshot()
    for words in (
        'heading "as stored"',
        "mistral/mistral-large-latest",
        "meter",
        "lost 1",
        "as stored: refused (",
    ):
        assert words in heads
    feed = page.get_by_role("feed")
    assert feed.get_by_role("article").count() == len(CONTEXT.messages)
    row = feed.get_by_role("article", name="message 1, anthropic/claude-sonnet-5").aria_snapshot()
    for words in ("thinking, signed", "as stored", "[Reasoning]", "adapted", "thought shown as text", "refused"):
        assert words in row
    assert 'link "● google/gemini-2.5-pro"' in page.get_by_role("navigation", name="switches").aria_snapshot().replace(
        'link "google', 'link "● google'
    )


def test_every_cell_of_a_row_begins_at_the_same_height(studio: Running, page: Any) -> None:
    shown(studio, page)
    tops = page.evaluate("[...document.querySelectorAll('#m1 > .cell')].map(c => c.getBoundingClientRect().top)")
    assert len(tops) == 3
    assert len(set(tops)) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_finding_opens_to_the_words_of_the_provider(studio: Running, page: Any) -> None:
    shown(studio, page)
    finding = page.locator("#m1 .finding").first
    finding.locator("summary").click()
    assert "the provider answers" in finding.aria_snapshot()
    assert "source:" in finding.aria_snapshot()


def test_everything_works_by_keys(studio: Running, page: Any) -> None:
    shown(studio, page)
    press(page, "j", "message 1,")
    press(page, "j", "message 2,")
    press(page, "k", "message 1,")
    press(page, "n", "message 2,")
    press(page, "p", "message 1,")
    press(page, "Shift+N", "message 2,")
    press(page, "Shift+P", "message 1,")
    press(page, "Shift+G", f"message {len(CONTEXT.messages) - 1},")
    page.keyboard.press("2")
    page.wait_for_function("() => document.activeElement.textContent.startsWith('anthropic/claude-sonnet-5')")
    page.keyboard.press("/")
    page.wait_for_function("() => document.activeElement.name === 'find'")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.wait_for_url(re.compile("diff=1"))
    page.keyboard.press("d")
    page.wait_for_url(lambda url: "diff" not in url)
    page.keyboard.press("r")
    page.get_by_role("region", name="raw body for anthropic/claude-sonnet-5").wait_for()
    page.keyboard.press("r")
    page.get_by_role("feed").wait_for()
    page.keyboard.press("?")
    assert "next and previous finding" in page.get_by_role("dialog", name="Keys").aria_snapshot()


def test_a_policy_shows_its_result_at_once_and_is_in_the_url(studio: Running, page: Any) -> None:
    shown(studio, page)
    column = page.get_by_role("region", name="mistral/mistral-large-latest")
    column.locator("summary", has_text="policy").click()
    column.get_by_label("thinking of others").select_option("drop")
    page.wait_for_url(re.compile(r"2\.reasoning=drop"))
    assert "policy: reasoning drop" in page.locator("#heads").aria_snapshot()
    assert "thought left out" in page.locator("#m1").aria_snapshot()
    page.go_back()
    page.wait_for_url(lambda url: "reasoning" not in url)
    page.locator("#m1").get_by_text("thought shown as text").wait_for()


def test_text_is_pasted_and_a_model_is_added(studio: Running, page: Any) -> None:
    page.goto(f"{studio.base}/")
    page.get_by_role("textbox", name="paste it here").fill(segue.encode(CONTEXT, "openai/gpt-5.4").json().decode())
    page.get_by_role("button", name="open").click()
    page.get_by_text("a request body of openai-responses").wait_for()
    field = page.get_by_label("add a model")
    field.focus()
    page.wait_for_function("() => document.querySelectorAll('#models option').length > 100")
    field.fill("mistral/mistral-large-latest")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="mistral/mistral-large-latest").wait_for()
    page.get_by_role("link", name="remove mistral/mistral-large-latest").click()
    page.get_by_role("region", name="mistral/mistral-large-latest").wait_for(state="detached")


def test_find_goes_from_place_to_place(studio: Running, page: Any) -> None:
    shown(studio, page)
    page.get_by_role("searchbox", name="find").fill("deploys")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("1 of 2").wait_for()
    page.locator("#m1.current").wait_for()
    page.get_by_role("link", name="next place").click()
    page.get_by_role("status").get_by_text("2 of 2").wait_for()
    page.locator("#m2.current").wait_for()


def test_the_raw_body_is_folded_and_copied(studio: Running, page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown(studio, page, "&raw=2")
    page.get_by_role("button", name="copy body").click()
    page.get_by_role("button", name="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.encode() == segue.encode(CONTEXT, TWO.split(",")[1]).json()
    folded = page.locator(".json details:not([open]) > summary").first
    assert "system" in folded.inner_text()


def long_conversation(count: int) -> segue.Context:
    messages: list[Message] = []
    for at in range(count // 2):
        messages.append(UserMessage(f"question {at}\n" + "one more line\n" * (at % 7)))
        messages.append(AssistantMessage([TextContent(f"answer {at}")], provider="openai", model="gpt-5.4"))
    return segue.Context(messages)


def test_a_deep_link_lands_on_its_message_among_ten_thousand(studio: Running, page: Any) -> None:
    [opened] = studio.shelf.add_text(long_conversation(10_000).to_json(), "long")
    page.goto(f"{studio.base}/c/{opened.id}?to=mistral/mistral-large-latest#m9000")
    page.locator("#m9000.current").wait_for()
    page.wait_for_function(
        """() => { const box = document.getElementById("m9000").getBoundingClientRect();
        const heads = document.getElementById("heads").getBoundingClientRect().bottom;
        return box.top >= heads - 2 && box.top < innerHeight; }"""
    )
    assert page.get_by_role("article").count() < 2_000
    page.get_by_role("searchbox", name="find").fill("question 2500")
    page.keyboard.press("Enter")
    page.locator("#m5000.current").wait_for()
    press(page, "j", "message 5001,")


def grow(studio: Running, session: str, messages: list[Message]) -> None:
    head = studio.store.head(session)
    entries = [MessageAdded(key=f"{session}{head + at}", time=1, message=each) for at, each in enumerate(messages)]
    studio.store.append(session, entries, after=head)


def test_a_session_grows_on_the_page_and_the_end_is_followed_until_the_user_scrolls_up(
    studio: Running, page: Any
) -> None:
    studio.store.create("live", time=1)
    grow(studio, "live", long_conversation(60).messages)
    page.goto(f"{studio.base}/c/{id_of('session', 'live')}?to=mistral/mistral-large-latest")
    page.get_by_text("live,").wait_for()
    page.keyboard.press("Shift+G")
    page.get_by_text("live, following the end").wait_for()
    grow(studio, "live", [UserMessage("something new")])
    page.get_by_role("article", name="message 60,").wait_for()
    page.wait_for_function("() => scrollY + innerHeight > document.body.scrollHeight - 60")
    assert page.locator("#heads").get_by_text("61 messages").count() == 1
    page.evaluate("scrollTo(0, scrollY - 800)")
    page.get_by_text("live, not following").wait_for()
    grow(studio, "live", [UserMessage("something newer")])
    page.get_by_role("article", name="message 61,").wait_for(state="attached")
    assert page.evaluate("scrollY + innerHeight < document.body.scrollHeight - 400")
    assert page.get_by_text("live, not following").count() == 1


def test_the_exported_file_opens_from_disk_and_shows_the_same(
    studio: Running, page: Any, browser: Any, tmp_path: Path
) -> None:
    shown(studio, page)
    with page.expect_download() as download:
        page.get_by_role("link", name="export as HTML").click()
    file = tmp_path / "export.html"
    download.value.save_as(file)
    context = browser.new_context(offline=True)
    alone = context.new_page()
    requests: list[str] = []
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto(file.as_uri())
    assert alone.get_by_role("feed").aria_snapshot() == page.get_by_role("feed").aria_snapshot()
    press(alone, "j", "message 1,")
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    context.close()


def test_hostile_text_does_nothing_in_the_browser(studio: Running, page: Any) -> None:
    text = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe"
    [opened] = studio.shelf.add_text(hostile(text).to_json(), text)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    for more in ("", "&diff=1", "&raw=1"):
        page.goto(f"{studio.base}/c/{opened.id}?to={TWO}{more}")
        assert "<script>alert(1)</script>" in page.locator("body").inner_text()
        assert page.locator("script").count() == 1
    assert all(url.startswith((studio.base, "data:")) for url in requests)


@pytest.mark.parametrize(("scheme", "rules"), [("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")])
def test_axe_finds_nothing_on_any_page(studio: Running, browser: Any, scheme: str, rules: str) -> None:
    source = axe()
    # The beginning of the example: axe is slow, and the rest has nothing else.
    id_ = studio.shelf.add_text(segue.Context(CONTEXT.messages[:4]).to_json(), "short")[0].id
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    page = context.new_page()
    page.goto(studio.server.url("/"))
    addresses = [f"/c/{id_}?to={TWO}{more}" for more in ("&find=deploys&2.preset=or", "&diff=1", "&raw=1")]
    for path in [*addresses, "/?q=deploys", "/c/nothing"]:
        page.goto(studio.base + path)
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        page.add_script_tag(content=source)
        found = page.evaluate(f"axe.run({rules})")["violations"]
        assert [(path, each["id"], each["nodes"][0]["html"]) for each in found] == []
    context.close()


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off_at_the_widths_of_laptops(studio: Running, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for more in ("", "&diff=1", "&raw=1"):
        shown(studio, page, more)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
