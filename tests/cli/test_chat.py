"""`segue chat` in a real terminal: typed lines reach the agent, and its events are shown."""

import io
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len
from support.kitchen import CLOSED, MODEL, OTHER, WAIT, Terminal, calls, environment, kitchen, log_of
from support.secrets import no_key_is_shown
from support.waiting import has_ended, until

from segue.agent.state import rebuilt
from segue.cli import main
from segue.cli.chat_commands import completions
from segue.cli.printable import mask
from segue.cli.terminal import Screen
from segue.cli.turn_view import TurnView
from segue.session import Compacted, MessageAdded, ModelChosen, TurnBegun, TurnEnded, open_store
from segue.testing import Fault, Reply, StandIn
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
)

__all__ = ["no_key_is_shown"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a Unix terminal")

Chat = Callable[..., Terminal]
DATE = ("shell", {"command": "echo hap''pens"})


@pytest.fixture
def cook() -> Iterator[StandIn]:
    with kitchen() as server:
        yield server


@pytest.fixture
def chat(cook: StandIn, tmp_path: Path) -> Iterator[Chat]:
    opened: list[Terminal] = []

    def begin(*arguments: str, model: str | None = MODEL, url: str = cook.url) -> Terminal:
        named = [] if model is None else ["--model", model]
        opened.append(Terminal(environment(tmp_path, url), *named, *arguments, cwd=tmp_path))
        opened[-1].sees("/help lists")
        return opened[-1]

    yield begin
    for terminal in opened:
        terminal.end()


class Gate:
    """An answer that is held back until the test opens the gate."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.asked, self.open = threading.Event(), threading.Event()

    def __call__(self, context: Context) -> Reply:
        self.asked.set()
        self.open.wait(WAIT)
        return self.reply


def appears(path: Path) -> None:
    """Wait for a file."""
    until(path.exists)


def messages(folder: Path, session: str | None = None) -> list[Message]:
    return [entry.message for entry in log_of(folder / "sessions.db", session) if isinstance(entry, MessageAdded)]


def results(folder: Path) -> list[str]:
    history = rebuilt(
        log_of(folder / "sessions.db")
    ).messages  # in the order of the calls; the log has the order of completion
    found = [message for message in history if isinstance(message, ToolResultMessage)]
    return ["".join(block.text for block in each.content if isinstance(block, TextContent)) for each in found]


def test_without_a_key_it_works_offline(chat: Chat, tmp_path: Path) -> None:
    terminal = chat(model=None, url=CLOSED)
    terminal.says("hello there")  # the small model answers this briefly
    terminal.sees(" in,", " out")  # the tokens of the answer, when the turn is over
    terminal.types("/quit")
    terminal.leaves()
    answer = messages(tmp_path)[-1]
    assert isinstance(answer, AssistantMessage)
    assert (answer.provider, answer.stop_reason) == ("local", "stop") and answer.text


def test_answers_thinking_calls_and_results_are_shown(chat: Chat, cook: StandIn, tmp_path: Path) -> None:
    (tmp_path / "menu.txt").write_text("leek soup\n")
    asks = calls(("read_file", {"path": "menu.txt"}), ("read_file", {"path": "wine.txt"}))
    cook.say(
        Reply([ThinkingContent("Let me see first."), TextContent("I look."), *asks.content]),
        Reply([TextContent("There is \x1b[31msoup.")]),
    )
    terminal = chat()
    terminal.says("What is there?")
    terminal.sees("I look.", "1 read_file", "menu.txt", "2 read_file", "wine.txt")
    terminal.sees("✓", "leek soup", "✗")
    terminal.hears("There is \N{REPLACEMENT CHARACTER}[31msoup.")
    terminal.presses("d")
    assert "segue chat --continue" in terminal.leaves()


def test_a_tool_that_asks_runs_after_a_yes_and_not_after_a_no(chat: Chat, cook: StandIn, tmp_path: Path) -> None:
    cook.say(calls(DATE, DATE), "Well.")
    terminal = chat()
    terminal.says("Go.")
    terminal.sees("command: echo", "may shell run?")
    terminal.types("perhaps")  # not an answer
    terminal.sees("may shell run?")
    terminal.types("y")
    terminal.sees("shell: allowed", "may shell run?")
    terminal.types("n not now")
    terminal.sees("shell: denied", "happens")
    terminal.hears("Well.")
    first, second = results(tmp_path)
    assert "happens" in first and "the user denied it: not now" in second


def test_always_is_not_asked_again_and_arguments_can_be_edited(chat: Chat, cook: StandIn, tmp_path: Path) -> None:
    cook.say(calls(DATE), "One.", calls(DATE, DATE), "Two.", calls(DATE), "Three.")
    terminal = chat()
    terminal.says("Go.")
    terminal.sees("may shell run?")
    terminal.types("e")
    terminal.sees("shell with:")
    terminal.presses("u")  # empties the line
    terminal.types("not JSON")
    terminal.sees("arguments must be a JSON object", "may shell run?")
    terminal.types("e")
    terminal.sees("shell with:")
    terminal.presses("u")
    terminal.types('{"command": "echo some""thing"}'.replace('""', "''"))
    terminal.hears("One.")
    terminal.says("Again.")
    terminal.sees("may shell run?")
    terminal.types("a")
    terminal.hears("Two.")
    terminal.says("And again.")
    terminal.hears("Three.")
    edited, *others = results(tmp_path)
    assert "something" in edited and "The user changed the arguments" in edited
    assert len(others) == 3 and all("happens" in text for text in others)


def test_a_line_typed_during_a_turn_is_sent_with_its_next_request(chat: Chat, cook: StandIn) -> None:
    gate = Gate(calls(("list_files", {})))
    cook.say(gate, "Turned.")
    terminal = chat()
    terminal.says("Go left.")
    assert gate.asked.wait(WAIT)
    terminal.says("No, go right.")
    terminal.sees("the next request of this turn includes it")
    gate.open.set()
    terminal.sees("now read: No, go right.")
    terminal.hears("Turned.")
    first, second = cook.requests
    assert "go right" not in str(first) and second["messages"][-1]["content"] == "No, go right."


def test_a_line_typed_before_the_turn_has_begun_comes_after_its_message(tmp_path: Path) -> None:
    with Terminal(environment(tmp_path), "--model", "demo/claude", "--no-tools", cwd=tmp_path) as terminal:
        terminal.types("Zero?")  # the server of the model has not started yet
        terminal.hears("You said: Zero?")
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # no turn begins before this transaction ends
            terminal.types("One?", "Two?")
            terminal.sees("it waits until this is done")
        terminal.sees("now read", "Two?")
        terminal.hears("You said: Two?")
        terminal.presses("d")
        terminal.leaves()
    users = [message.content for message in messages(tmp_path) if isinstance(message, UserMessage)]
    assert users == [[TextContent("Zero?")], [TextContent("One?")], [TextContent("Two?")]]


def test_keys_pressed_while_an_answer_streams_are_not_lost(chat: Chat, cook: StandIn) -> None:
    typed = "The quick brown fox jumps over the lazy dog"
    long = TextContent("word\n" * 80)
    gate = Gate(Reply([TextContent("Indeed.")]))  # the turn continues until everything is typed
    cook.say(Reply([long, *calls(("list_files", {})).content], pause=0.02), gate, "Indeed.")
    terminal = chat()
    terminal.says("Go.")
    terminal.sees("word")
    for character in typed:
        terminal.child.send(character)
        threading.Event().wait(0.005)
    terminal.child.send("\r")
    terminal.sees("the next request of this turn includes it")
    gate.open.set()
    terminal.sees("now read")
    terminal.hears("Indeed.")
    terminal.presses("d")
    terminal.leaves()
    assert cook.requests[-1]["messages"][-1]["content"] == typed


def test_a_text_that_is_being_typed_when_a_question_appears_comes_back_after_it(chat: Chat, cook: StandIn) -> None:
    gate = Gate(calls(DATE))
    cook.say(gate, "Well.", "Indeed.")
    terminal = chat()
    terminal.says("Go.")
    assert gate.asked.wait(WAIT)
    terminal.child.send("and then")
    terminal.sees("and then")
    gate.open.set()
    terminal.sees("may shell run?")
    threading.Event().wait(1)  # an answer that comes too soon is ignored
    terminal.types("y")
    terminal.hears("Well.")
    terminal.types(" rest")
    terminal.hears("Indeed.")
    assert cook.requests[-1]["messages"][-1]["content"] == "and then rest"


def test_ctrl_c_cancels_the_turn_and_not_the_program_and_with_yes_nothing_is_asked(
    chat: Chat, cook: StandIn, tmp_path: Path
) -> None:
    endless = Fault("silence", Reply([TextContent("one two three " * 300)]))
    cook.say(endless, calls(("shell", {"command": "touch started; sleep 1000"})), "I am still here.")
    terminal = chat("--yes")
    terminal.says("Count.")
    terminal.sees("one two three")
    terminal.presses("c")
    terminal.sees("cancelled")
    terminal.says("Sleep.")
    appears(tmp_path / "started")
    terminal.says("And a word for later.")
    terminal.presses("c")
    terminal.sees("cancelled", "› And a word for later.")
    terminal.presses("c")  # clears the line
    terminal.says("Are you there?")
    terminal.hears("I am still here.")
    terminal.presses("d")
    terminal.leaves()
    ends = [entry.how for entry in log_of(tmp_path / "sessions.db") if isinstance(entry, TurnEnded)]
    assert ends == ["cancelled", "cancelled", "done"]
    assert "cancelled while this call ran" in results(tmp_path)[0]


def test_ctrl_d_during_a_turn_closes_the_log_and_leaves(chat: Chat, cook: StandIn, tmp_path: Path) -> None:
    cook.say(calls(DATE))
    terminal = chat()
    terminal.says("Go.")
    terminal.sees("may shell run?")
    terminal.presses("d")
    terminal.leaves()
    end = log_of(tmp_path / "sessions.db")[-1]
    assert isinstance(end, TurnEnded) and end.how == "cancelled"
    assert "not run" in results(tmp_path)[0]


@pytest.mark.parametrize("how", ["SIGTERM", "the terminal is closed"])
def test_a_closed_terminal_or_sigterm_ends_the_turn_and_closes_the_log(
    how: str, chat: Chat, cook: StandIn, tmp_path: Path
) -> None:
    cook.say(calls(("shell", {"command": "echo $$ > number.txt; mv number.txt running.txt; exec sleep 600"})))
    terminal = chat("--yes")
    terminal.says("Go.")
    appears(tmp_path / "running.txt")
    if how == "the terminal is closed":
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), terminal.child.child_fd)
    else:
        terminal.child.kill(getattr(signal, how))
        terminal.child.expect(pexpect.EOF)
    terminal.child.wait()
    until(lambda: has_ended(int((tmp_path / "running.txt").read_text())))
    end = log_of(tmp_path / "sessions.db")[-1]
    assert isinstance(end, TurnEnded) and end.how == "cancelled"
    assert "cancelled while this call ran" in results(tmp_path)[0]


def test_a_model_chosen_during_a_turn_answers_the_next_one_and_losses_are_shown_first(
    chat: Chat, cook: StandIn, tmp_path: Path
) -> None:
    gate = Gate(calls(("list_files", {})))
    cook.say(gate, "Done here.", "Another voice.")
    terminal = chat()
    terminal.says("Go.")
    assert gate.asked.wait(WAIT)
    terminal.says(f"/model {OTHER}")
    terminal.sees(f"{OTHER} answers from the next turn on", f"{OTHER} gets", "in a window of")
    gate.open.set()
    terminal.hears("Done here.")
    terminal.says("And you?")
    terminal.hears("Another voice.")
    assert [request["model"] for request in cook.requests] == ["cook", "cook", "baker"]
    log = log_of(tmp_path / "sessions.db")
    assert [entry.model for entry in log if isinstance(entry, TurnBegun)] == [MODEL, OTHER]
    assert [entry.model for entry in log if isinstance(entry, ModelChosen)] == [MODEL, OTHER]


def test_a_model_without_a_key_is_previewed_but_not_switched_to_and_the_chat_survives_failures(
    chat: Chat, cook: StandIn
) -> None:
    cook.say("Hello.", Fault("wrong-key"), "Now it works.")
    terminal = chat()
    terminal.says("/model mistral/mistral-large-latest")
    terminal.sees("✗", f"{MODEL} still answers", "MISTRAL_API_KEY")
    terminal.says("Hi.")
    terminal.hears("Hello.")
    terminal.says("/model mistral/mistral-large-latest")
    terminal.sees("✗", "MISTRAL_API_KEY", "would get", "mistral/mistral-large-latest gets 3 messages", "in a window of")
    terminal.says("/model nobody/knows")
    terminal.sees("✗", "unknown provider")
    terminal.says("/model")
    terminal.sees(f"{MODEL} answers", "demo/claude", "demo/gpt", "demo/gemini", "demo/mistral")
    terminal.says("Who is it?")
    terminal.sees("failed", "authentication")
    terminal.says("Again.")
    terminal.hears("Now it works.")
    assert [request["model"] for request in cook.requests] == ["cook", "cook", "cook"]


def test_undo_removes_the_last_turn_and_the_old_session_keeps_it(chat: Chat, cook: StandIn, tmp_path: Path) -> None:
    cook.say("First.", "Second.", "Third.")
    terminal = chat()
    terminal.says("/undo")
    terminal.sees("there is no turn to undo")
    terminal.says("One?")
    terminal.hears("First.")
    terminal.says("Two?")
    terminal.hears("Second.")
    terminal.says("/undo")
    terminal.sees("is undone", "› Two?")
    terminal.types(" Or three?")
    terminal.hears("Third.")
    assert [message["content"] for message in cook.requests[-1]["messages"]] == ["One?", "First.", "Two? Or three?"]
    with open_store(tmp_path / "sessions.db") as store:
        forked, first = store.sessions()
    assert forked.parent == first.id
    assert len(messages(tmp_path, first.id)) == len(messages(tmp_path, forked.id)) == 4


def test_a_fork_continues_separately_and_cost_help_and_unknown_commands_work(
    chat: Chat, cook: StandIn, tmp_path: Path
) -> None:
    terminal = chat()
    terminal.says("/cost")
    terminal.sees("nothing has been sent yet")
    terminal.says("One.")
    terminal.hears("Answer 1.")
    terminal.says("/fork")
    terminal.sees("this is now session", "is unchanged")
    terminal.says("Two.")
    terminal.hears("Answer 2.")
    terminal.says("/cost")
    terminal.sees(f"{MODEL}: 40 in, 20 out", "this session: 40 in, 20 out")
    terminal.says("/help")
    terminal.sees("/model", "/undo", "/fork", "/compact", "/cost", "/quit")
    terminal.says("/bake")
    terminal.sees("unknown command")
    terminal.says("/etc/hosts is what?")  # a message
    terminal.hears("Answer 3.")
    with open_store(tmp_path / "sessions.db") as store:
        forked, first = store.sessions()
    assert (len(messages(tmp_path, first.id)), len(messages(tmp_path, forked.id))) == (2, 6)


def test_compact_replaces_older_turns_with_a_summary(chat: Chat, cook: StandIn, tmp_path: Path) -> None:
    cook.say("First.", "Second.", "They said two things.")
    terminal = chat()
    terminal.says("/compact")
    terminal.sees("nothing to summarise")
    for line, answer in (("One.", "First."), ("Two.", "Second.")):
        terminal.says(line)
        terminal.hears(answer)
    terminal.says("/compact")
    terminal.sees("became a summary", "They said two things.")
    assert [entry for entry in log_of(tmp_path / "sessions.db") if isinstance(entry, Compacted)]


def test_continue_shows_the_last_turn_and_continues(chat: Chat, cook: StandIn) -> None:
    cook.say("Leek.", "And cream.")
    terminal = chat(model=OTHER)
    terminal.says("Which soup?")
    terminal.hears("Leek.")
    terminal.presses("d")
    terminal.leaves()
    again = chat("--continue", model=None)
    again.says("With what?")
    again.hears("And cream.")
    assert [message["content"] for message in cook.requests[-1]["messages"]] == ["Which soup?", "Leek.", "With what?"]
    assert cook.requests[-1]["model"] == "baker"


def test_without_a_terminal_the_error_names_segue_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chat"]) == 2
    assert "segue run" in capsys.readouterr().err


def test_completion_suggests_commands_and_models() -> None:
    assert [line for line, _ in completions("/co")] == ["/compact", "/cost"]
    assert "/model anthropic/claude-sonnet-4-5" in [line for line, _ in completions("/model sonnet-4-5")]
    assert list(completions("hello")) == []


def test_lines_are_wrapped_to_the_terminal_and_nothing_is_lost() -> None:
    safe_characters = st.characters(codec="utf-8", exclude_categories=["C"]).filter(lambda each: mask(each) == each)

    @given(st.lists(st.text(safe_characters | st.sampled_from(" \n"))))
    def wrapped(pieces: list[str]) -> None:
        file = io.StringIO()
        screen = Screen(file)
        screen.width = 20
        view = TurnView(screen)
        for piece in pieces:
            view._grow(piece, "")
        view.end_line()
        shown = file.getvalue()
        assert all(cell_len(line) <= 20 for line in shown.split("\n"))
        assert "".join(shown.split()) == "".join("".join(pieces).split())

    wrapped()
