"""The forms in which corpora hold conversations: each is read correctly, from JSONL and from Parquet."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from support.corpora import written

import segue
from segue.bulk import Settings, convert_batch, lint_batch, on_this_machine, run, stats_batch
from segue.types import ToolCall, ToolResultMessage

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "the weather", "parameters": SCHEMA}}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "18 C"},
    {"role": "assistant", "content": "18 degrees."},
]
STRUCTS = [
    *OPENAI[:2],
    OPENAI[2] | {"tool_calls": [CALL | {"function": {"name": "weather", "arguments": {"city": "Paris"}}}]},
]
STRUCTS += OPENAI[3:]
SHAREGPT = [
    {"from": "human", "value": "Weather in Paris?"},
    {"from": "gpt", "value": 'I look.\n<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>'},
    {"from": "tool", "value": "<tool_response>\n18 C\n</tool_response>"},
    {"from": "gpt", "value": "18 degrees."},
]
LLAMA_FACTORY = [
    SHAREGPT[0],
    {"from": "gpt", "value": "I look."},
    {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Paris"}}'},
    {"from": "observation", "value": "18 C"},
    SHAREGPT[3],
]
ANTHROPIC_TOOLS = [{"name": "weather", "description": "the weather", "input_schema": SCHEMA}]
OWN = segue.ingest({"messages": OPENAI, "tools": TOOLS}, now=0)
ANTHROPIC = segue.export(OWN, "anthropic-messages").body
GEMINI = segue.export(OWN, "google-generative-ai").body
RESPONSES = segue.export(OWN, "openai-responses").body

ROWS: dict[str, dict[str, Any]] = {
    "OpenAI messages": {"messages": OPENAI, "tools": TOOLS},
    "OpenAI messages, tools as text": {"messages": OPENAI, "tools": json.dumps(TOOLS)},
    "OpenAI messages as text": {"messages": json.dumps(OPENAI), "tools": json.dumps(TOOLS)},
    "OpenAI messages, arguments as structs": {"messages": STRUCTS, "tools": TOOLS},
    "a request body as text": {"request": json.dumps({"messages": OPENAI, "tools": TOOLS})},
    "a request body as struct": {"request": {"messages": OPENAI, "tools": TOOLS}},
    "an unknown column": {"trace": OPENAI, "tools": json.dumps(TOOLS)},
    "prompt and completion": {"prompt": OPENAI[:4], "completion": OPENAI[4:], "tools": TOOLS},
    "ShareGPT with tags": {"conversations": SHAREGPT, "system": "Be brief.", "tools": json.dumps(TOOLS)},
    "ShareGPT with calls": {"conversations": LLAMA_FACTORY, "system": "Be brief.", "tools": json.dumps(TOOLS)},
    "Anthropic": ANTHROPIC,
    "Anthropic, tools as text": ANTHROPIC | {"tools": json.dumps(ANTHROPIC_TOOLS)},
    "Gemini": GEMINI,
    "Responses": {name: json.dumps(value) if name == "input" else value for name, value in RESPONSES.items()},
    "segue": json.loads(OWN.to_json()),
}


def said(context: segue.Context) -> list[Any]:
    """What a conversation says, without ids and other details that forms do not have."""
    found: list[Any] = [context.system_prompt, [tool.name for tool in context.tools]]
    for message in context.messages:
        texts = [block.arguments if isinstance(block, ToolCall) else block.text for block in message.content]  # type: ignore[union-attr]  # there are only texts
        found += [message.role, message.tool_name, texts] if isinstance(message, ToolResultMessage) else texts
    return found


def paired(context: segue.Context) -> bool:
    results = [message for message in context.messages if isinstance(message, ToolResultMessage)]
    calls = [block.id for message in context.messages for block in message.content if isinstance(block, ToolCall)]
    return [result.tool_call_id for result in results] == calls != []


def result_of(row: dict[str, Any]) -> segue.Context:
    name = next(name for name in ("trace", "request", "conversations", "contents", "input", "messages") if name in row)
    body = json.loads(row[name]) if isinstance(row[name], str) else row[name]
    return segue.ingest(body, "openai-completions", now=0)


OTHERS = {"id": 7, "rate": 0.5, "labels": ["a", None], "about": {"source": "x", "nothing": None}}
"""Columns that have nothing to do with the conversation."""


@pytest.mark.parametrize("form", ROWS)
@pytest.mark.parametrize("container", ["jsonl", "parquet"])
def test_each_form_is_read_correctly_and_other_columns_stay(form: str, container: str, tmp_path: Path) -> None:
    row, path = OTHERS | ROWS[form], tmp_path / f"rows.{container}"
    if container == "parquet":
        parquet.write_table(pa.Table.from_pylist([row, row]), path)
    else:
        path.write_text(f"{json.dumps(row)}\n" * 2)
    settings = Settings(command="convert", protocol="openai-completions")
    report = run(settings, [str(path)], str(tmp_path / "out"), engine=on_this_machine(1))
    assert report.rejected == 0, report.reasons
    if container == "parquet":
        done = parquet.read_table(tmp_path / "out" / "rows-00000.parquet").to_pylist()
    else:
        done = written(tmp_path / "out")
    for converted in done:
        found = result_of(converted)
        if form == "ShareGPT with calls":  # its text and its call are two answers
            assert [said(found)[0], *said(found)[2:]] == [said(OWN)[0], *said(OWN)[2:]]
        else:
            assert said(found) == said(OWN)
        assert paired(found)
        assert {name: converted[name] for name in OTHERS} == OTHERS
        assert converted["segue_lost"] == []
        assert {"segue_changes", "segue_findings"} <= converted.keys()


def test_structs_that_arrow_has_filled_with_nulls_are_read_without_them(tmp_path: Path) -> None:
    other = json.loads(json.dumps(STRUCTS).replace('"city": "Paris"', '"place": {"name": "Rome", "zip": 1}'))
    table = pa.Table.from_pylist([{"messages": STRUCTS}, {"messages": other}])
    filled = table.to_pylist()
    assert filled[0]["messages"][1]["tool_calls"] is None  # what Arrow does
    parquet.write_table(table, tmp_path / "rows.parquet")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in filled))
    inputs = [str(tmp_path / "rows.parquet"), str(tmp_path / "rows.jsonl")]
    settings = Settings(command="convert", protocol="openai-completions")
    assert run(settings, inputs, str(tmp_path / "out"), engine=on_this_machine(1)).rejected == 0
    rows = parquet.read_table(tmp_path / "out" / "rows-00000.parquet").to_pylist()
    for texts in (rows, written(tmp_path / "out")):
        contexts = [result_of(row) for row in texts]
        arguments = [
            block.arguments
            for each in contexts
            for message in each.messages
            for block in message.content
            if isinstance(block, ToolCall)
        ]
        assert arguments == [{"city": "Paris"}, {"place": {"name": "Rome", "zip": 1}}]


def test_dates_in_structs_of_parquet_are_read_as_text(tmp_path: Path) -> None:
    function = {"name": "weather", "arguments": {"day": datetime(2026, 11, 18, tzinfo=UTC)}}
    messages = [OPENAI[1], OPENAI[2] | {"tool_calls": [CALL | {"function": function}]}, OPENAI[3]]
    table = convert_batch(pa.Table.from_pylist([{"messages": messages}]), protocol="anthropic-messages")
    [row] = table.to_pylist()
    assert row["segue_rejected"] is None
    assert json.loads(row["messages"])["messages"][1]["content"][1]["input"] == {"day": "2026-11-18T00:00:00Z"}


def test_tools_in_text_with_nulls_are_read_without_them() -> None:
    tools = [TOOLS[0] | {"input_schema": None, "strict": None}]
    for given in (tools, json.dumps(tools), msgspec.Raw(json.dumps(tools).encode())):
        [row] = convert_batch([{"messages": OPENAI, "tools": given}], protocol="openai-completions")
        assert [tool["function"]["name"] for tool in json.loads(row["messages"])["tools"]] == ["weather"]


def test_a_null_that_a_model_wrote_into_arguments_stays() -> None:
    call = CALL | {"function": {"name": "weather", "arguments": '{"city":null}'}}
    rows = [{"messages": [OPENAI[1], OPENAI[2] | {"tool_calls": [call], "refusal": None}, OPENAI[3]]}]
    [row] = convert_batch(rows, protocol="anthropic-messages")
    assert json.loads(row["messages"])["messages"][1]["content"][1]["input"] == {"city": None}


BATCHES = {
    "rows": lambda rows: rows,
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "table": pa.Table.from_pylist,
}


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_keeps_its_kind_and_its_rows(kind: str) -> None:
    rows = [
        {"id": 1, "messages": json.dumps(OPENAI)},
        {"id": 2, "messages": "nothing"},
        {"id": 3, "messages": json.dumps(OPENAI[:3])},
    ]
    batch = BATCHES[kind](rows)

    def as_rows(done: Any) -> list[dict[str, Any]]:
        assert type(done) is type(batch)
        if isinstance(done, dict):
            return [dict(zip(done, values, strict=True)) for values in zip(*done.values(), strict=True)]
        return done if isinstance(done, list) else done.to_pylist()  # type: ignore[no-any-return]  # a table

    converted = as_rows(convert_batch(batch, to="anthropic/claude-sonnet-4-5", check=True))
    assert [row["id"] for row in converted] == [1, 2, 3]
    assert [row["segue_rejected"] is None for row in converted] == [True, False, True]
    assert converted[1]["messages"] == "nothing"
    assert converted[2]["segue_changes"] == ["id-projected", "result-synthesized", "tools-stubbed"]
    assert converted[2]["segue_findings"] == []
    linted = as_rows(lint_batch(batch))
    assert linted[0]["segue_findings"] == [] and linted[2]["segue_findings"] != []
    assert linted[0]["messages"] == rows[0]["messages"]
    assert [row["segue_calls"] for row in as_rows(stats_batch(batch))] == [1, 0, 1]


def test_a_conversion_has_one_target() -> None:
    with pytest.raises(segue.SettingError, match="a model or a protocol"):
        convert_batch([])


def test_other_columns_of_parquet_keep_their_types(tmp_path: Path) -> None:
    when = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
    others = pa.table(
        {
            "small": pa.array([1, None], pa.int8()),
            "price": pa.array([Decimal("1.10"), None], pa.decimal128(6, 2)),
            "when": pa.array([when, None], pa.timestamp("us", tz="Europe/Paris")),
            "day": pa.array([when.date(), None], pa.date32()),
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "long": pa.array(["x", None], pa.large_string()),
            "data": pa.array([b"\x00\xff", None], pa.binary()),
            "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
            "fixed": pa.array([[0.5, 1.5], [2.5, 3.5]], pa.list_(pa.float32(), 2)),
            "deep": pa.array([{"a": None, "b": [{"c": 1}]}, None]),
        }
    )
    table = others.append_column("messages", pa.array([OPENAI, OPENAI[:2]]))
    fields = [field.with_metadata({"unit": "none"}) if field.name == "small" else field for field in table.schema]
    table = table.cast(pa.schema(fields, metadata={"about": "a test"}))
    parquet.write_table(table, tmp_path / "rows.parquet", compression="zstd")
    settings = Settings(command="convert", protocol="anthropic-messages")
    run(settings, [str(tmp_path / "rows.parquet")], str(tmp_path / "out"), engine=on_this_machine(1))
    read, done = (parquet.read_table(file) for file in (tmp_path / "rows.parquet", tmp_path / "out/rows-00000.parquet"))
    assert done.select(others.column_names).equals(read.select(others.column_names), check_metadata=True)
    assert done.schema.field("messages").type == pa.string()


def test_other_columns_of_jsonl_keep_their_text(tmp_path: Path) -> None:
    others = '"id":12345678901234567890123,"rate":1.50e0,"name":"\\u00e9\\/","empty":{},"deep":{"a":[null,1.0]}'
    (tmp_path / "rows.jsonl").write_text(f'{{{others},"messages":{json.dumps(OPENAI)}}}\n')
    settings = Settings(command="convert", protocol="anthropic-messages")
    run(settings, [str(tmp_path / "rows.jsonl")], str(tmp_path / "out"), engine=on_this_machine(1))
    assert (tmp_path / "out" / "rows-00000.jsonl").read_text().startswith(f"{{{others},")


def test_a_policy_is_followed() -> None:
    rows = [{"messages": [OPENAI[1], OPENAI[2]]}]
    [repaired], [stored] = (
        convert_batch(rows, to="mistral/mistral-large-latest", policy=policy) for policy in ("default", "off")
    )
    assert "result-synthesized" in repaired["segue_changes"]
    assert "result-synthesized" not in stored["segue_changes"]
