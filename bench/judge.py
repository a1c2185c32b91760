"""Judge request bodies: would the provider accept them? `python -m bench.judge` reads bodies, one JSON object a line.

It runs in the environment of the tests, which has the newest SDKs, botocore and mistral-common. There are four judges:
the rules of `segue lint`, which contain the request types of the SDKs as tables; botocore; the validator of
mistral-common; and signatures, which only their own provider accepts. Where judges or sources disagree, the milder
reading counts: see ``DISPUTED``.
"""

import json
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import segue
from segue.rules import Finding
from segue.wire.registry import protocol_of


class Disputed(NamedTuple):
    """A rule that is not counted: for all its findings, or for those that contain some words."""

    rule: str
    words: str
    why: str


DISPUTED = (
    Disputed(
        "GRQ-01",
        "",
        "No answer of OpenAI to an unknown field in a message of an assistant was found, and clients send such fields.",
    ),
    Disputed(
        "MIS-07",
        "",
        "Mistral's API refused it in 2026-04 (zed-industries/zed#53034); mistral-common 1.13.0 accepts it since then "
        "for the newest tokenizer.",
    ),
    Disputed("MIS-04", "", "mistral-common accepts it since 1.11.1 (2026-04)."),
    Disputed("MIS-12", "does not accept thinking", "It depends on the tokenizer, which Mistral does not document."),
    Disputed(
        "OAR-06",
        "must have its id",
        "OpenAI's types require it, but public clients (openai/codex) send reasoning without its id.",
    ),
)


class Refusal(NamedTuple):
    """Why a body would be refused, in the provider's words. ``disputed`` is set if it does not count."""

    judge: str
    words: str
    place: str
    disputed: bool = False


class Body(NamedTuple):
    """A recorded body, its target, and the signatures that the target has made itself."""

    protocol: str
    ref: str
    text: str
    own: list[str]


def judged(body: Body) -> list[Refusal]:
    """All reasons to refuse a body."""
    found = by_rules(body)
    document = json.loads(body.text)
    for judge in (by_botocore, by_mistral_common):
        if not any(not refusal.disputed for refusal in found):
            found += judge(body.protocol, document)
    return found + by_signatures(body, document)


# -- the rules ---------------------------------------------------------------------------------------------------------


def by_rules(body: Body) -> list[Refusal]:
    """The findings of lint. Rules about shape have general texts; they are left out if another rule says it better."""
    model = segue.get_model(body.ref, protocol=body.protocol)
    rules = {rule.number: rule for rule in protocol_of(body.protocol).rules}
    errors = [finding for finding in segue.lint(body.text, body.protocol, model) if finding.severity == "error"]
    precise = [finding for finding in errors if rules[finding.rule].shape is None]
    return [
        Refusal(finding.rule, finding.answers or finding.message, finding.path, is_disputed(finding))
        for finding in (precise if any(not is_disputed(finding) for finding in precise) else errors)
    ]


def is_disputed(finding: Finding) -> bool:
    return any(finding.rule == row.rule and row.words in finding.message for row in DISPUTED)


# -- botocore and mistral-common ---------------------------------------------------------------------------------------


def by_botocore(protocol: str, document: dict[str, Any]) -> list[Refusal]:
    if protocol != "bedrock-converse":
        return []
    from wire.bedrock_converse.judge import body_faults

    return [Refusal("botocore", fault, "") for fault in body_faults(document)]


def by_mistral_common(protocol: str, document: dict[str, Any]) -> list[Refusal]:
    """The validator of the newest tokenizer. What it cannot read is left to the types of Mistral's SDK: it has no
    fields for some that this SDK sends."""
    if protocol != "mistral-chat":
        return []
    from mistral_common.exceptions import MistralCommonException
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion

    try:
        request: Any = ChatCompletionRequest.model_validate(_for_mistral_common(document))
    except (TypeError, ValueError):
        return []
    try:
        get_validator(TokenizerVersion.v13, ValidationMode.serving).validate_request(request)
    except MistralCommonException as error:
        return [Refusal("mistral-common", str(error), "messages")]
    return []


def _for_mistral_common(document: dict[str, Any]) -> dict[str, Any]:
    from wire.mistral_chat.judge import _as_common

    sent = {name: value for name, value in document.items() if value is not None and name != "n"}
    sent["messages"] = [_without_index(message) for message in sent["messages"]]
    return _as_common(sent)


def _without_index(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls") or ()
    plain = [{name: value for name, value in call.items() if name != "index"} for call in calls]
    return {name: value for name, value in message.items() if name != "tool_calls"} | (
        {"tool_calls": plain} if plain else {}
    )


# -- signatures --------------------------------------------------------------------------------------------------------

Signed = Iterator[tuple[str, str, Any]]
"""The provider's words for a signature that it did not make, the place, and the signature."""


def by_signatures(body: Body, document: dict[str, Any]) -> list[Refusal]:
    """Signatures in the body that the target did not make."""
    signed = SIGNED.get(body.protocol)
    own = {_same_alphabet(value) for value in body.own}
    return [
        Refusal("signature", words, place)
        for words, place, value in (signed(document) if signed else ())
        if value and _same_alphabet(value) not in own
    ]


def _same_alphabet(value: Any) -> str:
    """Base64 is written in one of two alphabets."""
    return str(value).replace("-", "+").replace("_", "/").rstrip("=")


def _blocks(document: dict[str, Any], turns: str, parts: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, turn in enumerate(document.get(turns) or ()):
        content = turn.get(parts)
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                yield f"{turns}[{at}].{parts}[{index}]", block


def _of_anthropic(document: dict[str, Any]) -> Signed:
    for place, block in _blocks(document, "messages", "content"):
        yield "Invalid `signature` in `thinking` block", place, block.get("signature")
        if block.get("type") == "redacted_thinking":
            yield "Invalid `data` in `redacted_thinking` block", place, block.get("data")


def _of_bedrock(document: dict[str, Any]) -> Signed:
    for place, block in _blocks(document, "messages", "content"):
        reasoning = block.get("reasoningContent") or {}
        text = reasoning.get("reasoningText") or {}
        yield "Invalid `signature` in `thinking` block", place, text.get("signature")
        yield "Invalid `data` in `redacted_thinking` block", place, _decoded(reasoning.get("redactedContent"))


def _decoded(content: Any) -> Any:
    """Redacted content as Anthropic writes it: clients of Bedrock send its characters or its bytes, as base64."""
    try:
        return b64decode(content, validate=True).decode("ascii")
    except (TypeError, ValueError):
        return content


def _of_google(document: dict[str, Any]) -> Signed:
    from segue.wire.google_generative_ai.shapes import DUMMIES

    for place, part in _blocks(document, "contents", "parts"):
        signature = part.get("thoughtSignature", part.get("thought_signature"))
        yield "Corrupted thought signature.", place, None if signature in DUMMIES else signature


def _of_responses(document: dict[str, Any]) -> Signed:
    for at, item in enumerate(document.get("input") or ()):
        content = item.get("encrypted_content") if isinstance(item, dict) else None
        yield "The encrypted content … could not be verified.", f"input[{at}]", content


SIGNED: dict[str, Callable[[dict[str, Any]], Signed]] = {
    "anthropic-messages": _of_anthropic,
    "bedrock-converse": _of_bedrock,
    "google-generative-ai": _of_google,
    "openai-responses": _of_responses,
}
"""Where the bodies of a protocol have signatures. The words are those of the providers, as the stand-ins use them."""


def main() -> None:
    sys.path.append(str(Path(__file__).parent.parent / "tests"))
    for line in sys.stdin:
        print(json.dumps(judged(Body(*json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
