"""In a real browser: lists, sessions that grow while they are read, and the requests of a running gateway."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import visitor
from support.gateways import Served
from support.providers import MODELS, reach
from support.waiting import HANGS

import segue
from segue.session import Compacted, MessageAdded, ModelChosen
from segue.studio import id_of
from segue.testing import Reply, StandIn
from segue.types import Message, ToolCall, UserMessage

from .conftest import EXAMPLE, Running
from .test_browser import long_conversation
from .test_gateway import NAME, ask
from .test_transcripts import written

CONTEXT = segue.Context.from_json(EXAMPLE.read_bytes())
AT_END = "() => scrollY + innerHeight > document.body.scrollHeight - 60"
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def grow(studio: Running, session: str, messages: list[Message]) -> None:
    head = studio.store.head(session)
    entries = [MessageAdded(key=f"{session}{head + at}", time=1, message=each) for at, each in enumerate(messages)]
    studio.store.append(session, entries, after=head)


def test_sessions_and_transcripts_are_listed_searched_and_opened(
    start: Callable[..., Running], browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    written(tmp_path)
    studio = start()
    studio.store.create("one", time=1, title="orders dropped")
    grow(studio, "one", CONTEXT.messages)
    with visitor(browser, studio.server.url("/")) as page:
        assert "orders dropped" in page.get_by_role("region", name="sessions").aria_snapshot()
        assert "Claude Code" in page.get_by_role("region", name="other tools").aria_snapshot()
        page.get_by_role("searchbox", name="search all conversations").fill("card_token")
        page.keyboard.press("Enter")
        found = page.get_by_role("region", name="found")
        found.get_by_role("link", name="orders dropped, message 3").click()
        page.locator("#m3.current").wait_for()
        page.get_by_role("link", name="segue studio").click()
        page.get_by_role("region", name="other tools").get_by_role("link", name="Terns").click()
        page.get_by_text("Claude Code 2.1.42").wait_for()


def test_a_file_is_chosen_and_something_else_is_refused_in_words(studio: Running, page: Any, tmp_path: Path) -> None:
    page.get_by_label("or choose a file").set_input_files(EXAMPLE)
    page.get_by_role("button", name="open").click()
    page.get_by_role("heading", name="three-models.json").wait_for()
    (tmp_path / "not.json").write_text("hello")
    page.goto(f"{studio.base}/")
    page.get_by_label("or choose a file").set_input_files(tmp_path / "not.json")
    page.get_by_role("button", name="open").click()
    assert "not.json" in page.get_by_role("alert").inner_text()


DROP = """async ([name, text]) => {
    // The page that a file leads to is seen before its script runs.
    if (document.readyState !== "complete") await new Promise((loaded) => addEventListener("load", loaded));
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def test_a_file_is_dropped_anywhere_and_something_else_is_refused_in_words(studio: Running, page: Any) -> None:
    page.evaluate(DROP, ["dropped.json", EXAMPLE.read_text()])
    page.get_by_role("heading", name="dropped.json").wait_for()
    page.evaluate(DROP, ["not.json", "hello"])
    page.get_by_role("alert").get_by_text("not.json").wait_for()
    page.get_by_role("textbox", name="paste it here").wait_for()


def test_compactions_and_forks_are_in_the_strip_and_the_whole_log_is_a_link(studio: Running, page: Any) -> None:
    studio.store.create("compacted", time=1, title="long ago")
    grow(studio, "compacted", CONTEXT.messages[:6])
    summary = Compacted(key="k", time=1, summary=UserMessage("so far"), first="compacted4", model="a/b")
    chosen = ModelChosen(key="c", time=1, model="openai/gpt-5.4", protocol="openai-responses")
    studio.store.append("compacted", [summary, chosen], after=6)
    studio.store.fork("compacted", 8, "forked", time=2)
    page.goto(f"{studio.base}/c/{id_of('session', 'forked')}")
    page.get_by_role("navigation", name="switches").get_by_role("link", name="the whole log").click()
    page.get_by_role("heading", name="long ago (the whole log)").wait_for()
    strip = page.get_by_role("navigation", name="switches").aria_snapshot()
    assert "compacted by a/b" in strip
    assert "forked from compacted" in strip
    for name in ("compacted by a/b", "forked from compacted"):  # both after the last message
        page.get_by_role("navigation", name="switches").get_by_role("link", name=name).click()
        page.wait_for_url("**#m5")
        page.keyboard.press("k")
        page.wait_for_url("**#m4")
    page.goto(f"{studio.base}/?q=card_token")  # it is in a message that the summary replaced
    assert "long ago (the whole log), message 3" in page.get_by_role("region", name="found").aria_snapshot()


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
    page.wait_for_function(AT_END)
    assert page.locator("#heads").get_by_text("61 messages").count() == 1
    page.evaluate("scrollTo(0, scrollY - 800)")
    page.get_by_text("live, not following").wait_for()
    grow(studio, "live", [UserMessage("something newer")])
    page.get_by_role("article", name="message 61,").wait_for(state="attached")
    assert page.evaluate("scrollY + innerHeight < document.body.scrollHeight - 400")
    assert page.get_by_text("live, not following").count() == 1


def test_what_an_agent_writes_appears_while_its_tool_is_running(studio: Running, page: Any) -> None:
    go_on = threading.Event()

    def measure() -> str:
        """Measure."""
        assert go_on.wait(HANGS)
        return "22 degrees"

    with StandIn("openai", protocol="openai-responses") as provider:
        provider.say(Reply([ToolCall("", "measure", {})]), "It is warm.")
        model = MODELS["openai-responses"]
        agent = segue.Agent(model, [measure], store=studio.store, connection=reach(provider))
        writer = threading.Thread(target=agent.run_sync, args=("How warm is it?",), name="an agent")
        page.goto(f"{studio.base}/c/{id_of('session', agent.session.id)}")
        page.get_by_text("live,").wait_for()
        writer.start()
        page.get_by_role("article", name="message 1, openai/").get_by_text("measure").first.wait_for()
        assert page.get_by_role("article").count() == 2
        go_on.set()
        page.get_by_role("article", name="message 3, openai/").get_by_text("It is warm.").first.wait_for()
        assert "22 degrees" in page.get_by_role("article", name="message 2, result of measure").aria_snapshot()
        writer.join(HANGS)


# -- a gateway --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("gateway"), {NAME: MODELS[NAME]}, gateway={"record": True}) as found:
        yield found


def test_requests_of_a_gateway_appear_as_they_happen_and_lead_to_the_one_screen(
    start: Callable[..., Running], browser: Any, served: Served
) -> None:
    studio = start(gateway=served.url)
    with visitor(browser, studio.server.url("/gateway")) as page:
        page.get_by_text("No requests in the last 24 hours.").wait_for()
        page.get_by_role("status").get_by_text("live").wait_for()
        first = ask(served, "how are you?")
        page.locator(f"a[href='/gateway/{first}']").wait_for()
        page.locator(f"a[href='/gateway/{first}']").focus()
        second = ask(served, "and now?")
        page.locator(f"a[href='/gateway/{second}']").wait_for()
        assert page.evaluate("document.activeElement.getAttribute('href')") == f"/gateway/{first}"
        rows = page.get_by_role("table").get_by_role("row")
        assert rows.count() == 3
        row = rows.nth(1).aria_snapshot()
        assert NAME in row  # asked for
        assert MODELS[NAME].ref in row  # answered by
        assert 'cell "none"' in row  # changes
        page.locator(f"a[href='/gateway/{second}']").click()
        page.get_by_role("heading", name=f"Request {second}").wait_for()
        page.get_by_role("link", name="see what each model gets of it").click()
        assert "and now?" in page.get_by_role("article", name="message 0,").aria_snapshot()


def test_a_list_recovers_when_its_gateway_was_away(start: Callable[..., Running], browser: Any, tmp_path: Path) -> None:
    with Served(tmp_path, {NAME: MODELS[NAME]}) as served:
        studio = start(gateway=served.url)
        with visitor(browser, studio.server.url("/gateway")) as page:
            page.get_by_role("status").get_by_text("live").wait_for()
            page.route("**/gateway", lambda route: route.fulfill(status=502, body="away"))
            ask(served, "lost?")
            page.get_by_role("status").get_by_text("502").wait_for()
            page.unroute("**/gateway")
            name = ask(served, "found")
            page.locator(f"a[href='/gateway/{name}']").wait_for()
            assert page.get_by_role("row").count() == 3
            assert json.loads(studio.get("/gateway.json").content)["requests"][0]["id"] == name
