"""The same conversation as discriminated unions of pydantic v2, which most similar projects use."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Text(_Model):
    type: Literal["text"] = "text"
    text: str
    text_signature: str | None = None


class Image(_Model):
    type: Literal["image"] = "image"
    data: str
    mime_type: str


class Thinking(_Model):
    type: Literal["thinking"] = "thinking"
    thinking: str
    thinking_signature: str | None = None
    redacted: bool = False


class Call(_Model):
    type: Literal["toolCall"] = "toolCall"
    id: str
    name: str
    arguments: dict[str, Any]
    thought_signature: str | None = None


class Cost(_Model):
    input: float
    output: float
    cache_read: float
    cache_write: float
    total: float


class Tokens(_Model):
    input: int
    output: int
    cache_read: int
    cache_write: int
    total_tokens: int
    cost: Cost | None = None


class User(_Model):
    role: Literal["user"] = "user"
    content: list[Annotated[Text | Image, Field(discriminator="type")]]


class Assistant(_Model):
    role: Literal["assistant"] = "assistant"
    content: list[Annotated[Text | Thinking | Call, Field(discriminator="type")]]
    protocol: str
    provider: str
    model: str
    usage: Tokens
    stop_reason: Literal["stop", "length", "toolUse", "error", "aborted"]
    timestamp: int
    response_model: str | None = None
    response_id: str | None = None
    error_message: str | None = None


class Result(_Model):
    role: Literal["toolResult"] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: list[Annotated[Text | Image, Field(discriminator="type")]]
    is_error: bool


class Tool(_Model):
    name: str
    description: str
    parameters: dict[str, Any]


class Conversation(_Model):
    version: Literal[1] = 1
    system_prompt: str | None = None
    messages: list[Annotated[User | Assistant | Result, Field(discriminator="role")]]
    tools: list[Tool] = []
