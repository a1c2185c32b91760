"""What all encoders share: the fixed texts, and reports that refer to stored messages."""

import pytest
from support.targets import distinct_on_the_wire

from segue.dialects import AnthropicMessages, MistralChat
from segue.projection.project import rendered
from segue.projection.step import Report
from segue.types import (
    AssistantMessage,
    Context,
    Message,
    Model,
    Options,
    TextContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
    texts,
)
from segue.wire.common.outgoing import Outgoing
from segue.wire.registry import PROTOCOLS

MODEL: Model = next(iter(distinct_on_the_wire("mistral-chat").values()))


def outgoing(messages: list[Message], options: Options | None = None) -> tuple[Outgoing[MistralChat], Report]:
    context = Context(messages=messages, tools=[ToolDefinition("my.tool"), ToolDefinition("read")])
    report = Report()
    return Outgoing(rendered(context, MODEL), MODEL, MistralChat, options or Options(), report), report


def test_the_fixed_texts_are_exactly_these() -> None:
    assert {name: value for name, value in vars(texts).items() if name.isupper()} == {
        "OPENING": "Continue the conversation.",
        "CLOSING": "Continue.",
        "BETWEEN": "Understood.",
        "ERROR": "Error: ",
        "EMPTY_RESULT": "(no output)",
        "SYSTEM": "[System] {}",
        "ORPHAN": "[Result of an earlier call to {}]",
        "REASONING": "[Reasoning] ",
        "IMAGE_OMITTED": "(image omitted: model does not support images)",
        "TOOL_IMAGE_OMITTED": "(tool image omitted: model does not support images)",
        "IMAGE_EMPTY": "(image omitted: it is empty)",
        "IMAGE_UNREAD": "(image omitted: {})",
        "IMAGE_TOO_LARGE": "(image omitted: it is larger than the model accepts)",
        "FILE_OMITTED": "(file omitted: {}; model does not support it)",
        "FILE_AS_TEXT": "[File {}]\n{}",
        "IMAGE_NOT_ATTACHED": "(image not attached: {})",
        "FILE_NOT_ATTACHED": "(file not attached: {})",
        "PROVIDER_CONTENT": "[{}] {}",
        "IMAGES_BELOW": "(see the images below)",
        "FILES_BELOW": "(see the files below)",
        "MOVED_IMAGES": "Images from the tool results above:",
        "MOVED_FILES": "Files from the tool results above:",
        "MOVED_BOTH": "Images and files from the tool results above:",
    }


@pytest.mark.parametrize("text", ["it broke", "Error: it broke", "error: it broke", "Error:", ""])
def test_a_failed_text_is_marked_only_once(text: str) -> None:
    marked = texts.as_error(text)
    assert marked.startswith("Error: ")
    assert marked.endswith(text)
    assert texts.as_error(marked) == marked


def test_changes_refer_to_stored_messages_after_dropped_and_added_ones() -> None:
    made = AssistantMessage(
        content=[ToolCall("a", "read", {}), ToolCall("b", "read", {})],
        protocol="x",
        provider="y",
        model="z",
        stop_reason="toolUse",
    )
    stored: list[Message] = [
        UserMessage(" "),  # left out
        UserMessage("go"),
        made,
        UserMessage("wait"),
        ToolResultMessage("b", "read", [TextContent("two")]),  # moved before the words; the other one is made up
    ]
    out, report = outgoing(stored)
    messages = out.rendered.messages
    for index in range(len(messages)):
        out.note("turns-merged", index)
    kinds = [type(message).__name__ for message in messages]
    assert kinds == ["UserMessage", "AssistantMessage", "ToolResultMessage", "ToolResultMessage", "UserMessage"]
    assert [change.message for change in report.changes] == [1, 2, 2, 4, 3]


def test_changes_of_the_whole_request_have_no_message_and_dropped_options_are_lossy() -> None:
    out, report = outgoing([UserMessage("go")])
    out.drop_option("stop", "nobody stops")
    out.note("schema-adapted", None, "read")
    assert [(each.message, each.lossy, each.detail) for each in report.changes] == [
        (None, True, "stop: nobody stops"),
        (None, False, "read"),
    ]


def test_a_model_of_another_protocol_is_refused() -> None:
    rendering = rendered(Context(messages=[UserMessage("go")]), MODEL)
    with pytest.raises(TypeError, match="AnthropicMessages"):
        Outgoing(rendering, MODEL, AnthropicMessages, Options(), Report())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_a_target_whose_projection_goes_out(protocol: str) -> None:
    for model in distinct_on_the_wire(protocol).values():
        rendering = rendered(Context(messages=[UserMessage("go")]), model)
        out = Outgoing(rendering, model, type(model.dialect), Options(), Report())
        assert out.rendered.messages == [UserMessage("go")]
