"""Hypothesis strategies for every canonical value, including unusual ones."""

import base64
from typing import Any

from hypothesis import strategies as st

from segue.types import (
    AssistantMessage,
    Context,
    Diagnostic,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    Usage,
    UsageCost,
    UserMessage,
)

texts = st.text(max_size=30)  # st.text() has no lone surrogates
optional_texts = st.none() | texts
floats = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(min_value=0, max_value=2**40)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

text_blocks = st.builds(TextContent, text=texts, text_signature=optional_texts)
image_blocks = st.builds(
    ImageContent,
    data=st.binary(max_size=12).map(lambda raw: base64.b64encode(raw).decode()),
    mime_type=st.sampled_from(["image/png", "image/jpeg"]),
)
thinking_blocks = st.builds(ThinkingContent, thinking=texts, thinking_signature=optional_texts, redacted=st.booleans())
tool_calls = st.builds(ToolCall, id=texts, name=texts, arguments=json_objects, thought_signature=optional_texts)

costs = st.builds(UsageCost, floats, floats, floats, floats, floats)
usages = st.builds(Usage, counts, counts, counts, counts, counts, cost=st.none() | costs)
diagnostics = st.builds(
    Diagnostic, type=texts, timestamp=counts, message=optional_texts, details=st.none() | json_objects
)
stop_reasons = st.sampled_from(["stop", "length", "toolUse", "error", "aborted"])

user_messages = st.builds(UserMessage, content=st.lists(text_blocks | image_blocks, max_size=4))
assistant_messages = st.builds(
    AssistantMessage,
    content=st.lists(text_blocks | thinking_blocks | tool_calls, max_size=5),
    protocol=texts,
    provider=texts,
    model=texts,
    usage=usages,
    stop_reason=stop_reasons,
    timestamp=counts,
    response_model=optional_texts,
    response_id=optional_texts,
    error_message=optional_texts,
    diagnostics=st.lists(diagnostics, max_size=2),
    endpoint=optional_texts,
    prefix_digest=optional_texts,
)
tool_results = st.builds(
    ToolResultMessage,
    tool_call_id=texts,
    tool_name=texts,
    content=st.lists(text_blocks | image_blocks, max_size=3),
    is_error=st.booleans(),
    synthetic=st.booleans(),
)
messages = user_messages | assistant_messages | tool_results
tools = st.builds(ToolDefinition, name=texts, description=texts, parameters=json_objects)
contexts = st.builds(
    Context,
    system_prompt=optional_texts,
    messages=st.lists(messages, max_size=6),
    tools=st.lists(tools, max_size=3),
)

every_value = st.one_of(
    text_blocks,
    image_blocks,
    thinking_blocks,
    tool_calls,
    costs,
    usages,
    diagnostics,
    user_messages,
    assistant_messages,
    tool_results,
    tools,
    contexts,
)
