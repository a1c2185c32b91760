"""Failures are in the log and on the answer. Another model is asked if that helps; otherwise the turn fails."""

import json
import time
from typing import Any

import pytest
from msgspec.structs import replace
from support.providers import MODELS
from support.raw import raw, response
from support.sessions import QUICK, Providers, asks, check, entries, logged_messages, run, texts, weather
from support.waiting import HANGS

import segue
from segue import Connection, Failover, Fixed, Patience, Retries, Session
from segue.session import AttemptFailed, MessageAdded, Store
from segue.testing import Fault, FaultKind, Reply
from segue.types import AssistantMessage, TextContent

ONE, OTHER = "anthropic-messages", "openai-responses"
TOOLS = {"weather": weather}
LONG = Reply([TextContent("One two three four five six seven. " * 6), *asks("Nowhere").content])


def both(**settings: Any) -> Failover:
    return Failover([MODELS[ONE], MODELS[OTHER]], patience=replace(QUICK, **settings))


def attempts(session: Session) -> list[AttemptFailed]:
    return [entry for entry in entries(session) if isinstance(entry, AttemptFailed)]


def last_answer(session: Session) -> MessageAdded:
    return [e for e in entries(session) if isinstance(e, MessageAdded) and isinstance(e.message, AssistantMessage)][-1]


def test_failed_attempts_are_in_the_log_and_on_the_answer(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(both(), store)
        providers[ONE].say(Fault("overloaded"), Fault("rate-limit"), Fault("server-error"))
        seen = [event async for event in session.stream("Hello?")]
        assert [event.type for event in seen if event.type in ("retry", "switch")] == ["retry", "retry", "switch"]
        failed = attempts(session)
        assert [each.kind for each in failed] == ["overloaded", "rate-limit", "server"]
        assert [each.then for each in failed] == ["retry", "retry", "next"]
        assert all(each.model == MODELS[ONE].ref and each.text and each.status and each.request_id for each in failed)
        answer = last_answer(session)
        assert answer.attempts == tuple(each.key for each in failed)
        seen_of = [each for each in answer.message.diagnostics if each.type == "attempt-failed"]
        assert [(each.message, each.details["kind"]) for each in seen_of] == [(each.text, each.kind) for each in failed]
        check(session)

    run(talk())
    assert not providers.objections()


@pytest.mark.parametrize("kind", ["cut", "broken-json", "error-event"])
def test_interrupted_output_is_stored_as_failed_and_never_joined_with_the_retry(
    providers: Providers, store: Store, kind: FaultKind
) -> None:
    async def talk() -> None:
        session = providers.session(both(retries=replace(QUICK.retries, count=0)), store)
        providers[ONE].say(Fault(kind, LONG))
        providers[OTHER].say("The whole answer.")
        answer = await session.ask("Hello?", {"weather": lambda city: pytest.fail("it ran")})
        assert answer.text == "The whole answer."
        first, second = [message for message in logged_messages(session) if isinstance(message, AssistantMessage)]
        assert first.stop_reason == "error" and first.text.startswith("One two") and first.protocol == ONE
        assert second == answer and not texts(session.messages)
        [sent] = providers.sent(OTHER).messages
        assert "One two" not in str(sent), "the next attempt begins from scratch"
        check(session)

    run(talk())


def test_a_turn_that_no_member_can_answer_fails_with_the_reason(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(both(), store)
        for protocol in (ONE, OTHER):
            providers[protocol].say(*[Fault("server-error")] * 9)
        async with session.stream("Hello?") as turn:
            end = await turn.finished()
        assert end.how == "failed" and end.message is not None and end.message.stop_reason == "error"
        assert MODELS[OTHER].ref in end.reason and "every other member rests" in end.reason
        assert attempts(session)[-1].then == "give-up" and len(attempts(session)) == 6
        check(session)
        providers.clear()
        assert (await session.ask("Anybody?")).stop_reason == "stop", "a new turn is always tried"
        check(session)

    run(talk())


def test_members_that_fail_in_turn_are_not_tried_forever(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(both(rest=0.0, retries=replace(QUICK.retries, count=1)), store)
        for protocol in (ONE, OTHER):
            providers[protocol].say(*[Fault("server-error")] * 99)
        with pytest.raises(segue.ServerError):
            await session.ask("Hello?")
        assert len(attempts(session)) < 12

    run(talk())


@pytest.mark.parametrize("kind", ["wrong-key", "unavailable"])
def test_a_member_without_credit_or_capacity_is_left(providers: Providers, store: Store, kind: FaultKind) -> None:
    async def talk() -> None:
        session = providers.session(both(), store)
        providers[ONE].say(*[Fault(kind)] * 3)
        assert (await session.ask("Hello?")).protocol == OTHER

    run(talk())


def test_an_invalid_request_is_reported_and_not_sent_to_another_member(providers: Providers, store: Store) -> None:
    def spoiled(model: segue.Model) -> Connection:
        def spoil(body: dict[str, Any]) -> None:
            body["messages"] = [{"role": "wizard", "content": "abracadabra"}]

        return replace(providers.connection(model), on_request=spoil if model.protocol == ONE else None)

    async def talk() -> None:
        session = providers.session(both(), store, connection=spoiled)
        async with session.stream("Hello?") as turn:
            end = await turn.finished()
        assert end.how == "failed" and "invalid-request" in end.reason
        assert providers[ONE].refused[0].text in end.reason, "the text of the provider"
        assert end.message is not None and isinstance(segue.error_of(end.message), segue.InvalidRequestError)
        assert [each.kind for each in attempts(session)] == ["invalid-request"]
        check(session)

    run(talk())
    assert len(providers[ONE].requests) == 1 and not providers[OTHER].requests


def test_a_refusal_is_an_answer_and_not_a_failure_to_get_around(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(both(), store)
        providers[ONE].say(Reply([TextContent("I would rather")], "error"))
        answer = await session.ask("Hello?", check=False)
        assert answer.stop_reason == "error" and answer.protocol == ONE and answer in session.messages
        assert [each.kind for each in attempts(session)] == ["refused"]
        check(session)

    run(talk())
    assert not providers[OTHER].requests


# -- a model that is gone --

GONE: list[tuple[str, str, dict[str, Any]]] = [
    ("anthropic-messages", "404", {"type": "error", "error": {"type": "not_found_error", "message": "model: none"}}),
    (
        "openai-completions",
        "404",
        {"error": {"message": "The model `gpt-0` does not exist or you do not have access to it.",
                   "type": "invalid_request_error", "param": None, "code": "model_not_found"}},
    ),
    ("openai-completions", "404", {"error": {"message": "No endpoints found for some/model:free.", "code": 404}}),
    ("openai-completions", "400", {"error": {"message": "Model Not Exist", "type": "invalid_request_error"}}),
    (
        "openai-responses",
        "400",
        {"error": {"message": "The requested model 'gpt-0' does not exist.", "type": "invalid_request_error",
                   "param": "model", "code": "model_not_found"}},
    ),
    (
        "google-generative-ai",
        "404",
        {"error": {"code": 404, "status": "NOT_FOUND", "message": "models/gemini-0 is not found for API version "
                   "v1beta, or is not supported for generateContent. Call ListModels to see what is"}},
    ),
    ("bedrock-converse", "400", {"message": "The provided model identifier is invalid."}),
    (
        "bedrock-converse",
        "400",
        {"message": "Invocation of model ID anthropic.claude-0 with on-demand throughput isn\u2019t supported. Retry "
                    "your request with the ID or ARN of an inference profile that contains this model."},
    ),
    ("bedrock-converse", "404", {"message": "This model version has reached the end of its life."}),
    ("mistral-chat", "400", {"object": "error", "message": "Invalid model: mistral-0", "type": "invalid_model",
                             "param": None, "code": "1500"}),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "status", "body"), GONE, ids=lambda value: str(value)[:40])
def test_a_member_without_its_model_is_left_and_has_a_long_rest(
    providers: Providers, store: Store, protocol: str, status: str, body: dict[str, Any]
) -> None:
    other = OTHER if protocol == ONE else ONE

    async def talk(url: str) -> Failover:
        def reach(model: segue.Model) -> Connection:
            return replace(providers.connection(model), base_url=url) if model.protocol == protocol else (
                providers.connection(model)
            )  # fmt: skip

        router = Failover([MODELS[protocol], MODELS[other]], patience=QUICK)
        session = providers.session(router, store, connection=reach)
        answer = await session.ask("Hello?")
        assert answer.stop_reason == "stop" and answer.protocol == other
        assert [(each.kind, each.then) for each in attempts(session)] == [("model-not-found", "next")]
        assert (await providers.session(router, store, connection=reach).ask("And now?")).protocol == other
        check(session)
        return router

    with raw(lambda asked: (response(json.dumps(body).encode(), f"{status} Gone"), True)) as server:
        router = run(talk(server.url))
        assert len(server.asked) == 1, "it rests for all sessions"
        [rest] = router.resting(time.monotonic()).values()
        assert rest > QUICK.rest


def test_a_404_about_something_in_the_request_is_an_invalid_request(providers: Providers, store: Store) -> None:
    body = {"error": {"message": "No endpoints found that support image input", "code": 404}}

    async def talk(url: str) -> None:
        def reach(model: segue.Model) -> Connection:
            return replace(providers.connection(model), base_url=url)

        session = providers.session(both(), store, connection=reach)
        async with session.stream("Hello?") as turn:
            end = await turn.finished()
        assert end.how == "failed" and [each.kind for each in attempts(session)] == ["invalid-request"]

    with raw(lambda asked: (response(json.dumps(body).encode(), "404 No"), True)) as server:
        run(talk(server.url))
        assert len(server.asked) == 1


# -- overflow --


def test_overflow_leads_to_one_larger_model(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        small = replace(MODELS[ONE], context_window=100_000)
        large = replace(MODELS[OTHER], context_window=400_000)
        session = providers.session(Failover([small, large], patience=QUICK), store)
        providers[ONE].say("Hello.", Fault("overflow"))
        await session.ask("Hello?")
        assert (await session.ask("And now?")).protocol == OTHER
        assert [each.then for each in attempts(session)] == ["next"]
        check(session)

    run(talk())


def test_overflow_leads_to_one_compaction(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(Fixed(MODELS[ONE], patience=QUICK), store)
        providers[ONE].say("Hello.", "Again.", Fault("overflow"), "They said hello.", "Here I am.")
        await session.ask("Hello?")
        await session.ask("Hello again?")
        seen = [event async for event in session.stream("And now?")]
        assert [event.type for event in seen if event.type == "compaction"] == ["compaction"]
        assert session.messages[-1].text == "Here I am."  # type: ignore[union-attr]
        assert "They said hello." in str(session.messages[0])
        assert [each.then for each in attempts(session)] == ["compact"]
        assert last_answer(session).attempts == (attempts(session)[0].key,)
        check(session)

    run(talk())


def test_overflow_after_a_compaction_is_a_clear_error(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(Fixed(MODELS[ONE], patience=QUICK), store)
        providers[ONE].say("Hello.", "Again.", Fault("overflow"), "They said hello.", Fault("overflow"))
        await session.ask("Hello?")
        await session.ask("Hello again?")
        async with session.stream("And now?") as turn:
            end = await turn.finished()
        assert end.how == "failed" and "does not fit into the window" in end.reason
        assert "already compacted" in end.reason
        assert [each.then for each in attempts(session)] == ["compact", "give-up"]
        check(session)

    run(talk())


def test_overflow_with_nothing_to_summarise_is_a_clear_error(providers: Providers, store: Store) -> None:
    """The running turn is never cut, so nothing is sent a second time."""

    async def talk() -> None:
        session = providers.session(Fixed(MODELS[ONE], patience=QUICK), store)
        providers[ONE].say(Fault("overflow"))
        async with session.stream("Hello?") as turn:
            end = await turn.finished()
        assert end.how == "failed" and "nothing before the running turn" in end.reason
        check(session)

    run(talk())
    assert len(providers[ONE].requests) == 1


def test_overflow_without_a_summary_is_a_clear_error(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        session = providers.session(Fixed(MODELS[ONE], patience=QUICK), store)
        providers[ONE].say("Hello.", "Again.", Fault("overflow"), *[Fault("server-error")] * 3)
        await session.ask("Hello?")
        await session.ask("Hello again?")
        async with session.stream("And now?") as turn:
            end = await turn.finished()
        assert end.how == "failed" and "could not be summarised" in end.reason
        check(session)

    run(talk())


def test_a_member_rests_for_all_sessions_that_share_the_router(providers: Providers, store: Store) -> None:
    async def talk() -> None:
        router = Failover([MODELS[ONE], MODELS[OTHER]], patience=Patience(retries=Retries(count=0), rest=HANGS))
        one, two = (providers.session(router, store) for _ in range(2))
        providers[ONE].say(Fault("server-error"))
        assert (await one.ask("Hello?")).protocol == OTHER
        assert (await two.ask("Hello?")).protocol == OTHER
        assert len(providers[ONE].requests) == 1

    run(talk())
