"""Which rows of a file of Claude Code are the conversation, and which are other branches.

1. The last row of the tree is the leaf; its parents up to the root are the live branch. A parent that is missing is
   replaced by the nearest earlier row.
2. All rows of an answer belong to it, wherever they are: parallel results are not on the chain of parents.
3. The results of an answer follow it as one group; other content of their rows follows the group.
4. At a compaction the model's view begins again; what was before stays in the log.
5. Rows that are in none of these are other branches.
"""

from collections.abc import Iterable, Iterator

from ..types import (
    AssistantMessage,
    Context,
    Message,
    StopReason,
    TextContent,
    ToolResultMessage,
    UserMessage,
    unchecked,
)
from .anthropic_blocks import STOPS, usage_of
from .claude_code_rows import LEAVES, SYNTHETIC, Answer, Rows
from .claude_code_shapes import UsageShape
from .reading import ENDPOINT, joined_text, unix_ms
from .values import Branch, Compaction, Report, seen

UNKNOWN_TOOL = "unknown"
_PROVIDERS = {"msg_bdrk_": "amazon-bedrock", "msg_vrtx_": "google-vertex"}
"""Providers by the first nine characters of the id of an answer; all others are Anthropic's own."""
_ENDPOINT = f"{ENDPOINT}claude-code"

Log = list[Message | Compaction]


class Tree:
    """The rows of a file as a tree, and the conversations in it."""

    def __init__(self, rows: Rows, report: Report) -> None:
        self.rows, self.nodes, self._report = rows, rows.nodes, report
        self._owners: dict[str, str] = {}  # which answer made a call
        for answer in rows.answers.values():
            for call in answer.calls:
                self._owners.setdefault(call, answer.id)
        self._kept = {node.preserved for node in self.nodes if node.preserved is not None}
        self._results: dict[str, int] = {}
        self._notes: dict[int, list[int]] = {}  # attachments, by the row that they follow
        self._interrupted: set[int] = set()
        self._parents: list[int | None] = []
        for number, node in enumerate(self.nodes):
            parent = node.parent if type(node.parent) is int else self._parent(number)
            self._parents.append(parent)
            for result in node.results or ():
                if self._results.setdefault(result.call, number) != number:
                    report.add("result-repeated", f"a second result of call {result.call}", node.line)
            if parent is not None and node.interrupts:
                self._interrupted.add(parent)
            if parent is not None and node.type == "attachment" and node.content:
                self._notes.setdefault(parent, []).append(number)
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
        answer = self.rows.answers[identity]
        calls = {call for call in answer.calls if self._owners[call] == identity}
        rows = sorted({self._results[call] for call in calls if call in self._results})
        notes = [note for row in rows for note in self._notes.get(row, ())]
        used.update(answer.rows, rows, notes)
        if identity not in self._built:
            results = [message for row in rows for message in self._results_of(row, calls)]
            after = [self._user(number) for number in sorted({*rows, *notes}) if self.nodes[number].content]
            aborted = not calls and not self._interrupted.isdisjoint(answer.rows)
            self._built[identity] = [message_of(answer, self.nodes[answer.rows[0]].uuid, aborted), *results, *after]
        return self._built[identity]

    def _results_of(self, number: int, calls: set[str]) -> Iterator[ToolResultMessage]:
        for result in self.nodes[number].results or ():
            if result.call in calls and self._results[result.call] == number:
                name = self.rows.calls.get(result.call, UNKNOWN_TOOL)
                meta = {"uuid": self.nodes[number].uuid}
                yield unchecked(ToolResultMessage, result.call, name, result.content, result.is_error, meta=meta)

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
            self._users[number] = unchecked(UserMessage, node.content or [], node.injected, {"uuid": node.uuid})
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


def agent_branch(
    identity: str, log: Log, prompts: dict[str, str], title: str | None = None, call: str | None = None
) -> Branch:
    """The conversation of a sub-agent; its first message is the prompt of the call that started it."""
    messages = seen(log)
    first = next((each for each in messages if isinstance(each, UserMessage)), None)
    if call is None and first is not None:
        call = prompts.get(joined_text(first.content))
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


def message_of(answer: Answer, uuid: str, aborted: bool) -> AssistantMessage:
    """An answer as a message. One that was interrupted before it had a stop reason is incomplete."""
    content, reason = answer.content, _reason(answer, aborted)
    failure = "refusal" if reason == "error" else None
    if answer.model == SYNTHETIC:
        failure = "".join(block.text for block in content if isinstance(block, TextContent)) or None
        content, reason = [], "error"
    usage = answer.usage
    message: AssistantMessage = unchecked(
        AssistantMessage,
        content=content,
        protocol="anthropic-messages",
        provider=_PROVIDERS.get(answer.id[:9], "anthropic"),
        model="" if answer.model == SYNTHETIC else answer.model,
        usage=usage.canonical() if isinstance(usage, UsageShape) else usage_of(usage),
        stop_reason=reason,
        timestamp=unix_ms(answer.timestamp) or 0,
        response_id=None if answer.id.startswith("row ") else answer.id,
        error_message=failure,
        endpoint=_ENDPOINT,
        meta={"uuid": uuid},
    )
    return message


def _reason(answer: Answer, aborted: bool) -> StopReason:
    if answer.stop:
        return STOPS.get(answer.stop, "stop")
    return "aborted" if aborted else "toolUse" if answer.calls else "stop"
