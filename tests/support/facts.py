"""What the tests of all stand-ins need to know about each protocol: one record per protocol, in ``FACTS``.

The tests are in ``tests/testing/test_standin.py``; tests of a single protocol and its SDK are in that protocol's file.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

import segue
from segue.dialects import BedrockConverse, OpenAICompletions
from segue.testing import Reply
from segue.types import (
    AssistantContent,
    AssistantMessage,
    Model,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from support.targets import built_in

Body = dict[str, Any]
Content = list[AssistantContent]

THINKING = "I should look it up.\n\nTwo cities, two “calls”."
ARGUMENTS: list[dict[str, Any]] = [{"city": "Paris"}, {"city": "Rome", "days": 3, "note": 'a "quoted" \\ ✓'}]
TEXTS = ["Let me look.", "18 C in Paris, 24 C in Rome ☀."]
CALLS: Content = [
    ThinkingContent(THINKING),
    TextContent(TEXTS[0]),
    *(ToolCall("", "weather", arguments) for arguments in ARGUMENTS),
]
WITHHELD = ThinkingContent("", redacted=True)
SHOWN = ThinkingContent("Two numbers.")
USAGE = Usage(input=70, output=30, cache_read=20, cache_write=10, total_tokens=130)

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def bare(content: Content, model: Model) -> list[Any]:
    """Blocks without ids and signatures."""
    return [
        (block.name, block.arguments)
        if isinstance(block, ToolCall)
        else (type(block), block.text if isinstance(block, TextContent) else block.thinking)
        for block in content
    ]


class Facts(Struct, frozen=True, kw_only=True):
    """One protocol. A ``Body`` is the body of a request."""

    # Models for a tool loop; models for random content, of which the first one signs its thinking; models for images.
    models: list[Model]
    speakers: list[Model]
    seeing: list[Model]
    # An answer with thinking and two calls, and one with thinking and a text.
    script: list[Reply]
    options: Options = Options()
    # How blocks are compared, and whether the decoded blocks are exactly the sent ones.
    compared: Callable[[Content, Model], list[Any]] = bare
    exact: bool = True
    # The parts of a request that are signed by the account.
    signed: Callable[[Body, Model], list[Any]]
    # What the requests after the first answer contain of it, and what they should contain.
    came_back: Callable[[list[Body], AssistantMessage, Model], tuple[Any, Any]]
    # The refusal of another account.
    refusal: str
    # The separator between two texts of a reply in the decoded message.
    between: str = ""
    # Texts that can be sent.
    texts: st.SearchStrategy[str] = ANY


def _models(provider: str, *names: str) -> list[Model]:
    return [segue.get_model(f"{provider}/{name}") for name in names]


def _script(answer: ThinkingContent, calls: Content = CALLS, usage: Usage = USAGE) -> list[Reply]:
    return [Reply(calls, usage=usage), Reply([answer, TextContent(TEXTS[1])])]


# -- Anthropic Messages ----------------------------------------------------------------------------------------------


def _anthropic_signed(body: Body, model: Model) -> list[str]:
    kinds = [block["type"] for turn in body["messages"] for block in turn["content"]]
    return [kind for kind in kinds if "thinking" in kind]


def _anthropic_back(requests: list[Body], first: AssistantMessage, model: Model) -> tuple[Any, Any]:
    sent = [block["type"] for block in requests[-1]["messages"][1]["content"]]
    return sent, ["thinking", "text", "tool_use", "tool_use"]


# -- Chat Completions ------------------------------------------------------------------------------------------------

CLAUDE, GEMINI, GPT, GLM = (
    "anthropic/claude-sonnet-4.5",
    "google/gemini-3.1-pro-preview",
    "openai/gpt-5",
    "z-ai/glm-4.6",
)


_READ = ("id_form", "own_reasoning", "reasoning_field", "reasoning_required", "reasoning_switch", "system_role")
"""The cells that a tool loop shows best. All dialects are covered by the hand-off matrix."""


def _family(protocol: str) -> Iterator[Model]:
    """One model for each combination of some cells, and one of each provider of the family, or an unknown model."""
    found: dict[Any, Model] = {}
    for name, provider in built_in().providers.items():
        if protocol in provider.protocols:
            ids = [ref[len(name) + 1 :] for ref in built_in().names if ref.startswith(f"{name}/")]
            speaking = [model_id for model_id in ids if protocol in provider.spoken(model_id)] or ["some-model"]
            for model_id in speaking:
                model = built_in().resolve(f"{name}/{model_id}", protocol)
                key = tuple(getattr(model.dialect, cell) for cell in _READ)
                found.setdefault(key, model)
                found.setdefault(name, model)
    yield from {model.ref: model for model in found.values()}.values()


def _completions(model: Model) -> OpenAICompletions:
    assert isinstance(model.dialect, OpenAICompletions)
    return model.dialect


def _completions_bare(content: Content, model: Model) -> list[Any]:
    """The same, and without thinking if the model has no field for it."""
    if _completions(model).reasoning_field is None:
        content = [block for block in content if not isinstance(block, ThinkingContent)]
    return bare(content, model)


def _completions_signed(body: Body, model: Model) -> list[Body]:
    """Only entries of ``reasoning_details`` are signed, and not by every maker."""
    entries = [entry for message in body["messages"] for entry in message.get("reasoning_details", [])]
    real = [entry for entry in entries if entry.get("data") != "skip_thought_signature_validator"]
    return [entry for entry in real if entry["format"] != "unknown" and (entry.get("signature") or entry.get("data"))]


def _completions_back(requests: list[Body], first: AssistantMessage, model: Model) -> tuple[Any, Any]:
    thought = first.content[0]
    if not isinstance(thought, ThinkingContent) or _completions(model).own_reasoning == "none":
        return None, None
    message = next(message for message in requests[1]["messages"] if message.get("tool_calls"))
    signature = thought.thinking_signature
    if signature is None:
        tagged = f"<think>\n{thought.thinking}\n</think>"
        return message["content"][: len(tagged)], tagged
    if signature.startswith("["):
        entries = json.loads(signature)
        return [entry for entry in entries if entry in message["reasoning_details"]], entries
    return message[signature], thought.thinking


# -- OpenAI Responses ------------------------------------------------------------------------------------------------


def _responses_signed(body: Body, model: Model) -> list[str]:
    return [item["id"] for item in body["input"] if item.get("id")]


def _responses_back(requests: list[Body], first: AssistantMessage, model: Model) -> tuple[Any, Any]:
    sent = [item.get("id", "")[:2] for item in requests[-1]["input"]]
    return sent, ["", "rs", "ms", "fc", "fc", "", "", "rs", "ms", ""]


# -- Google generateContent ------------------------------------------------------------------------------------------

_GEMINIS = ("gemini-3.6-flash", "gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.0-flash")
_SIGNED_BY = {"gemini-3.6-flash": ["functionCall", "text"], "gemini-2.5-pro": ["functionCall"], "gemini-2.0-flash": []}


def _google_bare(content: Content, model: Model) -> list[Any]:
    """Adjacent parts of one kind are one block, and redacted ones are left out."""
    found: list[Any] = []
    for block in content:
        if isinstance(block, ToolCall):
            found.append((ToolCall, block.name, block.arguments))
            continue
        text = block.text if isinstance(block, TextContent) else "" if block.redacted else block.thinking
        if text and found and found[-1][0] is type(block):
            found[-1] = (type(block), found[-1][1] + text)
        elif text:
            found.append((type(block), text))
    return found


def signatures(body: Body, model: Model | None = None) -> list[str]:
    """The kinds of the signed parts of a request; with a model, without dummy signatures."""
    parts = [part for content in body["contents"] for part in content["parts"] if "thoughtSignature" in part]
    genuine = [part for part in parts if model is None or not part["thoughtSignature"].startswith("skip_")]
    return [next(iter(part)) for part in genuine]


def _google_back(requests: list[Body], first: AssistantMessage, model: Model) -> tuple[Any, Any]:
    sent = signatures(requests[-1])
    return sent, _SIGNED_BY.get(model.id, sent)


# -- Bedrock Converse ------------------------------------------------------------------------------------------------

SONNET = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
BOUND = "global.anthropic.claude-fable-5-1"
NOVA = "amazon.nova-2-lite-v1:0"
LLAMA = "us.meta.llama4-scout-17b-instruct-v1:0"


def _bedrock_bare(content: Content, model: Model) -> list[Any]:
    """Redacted blocks have no text, and empty blocks are left out."""
    found: list[Any] = []
    for block in content:
        if isinstance(block, ToolCall):
            found.append((block.name, block.arguments))
        elif isinstance(block, TextContent):
            found += [block.text] if block.text else []
        elif block.redacted:
            found.append(None)
        elif block.thinking or block.thinking_signature:
            found.append(("thinking", block.thinking))
    return found


def reasoning(body: Body) -> list[str]:
    """The kinds of reasoning in a request."""
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    return [next(iter(block["reasoningContent"])) for block in blocks if "reasoningContent" in block]


def _bedrock_signed(body: Body, model: Model) -> list[str]:
    """All reasoning, except of a model that accepts its reasoning without a signature."""
    assert isinstance(model.dialect, BedrockConverse)
    unsigned = model.dialect.own_reasoning == "any" and not model.dialect.reasoning_signature
    return [kind for kind in reasoning(body) if not (unsigned and kind == "reasoningText")]


def _bedrock_back(requests: list[Body], first: AssistantMessage, model: Model) -> tuple[Any, Any]:
    whole = ["reasoningText", "redactedContent", "reasoningText"]
    return reasoning(requests[-1]), whole if model.id in (SONNET, BOUND) else []


# -- Mistral chat completions ----------------------------------------------------------------------------------------


def _mistral_signed(body: Body, model: Model) -> list[str]:
    chunks = [chunk for message in body["messages"] for chunk in message.get("content") or []]
    return [chunk["type"] for chunk in chunks if "signature" in chunk]


def _mistral_back(requests: list[Body], first: AssistantMessage, model: Model) -> tuple[Any, Any]:
    return len(_mistral_signed(requests[-1], model)), 2 if model.dialect.own_reasoning == "any" else 0


# -- the records -----------------------------------------------------------------------------------------------------

FACTS: dict[str, Facts] = {
    "anthropic-messages": Facts(
        models=_models("anthropic", "claude-haiku-4-5", "claude-opus-4-1", "claude-opus-4-6", "claude-opus-5-5"),
        speakers=_models("anthropic", "claude-haiku-4-5"),
        seeing=_models("anthropic", "claude-haiku-4-5"),
        script=_script(WITHHELD),
        options=Options(reasoning="medium", max_tokens=8000),
        signed=_anthropic_signed,
        came_back=_anthropic_back,
        refusal="Invalid `signature` in `thinking` block",
    ),
    "openai-completions": Facts(
        models=list(_family("openai-completions")),
        speakers=[
            built_in().resolve(ref, "openai-completions")
            for ref in (
                *(f"openrouter/{model}" for model in (CLAUDE, GEMINI, GPT, GLM)),
                "deepseek/deepseek-v4-pro",
                "groq/openai/gpt-oss-120b",
                "minimax/MiniMax-M2.5",
                "openai/gpt-4.1",
            )
        ],
        seeing=[built_in().resolve("openai/gpt-4.1", "openai-completions")],
        script=[Reply(CALLS, usage=USAGE), Reply([SHOWN, TextContent(TEXTS[1])], usage=USAGE)],
        compared=_completions_bare,
        signed=_completions_signed,
        came_back=_completions_back,
        refusal="Invalid `signature` in `thinking` block",
        between="\n\n",
        # If thinking is in tags, a tag in its text would end it.
        texts=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), max_size=30),
    ),
    "openai-responses": Facts(
        models=[*_models("openai", "gpt-5.6-terra", "gpt-5.1"), *_models("azure", "gpt-5.4", "o3")],
        speakers=_models("openai", "gpt-5.6-terra"),
        seeing=_models("openai", "gpt-5.6-terra"),
        script=_script(WITHHELD),
        signed=_responses_signed,
        came_back=_responses_back,
        refusal="could not be verified",
        # Paragraphs are parts of a summary.
        texts=ANY | st.just("one\n\ntwo\n\n\n\nthree"),
    ),
    "google-generative-ai": Facts(
        models=[*_models("google", *_GEMINIS), *_models("google-vertex", *_GEMINIS)],
        speakers=[*_models("google", "gemini-3.6-flash", "gemini-2.5-pro"), *_models("google-vertex", _GEMINIS[0])],
        seeing=_models("google", "gemini-3.6-flash"),
        script=_script(SHOWN, usage=Usage(input=70, output=31, cache_read=30, total_tokens=131)),
        compared=_google_bare,
        exact=False,
        signed=signatures,
        came_back=_google_back,
        refusal="Corrupted thought signature",
    ),
    "bedrock-converse": Facts(
        models=_models(
            "amazon-bedrock",
            *(SONNET, BOUND, NOVA, LLAMA),
            "anthropic.claude-3-5-sonnet-20241022-v2:0",
            "mistral.mistral-large-2407-v1:0",
            "moonshotai.kimi-k3",
            "openai.gpt-oss-120b-1:0",
            "qwen.qwen3-32b-v1:0",
        ),
        speakers=_models("amazon-bedrock", SONNET, BOUND, NOVA, LLAMA, "us.deepseek.r1-v1:0"),
        seeing=_models("amazon-bedrock", SONNET),
        script=_script(
            SHOWN,
            calls=[CALLS[0], WITHHELD, *CALLS[1:]],
            usage=Usage(input=70, output=31, cache_read=20, cache_write=9, total_tokens=130),
        ),
        compared=_bedrock_bare,
        exact=False,
        signed=_bedrock_signed,
        came_back=_bedrock_back,
        refusal="Invalid `signature` in `thinking` block",
    ),
    "mistral-chat": Facts(
        models=_models(
            "mistral",
            *("mistral-medium-latest", "magistral-medium-latest", "mistral-large-latest", "open-mistral-nemo"),
        ),
        speakers=_models("mistral", "mistral-medium-latest"),
        # One accepts images in results, the other after them.
        seeing=_models("mistral", "mistral-medium-latest", "mistral-large-latest"),
        script=_script(WITHHELD, usage=Usage(input=80, output=30, cache_read=20, total_tokens=130)),
        signed=_mistral_signed,
        came_back=_mistral_back,
        refusal="Invalid signature in thinking chunk",
    ),
}
