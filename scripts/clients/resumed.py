"""Sessions that one client made, written for another one with `segue transfer`, and resumed there.

A session has an image, thinking, parallel calls, and a call during which the client was killed. The client that
resumes it talks to a strict stand-in of its own provider, without a gateway: everything that was read of the session
has to arrive there, and nothing may be refused.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import segue
from clients import recorded
from clients.homes import CACHE, IMAGE, Home
from clients.rows import SHELLS, Ask, Client
from clients.through_gateway import found_wrong, shell_call
from segue.testing import Reply, StandIn
from segue.types import (
    AssistantMessage,
    Context,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

FIRST, NEXT = "Say one and two with the shell", "What did you do with the shell?"
THOUGHT, DONE = "A tern comes to mind.", "Both words are said."
ONE, TWO, SLEEP = "echo word-one", "echo word-two", "touch waiting; sleep 20"

WANTED = {
    FIRST: "prompts",
    "an image": "images",
    THOUGHT: "thinking in one piece",
    f"{ONE} → word-one": "results",
    f"{TWO} → word-two": "results",
    DONE: "texts",
    f"{SLEEP} was called": "running calls",
}
"""What the session of a client has to contain, and the kind of each."""
SETTLED = 3.0
"""Seconds that a client gets to store a call before it is killed: Qwen Code stores a little later."""


def making(context: Context) -> Reply:
    """The script by which a session is made."""
    shell = next((tool for tool in context.tools if tool.name in SHELLS), None)
    if shell is None:  # a client asks for a title
        return Reply([TextContent("Words")])
    typed = [each for each in context.messages if not (isinstance(each, UserMessage) and each.injected)]
    if isinstance(typed[-1], ToolResultMessage):
        return Reply([TextContent(DONE), shell_call(shell, SLEEP)])
    return Reply([ThinkingContent(THOUGHT), shell_call(shell, ONE), shell_call(shell, TWO)])


def make(client: Client) -> str:
    """Let a client make its session, in a home that is kept. Return an empty text, or what went wrong."""
    folder = _folder(client)
    shutil.rmtree(folder, ignore_errors=True)
    with _standin(client, making) as standin:
        home = Home(client, standin.url, folder)
        model = client.own.model.partition("/")[2]
        waiting = home.work / "waiting"
        ended = home.turn(Ask(model, FIRST, image=IMAGE), lambda: waiting.exists() and _age(waiting) > SETTLED)
        if not waiting.exists():
            return found_wrong(ended, "", [standin]) or f"it made no call: {(ended.errors or ended.output)[-300:]}"
    found = set(facts(segue.transcripts.read(session_of(client)).context))
    missing = [fact for fact, kind in WANTED.items() if kind not in client.loses and not _is_in(fact, found)]
    return f"not in its session: {', '.join(missing)}" if missing else ""


def resume(maker: Client, client: Client) -> str:
    """Let a client resume what another one made. Return an empty text, or what went wrong."""
    text = f"The end of what {maker.tool} began."
    with _standin(client, lambda context: text) as standin:
        home = Home(client, standin.url)
        source = session_of(maker)
        transfer = ["transfer", str(source), client.tool, "--cwd", str(home.work), "--provider", "gw"]
        written = home.run([sys.executable, "-m", "segue", *transfer])
        if written.status:
            return f"not written: {written.errors[-300:]}"
        # Such as `cd PROJECT && opencode import FILE && opencode --session ID`.
        _, *steps, last = [step.split() for step in written.output.strip().split(" && ")]
        for step in steps:
            home.run(step)
        model = client.own.model.partition("/")[2]
        wrong = found_wrong(home.turn(Ask(model, NEXT, last[-1])), text, [standin])
        if wrong:
            return wrong
        asked = [body for body in standin.requests if standin.conversation(body).tools]
        recorded.save(client.tool, asked[-1])
        sent = set(facts(standin.conversation(asked[-1])))
    lost = [fact for fact in facts(segue.transcripts.read(source).context) if not _is_in(fact, sent)]
    return f"not sent: {', '.join(dict.fromkeys(lost))}" if lost else ""


def facts(context: Context) -> Iterator[str]:
    """What a conversation says, as texts: one for each text and thought, image, call and result."""
    results = {each.tool_call_id: each for each in context.messages if isinstance(each, ToolResultMessage)}
    for message in context.messages:
        if isinstance(message, UserMessage) and message.injected:
            continue
        for block in message.content:
            if isinstance(block, ImageContent):
                yield "an image"
            elif isinstance(block, ThinkingContent) and block.thinking:
                yield block.thinking
            elif isinstance(block, TextContent) and not isinstance(message, ToolResultMessage):
                yield block.text.strip()
            elif isinstance(block, ToolCall):
                yield from _call_facts(block, results.get(block.id))


def _call_facts(call: ToolCall, result: ToolResultMessage | None) -> Iterator[str]:
    for command in (ONE, TWO, SLEEP):
        if command in str(call.arguments):
            word = command.partition(" ")[2]
            yield f"{command} was called"
            if result is not None and word in _text(result):
                yield f"{command} → {word}"


def _is_in(fact: str, sent: set[str]) -> bool:
    return any(fact in each for each in sent)


def _text(message: UserMessage | AssistantMessage | ToolResultMessage) -> str:
    return "\n".join(block.text for block in message.content if isinstance(block, TextContent))


def _standin(client: Client, answer: Callable[[Context], Reply | str]) -> StandIn:
    return StandIn(client.own.provider, protocol=client.own.protocol, key=None, script=[answer] * 40)


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def _folder(client: Client) -> Path:
    return CACHE / "homes" / client.tool


def session_of(client: Client) -> Path:
    """The session that a client has made."""
    return max(_folder(client).glob(client.sessions), key=lambda path: path.stat().st_mtime)
