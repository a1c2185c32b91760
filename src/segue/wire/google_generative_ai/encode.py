"""A projected conversation to the body of ``generateContent``, for the Gemini API and Vertex alike.

Rules are cited where they are obeyed, by their numbers in ``rules.py``. Options are in ``options.py``.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from ...dialects import GoogleGenerativeAI
from ...projection.origin import same_origin
from ...types import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.images import kind_of
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING
from ..common.turns import Turns
from .options import add_options
from .schema import from_openapi, object_schema, to_openapi
from .shapes import is_base64

Out = Outgoing[GoogleGenerativeAI]
Part = Any
"""A dict, or a struct that is written like one."""

# Nothing in a content points back to it, so that the collector of cycles need not look at these.


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


def body(out: Out, turns: "GoogleTurns", closed: list[Content]) -> dict[str, Any]:
    """The request body around the contents. The model stands in the path, and so does streaming."""
    body: dict[str, Any] = {}
    if out.system is not None:
        body["systemInstruction"] = {"parts": [{"text": out.system}]}
    body["contents"] = closed
    if out.tools:
        body["tools"] = [{"functionDeclarations": out.each_tool(_declaration)}]
    add_options(out, body)
    return body


# -- contents --------------------------------------------------------------------------------------------------------


class GoogleTurns(Turns[GoogleGenerativeAI]):
    """Answers in a row are one content (GEM-04), and so are the results of a batch, with nothing else in it (GEM-06,
    GEM-09). User contents may stand in a row: what the user says after results is a content of its own."""

    STATE = ("_held", "_role", "_in_batch", "_filled")

    def __init__(self, out: Out) -> None:
        super().__init__(out)
        self._held: list[Part] = []  # images that wait for the end of the batch
        self._role = ""  # of the last content
        self._in_batch = False  # whether the next result belongs to the last content
        self._filled = False  # whether words that nobody said open the conversation

    def extend(self) -> None:
        turns, send_ids = self.turns, self.dialect.send_ids
        for message in self.new():
            kind = type(message)
            content = message.content
            text = block.text if len(content) == 1 and type(block := content[0]) is TextContent else None
            if kind is ToolResultMessage:
                if text is not None and not message.is_error:
                    call_id = message.tool_call_id if send_ids else UNSET
                    response = Response(message.tool_name, call_id, Output(text))
                else:
                    response = self._response(message)
                if self._in_batch:
                    turns[-1].parts.append(ResponsePart(response))
                else:
                    turns.append(Content("user", [ResponsePart(response)]))
                    self._role, self._in_batch = "user", True
                continue
            self._in_batch = False
            if self._held:
                turns.append(_moved(self._held))
                self._held = []
            if kind is UserMessage:
                if content:
                    turns.append(Content("user", _said(content) if text is None else [Text(text)]))
                    self._role = "user"
            elif text and self._role == "user" and content[0].text_signature is None and not text.isspace():
                turns.append(Content("model", [Text(text)]))  # nearly all answers without calls
                self._role = "model"
            elif parts := self._answer(message):
                if self._role == "user":
                    turns.append(Content("model", parts))
                    self._role = "model"
                else:
                    self._add_beside(parts)

    def _add_beside(self, parts: list[Part]) -> None:
        """Add an answer where the user has not spoken before it."""
        if self._role:  # GEM-04
            self.tell("turns-merged", "with the answer before it")
            self.turns[-1].parts += parts
        else:
            # The user begins, whatever the first answer holds: a call may not stand first (GEM-04), and one may be
            # added to the first content later.
            self.turns += [Content("user", [Text(OPENING)]), Content("model", parts)]
            self._role, self._filled = "model", True

    def closed(self, out: Out) -> list[Content]:
        """The user has the last word (GEM-10), except where a model goes on with a text that it is given; and somebody
        has to say something (GEM-01)."""
        turns = list(self.turns)
        if self._filled:
            out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")
        if self._held:
            turns.append(_moved(self._held))
        elif self._role != "user" and not (turns and out.dialect.prefill and _may_be_continued(turns[-1].parts[-1])):
            at = self.taken - 1 if self.taken else None
            out.tell("filler-inserted", at, f"the conversation ends with the user: {CLOSING!r}")
            turns.append(Content("user", [Text(CLOSING)]))
        return turns

    # -- answers -----------------------------------------------------------------------------------------------------

    def _answer(self, message: AssistantMessage) -> list[Part]:
        parts: list[Part] = []
        dummy = self.dialect.dummy_signature
        if not self.dialect.signature_required and same_origin(message, self.out.model):
            dummy = None  # it answers without a signature where it did not think
        readable = False
        for block in message.content:
            kind = type(block)
            if kind is TextContent:
                text, signature = block.text, block.text_signature  # type: ignore[union-attr]
                if signature is not None and (signature := self._checked(signature)) is not None:
                    parts.append(SignedText(text, signature))  # also without text: a legal carrier (GEM-19)
                elif text and not text.isspace():  # GEM-03
                    parts.append(Text(text))
                else:
                    continue
                readable = True
            elif kind is ToolCall:
                signature = block.thought_signature  # type: ignore[union-attr]
                if signature is not None:
                    signature = self._checked(signature)
                # GEM-11, GEM-20: the first call of a content needs one; for all turns alike
                call = Call(block.name, block.arguments, block.id if self.dialect.send_ids else UNSET)  # type: ignore[union-attr]
                parts.append(CallPart(call, signature or dummy))
                dummy, readable = None, True
            else:
                text, signature = block.thinking, block.thinking_signature  # type: ignore[union-attr]
                if signature is not None:
                    signature = self._checked(signature)
                if signature is not None or (text and not text.isspace()):
                    parts.append(Thought(text, True, signature))
        if parts and not readable:
            # GEM-03 asks for parts, and nobody says that thoughts count: gemini-cli takes them all out of its history.
            self.tell("thinking-dropped", "an answer of nothing but thinking may be taken for an empty one")
            return []
        return parts

    def _checked(self, signature: str) -> str | None:
        if is_base64(signature):
            return signature
        # GEM-12: "Base64 decoding failed", however genuine the rest of it is.
        self.tell("signature-dropped", "it is not base64, as every signature of this protocol is")
        return None

    # -- results -----------------------------------------------------------------------------------------------------

    def _response(self, message: ToolResultMessage) -> Response:
        content = message.content
        text = "\n".join([block.text for block in content if type(block) is TextContent])
        images = [_image(block) for block in content if type(block) is ImageContent]
        if images:
            text = text or IMAGES_BELOW
            self._tell_images(message)
        # GEM-08: an object. 'Use "output" key to specify function output and "error" key to specify error details'
        # (google-genai 3.1.0, types.FunctionResponse). GEM-07: projection gave it its call's name.
        call_id = message.tool_call_id if self.dialect.send_ids else UNSET
        response = Response(message.tool_name, call_id, {"error": text} if message.is_error else Output(text))
        if images and self.dialect.images_in_results:
            response.parts = images
        else:
            self._held += images  # GEM-14
        return response

    def _tell_images(self, message: ToolResultMessage) -> None:
        kinds = [type(block) for block in message.content]
        if not self.dialect.images_in_results:
            self.tell("image-moved", "this model takes no images inside a function response")
        elif TextContent not in kinds:
            self.tell("empty-filled", f"a result of nothing but images says {IMAGES_BELOW!r}")
        elif TextContent in kinds[kinds.index(ImageContent) :]:
            self.tell("blocks-reordered", "the text of a result stands before its images")


def _may_be_continued(last: Part) -> bool:
    return type(last) is Text or (type(last) is SignedText and bool(last.text) and not last.text.isspace())


def _moved(images: list[Part]) -> Content:
    return Content("user", [Text(MOVED_IMAGES), *images])


def _said(content: list[UserContent]) -> list[Part]:
    return [Text(block.text) if type(block) is TextContent else _image(block) for block in content]  # type: ignore[arg-type]


def _image(block: ImageContent) -> Part:
    return {"inlineData": {"mimeType": kind_of(block.data) or block.mime_type, "data": block.data}}


# -- tools -----------------------------------------------------------------------------------------------------------


def _declaration(dialect: GoogleGenerativeAI, tool: ToolDefinition) -> tuple[dict[str, Any], str | None]:
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    schema = tool.schema
    adapted = object_schema(schema)
    if dialect.json_schema:
        entry["parametersJsonSchema"] = adapted
        return entry, None if adapted == schema else "parameters are an object"
    subset = to_openapi(adapted)  # GEM-16
    if "properties" in subset:  # "should be non-empty for OBJECT type": parameters without any are left out
        entry["parameters"] = subset
    whole = from_openapi(entry.get("parameters")) in (schema, {"properties": {}, **adapted})
    return entry, None if whole else "the target takes only a part of JSON Schema"
