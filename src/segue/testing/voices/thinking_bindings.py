"""The bindings of Claude's thinking: to its model, to everything before it, and to the thinking before it.

"Earlier thinking blocks aren't in the prefix, but each thinking block records which thinking block came before it […]
the thinking blocks you keep must be an unbroken run of the original sequence" (platform.claude.com, "Preserved
thinking", 2026-10). The stand-in is like a new account, for which all of this is enforced.
"""

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any

import msgspec

from ...types import AssistantContent, Model, ThinkingContent
from ...wire.common.binding import BETA, HEADER
from ..signatures import Signer
from ..voice import Bindings, Body

THINKING = ("thinking", "redacted_thinking")
SIZE = 16
BOUND = "Invalid `signature` in `{}` block. The block is bound to a different conversation. Remove the block, or set "
SETTING = '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
NEEDS = f" That setting requires the `{BETA}` value in the `{HEADER}` header."


def bind(
    content: list[AssistantContent], request: Body, signer: Signer, model: Model, to_wire: Callable[[Any], Body]
) -> list[AssistantContent]:
    """The blocks of an answer to ``request``, with signatures that contain what they are bound to. ``to_wire`` converts
    a block to the form in which it will be sent back."""
    *_, (_, _, prefix) = _blocks(request)
    before = next((_mark(block) for _, block, why in reversed([*_checked(request, signer, model)]) if why is None), b"")
    bound: list[AssistantContent] = []
    for block in content:
        if isinstance(block, ThinkingContent) and block.thinking_signature is None:
            text = "redacted" if block.redacted else block.thinking
            signature = signer.issue(text, model.id.encode() + b"\0" + prefix.digest() + before)
            block = ThinkingContent("" if block.redacted else text, signature, block.redacted)
            before = _mark(to_wire(block))
        elif not isinstance(block, ThinkingContent):
            prefix.update(_written("assistant", to_wire(block)))
        bound.append(block)
    return bound


def bindings(body: Body, headers: Mapping[str, str], signer: Signer, model: Model) -> Bindings:
    """How the provider treats the thinking in a request."""
    thinking = body.get("thinking") or {}
    setting = thinking.get("block_binding")
    beta = BETA in [each.strip() for each in headers.get(HEADER, "").split(",")]
    if setting is not None and not beta:
        return Bindings(f"thinking.{thinking['type']}.block_binding: Extra inputs are not permitted")
    behavior = (setting or {}).get("prefix_mismatch_behavior") or "error"
    dropped: list[Body] = []
    for place, block, reason in _checked(body, signer, model):
        if reason is None:
            continue
        if reason == "model_binding_mismatch" and not model.dialect.prefix_bound:
            return Bindings(f"{place}: Invalid `signature` in `{block['type']}` block")
        if reason == "prefix_binding_mismatch" and behavior == "error":
            return Bindings(f"{place}: " + BOUND.format(block["type"]) + SETTING + ("" if beta else NEEDS))
        dropped.append({"type": "thinking_dropped", "path": place, "reason": reason})
    return Bindings(transformed=dropped if beta else None)


def _checked(body: Body, signer: Signer, model: Model) -> Iterator[tuple[str, Body, str | None]]:
    """Every thinking block, and the reason if it is not shown to the model. After an edit, no later one is valid."""
    kept, edited = b"", False
    for place, block, prefix in _blocks(body):
        if block["type"] not in THINKING:
            continue
        maker, _, bound = signer.bound_to(_signature(block)).partition(b"\0")
        if maker != model.id.encode() and not _reads(model, maker.decode()):
            yield place, block, "model_binding_mismatch"
            continue
        before = bound[SIZE:]
        if model.dialect.prefix_bound and (edited or bound[:SIZE] != prefix.digest() or (kept and before != kept)):
            edited = True
            yield place, block, "prefix_binding_mismatch"
            continue
        kept = _mark(block)
        yield place, block, None


def _reads(model: Model, maker: str) -> bool:
    return any(fnmatchcase(maker, glob) for glob in model.dialect.reads_thinking_of)


def _blocks(body: Body) -> Iterator[tuple[str, Body, Any]]:
    """Every block with its path and the running digest of everything before it except thinking; then an end block."""
    prefix = _frame(body)
    for at, message in enumerate(body.get("messages", [])):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for index, block in enumerate(blocks):
            yield f"messages.{at}.content.{index}", block, prefix
            if block["type"] not in THINKING:
                prefix.update(_written(message["role"], block))
    yield "", {"type": "end"}, prefix


def _frame(body: Body) -> Any:
    tools = sorted((_plain(tool) for tool in body.get("tools", [])), key=lambda tool: str(tool.get("name")))
    system = body.get("system")
    texts = [{"type": "text", "text": system}] if isinstance(system, str) else system or []
    return blake2b(_json([[_plain(text) for text in texts], tools]), digest_size=SIZE)


def _written(role: str, block: Body) -> bytes:
    return _json([role, _plain(block)])


def _plain(block: Body) -> Body:
    return {name: value for name, value in block.items() if name != "cache_control"}


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _signature(block: Body) -> object:
    return block.get("signature", block.get("data"))


def _mark(block: Body) -> bytes:
    return blake2b(str(_signature(block)).encode(), digest_size=8).digest()
