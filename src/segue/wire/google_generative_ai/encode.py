"""A projected conversation to the body of ``generateContent``, for the Gemini API and Vertex.

Rules are cited where they are applied, by their numbers in ``rules.py``. Options are in ``options.py``.
"""

from typing import Any, assert_never

from msgspec import UNSET, Struct, UnsetType

from ...dialects import GoogleGenerativeAI
from ...projection import matches, same_origin
from ...types import (
    AssistantMessage,
    FileContent,
    ImageContent,
    ProviderContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ...types.media import type_of_address, type_of_file
from ...types.texts import CLOSING, IMAGES_BELOW, OPENING
from ..common.images import sendable
from ..common.outgoing import Outgoing
from ..common.results import all_below, hold
from ..common.turns import Held, Turns
from .options import add_options
from .schema import to_openapi
from .server_parts import is_source, paired, sent_back
from .shapes import IMAGE_TYPES, UNREADABLE_BY, is_base64, padded

Out = Outgoing[GoogleGenerativeAI]
Part = Any
"""A dict, or a struct that is written as an object."""

# Contents have no reference cycles, so the garbage collector does not track them (gc=False).


class Content(Struct, gc=False):
    role: str
    parts: list[Part]


class Text(Struct, gc=False):
    text: str


class SignedText(Struct, rename="camel", gc=False):
    text: str
    thought_signature: str


class Thought(Struct, omit_defaults=True, rename="camel", gc=False):
    text: str
    thought: bool
    thought_signature: str | None = None


class Call(Struct, gc=False):
    name: str
    args: dict[str, Any]
    id: str | UnsetType  # GEM-13


class CallPart(Struct, omit_defaults=True, rename="camel", gc=False):
    function_call: Call
    thought_signature: str | None = None


class Output(Struct, gc=False):
    output: str


class Response(Struct, gc=False):
    name: str
    id: str | UnsetType
    response: Output | dict[str, str]
    parts: list[Part] | UnsetType = UNSET


class ResponsePart(Struct, rename="camel", gc=False):
    function_response: Response


def body(out: Out, turns: "GoogleTurns") -> dict[str, Any]:
    """The request body around the contents. Model and streaming are in the path."""
    body = conversation(out, turns)
    add_options(out, body)
    return body


def conversation(out: Out, turns: "GoogleTurns") -> dict[str, Any]:
    """The system prompt, the contents and the tools."""
    body: dict[str, Any] = {}
    if out.system is not None:
        body["systemInstruction"] = {"parts": [{"text": out.system}]}
    body["contents"] = turns.turns
    if out.tools:
        body["tools"] = [{"functionDeclarations": out.each_tool(_declaration)}]
    return body


# -- contents --------------------------------------------------------------------------------------------------------


class GoogleTurns(Turns[GoogleGenerativeAI]):
    """Adjacent answers are one content (GEM-04), and so are the results of a batch, with nothing else in it (GEM-06,
    GEM-09). User contents may be adjacent: a user message after results is a separate content."""

    no_text = IMAGES_BELOW
    """The text of a result that has only images."""

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self.in_batch = False
        """Whether the next result belongs to the last content."""
        self.filled = False
        """Whether a filler opens the conversation."""

    def add_result(self, message: ToolResultMessage) -> None:
        part = ResponsePart(self._response(message))
        if self.in_batch:
            self.last().parts.append(part)
        else:
            self._add("user", [part], in_batch=True)

    def add_user(self, message: UserMessage) -> None:
        parts = self.shown(message.content)
        if parts:
            self._add("user", parts)
        else:
            self.in_batch = False

    def add_moved(self, title: str, blocks: list[Part], last: int) -> None:
        self._add("user", [Text(title), *blocks])

    def add_answer(self, message: AssistantMessage) -> None:
        parts = self._answer(message)
        if not parts:
            self.in_batch = False
        elif self.role == "model":  # GEM-04
            self.note("turns-merged", "with the answer before it")
            self.last().parts += parts
        else:
            if not self.role:
                # Always begin with the user: a call must not come first (GEM-04), and one may be added to the first
                # content later.
                self.turns.append(Content("user", [Text(OPENING)]))
                self.filled = True
            self._add("model", parts)

    def _add(self, role: str, parts: list[Part], in_batch: bool = False) -> None:
        self.turns.append(Content(role, parts))
        self.role, self.in_batch = role, in_batch

    def close(self) -> None:
        """End with the user (GEM-10), except for a prefill on models that accept one. The request must not be empty
        (GEM-01)."""
        if self.filled:
            self.out.note("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
        if self.role == "user":
            return
        if self.turns and self.dialect.prefill and _may_be_continued(self.turns[-1].parts[-1]):
            return
        self.note("filler-inserted", f"the conversation ends with the user: {CLOSING!r}")
        self._add("user", [Text(CLOSING)])

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> list[Part]:
        parts: list[Part] = []
        called = readable = False
        provided = 0
        for block in message.content:
            if type(block) is TextContent:
                signature = block.text_signature
                if signature is not None and block.citations:
                    self.note_uncited(block, "contents have no place for them")
                    signature = None
                if signature is not None and self._may_send(signature):
                    parts.append(SignedText(block.text, signature))  # also an empty text (GEM-19)
                elif block.text and not block.text.isspace():  # GEM-03
                    parts.append(Text(block.text))
                else:
                    continue
                readable = True
            elif type(block) is ToolCall:
                signature = block.thought_signature
                if signature is None or not self._may_send(signature):
                    signature = None if called else self._dummy_signature(message)
                call = Call(block.name, block.arguments, block.id if self.dialect.send_ids else UNSET)
                parts.append(CallPart(call, signature))
                called = readable = True
            elif type(block) is ThinkingContent:
                signature = block.thinking_signature
                if signature is not None and not self._may_send(signature):
                    signature = None
                if signature is not None or (block.thinking and not block.thinking.isspace()):
                    parts.append(Thought(block.thinking, True, signature))
            elif type(block) is ProviderContent:
                part = self._provided(message, block, provided)
                provided += 1
                if part is not None:
                    parts.append(part)
                    readable = True
            else:
                assert_never(block)
        return parts if readable or not parts else self._thinking_alone(parts)

    def _dummy_signature(self, message: AssistantMessage) -> str | None:
        """The signature of the first call of an answer, if it has none but needs one (GEM-11, GEM-20), in all turns."""
        if not self.dialect.signature_required and same_origin(message, self.out.model):
            return None  # its answers without thinking have no signature
        dummy = self.dialect.dummy_signature
        self.added = self.added or dummy is not None
        return dummy

    def _provided(self, message: AssistantMessage, block: ProviderContent, number: int) -> Part | None:
        """A part as it came, or its text; ``None`` for what has no place in a request. ``number``: how many blocks of
        the provider are before it."""
        if is_source(block):
            self.note("provider-content-dropped", f"{block.kind}: the API has no place for it in requests")
            return None
        is_code = block.kind in ("executableCode", "codeExecutionResult")
        part: Part = sent_back(block) if not is_code or number in paired(message.content) else None
        if part is None and (text := self.text_instead(block)):
            part = Text(text)
        return part

    def _thinking_alone(self, parts: list[Part]) -> list[Part]:
        """The parts to send of an answer that contains only thinking."""
        # GEM-03 requires parts, and it is not documented that thoughts count: gemini-cli removes all of them from its
        # history.
        self.note("thinking-dropped", "an answer that contains only thinking may count as empty")
        return []

    def _may_send(self, signature: str) -> bool:
        """Whether the signature is base64. GEM-12: "Base64 decoding failed"."""
        valid = is_base64(signature)
        if not valid:
            self.note("signature-dropped", "signatures of this protocol are base64, and this one is not")
        return valid

    # -- users and results -------------------------------------------------------------------------------------------

    def shown(self, content: list[UserContent]) -> list[Part]:
        """The content of a user message as parts."""
        parts: list[Part] = []
        for block in content:
            if type(block) is TextContent:
                parts.append(Text(block.text))
            elif type(block) is ImageContent or type(block) is FileContent:
                parts.append(self._media(block) or Text(self.text_instead(block)))
            else:
                assert_never(block)
        return parts

    def _media(self, block: ImageContent | FileContent) -> Part | None:
        """An image or file as a part, or ``None`` if the target does not accept it."""
        dialect, is_image = self.dialect, type(block) is ImageContent
        if block.url is not None:
            mime_type = block.mime_type or type_of_address(block.url) or ""
            fetched = dialect.image_urls if is_image else matches(mime_type, dialect.file_urls)
            if not fetched or not mime_type or block.url.startswith(UNREADABLE_BY[dialect.surface]):
                return None
            return {"fileData": self._named(block, {"mimeType": mime_type, "fileUri": block.url})}
        known = self._image_type(block) if type(block) is ImageContent else type_of_file(block)
        if known is None or (not is_image and not matches(known, dialect.files)):
            return None
        return {"inlineData": self._named(block, {"mimeType": known, "data": padded(block.data)})}

    def _image_type(self, block: ImageContent) -> str | None:
        """The media type of an image's data; ``None`` if the target does not read it (GEM-26)."""
        return sendable(block.data, block.mime_type, IMAGE_TYPES)

    def _named(self, block: ImageContent | FileContent, data: dict[str, Any]) -> dict[str, Any]:
        """The data with its name. Only Vertex has a field for it: "displayName parameter is not supported in Gemini
        API" (js-genai#641, adk-python#1182, 2025)."""
        if type(block) is FileContent and block.name is not None:
            if self.dialect.surface == "vertex":
                return data | {"displayName": block.name}
            self.note_unnamed(block)
        return data

    def _response(self, message: ToolResultMessage) -> Response:
        texts: list[str] = []
        inside: list[Part] = []
        held: list[Held] = []
        for block in message.content:
            if type(block) is TextContent:
                texts.append(block.text)
            elif type(block) is ImageContent or type(block) is FileContent:
                part = self._media(block)
                if part is None:
                    texts.append(self.text_instead(block))
                elif self._fits_in_result(block):
                    inside.append(part)
                else:
                    held.append(("image" if type(block) is ImageContent else "file", part))
            else:
                assert_never(block)
        text = "\n".join(texts)
        if inside or held:
            text = text or (all_below(held) if held and self.no_text else self.no_text)
        # GEM-08: an object. 'Use "output" key to specify function output and "error" key to specify error details'
        # (google-genai 3.1.0, types.FunctionResponse). GEM-07: projection has set the name of the call.
        call_id = message.tool_call_id if self.dialect.send_ids else UNSET
        response = Response(message.tool_name, call_id, {"error": text} if message.is_error else Output(text))
        if inside:
            response.parts = inside
            self._note_order(message, bool(texts))
        if held:
            hold(self, held)  # GEM-14
        return response

    def _fits_in_result(self, block: ImageContent | FileContent) -> bool:
        if not self.dialect.images_in_results or block.url is not None:
            return False
        return type(block) is ImageContent or matches(type_of_file(block), self.dialect.files_in_results)

    def _note_order(self, message: ToolResultMessage, has_text: bool) -> None:
        kinds = [type(block) for block in message.content]
        if not has_text:
            self.note("empty-filled", "a result that has only images or files gets a text")
        elif TextContent in kinds[next(at for at, kind in enumerate(kinds) if kind is not TextContent) :]:
            self.note("blocks-reordered", "the text of a result comes before its images and files")


def _may_be_continued(last: Part) -> bool:
    return type(last) is Text or (type(last) is SignedText and bool(last.text) and not last.text.isspace())


# -- tools -----------------------------------------------------------------------------------------------------------


def _declaration(dialect: GoogleGenerativeAI, tool: ToolDefinition, schema: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    if dialect.schema_form != "gemini-subset":
        entry["parametersJsonSchema"] = schema
    elif "properties" in schema:  # "should be non-empty for OBJECT type": empty parameters are left out
        entry["parameters"] = to_openapi(schema)  # GEM-16
    return entry
