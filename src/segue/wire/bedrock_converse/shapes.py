"""Names in a Converse body, and iteration over any JSON as such a body. Taken from botocore 1.44.0."""

from typing import Any, NamedTuple

from ...rules import shared

BLOCKS = frozenset(
    {"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent", "cachePoint",
     "reasoningContent", "citationsContent", "searchResult", "toolAddition", "toolRemoval"}
)  # fmt: skip
"""The fields of a content block, which is a union: it has exactly one of them."""

OWN_FIELDS = ("inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig", "requestMetadata")
INFERENCE = frozenset({"maxTokens", "temperature", "topP", "stopSequences"})
IMAGE_FORMATS = frozenset({"png", "jpeg", "gif", "webp"})


class Turn(NamedTuple):
    """A message of the body, with its path."""

    at: int
    path: str
    role: Any
    content: list[Any]

    def of(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """The blocks of this kind that are objects, each with its path."""
        return [
            (f"{self.path}.content[{index}].{kind}", block[kind])
            for index, block in enumerate(self.content)
            if isinstance(block, dict) and isinstance(block.get(kind), dict)
        ]

    def kinds(self) -> list[str]:
        """The kind of each block; "" if it has none."""
        return [kind_of(block) for block in self.content]


class Placed(NamedTuple):
    """A content block, with its path."""

    path: str
    role: Any
    block: dict[str, Any]


def kind_of(block: Any) -> str:
    """The first known field of a block."""
    return next((key for key in block if key in BLOCKS), "") if isinstance(block, dict) else ""


@shared
def turns(body: dict[str, Any]) -> list[Turn]:
    """The messages that are objects. Content that is not a list counts as empty."""
    messages = body.get("messages")
    found = []
    for at, message in enumerate(messages if isinstance(messages, list) else []):
        if isinstance(message, dict):
            content = message.get("content")
            found.append(Turn(at, f"messages[{at}]", message.get("role"), content if isinstance(content, list) else []))
    return found


@shared
def blocks(body: dict[str, Any]) -> list[Placed]:
    """The content blocks of all messages."""
    return [
        Placed(f"{turn.path}.content[{index}]", turn.role, block)
        for turn in turns(body)
        for index, block in enumerate(turn.content)
        if isinstance(block, dict)
    ]


@shared
def with_results(body: dict[str, Any]) -> list[Placed]:
    """The content blocks of all messages, including those inside results."""
    found = []
    for placed in blocks(body):
        found.append(placed)
        for index, block in enumerate(items(part(placed.block, "toolResult").get("content"))):
            if isinstance(block, dict):
                found.append(Placed(f"{placed.path}.toolResult.content[{index}]", placed.role, block))
    return found


@shared
def _by_kind(body: dict[str, Any]) -> dict[str, list[tuple[Placed, dict[str, Any]]]]:
    found: dict[str, list[tuple[Placed, dict[str, Any]]]] = {}
    for placed in with_results(body):
        for kind, value in placed.block.items():
            if isinstance(kind, str) and isinstance(value, dict):
                found.setdefault(kind, []).append((placed, value))
    return found


def of_kind(body: dict[str, Any], kind: str) -> list[tuple[Placed, dict[str, Any]]]:
    """Blocks of this kind that are objects, also inside results."""
    return _by_kind(body).get(kind, [])


def part(value: Any, *names: str) -> dict[str, Any]:
    """The object at this path of names, or an empty one."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@shared
def tools(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The tool specifications, each with its path."""
    return [
        (f"toolConfig.tools[{index}].toolSpec", tool["toolSpec"])
        for index, tool in enumerate(items(part(body, "toolConfig").get("tools")))
        if isinstance(tool, dict) and isinstance(tool.get("toolSpec"), dict)
    ]


def ids(turn: Turn, kind: str) -> list[tuple[str, str]]:
    """The ids of calls or results, each with its path, without those of server tools."""
    return [
        (path, value["toolUseId"])
        for path, value in turn.of(kind)
        if isinstance(value.get("toolUseId"), str) and not value.get("type")
    ]
