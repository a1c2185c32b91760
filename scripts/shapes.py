"""Write the tables of request fields, one for each protocol, from the types of the pinned SDKs. `make shapes`; a test
compares them.

Where an API accepts more than the types of its SDK, or requires less, there is a row in `AMENDMENTS`, with its source.
"""

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import botocore.session
import msgspec
from anthropic.types.beta import message_create_params as anthropic_types
from cerebras.cloud.sdk.types.chat import completion_create_params as cerebras_types
from google.genai import models as google_models, types as google_types
from groq.types.chat import completion_create_params as groq_types
from mistralai.client import models as mistral_types
from msgspec.structs import replace
from openai.types.chat import completion_create_params as openai_types
from openai.types.responses import response_create_params as responses_types
from shape_sources import (
    ANY,
    Pydantic,
    ServiceModel,
    TypedDicts,
    beside_the_config,
    either,
    in_the_config,
    merged,
    refused_options,
)

from segue.rules.shape import Items, Node, Number, Record, Table, Text, snake

WIRE = Path(__file__).parent.parent / "src" / "segue" / "wire"
NULL, TEXT, NUMBER = Node(null=True), Node(text=Text()), Node(number=Number())


def typed_dicts(package: str, *roots: Any, without: tuple[str, ...] = ()) -> Table:
    """The table of a request from typed dicts, one for each way to send it."""
    source = TypedDicts()
    body: Record | None = None
    for root in roots:
        record = source.record(root)
        body = record if body is None else merged(body, record)
    assert body is not None
    fields = {name: node for name, node in body.fields.items() if name not in without}
    records = {"Body": replace(body, fields=fields), **source.made}
    return Table(sources={package: version(package)}, root="Body", records=records)


def anthropic() -> Table:
    """With betas, because a body does not show whether their header is sent. The stable types have no other fields (a
    test compares them); `betas` is that header."""
    return typed_dicts(
        "anthropic",
        anthropic_types.MessageCreateParamsNonStreaming,
        anthropic_types.MessageCreateParamsStreaming,
        without=("betas",),
    )


def completions() -> Table:
    return typed_dicts(
        "openai", openai_types.CompletionCreateParamsNonStreaming, openai_types.CompletionCreateParamsStreaming
    )


def groq() -> Table:
    """Without two fields of which the types say "This parameter is not currently supported", and the API "property
    'store' is unsupported" (fanenr/chatbot#21)."""
    return typed_dicts("groq", groq_types.CompletionCreateParams, without=("store", "metadata"))


def cerebras() -> Table:
    """Without fields that are sent as headers."""
    headers = ("CF-RAY", "X-Amz-Cf-Id", "X-delay-time")
    return typed_dicts("cerebras-cloud-sdk", cerebras_types.CompletionCreateParams, without=headers)


def responses() -> Table:
    """With items of multiple agents of any shape, which the API accepts (2026-08) and the SDK does not have."""
    table = typed_dicts(
        "openai", responses_types.ResponseCreateParamsNonStreaming, responses_types.ResponseCreateParamsStreaming
    )
    kinds = Text(values=("agent_message", "multi_agent_call", "multi_agent_call_output"))
    agents = Record(fields={"type": Node(text=kinds)}, required=("type",), open=True)
    body = table.records["Body"]
    items = either(body.fields["input"], Node(items=Items(Node(objects=("OfAgents",)))))
    body = replace(body, fields=body.fields | {"input": items})
    return replace(table, records=table.records | {"Body": body, "OfAgents": agents})


def mistral() -> Table:
    return typed_dicts(
        "mistralai", mistral_types.ChatCompletionRequestTypedDict, mistral_types.ChatCompletionStreamRequestTypedDict
    )


def google() -> Table:
    """The SDK has no type for the body: its fields are those that the SDK's converters write for either surface. They
    also write fields of the config that its type does not have."""
    source = Pydantic()
    fields = {
        "contents": source.node(list[google_types.Content]),
        "systemInstruction": source.node(google_types.Content),
        "tools": source.node(list[google_types.Tool]),
        "toolConfig": source.node(google_types.ToolConfig),
        "safetySettings": source.node(list[google_types.SafetySetting]),
        "generationConfig": source.node(google_types.GenerationConfig),
        "cachedContent": TEXT,
        # From the path; GenerateContentRequest has it, too (ai.google.dev/api/generate-content, 2026-11).
        "model": TEXT,
    }
    options = google_types.GenerateContentConfig.model_fields
    beside: dict[str, str] = {}
    for surface in SURFACES.values():
        beside |= beside_the_config(getattr(google_models, f"_GenerateContentConfig_to_{surface}"))
    fields |= {name: source.field(options[option]) for name, option in beside.items() if name not in fields}
    body = Record(fields={name: either(node, NULL) for name, node in fields.items()})
    config = dict(source.made["GenerationConfig"].fields)
    for surface in SURFACES.values():
        written = in_the_config(getattr(google_models, f"_GenerateContentConfig_to_{surface}"))
        config |= {name: source.field(options[option]) for name, option in written.items() if name not in config}
    records = {"Body": body, **source.made, "GenerationConfig": Record(fields=config)}
    return Table(
        sources={"google-genai": version("google-genai")},
        root="Body",
        records=records,
        both_spellings=True,
        absent={name: _absent(surface, records, beside) for name, surface in SURFACES.items()},
    )


SURFACES = {"gemini": "mldev", "vertex": "vertex"}
"""The names of surfaces in google-genai, by their names in the dialect."""


def _absent(surface: str, records: dict[str, Record], beside: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """The fields that a surface does not have, by record. Options of a request are in the body or in its config."""
    refused = refused_options(google_models, surface)
    of_request = refused.get("GenerateContentConfig", [])
    refused.setdefault("GenerationConfig", []).extend(of_request)
    found = {
        name: [each for each in records[name].fields if snake(each) in refused[name]]
        for name in refused
        if name in records
    }
    found["Body"] = [name for name, option in beside.items() if option in of_request]
    return {name: tuple(fields) for name, fields in sorted(found.items()) if fields}


def bedrock() -> Table:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    source = ServiceModel()
    shapes = [service.operation_model(name).input_shape for name in ("Converse", "ConverseStream")]
    body = merged(source.record(shapes[0]), source.record(shapes[1]))
    return Table(sources={"botocore": version("botocore")}, root="Body", records={"Body": body, **source.made})


# -- differences from the types --------------------------------------------------------------------------------------

Amendment = tuple[str, str, Node | None]
"""A record, one of its fields, and what else the field may contain; None: it is not required."""

AMENDMENTS: dict[str, tuple[Amendment, ...]] = {
    # By folder, or by file if a folder has several.
    "anthropic_messages": (
        # Sampling is gone from the types since API version 2026-10-21; older models accept it (ANT-48).
        ("Body", "temperature", NUMBER),
        ("Body", "top_p", NUMBER),
        ("Body", "top_k", Node(number=Number(whole=True))),
        # Bedrock and Vertex have the version and the betas in the body (docs.claude.com, Claude on Vertex AI, 2026-11).
        ("Body", "anthropic_version", TEXT),
        ("Body", "anthropic_beta", Node(items=Items(TEXT))),
    ),
    "openai_completions/shape.json": (
        # Null counts as absent, measured by a third party on gpt-5.6-terra, 2026-09.
        ("ChatCompletionAssistantMessageParam", "tool_calls", NULL),
    ),
    "openai_completions/shape_groq.json": (
        # Only the types of its chunks mention it (SDK groq 1.7.0, chat_completion_chunk.py); ChatGroq of LangChain.js
        # sends it, 2026.
        ("Body", "stream_options", ANY),
    ),
    "mistral_chat": (
        # The models next to the typed dicts have defaults for these two, and so has the server's (mistral-common 1.13,
        # protocol/instruct/tool_calls.py, Tool), 2026-11.
        ("Tool", "type", None),
        ("Prediction", "type", None),
    ),
    "openai_responses": (
        # Sent by Codex 0.166 (codex-rs/codex-api, ResponsesApiRequest, 2026-11): strings by name.
        ("Body", "client_metadata", ANY),
        # Codex 0.166 sends reasoning items back with `"content": null`; only a list that is not empty is refused
        # (OAR-11).
        ("ResponseReasoningItemParam", "content", NULL),
        # Codex sends answers back as texts only (its ContentItem::OutputText has only a text). That its messages have
        # no id and status was not checked again; earlier versions of lint did not require them.
        ("ResponseOutputMessageParam", "id", None),
        # The AI SDK of Vercel sends answers without it (vercel/ai, convert-to-openai-responses-input.ts, 2026).
        ("ResponseOutputMessageParam", "type", None),
        ("ResponseOutputMessageParam", "status", None),
        ("ResponseOutputTextParam", "annotations", None),
        # Codex never writes the ids of these three, and sends the status of a custom call and images without detail
        # (openai/codex, codex-rs/protocol/src/models.rs: `skip_serializing`, 2026-11). Reasoning without its id has its
        # encrypted content (OAR-06).
        ("ResponseReasoningItemParam", "id", None),
        ("ResponseFunctionWebSearchParam", "id", None),
        ("LocalShellCall", "id", None),
        ("ResponseCustomToolCallParam", "status", Node(text=Text(values=("in_progress", "completed", "incomplete")))),
        ("ResponseInputImageParam", "detail", None),
        # The API lists messages of the user with their ids (SDK openai 3.49.0, ResponseInputMessageItem), and checks
        # their prefixes when they are sent back (OAR-06).
        ("Message", "id", TEXT),
        # Unverified: clients leave them out, and no refusal was seen; earlier versions of lint did not require them.
        ("FunctionToolParam", "parameters", None),
        ("FunctionToolParam", "strict", None),
    ),
}


def amended(file: str, table: Table) -> Table:
    records = dict(table.records)
    for name, field, node in (*AMENDMENTS.get(file.partition("/")[0], ()), *AMENDMENTS.get(file, ())):
        record = records[name]
        if node is None:
            assert field in record.required, f"{name}.{field} is not required"
            records[name] = replace(record, required=tuple(each for each in record.required if each != field))
        else:
            before = record.fields.get(field)
            assert before is None or either(before, node) != before, f"{name}.{field} is in the types by now"
            fields = record.fields | {field: node if before is None else either(before, node)}
            records[name] = replace(record, fields=fields)
    return replace(table, records=records)


TABLES: dict[str, Callable[[], Table]] = {
    "anthropic_messages/shape.json": anthropic,
    "openai_completions/shape.json": completions,
    "openai_completions/shape_groq.json": groq,
    "openai_completions/shape_cerebras.json": cerebras,
    "openai_responses/shape.json": responses,
    "google_generative_ai/shape.json": google,
    "bedrock_converse/shape.json": bedrock,
    "mistral_chat/shape.json": mistral,
}


def written(name: str) -> str:
    """The text of a table's file: one line for each record."""
    table = amended(name, TABLES[name]())
    head = json.dumps(msgspec.to_builtins(replace(table, records={})))
    rows = [f"{json.dumps(record)}: {json.dumps(msgspec.to_builtins(row))}" for record, row in table.records.items()]
    return head.replace('"records": {}', '"records": {\n' + ",\n".join(rows) + "\n}") + "\n"


def main() -> None:
    for name in TABLES:
        (WIRE / name).write_text(written(name))


if __name__ == "__main__":
    main()
