"""Fields that providers have in answers and refuse in requests never go back.

They are found by comparing the answer types of the SDKs with their request types, so that a new one is seen here as
soon as the SDK knows it.
"""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from anthropic.types import ContentBlock, ContentBlockParam
from anthropic.types.beta import BetaContentBlock, BetaContentBlockParam
from openai.types.responses import ResponseInputItemParam, ResponseOutputItem
from pydantic import BaseModel

import segue
from segue.types import AssistantMessage, Context, Model, ProviderContent, TextContent, UserMessage

GPT = segue.get_model("openai/gpt-5.4")
CLAUDE = segue.get_model("anthropic/claude-opus-4-8")


def members(annotation: Any) -> Iterator[Any]:
    """The types in a union, however it is written."""
    if get_origin(annotation) is Annotated:
        yield from members(get_args(annotation)[0])
    elif get_args(annotation):
        for each in get_args(annotation):
            yield from members(each)
    else:
        yield annotation


def is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def tag(kind: Any) -> str | None:
    """The value of ``type`` of a model or a typed dict."""
    if is_model(kind):
        hint = kind.model_fields["type"].annotation if "type" in kind.model_fields else None
    else:
        hint = get_type_hints(kind).get("type")
    found = re.search(r"'(\w+)'", str(hint))
    return found[1] if found else None


def answers_only(answer: Any, requests: list[Any], path: str, seen: set[Any]) -> Iterator[str]:
    """The paths of the fields of ``answer`` that none of the ``requests`` has."""
    if answer in seen:
        return
    seen.add(answer)
    hints = [get_type_hints(each) for each in requests]
    for attribute, field in answer.model_fields.items():
        name = field.alias or attribute
        owners = [each[name] for each in hints if name in each]
        if not owners:
            yield f"{path}.{name}"
        choices = [each for owner in owners for each in members(owner) if hasattr(each, "__required_keys__")]
        for inner in filter(is_model, members(field.annotation)):
            same = [each for each in choices if tag(each) == tag(inner)]
            if same:
                yield from answers_only(inner, same, f"{path}.{name}", seen)


def found_in(answers: Any, requests: Any) -> set[str]:
    choices = [each for each in members(requests) if hasattr(each, "__required_keys__")]
    found: set[str] = set()
    for answer in filter(is_model, members(answers)):
        same = [each for each in choices if tag(each) == tag(answer)]
        if same:
            found |= set(answers_only(answer, same, str(tag(answer)), set()))
    return found


# Results of the caller's own tools: answers never contain them, only lists of stored items do.
OF_THE_CALLER = re.compile(r"(function_call|computer_call|custom_tool_call|apply_patch_call)_output\.\w+")


def test_no_other_field_is_only_in_answers() -> None:
    anthropic = {"text.citations.file_id"}
    assert found_in(ContentBlock, ContentBlockParam) == anthropic
    of_mcp = {"mcp_tool_result.content.citations.file_id"}  # these results do not go back
    assert found_in(BetaContentBlock, BetaContentBlockParam) == anthropic | of_mcp
    kinds = ("tool_search_call", "tool_search_output", "compaction", "shell_call", "shell_call_output")
    responses = {f"{kind}.created_by" for kind in (*kinds, "apply_patch_call")} | {
        "shell_call_output.output.created_by"
    }
    found = found_in(ResponseOutputItem, ResponseInputItemParam)
    assert {each for each in found if not OF_THE_CALLER.fullmatch(each)} == responses


def sent(model: Model, *content: Any) -> str:
    """The body of a request with an answer of the model, which breaks no rule and is sent back without a change."""
    answer = AssistantMessage([*content], protocol=model.protocol, provider=model.provider, model=model.id)
    request = segue.encode(Context([UserMessage("Go."), answer, UserMessage("And?")]), model)
    assert segue.lint(request.body, model.protocol, model) == []
    assert request.changes == []
    return request.json().decode()


LOCATIONS: list[dict[str, Any]] = [
    {"type": "char_location", "start_char_index": 0, "end_char_index": 2},
    {"type": "page_location", "start_page_number": 1, "end_page_number": 2},
    {"type": "content_block_location", "start_block_index": 0, "end_block_index": 1},
]


@pytest.mark.parametrize("location", LOCATIONS, ids=lambda location: str(location["type"]))
@pytest.mark.parametrize("file", [None, "file_1"])
def test_citations_of_documents_go_back_without_the_id_of_a_file(location: dict[str, Any], file: str | None) -> None:
    """ "Extra inputs are not permitted" (langchain#32592, 2025-08)."""
    citation = {"cited_text": "42", "document_index": 0, "document_title": None, **location}
    body = sent(CLAUDE, TextContent("It is 42.", json.dumps([citation | {"file_id": file}])))
    assert json.dumps([citation], separators=(",", ":")) in body


SHELL = {"type": "shell_call", "id": "sh_1", "call_id": "call_1", "action": {"commands": ["ls"]}, "status": "completed"}
LISTED = {"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
ITEMS: list[list[dict[str, Any]]] = [
    [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}],
    [
        SHELL,
        {"type": "shell_call_output", "id": "sho_1", "call_id": "call_1", "output": [LISTED], "status": "completed"},
    ],
    [
        {"type": "tool_search_call", "id": "tsc_1", "call_id": "call_1", "execution": "server", "arguments": {}},
        {"type": "tool_search_output", "id": "tso_1", "call_id": "call_1", "execution": "server", "tools": []},
    ],
]


@pytest.mark.parametrize("items", ITEMS, ids=lambda items: str(items[0]["type"]))
@pytest.mark.parametrize("maker", [None, "user_1"])
def test_items_go_back_without_their_maker(items: list[dict[str, Any]], maker: str | None) -> None:
    """The helper of the SDK leaves it out, too (openai-node#1794, 2026-06)."""
    made = [
        item | {"output": [each | {"created_by": maker} for each in item["output"]]} if "output" in item else item
        for item in items
    ]
    blocks = [ProviderContent(item | {"created_by": maker}, item["type"]) for item in made]
    body = sent(GPT, *blocks, TextContent("Done.", '{"id":"msg_1"}'))
    for item in items:
        assert json.dumps(item, separators=(",", ":")) in body


def test_a_compaction_goes_back_without_its_status() -> None:
    """ "Unknown parameter: 'input[N].status'" (oh-my-pi#10415, 2026-08)."""
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"}
    stored = ProviderContent(item | {"status": "completed"}, "compaction")
    body = sent(GPT, stored, TextContent("Done.", '{"id":"msg_1"}'))
    assert json.dumps(item, separators=(",", ":")) in body
