"""The studio in a real browser, as its accessibility tree shows it. Skipped where there is no browser."""

import json
import re
from typing import Any

import pytest

import segue
from segue.types import AssistantMessage, Message, TextContent, UserMessage

from .conftest import EXAMPLE, TWO, Running, press, show

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_the_screen_is_a_feed_of_messages_beside_heads_of_columns(studio: Running, page: Any) -> None:
    show(studio, page)
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


def test_a_head_has_tokens_a_bar_of_the_window_the_price_and_what_is_lost(studio: Running, page: Any) -> None:
    long = segue.Context([UserMessage("word " * 100_000)])
    [opened] = studio.shelf.add_text(long.to_json(), "too long")
    page.goto(f"{studio.base}/c/{opened.id}?to=deepseek/deepseek-chat,openai/gpt-5.4")
    small, large = (page.get_by_role("region", name=name) for name in ("deepseek/deepseek-chat", "openai/gpt-5.4"))
    for column, words in ((small, "does not fit"), (large, "lost 0 · adapted 0 · as stored: accepted")):
        assert words in column.inner_text()
        assert re.search(r"\d+k tokens .*of \d+k · \$0\.\d+", column.inner_text().replace("\n", " "))
    assert small.get_by_role("meter", name="100% of the window").count() == 1
    assert re.fullmatch(r"1\d% of the window", large.get_by_role("meter").get_attribute("aria-label"))


def test_a_model_that_does_not_exist_is_an_error_in_its_column_alone(studio: Running, page: Any) -> None:
    show(studio, page)
    page.get_by_label("add a model").fill("nowhere/x")
    page.keyboard.press("Enter")
    column = page.get_by_role("region", name="nowhere/x")
    assert "unknown provider 'nowhere'" in column.aria_snapshot()
    assert column.get_by_role("link", name="raw body").count() == 0
    assert "lost 1" in page.get_by_role("region", name=TWO.split(",")[1]).inner_text()


def test_a_url_shows_the_same_to_whoever_opens_it(studio: Running, page: Any) -> None:
    show(studio, page)
    column = page.get_by_role("region", name=TWO.split(",")[1])
    column.locator("summary", has_text="policy").click()
    column.get_by_label("preset").select_option("or")
    page.wait_for_url(re.compile(r"2\.preset=or"))
    page.get_by_role("link", name="difference").click()
    page.wait_for_url(re.compile("diff=1"))
    page.get_by_role("searchbox", name="find").fill("probe")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("find=probe.*#m6$"))
    other = page.context.new_page()
    other.goto(page.url)
    other.locator("#m6.current").wait_for()
    for part in ("#top", "#feed", "#tools"):
        assert other.locator(part).aria_snapshot() == page.locator(part).aria_snapshot()
    page.go_back()
    page.wait_for_url(lambda url: "find" not in url)
    page.go_back()
    page.wait_for_url(lambda url: "diff" not in url)
    page.get_by_role("heading", name="as stored").wait_for()
    assert "policy: preset or" in page.locator("#heads").inner_text()


def test_every_cell_of_a_row_begins_at_the_same_height(studio: Running, page: Any) -> None:
    show(studio, page)
    tops = page.evaluate("[...document.querySelectorAll('#m1 > .cell')].map(c => c.getBoundingClientRect().top)")
    assert len(tops) == 3
    assert len(set(tops)) == 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_link_to_a_block_lands_on_it_and_opens_it(studio: Running, page: Any) -> None:
    show(studio, page, "#m1.b0")
    block = page.locator("[aria-current=location]")
    assert block.get_attribute("id") == "m1.b0"
    assert "The chart falls at 09:10" in block.locator(".text").inner_text()  # the thinking, which is folded elsewhere
    page.get_by_role("link", name="block 2 of message 1").click()
    page.wait_for_url(re.compile(r"#m1\.b2$"))
    assert "deploys" in page.locator("[aria-current=location]").inner_text()
    assert page.locator("[aria-current=location]").count() == 1


def test_the_strip_leads_to_each_switch(studio: Running, page: Any) -> None:
    show(studio, page)
    strip = page.get_by_role("navigation", name="switches")
    strip.get_by_role("link", name="aborted: cancelled by the user").click()
    page.get_by_role("article", name="message 10, ").and_(page.locator(".current")).wait_for()
    page.wait_for_url(re.compile("#m10$"))


def test_the_list_of_findings_and_the_buttons_lead_from_one_to_the_next(studio: Running, page: Any) -> None:
    show(studio, page)
    column = page.get_by_role("region", name="mistral/mistral-large-latest")
    column.locator("summary", has_text="findings (").click()
    request = segue.encode(CONTEXT, TWO.split(",")[1], None, "off")
    findings = segue.lint(request.json())
    column.get_by_text(f"findings ({len(findings)})").wait_for()
    lines = {(*request.sources.messages(each.path), each.message, each.rule) for each in findings}
    assert column.get_by_role("listitem").count() == len(lines) < len(findings)
    column.get_by_role("listitem").filter(has_text="MIS-06, 3 times").wait_for()
    column.get_by_role("link", name="message 3").first.click()
    page.locator("#m3.current").wait_for()
    # The open list covers much of the page; the message is below it.
    page.wait_for_function(
        "() => document.getElementById('m3').getBoundingClientRect().top >= "
        "Math.min(document.getElementById('heads').getBoundingClientRect().bottom, innerHeight * .7) - 2"
    )
    page.get_by_role("button", name="previous finding").click()
    page.locator("#m2.current").wait_for()
    page.get_by_role("button", name="next finding").click()
    page.locator("#m3.current").wait_for()
    page.get_by_role("button", name="previous change").click()
    page.locator("#m2.current").wait_for()


def test_findings_of_an_opened_body_are_at_their_messages_however_many(studio: Running, page: Any) -> None:
    calls = [
        {"role": "assistant", "tool_calls": [{"id": f"toolu_{at}", "function": {"name": "f", "arguments": "{}"}}]}
        for at in range(90)
    ]
    results = [{"role": "tool", "tool_call_id": f"toolu_{at}", "content": "x"} for at in range(90)]
    turns = [turn for pair in zip(calls, results, strict=True) for turn in pair]
    body = {"model": "mistral-large-latest", "messages": [{"role": "user", "content": "go"}, *turns]}
    [opened] = studio.shelf.add_text(json.dumps(body).encode(), "body")
    page.goto(f"{studio.base}/c/{opened.id}?to=")
    row = page.get_by_role("article", name="message 180,")
    assert "not nine letters and digits" in row.aria_snapshot()


def test_a_finding_opens_to_the_words_of_the_provider(studio: Running, page: Any) -> None:
    show(studio, page)
    finding = page.locator("#m1 .finding").first
    finding.locator("summary").click()
    assert "the provider answers" in finding.aria_snapshot()
    assert "source:" in finding.aria_snapshot()


def test_everything_works_by_keys(studio: Running, page: Any) -> None:
    show(studio, page)
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
    show(studio, page)
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


def test_the_difference_is_of_any_two_columns_and_marks_words(studio: Running, page: Any) -> None:
    show(studio, page)
    page.get_by_role("link", name="difference").click()
    row = page.get_by_role("article", name="message 1,")
    row.get_by_role("insertion").first.wait_for()
    assert 'insertion: "[Reasoning]"' in row.aria_snapshot()
    page.get_by_label("compare").select_option(label=f"as stored → {TWO.split(',')[1]}")
    page.wait_for_url(re.compile("diff=0,2"))
    page.get_by_role("region", name="as stored").wait_for()
    assert "deletion: toolu_01A7deploys" in row.aria_snapshot()


def test_the_program_that_is_copied_makes_the_request(studio: Running, page: Any) -> None:
    show(studio, page, "&2.reasoning=drop")
    column = page.get_by_role("region", name="mistral/mistral-large-latest")
    column.locator("summary", has_text="Python").click()
    column.get_by_role("button", name="copy as Python").click()
    column.get_by_role("button", name="copied").wait_for()
    names: dict[str, segue.Request] = {}
    exec(page.evaluate("navigator.clipboard.readText()").replace("print(", "str("), names)
    policy = segue.Policy(reasoning="drop")
    assert names["request"].json() == segue.encode(CONTEXT, TWO.split(",")[1], policy=policy).json()


def test_words_are_found_in_a_raw_body(studio: Running, page: Any) -> None:
    show(studio, page, "&raw=2")
    page.get_by_role("searchbox", name="find").fill("09:10")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("1 of 3").wait_for()
    page.locator("#t2[aria-current=location] mark").first.wait_for()  # after the system prompt and the question
    page.get_by_role("link", name="next place").click()
    page.locator("#t4[aria-current=location] mark").first.wait_for()
    page.get_by_role("searchbox", name="find").fill("Deploys since a time")
    page.keyboard.press("Enter")
    page.locator("#t-1[aria-current=location] mark").first.wait_for()  # of a tool, outside the history


def test_every_page_has_a_link_to_its_json(studio: Running, page: Any) -> None:
    show(studio, page)
    address = page.get_by_role("link", name="JSON", exact=True).get_attribute("href")
    assert studio.json(address)["messages"] == len(CONTEXT.messages)


def test_find_goes_from_place_to_place(studio: Running, page: Any) -> None:
    show(studio, page)
    page.get_by_role("searchbox", name="find").fill("deploys")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text("1 of 2").wait_for()
    page.locator("#m1.current").wait_for()
    page.get_by_role("link", name="next place").click()
    page.get_by_role("status").get_by_text("2 of 2").wait_for()
    page.locator("#m2.current").wait_for()


def test_the_raw_body_is_folded_and_copied(studio: Running, page: Any) -> None:
    show(studio, page, "&raw=2")
    page.get_by_role("button", name="copy body").click()
    page.locator("button[data-copy-from]", has_text="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.encode() == segue.encode(CONTEXT, TWO.split(",")[1]).json()
    folded = page.locator(".json details:not([open]) > summary").first
    assert "system" in folded.inner_text()
    folded.focus()
    page.keyboard.press("Enter")
    page.locator(".json details[open] .name", has_text="role").first.wait_for()
    page.get_by_role("button", name="copy curl").click()
    page.locator("button[data-copy]", has_text="copied").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    page.locator("summary", has_text="curl").click()
    assert page.locator("pre").inner_text() == command
    assert command.startswith("curl https://api.mistral.ai/v1/chat/completions")
    with page.expect_download() as download:
        page.get_by_role("link", name="save body").click()
    assert download.value.path().read_bytes() == copied.encode()  # the file that the command sends
    assert download.value.suggested_filename in command


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


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_cut_off_at_the_widths_of_laptops(studio: Running, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for more in ("", "&diff=1", "&raw=1"):
        show(studio, page, more)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
