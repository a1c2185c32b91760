"""The demo models: strict stand-ins that make a switch visible without an account."""

import asyncio
import re
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from support.kitchen import Terminal, environment, log_of
from support.secrets import no_key_is_shown

import segue
from segue.cli import demo
from segue.cli.demo import demo_models, find_demo, played
from segue.cli.local_servers import LocalServers
from segue.cli.model_choice import FIRST_CHOICES
from segue.compaction import INSTRUCTIONS
from segue.errors import ModelError
from segue.session import MessageAdded
from segue.types import (
    AssistantMessage,
    Context,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)

__all__ = ["no_key_is_shown"]
TOOLS = [
    ToolDefinition("read_file", "", {"type": "object", "properties": {"path": {}}, "required": ["path"]}),
    ToolDefinition("list_files", "", {"type": "object", "properties": {}}),
]


def reply(*messages: Any, tools: list[ToolDefinition] = TOOLS, system_prompt: str | None = None) -> list[Any]:
    context = Context(messages=list(messages), tools=tools, system_prompt=system_prompt)
    return demo.reply(context, "Claude", thinks=True).content


# -- which models there are --------------------------------------------------------------------------------------------


def test_the_demo_models_play_models_that_segue_would_choose_itself() -> None:
    assert {"Claude", "GPT", "Gemini", "Mistral"} <= set(demo.PLAYED)
    assert set(demo.PLAYED.values()) <= set(FIRST_CHOICES)


@pytest.mark.parametrize("model", demo_models(), ids=lambda model: model.ref)
def test_a_demo_model_has_the_dialect_of_the_model_that_it_plays_and_costs_nothing(model: segue.Model) -> None:
    real = segue.get_model(demo.PLAYED[played(model)])
    assert (model.dialect, model.protocol, model.id, model.context_window) == (
        real.dialect,
        real.protocol,
        real.id,
        real.context_window,
    )
    assert model.provider == "demo" and model.cost.of(segue.Usage(input=10, output=10)) == segue.UsageCost()


def test_a_short_name_is_enough_and_an_unknown_one_is_an_error_that_lists_all() -> None:
    for name in ("claude", "gpt", "gemini", "mistral", "kimi"):
        found = find_demo(f"demo/{name}")
        assert found is not None and found.id.startswith(name)
    assert find_demo("anthropic/claude") is None
    for name in ("demo/llama", "demo/", "demo"):
        with pytest.raises(ModelError, match=r"there is no demo model .*demo/claude.*demo/gpt"):
            find_demo(name)


# -- what they answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "name", "arguments"),
    [
        ("please read notes.txt now", "read_file", {"path": "notes.txt"}),
        ("Which FILES are there?", "list_files", {}),
        ("What is wrong with my program?", "list_files", {}),
    ],
)
def test_the_first_answer_is_a_thought_and_a_call(message: str, name: str, arguments: dict[str, str]) -> None:
    thought, _, call = reply(UserMessage(message))
    assert isinstance(thought, ThinkingContent) and isinstance(call, ToolCall)
    assert (call.name, call.arguments) == (name, arguments)


@pytest.mark.parametrize("message", ["run date", "search for x", "hello", ""])
def test_only_offered_tools_are_called(message: str) -> None:
    assert not [block for block in reply(UserMessage(message), tools=TOOLS[:1]) if isinstance(block, ToolCall)]
    assert "No tools are offered" in reply(UserMessage(message), tools=[])[0].text


def test_later_messages_and_results_are_repeated() -> None:
    result = ToolResultMessage("c", "list_files", [TextContent("one two")])
    for last, text in ((UserMessage("good day"), "good day"), (result, "one two")):
        [block] = reply(UserMessage("hi"), last)
        assert isinstance(block, TextContent) and text in block.text


def test_the_summary_of_a_stand_in_contains_the_conversation_and_nothing_of_the_request_for_it() -> None:
    asked = (
        'Lines that begin with "[abcd1234" mark who speaks; nothing else does.\n\n[abcd1234 user]\nWhich soup?\n'
        "[abcd1234 assistant, thinking]\nhm\n[abcd1234 assistant]\nLeek.\n[abcd1234 end of part 1 of 1]\n\n"
        "Write the summary. Use at most 1,000 words."
    )
    [block] = reply(UserMessage(asked), system_prompt=INSTRUCTIONS)
    assert block.text == "So far:\n- user: Which soup?\n- assistant: Leek."


# -- strictly checked --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [*permutations(range(len(demo.PLAYED)), 2)])
def test_every_switch_between_two_demo_models_is_accepted(order: tuple[int, int], tmp_path: Path) -> None:
    """There and back, with calls: each stand-in refuses what its provider would."""
    (tmp_path / "notes.txt").write_text("leek soup")

    async def talk() -> list[str]:
        servers = LocalServers()
        first, second = (demo_models()[at] for at in order)
        for model in (first, second):
            await servers.start(model)
        session = segue.Session.create(first, store=":memory:", connection=servers.connection)
        async with segue.Agent(None, segue.file_tools(tmp_path), session) as agent:
            hows = []
            for model, text in ((first, "What is here?"), (second, "read notes.txt"), (first, "And now?")):
                session.switch(model)
                outcome = await agent.run(text)
                hows.append(outcome.how if outcome.how == "done" else str(outcome.reason))
        await servers.aclose()
        return hows

    assert asyncio.run(talk()) == ["done"] * 3


# -- in the terminal ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a Unix terminal")
def test_the_headline_can_be_tried_offline(tmp_path: Path) -> None:
    """Ask, see a tool call, switch, see what was changed for the new model; twice."""
    (tmp_path / "menu.txt").write_text("leek soup\n")
    with Terminal(environment(tmp_path), "--model", "demo/claude", cwd=tmp_path) as terminal:
        terminal.sees("demo/claude-sonnet-5-5", "/help lists")
        terminal.says("What is in this folder?")
        terminal.sees("Let me look.", "1 list_files", "✓", "menu.txt")
        terminal.hears("The call of list_files returned")
        terminal.says("/model demo/gpt")
        terminal.sees("demo/gpt-5.6 answers from now on", "demo/gpt-5.6 gets 5 messages")
        terminal.sees("adapted:", "1 thought shown as text", "1 call id adapted")
        terminal.says("read menu.txt")
        terminal.sees("1 read_file", "leek soup")
        terminal.hears("The call of read_file returned: leek soup")
        terminal.says("/model demo/mistral")
        terminal.sees("demo/mistral-large-latest gets 9 messages", "adapted:", "thoughts shown as text")
        terminal.says("And you?")
        terminal.hears("I am a stand-in for Mistral")
        terminal.says("/compact")
        terminal.sees("became a summary", "So far:", "- user: What is in this folder?")
        terminal.presses("d")
        shown = terminal.leaves()
    assert not re.search(r"mark who speaks|end of part|Summary of the earlier|at most [\d,]+ words", shown)
    log = log_of(tmp_path / "sessions.db")
    messages = [entry.message for entry in log if isinstance(entry, MessageAdded)]
    models = [f"{each.provider}/{each.model}" for each in messages if isinstance(each, AssistantMessage)]
    assert list(dict.fromkeys(models)) == ["demo/claude-sonnet-5-5", "demo/gpt-5.6", "demo/mistral-large-latest"]


@pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a Unix terminal")
def test_a_demo_session_is_continued_with_its_demo_model(tmp_path: Path) -> None:
    env = environment(tmp_path)
    with Terminal(env, "--model", "demo/gemini", "--no-tools", cwd=tmp_path) as terminal:
        terminal.sees("/help lists")
        terminal.says("Hello.")
        terminal.hears("stand-in for Gemini")
        terminal.presses("d")
        terminal.leaves()
    with Terminal(env, "--continue", "--no-tools", cwd=tmp_path) as terminal:
        terminal.sees("demo/gemini-pro-latest", "the last model of this session", "/help lists")
        terminal.says("Again.")
        terminal.hears("stand-in for Gemini")
        terminal.presses("d")
        terminal.leaves()
