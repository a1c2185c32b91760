"""Which rows of a file of Claude Code are the conversation, and which are other branches.

1. The last row of the tree is the leaf; its parents up to the root are the live branch. A parent that is missing is
   replaced by the nearest earlier row.
2. All rows of an answer belong to it, wherever they are: parallel results are not on the chain of parents.
3. The results of an answer follow it as one group; other content of their rows follows the group.
4. At a compaction the model's view begins again; what was before stays in the log.
5. Rows that are in none of these are other branches.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ..types import AssistantMessage, Context, Message, TextContent, ToolCall, ToolResultMessage, UserMessage
from .anthropic_blocks import STOPS, usage_of
from .claude_code_rows import INTERRUPTED, LEAVES, SYNTHETIC, Answered, Rows
from .reading import ENDPOINT, joined_text, unix_ms
from .values import Branch, Compaction, Report, seen

UNKNOWN_TOOL = "unknown"
_PROVIDERS = {"msg_bdrk_": "amazon-bedrock", "msg_vrtx_": "google-vertex"}
"""Providers by the beginning of the id of an answer; all others are Anthropic's own."""

Log = list[Message | Compaction]


class Tree:
    """The rows of a file as a tree, and the conversations in it."""

    def __init__(self, rows: Rows, report: Report) -> None:
        self.rows, self.nodes, self._report = rows, rows.nodes, report
        self._answers: dict[str, list[int]] = {}
        self._owners: dict[str, str] = {}  # which answer made a call
        self._results: dict[str, int] = {}
        self._kept = {node.preserved for node in self.nodes if node.preserved is not None}
        for number, node in enumerate(self.nodes):
            if node.answer is not None:
                self._answers.setdefault(node.answer.id, []).append(number)
                for call in _calls(node.answer):
                    self._owners.setdefault(call, node.answer.id)
            for result in node.results or ():
                if self._results.setdefault(result.call, number) != number:
                    report.add("result-repeated", f"a second result of call {result.call}", node.line)
        self._parents = [self._parent(number) for number in range(len(self.nodes))]
        self._notes: dict[int, list[int]] = {}  # attachments, by the row that they follow
        self._interrupted: set[int] = set()
        for number, parent in enumerate(self._parents):
            node = self.nodes[number]
            if parent is not None and node.type == "attachment" and node.content:
                self._notes.setdefault(parent, []).append(number)
            if parent is not None and joined_text(node.content or ()).startswith(INTERRUPTED):
                self._interrupted.add(parent)
        self._built: dict[str, list[Message]] = {}
        self._users: dict[int, UserMessage] = {}

    def _parent(self, number: int) -> int | None:
        node = self.nodes[number]
        parent = node.parent
        if isinstance(parent, str):
            parent = self.rows.numbers.get(parent, -1)
        if parent is None:
            return self._earlier(number) if node.boundary else None
        if parent == -1:
            nearest = self._earlier(number)
            instead = f"; the row of line {self.nodes[nearest].line} was used" if nearest is not None else ""
            self._report.add("parent-missing", f"the row before row {node.uuid} is not in the file{instead}", node.line)
            return nearest
        return parent

    def _earlier(self, number: int) -> int | None:
        """The nearest row before this one, of the same agent."""
        sidechain = self.nodes[number].sidechain
        return next((at for at in range(number - 1, -1, -1) if self.nodes[at].sidechain == sidechain), None)

    # -- conversations ------------------------------------------------------------------------------------------------

    def conversations(self) -> tuple[Log, list[Branch]]:
        """The live conversation and all others. Without a live one, the file is that of a sub-agent."""
        own = any(not node.sidechain and node.type in LEAVES for node in self.nodes)
        live = [number for number, node in enumerate(self.nodes) if node.sidechain != own]
        leaf = next((at for at in reversed(live) if self.nodes[at].type in LEAVES), None)
        if leaf is None:
            return [], []
        log, used = self.log(self.path(leaf))
        branches = self._branches(live, used, log)
        return log, [*branches, *(self._agents() if own else ())]

    def path(self, leaf: int) -> list[int]:
        """The rows from the root to the leaf."""
        path: list[int] = []
        visited: set[int] = set()
        number: int | None = leaf
        while number is not None:
            if number in visited:
                line = self.nodes[number].line
                self._report.add("parent-missing", "the rows before this one form a circle, which was cut", line)
                break
            visited.add(number)
            path.append(number)
            number = self._parents[number]
        path.reverse()
        return path

    def log(self, path: Iterable[int]) -> tuple[Log, set[int]]:
        """The messages of these rows, and all rows that they are made of."""
        log: Log = []
        used = set(path)
        starts: dict[str, int] = {}
        given: set[str] = set()
        kept: int | None = None  # of a compaction that waits for its summary
        for number in path:
            node = self.nodes[number]
            if node.uuid in self._kept:
                starts[node.uuid] = len(log)
            if node.boundary:
                kept = _messages_from(log, starts.get(node.preserved or "", len(log)))
                continue
            if node.summary:
                log.append(Compaction((self._user(number),), kept or 0))
                kept = None
                continue
            messages = self._messages(number, given, used)
            if messages and kept is not None:
                log.append(Compaction((), kept))
                kept = None
            log += messages
        return log, used

    def _messages(self, number: int, given: set[str], used: set[int]) -> list[Message]:
        """The messages that begin with this row."""
        node = self.nodes[number]
        if node.answer is not None:
            if node.answer.id in given:
                return []
            given.add(node.answer.id)
            return self._group(node.answer.id, used)
        if node.results:
            return self._stray(number, given)
        if node.content and not self._is_note(number, given):
            return [self._user(number)]
        return []

    def _is_note(self, number: int, given: set[str]) -> bool:
        """Whether the row is an attachment of results that were added with their answer."""
        parent = self._parents[number]
        if parent is None or self.nodes[number].type != "attachment":
            return False
        results = self.nodes[parent].results or ()
        return any(self._owners.get(each.call) in given and self._results[each.call] == parent for each in results)

    def _group(self, identity: str, used: set[int]) -> list[Message]:
        """An answer, its results, and what else was in the rows of the results."""
        numbers = self._answers[identity]
        parts = [answer for number in numbers if (answer := self.nodes[number].answer) is not None]
        calls = {call for part in parts for call in _calls(part) if self._owners[call] == identity}
        rows = sorted({self._results[call] for call in calls if call in self._results})
        notes = [note for row in rows for note in self._notes.get(row, ())]
        used.update(numbers, rows, notes)
        if identity not in self._built:
            results = [message for row in rows for message in self._results_of(row, calls)]
            after = [self._user(number) for number in sorted({*rows, *notes}) if self.nodes[number].content]
            aborted = not calls and not self._interrupted.isdisjoint(numbers)
            self._built[identity] = [answer_of(parts, self.nodes[numbers[0]].uuid, aborted), *results, *after]
        return self._built[identity]

    def _results_of(self, number: int, calls: set[str]) -> Iterator[ToolResultMessage]:
        for result in self.nodes[number].results or ():
            if result.call in calls and self._results[result.call] == number:
                name = self.rows.calls.get(result.call, UNKNOWN_TOOL)
                meta = {"uuid": self.nodes[number].uuid}
                yield ToolResultMessage(result.call, name, result.content, result.is_error, meta=meta)

    def _stray(self, number: int, given: set[str]) -> list[Message]:
        """What a row of results has beyond the groups: results of calls that are not in the conversation."""
        node = self.nodes[number]
        strays = {each.call for each in node.results or () if self._owners.get(each.call) not in given}
        if not strays:
            return []
        for call in strays:
            self._report.add("result-orphaned", f"the call {call} of this result is not in the conversation", node.line)
        return [*self._results_of(number, strays), *([self._user(number)] if node.content else [])]

    def _user(self, number: int) -> UserMessage:
        if number not in self._users:
            node = self.nodes[number]
            self._users[number] = UserMessage(node.content or [], node.injected, {"uuid": node.uuid})
        return self._users[number]

    # -- branches -----------------------------------------------------------------------------------------------------

    def _branches(self, live: list[int], used: set[int], main: Log) -> list[Branch]:
        parents = {self._parents[number] for number in live}
        leaves = [number for number in live if number not in parents]
        branches: list[Branch] = []
        for leaf in reversed(leaves):
            if leaf in used:
                continue
            own = self._beside(leaf, used)
            if not any(self.nodes[number].is_spoken for number in own):
                used.update(own)
                continue
            log, rows = self.log(self.path(leaf))
            new = [self.nodes[number] for number in rows - used]
            used |= rows
            if any(node.is_spoken for node in new):
                branches.append(_branch(self.nodes[own[-1]].uuid, log, main))
        return branches[::-1]

    def _beside(self, leaf: int, used: set[int]) -> list[int]:
        """The rows from the leaf up to one that is used. Not the whole path: rows of hooks follow results that are off
        the chain, so that a long file has thousands of leaves."""
        own: dict[int, None] = {}
        number: int | None = leaf
        while number is not None and number not in used and number not in own:
            own[number] = None
            number = self._parents[number]
        return list(own)

    def _agents(self) -> Iterator[Branch]:
        """The sub-agents inside the file of version 1: each begins at a row without a parent."""
        last: dict[int, int] = {}
        roots: dict[int, int] = {}
        for number, node in enumerate(self.nodes):
            if node.sidechain:
                parent = self._parents[number]
                roots[number] = number if parent is None else roots.get(parent, number)
                last[roots[number]] = number
        for root, leaf in last.items():
            log, _ = self.log(self.path(leaf))
            yield agent_branch(self.nodes[root].uuid, log, self.rows.prompts)


def agent_branch(identity: str, log: Log, prompts: dict[str, str], title: str | None = None) -> Branch:
    """The conversation of a sub-agent; its first message is the prompt of the call that started it."""
    messages = seen(log)
    first = next((each for each in messages if isinstance(each, UserMessage)), None)
    call = prompts.get(joined_text(first.content)) if first is not None else None
    return Branch(identity, "subagent", Context(messages), title=title, call=call)


def _branch(identity: str, log: Log, main: Log) -> Branch:
    shared = 0
    for one, other in zip(log, main, strict=False):
        if one is not other:
            break
        shared += 1
    return Branch(identity, "branch", Context(seen(log)), shared=shared)


def _messages_from(log: Log, start: int) -> int:
    return sum(not isinstance(each, Compaction) for each in log[start:])


def _calls(answer: Answered) -> list[str]:
    return [block.id for block in answer.content if type(block) is ToolCall]


def answer_of(parts: list[Answered], uuid: str, aborted: bool) -> AssistantMessage:
    """One answer of the rows that hold its blocks. Usage is repeated in each; the last one counts. An answer that was
    interrupted before it had a stop reason is incomplete."""
    last = parts[-1]
    content = [block for part in parts for block in part.content]
    stop = next((part.stop for part in reversed(parts) if part.stop), None)
    prefix = next((name for name in _PROVIDERS if last.id.startswith(name)), "")
    shared: dict[str, Any] = {
        "protocol": "anthropic-messages",
        "provider": _PROVIDERS.get(prefix, "anthropic"),
        "endpoint": f"{ENDPOINT}claude-code",
        "timestamp": unix_ms(parts[0].timestamp) or 0,
        "meta": {"uuid": uuid},
    }
    if last.model == SYNTHETIC:
        text = "".join(block.text for block in content if isinstance(block, TextContent))
        return AssistantMessage([], stop_reason="error", error_message=text, **shared)
    reason = STOPS.get(stop, "stop") if stop else "aborted" if aborted else None
    return AssistantMessage(
        content,
        model=last.model,
        response_id=None if last.id.startswith("row ") else last.id,
        usage=usage_of(next((part.usage for part in reversed(parts) if part.usage), None)),
        stop_reason=reason,
        error_message="refusal" if reason == "error" else None,
        **shared,
    )
