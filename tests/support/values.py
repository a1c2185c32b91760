"""Hypothesis strategies for every canonical value, including unusual ones."""

import base64
from typing import Any

from hypothesis import strategies as st

from segue.types import (
    AssistantMessage,
    Context,
    Diagnostic,
    FileContent,
    ImageContent,
    ProviderContent,
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
encoded = st.binary(max_size=12).map(lambda raw: base64.b64encode(raw).decode())
addresses = texts.map(lambda text: f"https://example.com/{text}")
image_blocks = st.builds(
    ImageContent, data=encoded, mime_type=st.sampled_from(["image/png", "image/jpeg"])
) | st.builds(ImageContent, url=addresses, mime_type=texts)
file_types = st.sampled_from(["application/pdf", "text/plain", "audio/wav", "video/mp4", "x"])
file_blocks = st.builds(
    FileContent, data=encoded | st.binary(max_size=9), mime_type=file_types, name=optional_texts
) | st.builds(FileContent, url=addresses, mime_type=file_types, name=optional_texts)
provider_blocks = st.builds(ProviderContent, raw=json_objects, kind=texts, text=texts)
shown_blocks = text_blocks | image_blocks | file_blocks
kinds = st.sampled_from([None, None, "custom"])
meta = st.none() | json_objects
thinking_blocks = st.builds(ThinkingContent, thinking=texts, thinking_signature=optional_texts, redacted=st.booleans())
tool_calls = st.builds(
    ToolCall,
    id=texts,
    name=texts,
    arguments=json_objects,
    thought_signature=optional_texts,
    kind=kinds,
    namespace=optional_texts,
)

costs = st.builds(UsageCost, floats, floats, floats, floats, floats)
usages = st.builds(Usage, counts, counts, counts, counts, counts, cost=st.none() | costs)
diagnostics = st.builds(
    Diagnostic, type=texts, timestamp=counts, message=optional_texts, details=st.none() | json_objects
)
stop_reasons = st.sampled_from(["stop", "length", "toolUse", "error", "aborted"])

user_messages = st.builds(UserMessage, content=st.lists(shown_blocks, max_size=4), injected=st.booleans(), meta=meta)
assistant_messages = st.builds(
    AssistantMessage,
    content=st.lists(text_blocks | thinking_blocks | tool_calls | provider_blocks, max_size=5),
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
    meta=meta,
)
tool_results = st.builds(
    ToolResultMessage,
    tool_call_id=texts,
    tool_name=texts,
    content=st.lists(shown_blocks, max_size=3),
    is_error=st.booleans(),
    synthetic=st.booleans(),
    meta=meta,
)
messages = user_messages | assistant_messages | tool_results
tools = st.builds(
    ToolDefinition,
    name=texts,
    description=texts,
    parameters=json_objects,
    kind=kinds,
    format=meta,
    namespace=optional_texts,
)
contexts = st.builds(
    Context,
    system_prompt=optional_texts,
    messages=st.lists(messages, max_size=6),
    tools=st.lists(tools, max_size=3),
)

every_value = st.one_of(
    text_blocks,
    image_blocks,
    file_blocks,
    provider_blocks,
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
