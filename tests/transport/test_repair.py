"""What the transport does with a request: whose signatures it keeps, what it leaves alone, and what it learns."""

import asyncio
import json
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from support.providers import MODELS
from support.quirks import QUIRKS, Quirk
from support.sdks import ASYNC, PROVIDERS, SYNC

import segue
from bench.corpus import conversations
from segue import Facts, Ledger, Options, ThinkingContent
from segue.testing import Reply, StandIn
from segue.transport import Repaired, Repairer, ledger_file
from segue.transport.conversations import read_body
from segue.transport.target import Addresses

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
CLAUDE = "claude-opus-4-7"
TOOL = {"name": "look", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}


def claude(server: StandIn, http: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)


def test_claudes_own_thinking_survives_while_an_answer_of_gpt_in_the_same_body_is_adapted() -> None:
    ledger, seen = Ledger(), list[Repaired]()
    thinks = Reply(
        [ThinkingContent("I should look."), segue.TextContent("Let me see."), segue.ToolCall("", "look", {})]
    )
    with (
        StandIn("anthropic", script=[thinks, "Done."]) as one,
        StandIn("openai", script=[Reply([segue.ToolCall("", "look", {"at": "x"})])]) as other,
        segue.transport.client(ledger=ledger, on_changes=seen.append, facts=Facts()) as http,
    ):
        question = {"role": "user", "content": "What is there?"}
        first = claude(one, http).messages.create(model=CLAUDE, max_tokens=500, messages=[question], tools=[TOOL])
        gpt = openai.OpenAI(api_key=other.key, base_url=other.url, http_client=http, max_retries=0)
        tool: Any = {"type": "function", "name": "look", "parameters": TOOL["input_schema"], "strict": False}
        answer = gpt.responses.create(model="gpt-5.1", input="And there?", tools=[tool])
        [call] = [item for item in answer.output if item.type == "function_call"]
        own = [block.model_dump(exclude_none=True) for block in first.content]
        done = {"type": "tool_result", "content": "Nothing."}
        body: list[Any] = [
            question,
            {"role": "assistant", "content": own},
            {"role": "user", "content": [done | {"tool_use_id": own[-1]["id"]}]},
            # What a framework makes of GPT's answer: its ids are not Claude's, and so is the thinking.
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "GPT thought so.", "signature": call.id},
                    {"type": "tool_use", "id": f"{call.call_id}|{call.id}", "name": "look", "input": {"at": "x"}},
                ],
            },
            {"role": "user", "content": [done | {"tool_use_id": f"{call.call_id}|{call.id}"}]},
        ]
        claude(one, http).messages.create(model=CLAUDE, max_tokens=500, messages=body, tools=[TOOL])
        assert one.refused == [] and other.refused == []
        sent = one.requests[-1]["messages"]
    assert sent[1]["content"] == own  # byte for byte, with its signature
    texts = [block for block in sent[3]["content"] if block["type"] == "text"]
    assert texts == [{"type": "text", "text": "[Reasoning] GPT thought so."}]
    assert "id-projected" in {change.code for change in seen[-1].changes}


def test_unknown_signatures_are_kept_until_they_are_refused_or_dropped_at_once() -> None:
    foreign = {"type": "thinking", "thinking": "Hm.", "signature": "bm90IG91cnM="}
    messages: list[Any] = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [foreign, {"type": "text", "text": "Hi."}]},
        {"role": "user", "content": "And?"},
    ]
    for trust, refusals in (("drop", 0), ("same", 1)):
        with (
            StandIn("anthropic") as server,
            segue.transport.client(trust=trust, facts=Facts()) as http,
        ):
            for _ in range(2):
                claude(server, http).messages.create(model=CLAUDE, max_tokens=500, messages=messages)
            assert len(server.refused) == refusals
            assert len(server.requests) == 2 + refusals


def test_thinking_goes_off_with_the_thinking_of_a_running_tool_loop() -> None:
    """Otherwise the next refusal would be that the loop does not begin with thinking."""
    foreign = {"type": "thinking", "thinking": "Hm.", "signature": "bm90IG91cnM="}
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    messages: list[Any] = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [foreign, call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Nothing."}]},
    ]
    with StandIn("anthropic") as server, segue.transport.client(facts=Facts()) as http:
        claude(server, http).messages.create(
            model="claude-sonnet-4-5",
            max_tokens=5000,
            messages=messages,
            tools=[TOOL],
            thinking={"type": "enabled", "budget_tokens": 2000},
        )
        assert len(server.requests) == 2
        assert server.requests[-1]["thinking"] == {"type": "disabled"}


# -- what is left alone ----------------------------------------------------------------------------------------------


def test_options_and_unknown_fields_are_carried_over_when_a_body_is_repaired() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    tool = {"name": "f", "parameters": {"type": "object", "properties": {}}, "strict": True}
    body = {
        "model": "gpt-4.1",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "user", "content": "And?"},
        ],
        "top_p": 0.5,
        "seed": 7,
        "x_unknown": {"deep": [1, 2]},
        "tools": [{"type": "function", "function": tool}],
    }
    data = json.dumps(body).encode()
    passage = Repairer(facts=Facts()).begin("https://api.openai.com/v1/chat/completions", {}, data)
    assert passage is not None
    sent = json.loads(passage.body)
    assert {**sent, "messages": 0} == {**body, "messages": 0}
    assert [each["role"] for each in sent["messages"]] == ["user", "assistant", "tool", "user"]


def test_what_a_repaired_body_cannot_hold_is_reported_and_a_clean_body_keeps_it() -> None:
    seen: list[Repaired] = []
    marked = {"type": "text", "text": "Hello", "cache_control": {"type": "ephemeral"}, "x_unknown": 1}
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}, "caller": {"type": "direct"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Nothing."}
    talk: list[Any] = [{"role": "user", "content": [marked]}, {"role": "assistant", "content": [call]}]
    body = {"model": CLAUDE, "max_tokens": 100, "tools": [TOOL], "service_tier": "auto", "metadata": {"x": 1}}
    repairer = Repairer(on_changes=seen.append, facts=Facts())
    clean = json.dumps({**body, "messages": [*talk, {"role": "user", "content": [result]}]}).encode()
    passage = repairer.begin("https://api.anthropic.com/v1/messages", {}, clean)
    assert passage is not None and passage.body is clean and seen == []
    torn = json.dumps({**body, "messages": [*talk, {"role": "user", "content": "And?"}]}).encode()
    assert repairer.begin("https://api.anthropic.com/v1/messages", {}, torn) is not None
    [report] = seen
    assert {change.detail for change in report.changes if change.code == "field-dropped"} == {
        "messages[0].content[0].x_unknown: segue does not carry it",
        "messages[1].content[0].caller: segue does not carry it",
        "messages: cache markers are not kept",
    }


def test_nothing_is_changed_without_a_report(caplog: pytest.LogCaptureFixture) -> None:
    """Every conversation of the failure corpus, to every protocol of the transport."""
    changed = 0
    for protocol, provider in PROVIDERS.items():
        model, seen = MODELS[protocol], list[Repaired]()
        repairer = Repairer(provider=provider, protocol=protocol, on_changes=seen.append, facts=Facts())
        for conversation in conversations():
            data = json.dumps(segue.export(conversation.context, protocol).body | {"model": model.id}).encode()
            seen.clear()
            body = read_body(data)
            passage = None if body is None else repairer.passage(body, model)
            if passage is not None and passage.body != data:
                changed += 1
                assert len(seen) == 1 and seen[0].changes and seen[0].summary(), conversation.names
    assert changed > 100 and caplog.records == []


def test_a_mistake_breaks_neither_a_request_nor_its_answer(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(dict[str, Any]):
        def get(self, *_: Any) -> Any:
            raise sqlite3.OperationalError("disk I/O error")

    def on_changes(repaired: Repaired) -> None:
        raise RuntimeError("a callback with a bug")

    with StandIn("anthropic") as server:
        for settings in ({"ledger": Ledger(Broken())}, {"on_changes": on_changes}):
            with segue.transport.client(facts=Facts(), **settings) as http:
                messages: list[Any] = [{"role": "user", "content": "Hi"}, {"role": "user", "content": " "}]
                answer = claude(server, http).messages.create(model=CLAUDE, max_tokens=50, messages=messages)
                assert answer.content
        assert server.refused == []
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        "the answer is not remembered, because of an internal error",
        "on_changes has raised an error",
    ]


def test_a_declared_tool_is_not_renamed_but_reported() -> None:
    seen: list[Repaired] = []
    tool = {"name": "my.tool", "input_schema": {"type": "object", "properties": {}}}
    calls = [{"type": "tool_use", "id": "toolu_1", "name": "my.tool", "input": {}}]
    body = {
        "model": CLAUDE,
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": calls}],
        "tools": [tool],
    }
    passage = Repairer(on_changes=seen.append, facts=Facts()).begin(
        "https://api.anthropic.com/v1/messages", {}, json.dumps(body).encode()
    )
    assert passage is not None
    sent = json.loads(passage.body)
    assert sent["tools"] == [tool]
    assert sent["messages"][1]["content"][0]["name"] == "my.tool"
    codes = {change.code for change in seen[0].changes}
    assert "name-kept" in codes and "name-projected" not in codes


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("https://api.openai.com/v1/embeddings", b'{"model":"m","input":["x"]}'),
        ("https://api.anthropic.com/v1/messages/count_tokens", b'{"model":"m","messages":[]}'),
        ("https://api.anthropic.com/v1/messages", b"not json"),
        ("https://api.anthropic.com/v1/messages", b'{"messages":[{"role":"user","content":"x"}]}'),
        ("https://api.anthropic.com/v1/messages", b'{"model":"m","messages":[{"role":"robot"}]}'),
        ("https://api.openai.com/v1/responses", b'{"model":"m","input":[]}'),
        ("https://example.com/upload", b"{}"),
    ],
)
def test_what_is_not_recognised_passes_through(url: str, body: bytes) -> None:
    assert Repairer(facts=Facts()).begin(url, {}, body) is None


@pytest.mark.parametrize(
    ("url", "provider", "protocol", "base"),
    [
        ("https://api.anthropic.com/v1/messages", "anthropic", "anthropic-messages", "https://api.anthropic.com"),
        ("https://api.openai.com/v1/chat/completions", "openai", "openai-completions", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/responses", "openai", "openai-responses", "https://api.openai.com/v1"),
        ("https://api.mistral.ai/v1/chat/completions#stream", "mistral", "mistral-chat", "https://api.mistral.ai/v1"),
        ("https://api.moonshot.ai/v1/chat/completions", "moonshot", "openai-completions", "https://api.moonshot.ai/v1"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter", "openai-completions",
         "https://openrouter.ai/api/v1"),
        ("https://my-res.openai.azure.com/openai/v1/responses?api-version=x", "azure", "openai-responses",
         "https://my-res.openai.azure.com/openai/v1"),
        ("https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", "google",
         "google-generative-ai", "https://generativelanguage.googleapis.com/v1beta"),
        ("http://proxy.example/v1/messages", "anthropic", "anthropic-messages", "http://proxy.example"),
        ("http://proxy.example/chat/completions", "openai", "openai-completions", "http://proxy.example"),
    ],
)  # fmt: skip
def test_host_and_path_select_the_dialect(url: str, provider: str, protocol: str, base: str) -> None:
    found = Addresses().find(url)
    assert found is not None
    assert (found.provider, found.protocol, found.base_url) == (provider, protocol, base)


def test_a_provider_overrides_host_and_path() -> None:
    found = Addresses("mistral").find("http://proxy.example/v1/chat/completions")
    assert found is not None and (found.provider, found.protocol) == ("mistral", "mistral-chat")
    found = Addresses("deepseek").find("https://api.openai.com/v1/chat/completions")
    assert found is not None and found.provider == "deepseek"
    with pytest.raises(segue.ModelError, match="does not speak"):
        Addresses("mistral", "openai-responses")
    with pytest.raises(segue.errors.UnknownProviderError):
        segue.transport.client(provider="nosuch")


# -- healing ---------------------------------------------------------------------------------------------------------

HEALED = [quirk for quirk in QUIRKS if segue.Catalog.load().resolve(quirk.model, quirk.protocol).protocol in SYNC]


@pytest.mark.parametrize("quirk", HEALED, ids=repr)
def test_an_unknown_quirk_heals_inside_the_sdk(quirk: Quirk) -> None:
    """The SDK notices nothing: it gets the answer to the second request. Every other one is streamed."""
    model = segue.Catalog.load().resolve(quirk.model, quirk.protocol)
    seen: list[Repaired] = []
    request = segue.encode(quirk.context, model, quirk.options)
    kwargs = request.sdk_kwargs()
    kwargs.pop("stream", None)
    with (
        StandIn(model.provider, protocol=quirk.protocol, refuses=quirk.refuses) as server,
        segue.transport.client(
            provider=model.provider, protocol=model.protocol, on_changes=seen.append, facts=Facts()
        ) as http,
    ):
        for requests in quirk.requests:
            before = len(server.requests)
            SYNC[model.protocol](server, http, kwargs, HEALED.index(quirk) % 2 == 1)
            assert len(server.requests) - before == requests, server.refused
        assert quirk.shows(server.requests[-1]), server.requests[-1]
    assert any(each.healed for each in seen)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("protocol", ASYNC)
def test_a_request_heals_inside_an_async_sdk_whole_and_streamed(protocol: str, streams: bool) -> None:
    quirk = next(each for each in HEALED if each.requests == (2, 1) and protocol_of_quirk(each) == protocol)
    model = segue.Catalog.load().resolve(quirk.model, quirk.protocol)
    kwargs = segue.encode(quirk.context, model, quirk.options).sdk_kwargs()
    kwargs.pop("stream", None)

    async def talk(server: StandIn) -> None:
        async with segue.transport.async_client(provider=model.provider, protocol=protocol, facts=Facts()) as http:
            for requests in (2, 3):
                assert await ASYNC[protocol](server, http, kwargs, streams)
                assert len(server.requests) == requests, server.refused

    with StandIn(model.provider, protocol=protocol, refuses=quirk.refuses) as server:
        asyncio.run(talk(server))


def protocol_of_quirk(quirk: Quirk) -> str:
    return segue.Catalog.load().resolve(quirk.model, quirk.protocol).protocol


def test_an_item_without_a_summary_is_written_again_and_then_always() -> None:
    """Row 23, which segue's own client never meets."""

    def refuses(body: dict[str, Any]) -> str | None:
        for at, item in enumerate(body["input"] if isinstance(body["input"], list) else []):
            if item.get("type") == "reasoning" and "summary" not in item:
                return f"`input[{at}]` missing required field `summary`"
        return None

    script = [Reply([ThinkingContent("Hm."), segue.TextContent("Yes.")])]
    with (
        StandIn("openai", script=script, refuses=refuses) as server,
        segue.transport.client(facts=Facts()) as http,
    ):
        client = openai.OpenAI(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)
        settings: Any = {"model": "gpt-5.1", "include": ["reasoning.encrypted_content"], "store": False}
        first = client.responses.create(input="Hello?", **settings)
        items: list[Any] = [item.model_dump(exclude_none=True) for item in first.output]
        for item in items:
            item.pop("summary", None)
        talk: list[Any] = [{"role": "user", "content": "Hello?"}, *items, {"role": "user", "content": "And?"}]
        for expected in (3, 4):
            client.responses.create(input=talk, **settings)
            assert len(server.requests) == expected


def test_healing_can_be_turned_off() -> None:
    with (
        StandIn("openai", protocol="openai-completions", refuses=lambda body: "Unknown parameter: 'seed'.") as server,
        segue.transport.client(heal=False, facts=Facts()) as http,
    ):
        client = openai.OpenAI(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)
        with pytest.raises(openai.BadRequestError, match="seed"):
            client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "Hi"}], seed=3)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (400, b'{"error": {"message": "Unknown parameter: \'seed\'.", "param": "seed"}}'),  # the body has no seed
        (200, b'data: {"error": {"message": "Unknown parameter: \'top_p\'.", "param": "top_p"}}\n\n'),  # too late
    ],
)
def test_a_cure_that_changes_nothing_and_one_after_the_answer_began_are_not_tried(status: int, answer: bytes) -> None:
    asked: list[httpx2.Request] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(status, stream=httpx2.ByteStream(answer))

    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}], "top_p": 0.5}
    with segue.transport.client(facts=Facts(), http={"transport": httpx2.MockTransport(respond)}) as http:
        got = http.post("https://api.openai.com/v1/chat/completions", json=body)
    assert (got.status_code, got.content, len(asked)) == (status, answer, 1)


def test_an_option_that_segue_does_not_know_is_left_out_after_a_refusal() -> None:
    def refuses(body: dict[str, Any]) -> str | None:
        return "Unknown parameter: 'seed'." if "seed" in body else None

    facts = Facts()
    with (
        StandIn("openai", protocol="openai-completions", refuses=refuses) as server,
        segue.transport.client(facts=facts) as http,
    ):
        client = openai.OpenAI(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)
        for expected in (2, 3):
            client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": "Hi"}], seed=3)
            assert len(server.requests) == expected
    assert [(fact.field, fact.value) for fact in facts] == [("refused_fields", ("seed",))]


# -- ledgers, threads, the whole process -----------------------------------------------------------------------------


def test_a_ledger_in_a_file_knows_answers_of_an_earlier_process(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with StandIn("anthropic", script=[Reply([ThinkingContent("Hm."), segue.TextContent("Hi.")]), "Yes."]) as server:
        question = {"role": "user", "content": "Hello"}
        with segue.transport.client(ledger=ledger_file(path), facts=Facts()) as http:
            first = claude(server, http).messages.create(model=CLAUDE, max_tokens=500, messages=[question])
        own = [block.model_dump(exclude_none=True) for block in first.content]
        messages: list[Any] = [question, {"role": "assistant", "content": own}, {"role": "user", "content": "And?"}]
        with segue.transport.client(ledger=ledger_file(path), trust="drop", facts=Facts()) as http:
            claude(server, http).messages.create(model=CLAUDE, max_tokens=500, messages=messages)
        assert server.requests[-1]["messages"][1]["content"] == own
    with sqlite3.connect(path) as database:
        assert database.execute("select count(*) from origins").fetchone()[0] >= 1


def test_threads_may_share_a_client() -> None:
    failures: list[BaseException] = []

    def talk(name: str, server: StandIn, http: Any) -> None:
        try:
            messages: list[Any] = []
            for turn in range(5):
                messages.append({"role": "user", "content": f"{name} {turn}"})
                answer = claude(server, http).messages.create(model=CLAUDE, max_tokens=500, messages=messages)
                messages.append({"role": "assistant", "content": [each.model_dump() for each in answer.content]})
        except BaseException as error:  # noqa: BLE001, it is raised below
            failures.append(error)

    with StandIn("anthropic") as server, segue.transport.client(facts=Facts()) as http:
        threads = [threading.Thread(target=talk, args=(f"t{at}", server, http)) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == [] and server.refused == []
        assert len(server.requests) == 40


def test_threads_that_continue_the_same_conversation_get_what_one_thread_gets() -> None:
    """Torn conversations that have a beginning in common: every thread grows them, and goes back, on its own."""
    url, length = "https://api.anthropic.com/v1/messages", 24
    talk: list[Any] = [{"role": "user", "content": "Hello"}]
    for turn in range(length):
        call = {"type": "tool_use", "id": f"call.{turn}", "name": "look", "input": {"at": str(turn)}}
        talk += [{"role": "assistant", "content": [call]}, {"role": "user", "content": f"And {turn}?"}]

    def body(name: str, turn: int) -> bytes:
        """All but the last question is the same in every thread."""
        messages = [*talk[: 2 * turn + 2], {"role": "user", "content": f"{name}, {turn}?"}]
        return json.dumps({"model": CLAUDE, "max_tokens": 9, "messages": messages, "tools": [TOOL]}).encode()

    def sent(repairer: Repairer, data: bytes) -> bytes:
        passage = repairer.begin(url, {}, data)
        assert passage is not None
        return passage.body

    def grow(name: str) -> list[bool]:
        order = [*range(length), length // 2, length - 1]
        return [sent(shared, data) == sent(Repairer(facts=Facts()), data) for data in (body(name, at) for at in order)]

    shared, before = Repairer(facts=Facts()), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(6) as pool:
            assert all(all(same) for same in pool.map(grow, "abcdef"))
    finally:
        sys.setswitchinterval(before)


def test_patch_repairs_every_client_except_segues_own() -> None:
    seen: list[Repaired] = []
    torn: list[Any] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a.b", "name": "look", "input": {}}]},
        {"role": "user", "content": "And?"},
    ]
    with StandIn("anthropic") as server, segue.transport.patch(on_changes=seen.append, facts=Facts()):
        client = anthropic.Anthropic(api_key=server.key, base_url=server.url, max_retries=0)
        client.messages.create(model=CLAUDE, max_tokens=500, messages=torn, tools=[TOOL])
        assert len(seen) == 1
        context = segue.ingest({"messages": torn, "tools": [TOOL]}, "anthropic-messages")
        connection = segue.Connection(base_url=server.url, api_key=server.key)
        segue.complete_sync(context, f"anthropic/{CLAUDE}", Options(), connection=connection)
        assert len(seen) == 1 and server.refused == []
        client.close()
    assert not hasattr(httpx2.HTTPTransport.handle_request, "__wrapped__")
    with (
        StandIn("anthropic") as server,
        anthropic.Anthropic(api_key=server.key, base_url=server.url) as client,
        pytest.raises(anthropic.BadRequestError),
    ):
        client.messages.create(model=CLAUDE, max_tokens=500, messages=torn, tools=[TOOL])
    assert len(seen) == 1


def test_the_older_library_is_supported() -> None:
    import httpx

    with StandIn("openai", protocol="openai-completions") as server, segue.transport.client(httpx=True) as http:
        assert isinstance(http, httpx.Client)
        client = openai.OpenAI(api_key=server.key, base_url=server.url, http_client=http, max_retries=0)
        client.chat.completions.create(
            model="gpt-4.1",
            messages=[
                {"role": "user", "content": "Hi"},
                {"role": "tool", "tool_call_id": "x", "content": "stray"},
                {"role": "user", "content": "And?"},
            ],
        )
        assert server.refused == []


def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    with segue.transport.client() as http, pytest.raises(httpx2.ConnectError):
        http.post("http://api.example/v1/messages", content=b"{}")


def test_wrong_settings_are_errors() -> None:
    with pytest.raises(ValueError, match="trust must be 'same' or 'drop'"):
        segue.transport.client(trust="maybe")  # type: ignore[arg-type]


assert set(SYNC) == set(PROVIDERS)


@pytest.mark.parametrize("torn", [False, True])
def test_half_a_character_is_replaced_and_reported(torn: bool) -> None:
    """JSON with it can be written (JavaScript does), but no provider parses it."""
    turns: list[dict[str, Any]] = [{"role": "user", "content": "Cut: \ud83d"}]
    if torn:
        call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
        turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": "Go on."}]
    body = {"max_tokens": 9, "model": CLAUDE, "messages": turns, "tools": [TOOL]}
    seen: list[Repaired] = []
    with StandIn("anthropic") as server, segue.transport.client(on_changes=seen.append, facts=Facts()) as http:
        headers = {"x-api-key": server.key, "anthropic-version": "2023-06-01", "content-type": "application/json"}
        answer = http.post(f"{server.url}/v1/messages", content=json.dumps(body).encode(), headers=headers)
        assert answer.status_code == 200, answer.text
        assert "Cut: \ufffd" in json.dumps(server.requests[0], ensure_ascii=False)
        assert torn or server.requests[0] == body | {"messages": [{"role": "user", "content": "Cut: \ufffd"}]}
    [repaired] = seen
    assert ("result-synthesized" in {each.code for each in repaired.changes}) == torn
    assert "text-sanitized" in {each.code for each in repaired.changes}
