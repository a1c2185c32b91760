"""In a real browser: conversations are text and nothing else, strangers see nothing, and an export needs nobody."""

from pathlib import Path
from typing import Any

import pytest
from support.browser import visitor
from support.waiting import until

import segue
from segue.types import ImageContent, TextContent, UserMessage

from .conftest import TWO, Running, press, show
from .test_hostile import TEXTS, hostile

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
SKELETON = """() => [...document.querySelectorAll("body *")].map((each) =>
    `${each.tagName} ${[...each.attributes].map((one) => one.name).sort()}`)"""
"""Every element of a page with the names of its attributes, without any text."""
ALL = "\n".join(text for text in TEXTS if len(text) < 1_000 and "\ud83d" not in text)


def test_hostile_text_changes_nothing_but_text(studio: Running, page: Any) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    skeletons = []
    for text in (ALL, "".join("\n" if each == "\n" else "x" for each in ALL)):
        [opened] = studio.shelf.add_text(hostile(text).to_json(), text)
        page.goto(f"{studio.base}/c/{opened.id}?to=")
        skeletons.append(page.evaluate(SKELETON))
    assert skeletons[0] == skeletons[1]
    [opened] = studio.shelf.add_text(hostile(ALL).to_json(), ALL)
    for more in ("", "&diff=1", "&raw=1", "&find=<script>"):
        page.goto(f"{studio.base}/c/{opened.id}?to={TWO}{more}")
        assert "<script>alert(1)</script>" in page.locator("#page").inner_text()
        assert page.locator("script").count() == 1
        assert page.locator("#page :is(svg, iframe, img)").count() == 0
    page.goto(f"{studio.base}/?q=<script>")
    assert page.get_by_role("region", name="found").get_by_role("mark").first.inner_text() == "<script>"
    assert all(url.startswith((studio.base, "data:")) for url in requests)


def test_a_line_of_a_megabyte_and_an_image_that_is_none_do_not_break_the_page(studio: Running, page: Any) -> None:
    line = "y" * 1_000_000
    fake = ImageContent(data="PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+", mime_type="image/png")
    context = segue.Context([UserMessage([TextContent(line), fake])], system_prompt=line)
    [opened] = studio.shelf.add_text(context.to_json(), "line" * 40)
    page.goto(f"{studio.base}/c/{opened.id}?to={TWO}")
    row = page.get_by_role("article", name="message 0,")
    assert "not shown: it is not an image of a known type" in row.aria_snapshot()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    row.get_by_role("link", name="all 1,000,000 characters").click()
    page.wait_for_function("() => document.getElementById('m0').textContent.length > 1000000")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_browser_without_the_token_or_under_another_name_sees_nothing(studio: Running, browser: Any) -> None:
    path = f"/c/{studio.open().id}"
    with visitor(browser, "about:blank") as page:
        assert page.goto(studio.base + path).status == 401
        assert "three-models" not in page.content()
        page.goto(studio.server.url("/"))
        assert page.goto(studio.base + path).status == 200
        other = f"http://evil.example:{studio.server.port}"
        assert page.goto(other + path).status == 403
        assert page.goto(studio.server.url(path).replace("127.0.0.1", "evil.example")).status == 403
        assert "three-models" not in page.content()


def test_the_exported_file_opens_from_disk_and_shows_the_same(
    studio: Running, page: Any, browser: Any, tmp_path: Path
) -> None:
    show(studio, page)
    with page.expect_download() as download:
        page.get_by_role("link", name="export as HTML").click()
    file = tmp_path / "export.html"
    download.value.save_as(file)
    with visitor(browser, "about:blank", offline=True) as alone:
        requests: list[str] = []
        alone.on("request", lambda request: requests.append(request.url))
        alone.goto(f"{file.as_uri()}#m1.b0")
        assert alone.locator("[aria-current=location]").count() == 1
        page.goto(f"{page.url}#m1.b0")
        page.locator("[aria-current=location]").wait_for()
        for role in ("feed", "navigation"):
            shown = alone.get_by_role(role).aria_snapshot()
            assert shown
            until(lambda role=role, shown=shown: page.get_by_role(role).aria_snapshot() == shown)
        for name in TWO.split(","):
            counts = [each.get_by_role("region", name=name).locator(".counts").inner_text() for each in (alone, page)]
            assert counts[0] == counts[1]
        press(alone, "j", "message 2,")
        alone.get_by_role("button", name="next finding").click()
        alone.locator("#m3.current").wait_for()
        alone.locator("#heads summary", has_text="findings").last.click()
        alone.get_by_role("region", name=TWO.split(",")[1]).get_by_role("link", name="message 6").first.click()
        alone.locator("#m6.current").wait_for()
        alone.get_by_role("button", name="keys").click()
        alone.get_by_role("dialog", name="Keys").wait_for()
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
