"""Whatever happens to a session, in any order: the next request is valid for every protocol, no real result is lost
except in a summary, and the state follows from the log alone."""

import asyncio
from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace
from support.providers import MODELS
from support.sessions import (
    QUICK,
    Providers,
    asks,
    check,
    entries,
    logged_messages,
    nothing_is_lost,
    run,
    texts,
)

from segue import Failover, Fixed, RoundRobin, Router, Session, Weighted
from segue.agent.state import rebuilt
from segue.session import Compacted, MessageAdded, SQLiteStore, Store
from segue.testing import Fault, Reply
from segue.tools import Journal
from segue.types import Context, TextContent, ToolCall, ToolResultMessage, Usage

NAMES = list(MODELS)
SMALL = {
    protocol: replace(model, context_window=2_500 + 300 * at, max_tokens=500)
    for at, (protocol, model) in enumerate(MODELS.items())
}
EARLY = ["rate-limit", "server-error", "unavailable", "overloaded", "wrong-key", "overflow"]
LATE = ["cut", "error-event", "broken-json"]

# -- what may happen --

names = st.sampled_from(NAMES)
routers = st.one_of(
    st.tuples(st.just("fixed"), st.lists(names, min_size=1, max_size=1)),
    st.tuples(st.sampled_from(["failover", "round-robin", "weighted"]), st.lists(names, min_size=2, max_size=3)),
)
rounds = st.lists(st.integers(1, 4), max_size=2)
turns = st.fixed_dictionaries(
    {
        "rounds": rounds,
        "fault": st.none() | st.tuples(st.integers(0, 2), st.sampled_from(EARLY + LATE), st.integers(1, 4)),
        "cancel": st.none() | st.integers(0, 50),
        "length": st.booleans(),
        "words": st.sampled_from([3, 30, 300]),
        "order": st.integers(0, 99),
        "switch": st.none() | routers,
    }
)
actions = st.one_of(
    st.tuples(st.just("turn"), turns),
    st.tuples(st.just("turn"), turns),
    st.tuples(st.just("switch"), routers),
    st.tuples(st.just("compact"), st.just(None)),
    st.tuples(st.just("fork"), st.floats(0, 1)),
    st.tuples(st.just("reopen"), st.just(None)),
    st.tuples(st.just("late"), st.integers(0, 20)),
)


def router(kind: str, members: Sequence[str]) -> Router:
    models = [SMALL[name] for name in members]
    if kind == "fixed":
        return Fixed(models[0], patience=QUICK)
    if kind == "weighted":
        return Weighted([(model, 1.0) for model in models], patience=QUICK)
    return (Failover if kind == "failover" else RoundRobin)(models, patience=QUICK)


class Anyhow:
    """Runs calls in any order, each with a unique result."""

    def __init__(self, chance: Random, numbers: "count[int]") -> None:
        self.chance, self.numbers = chance, numbers

    async def run(self, calls: Sequence[ToolCall], journal: Journal, emit: Any) -> None:
        left = list(calls)
        self.chance.shuffle(left)
        for call in left:
            await journal.started(call)
            await asyncio.sleep(0)
            result = ToolResultMessage(call.id, call.name, [TextContent(f"real result {next(self.numbers)}.")])
            await journal.finished(result)


class World:
    """A session, and the actions that a test applies to it."""

    def __init__(self, providers: Providers, store: Store) -> None:
        self.providers, self.store = providers, store
        self.numbers = count(1)
        self.forks = count(1)
        self.session = providers.session(router("fixed", NAMES[:1]), store)

    def script(self, turn: dict[str, Any]) -> None:
        """The same script for every provider, because the router chooses one."""
        plan: list[Any] = [asks(*["Paris"] * calls, ids=["call_0"] * calls) for calls in turn["rounds"]]
        last = Reply([TextContent("Mild. " * turn["words"])], usage=Usage())
        if turn["length"]:
            last = replace(last, content=[*last.content, *asks("Nowhere").content], stop="length")
        plan.append(last)
        if turn["fault"] is not None:
            at, kind, times = turn["fault"]
            plan[at:at] = [Fault(kind, asks("Atlantis"))] * times
        steps = iter([replace(each, usage=Usage()) if isinstance(each, Reply) else each for each in plan])

        def step(context: Context) -> Any:
            if "the summary by which another model goes on" in (context.system_prompt or ""):
                return Reply([TextContent("SUMMARY.")], usage=Usage())
            return next(steps, "Done.")

        self.providers.clear()
        for standin in self.providers.standins.values():
            standin.say(*[step] * 40)

    async def turn(self, turn: dict[str, Any]) -> None:
        self.script(turn)
        async with self.session.stream(
            "Go on. " * turn["words"], Anyhow(Random(turn["order"]), self.numbers)
        ) as events:
            seen = 0
            async for _ in events:
                if turn["switch"] is not None and seen == 3:
                    self.session.switch(router(*turn["switch"]))
                if seen == turn["cancel"]:
                    events.cancel()
                seen += 1

    async def switch(self, chosen: tuple[str, list[str]]) -> None:
        self.session.switch(router(*chosen))

    async def compact(self, _: None) -> None:
        self.script({"rounds": [], "fault": None, "length": False, "words": 3})
        await self.session.compact()

    async def fork(self, share: float) -> None:
        """Fork at any entry, also inside a turn, as after a crash."""
        new = f"{self.session.id}-{next(self.forks)}"
        self.store.fork(self.session.id, round(share * self.store.head(self.session.id)), new, time=1)
        self.session = Session.open(
            new,
            self.session.router,
            store=self.store,
            tools=self.session.tools,
            connection=self.providers.connection,
            settings=self.session.settings,
        )
        await self.session.recover()

    async def reopen(self, _: None) -> None:
        self.session = self.providers.reopened(self.session)

    async def late(self, at: int) -> None:
        """Add a real result that replaces a placeholder."""
        results = [message for message in logged_messages(self.session) if isinstance(message, ToolResultMessage)]
        real = {message.tool_call_id for message in results if not message.synthetic}
        standing = [message for message in results if message.tool_call_id not in real]
        if standing:
            call = standing[at % len(standing)]
            text = TextContent(f"real result {next(self.numbers)}.")
            await self.session.add_result(ToolResultMessage(call.tool_call_id, call.tool_name, [text]))

    def holds(self) -> None:
        check(self.session)
        nothing_is_lost(self.session)
        log = entries(self.session)
        from_here = 0  # earlier messages are in a summary
        for at, entry in enumerate(log):
            if isinstance(entry, Compacted):
                from_here = next((n for n, each in enumerate(log) if each.key == entry.first), at)
        shown = texts(self.session.messages)
        for entry in log[from_here:]:
            if isinstance(entry, MessageAdded) and isinstance(entry.message, ToolResultMessage):
                assert texts([entry.message])[0] in shown
        assert vars(rebuilt(log)) == vars(self.providers.reopened(self.session).log.state)


@settings(max_examples=settings.default.max_examples // 4, suppress_health_check=list(HealthCheck))
@given(st.lists(actions, min_size=1, max_size=8))
def test_the_next_request_is_valid_whatever_happens(restless: Providers, happening: list[tuple[str, Any]]) -> None:
    async def live(store: Store) -> None:
        world = World(restless, store)
        for name, what in happening:
            await getattr(world, name)(what)
            assert not restless.objections()
            world.holds()

    restless.clear()
    with SQLiteStore(":memory:") as store:
        run(live(store))
