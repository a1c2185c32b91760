"""Write the reasoning of earlier answers: in the field that it came in if the target accepts it, otherwise in the
target's own field, or as text in think tags; and a placeholder where the target requires reasoning.

``thinking_signature`` holds the name of the field that the reasoning came in, or ``reasoning_details`` as JSON text.
``thought_signature`` of a call holds the entry of ``reasoning_details`` with its id, or its ``{"extra_content": …}``.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from ...dialects import REASONING_FIELDS, OpenAICompletions
from ...dialects.openai_completions import ReasoningField
from ...types import AssistantContent, ThinkingContent, ToolCall
from ...types.codec import json_text
from ..common.outgoing import Outgoing
from ..common.seals import signature_of
from ..common.turns import Note

Out = Outgoing[OpenAICompletions]
Fields = dict[str, Any]

DETAILS = "reasoning_details"
EXTRA = "extra_content"

# The field for plain text, by the target's own field. OpenRouter reads `reasoning` as well as `reasoning_details`.
_PLAIN: dict[ReasoningField | None, str | None] = {
    "reasoning_content": "reasoning_content",
    "reasoning": "reasoning",
    "reasoning_text": "reasoning_text",
    "reasoning_details": "reasoning",
    "think-tags": None,
    None: None,
}


class Reasoning:
    """How one target accepts reasoning, read from its dialect once."""

    def __init__(self, out: Out) -> None:
        self._dialect = dialect = out.dialect
        own = dialect.reasoning_field if dialect.own_reasoning != "none" else None
        self._accepted = frozenset({own, *dialect.reasoning_accepts}) if own else frozenset()
        self._plain = _PLAIN[own]
        self._required = dialect.reasoning_required
        # Without a field of its own: the name in the error texts of Kimi and DeepSeek (KIM-01, DSK-03).
        self._placeholder_field = _PLAIN[dialect.reasoning_field] or "reasoning_content"
        self._dummy = dialect.dummy_signature if dialect.dummy_in == "reasoning_details" else None
        self._call_dummy: str | None = None
        if dialect.dummy_signature is not None and dialect.dummy_in == "extra_content":
            self._call_dummy = attached({"google": {"thought_signature": dialect.dummy_signature}})
        self.is_idle = self._required == "never" and self._dummy is None and self._call_dummy is None
        """Whether an answer without thinking and signatures needs no reasoning field."""

    def as_text(self, block: ThinkingContent) -> str | None:
        """The thinking in think tags if the target expects it in the content (CER-01, MMX-07), otherwise ``None``."""
        if (
            "think-tags" in self._accepted
            and block.thinking.strip()
            and not (DETAILS in self._accepted and details_of(block))
        ):
            return f"<think>\n{block.thinking}\n</think>"
        return None

    def fields(self, note: Note, thoughts: list[ThinkingContent], calls: list[ToolCall]) -> Fields:
        """The reasoning fields of an assistant message."""
        plain: dict[str, list[str]] = {}
        details: list[Any] = []
        for block in thoughts:
            name, entries = self._plain, details_of(block)
            if block.thinking_signature in REASONING_FIELDS and block.thinking_signature in self._accepted:
                name = block.thinking_signature
            if entries and DETAILS in self._accepted:
                details += entries
            elif name is not None and block.thinking.strip():
                plain.setdefault(name, []).append(block.thinking)
            else:
                note("thinking-dropped", "the target has no field for it")
        signatures = [call.thought_signature for call in calls if call.thought_signature is not None]
        for signature in signatures:
            self._add_attached(note, signature, details)
        if signatures and all([type(entry.get("index")) is int for entry in details]):
            details.sort(key=lambda entry: entry["index"])  # ORT-01: in their original order
        fields: Fields = {name: "\n".join(texts) for name, texts in plain.items()}
        if calls and self._dummy is not None:
            details = self._signed(details, calls)
        if details:
            fields[DETAILS] = details
        return fields or self.placeholder(bool(calls))

    def signed_calls(self, calls: list[ToolCall]) -> list[ToolCall]:
        """The calls of an answer; if none is signed, the first has the placeholder, where the target requires one."""
        if self._call_dummy is None or not calls or any([call.thought_signature is not None for call in calls]):
            return calls
        return [replace(calls[0], thought_signature=self._call_dummy), *calls[1:]]

    def placeholder(self, has_calls: bool) -> Fields:
        """The placeholder for missing reasoning (KIM-01, DSK-02, DSK-03). It does not depend on later messages, so that
        rendered turns never change."""
        if self._required == "always" or (has_calls and self._required != "never"):
            return {self._placeholder_field: self._dialect.reasoning_placeholder}
        return {}

    def _add_attached(self, note: Note, signature: str, details: list[Any]) -> None:
        """Add the entry of ``reasoning_details`` that a call was signed with (ORT-02)."""
        entry = attached_entry(signature) if DETAILS in self._accepted else None
        if entry is not None:
            if entry not in details:
                details.append(entry)
        elif extra_content(signature) is None:
            note("signature-dropped", "the target has no field for the signature of a call")

    def _signed(self, details: list[Any], calls: list[ToolCall]) -> list[Any]:
        """Return ``details`` with an encrypted entry for the calls (ORT-01) that has the id of one of them (ORT-02),
        also if projection has changed the ids."""
        free = [call.id for call in calls]
        encrypted = [entry for entry in details if entry.get("type") == "reasoning.encrypted"]
        for entry in encrypted:
            if entry.get("id") in free:
                free.remove(entry["id"])
        if not encrypted:
            dummy = {"type": "reasoning.encrypted", "data": self._dummy, "id": free[0], "format": "google-gemini-v1"}
            return [*details, dummy | {"index": len(details)}]
        known = {call.id for call in calls}
        return [self._with_call_id(entry, known, free) for entry in details]

    @staticmethod
    def _with_call_id(entry: dict[str, Any], known: set[str], free: list[str]) -> dict[str, Any]:
        stale = entry.get("type") == "reasoning.encrypted" and "id" in entry and entry["id"] not in known
        return entry | {"id": free.pop(0) if free else next(iter(sorted(known)))} if stale else entry


def is_bound(thoughts: list[ThinkingContent], calls: list[ToolCall]) -> bool:
    """Whether an entry is signed or encrypted, so that only the upstream that made it can read it."""
    signatures = [block.thinking_signature for block in thoughts] + [call.thought_signature for call in calls]
    entries = [entry for signature in signatures if signature for entry in _parsed(signature)]
    return any(entry.get("signature") or entry.get("type") == "reasoning.encrypted" for entry in entries)


def unbound(thoughts: list[ThinkingContent], calls: list[ToolCall]) -> tuple[list[ThinkingContent], list[ToolCall]]:
    """The same blocks without signatures; thinking without readable text is left out."""
    return (
        [replace(block, thinking_signature=None) for block in thoughts if block.thinking.strip()],
        [replace(call, thought_signature=None) for call in calls],
    )


def reads_tags(dialect: OpenAICompletions) -> bool:
    """Whether <think> tags at the start of an answer contain thinking."""
    return dialect.tagged_reasoning or dialect.reasoning_field == "think-tags"


def attached(extra: Any) -> str | None:
    """The ``extra_content`` of a call as its signature. Gemini's OpenAI endpoint sends the thought signature in it, and
    requires it there ("Function call is missing a thought_signature", openhuman#3548, 2026-06; pi#6733 for Vertex)."""
    return json_text({EXTRA: extra}) if isinstance(extra, dict) and extra else None


def extra_content(signature: str) -> dict[str, Any] | None:
    """The ``extra_content`` in a call's signature, if there is one."""
    extra = next((entry.get(EXTRA) for entry in _parsed(signature)), None)
    return extra if isinstance(extra, dict) else None


def is_signature(block: AssistantContent, signature: str) -> bool:
    """Whether the signature of thinking or of a call has one of the forms above."""
    if type(block) is ThinkingContent:
        return signature in REASONING_FIELDS or bool(_parsed(signature))
    return type(block) is ToolCall and (attached_entry(signature) is not None or extra_content(signature) is not None)


def seals(block: AssistantContent) -> list[str]:
    """The signatures and the encrypted data of the entries, or the signature in ``extra_content``."""
    signature = signature_of(block) or ""
    found = [entry.get(name) for entry in _parsed(signature) for name in ("signature", "data")]
    google = (extra_content(signature) or {}).get("google")
    found.append(google.get("thought_signature") if isinstance(google, dict) else None)
    return [seal for seal in found if isinstance(seal, str) and seal]


def attached_entry(signature: str) -> dict[str, Any] | None:
    """The entry of ``reasoning_details`` that a call was signed with, if there is one."""
    return next((entry for entry in _parsed(signature) if str(entry.get("type")).startswith("reasoning.")), None)


def details_of(block: ThinkingContent) -> list[dict[str, Any]]:
    """The entries of ``reasoning_details`` in a signature, if there are any."""
    return _parsed(block.thinking_signature or "")


def _parsed(signature: str) -> list[dict[str, Any]]:
    if signature[:1] not in ("[", "{"):
        return []
    try:
        value = msgspec.json.decode(signature)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return []
    return [entry for entry in (value if isinstance(value, list) else [value]) if isinstance(entry, dict)]
