"""A projected conversation to the body of ``generateContent``, for the Gemini API and Vertex alike.

Rules are cited where they are obeyed, by their numbers in ``rules.py``. Options are in ``options.py``.
"""

from typing import Any

from ...dialects import GoogleGenerativeAI
from ...projection import Projection
from ...projection.step import Report
from ...types import (
    AssistantMessage,
    ImageContent,
    Options,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from ..common.outgoing import Outgoing
from ..common.texts import CLOSING, IMAGES_BELOW, MOVED_IMAGES, OPENING
from .options import add_options
from .schema import from_openapi, object_schema, to_openapi
from .shapes import is_base64

Out = Outgoing[GoogleGenerativeAI]
Part = dict[str, Any]
Content = dict[str, Any]


def encode(projection: Projection, options: Options, report: Report) -> dict[str, Any]:
    """The request body. The model stands in the path, and so does streaming."""
    out = Outgoing(projection, GoogleGenerativeAI, options, report)
    contents = _contents(out)
    _open(out, contents)
    _close(out, contents)
    body: dict[str, Any] = {}
    if out.system is not None:
        body["systemInstruction"] = {"parts": [{"text": out.system}]}
    body["contents"] = contents
    if out.tools:
        body["tools"] = [{"functionDeclarations": [_declaration(out, tool) for tool in out.tools]}]
    add_options(out, body)
    return body


# -- contents --------------------------------------------------------------------------------------------------------


def _contents(out: Out) -> list[Content]:
    """Answers in a row are one content (GEM-04), and so are the results of a batch, with nothing else in it (GEM-06,
    GEM-09). User contents may stand in a row: what the user says after results is a content of its own."""
    contents: list[Content] = []
    responses: list[Part] | None = None  # of the batch that is under way
    held: list[Part] = []  # images that wait for the end of the batch
    for index, message in enumerate(out.messages):
        if type(message) is ToolResultMessage:
            if responses is None:
                responses = []
                contents.append({"role": "user", "parts": responses})
            responses.append(_response(out, index, message, held))
            continue
        responses = None
        if held:
            contents.append(_moved(held))
            held = []
        if type(message) is UserMessage and message.content:
            contents.append({"role": "user", "parts": _said(message.content)})
        elif type(message) is AssistantMessage:
            _add_answer(out, contents, index, message)
    if held:
        contents.append(_moved(held))
    return contents


def _moved(images: list[Part]) -> Content:
    return {"role": "user", "parts": [{"text": MOVED_IMAGES}, *images]}


def _said(content: list[UserContent]) -> list[Part]:
    if len(content) == 1 and type(content[0]) is TextContent:  # nearly always
        return [{"text": content[0].text}]
    return [{"text": block.text} if type(block) is TextContent else _image(block) for block in content]  # type: ignore[arg-type]


def _image(block: ImageContent) -> Part:
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


# -- answers ---------------------------------------------------------------------------------------------------------


def _add_answer(out: Out, contents: list[Content], index: int, message: AssistantMessage) -> None:
    parts = _answer(out, index, message)
    if not parts:
        return
    if contents and contents[-1]["role"] == "model":  # GEM-04
        out.tell("turns-merged", index, "with the answer before it")
        contents[-1]["parts"] += parts
    else:
        contents.append({"role": "model", "parts": parts})


def _answer(out: Out, index: int, message: AssistantMessage) -> list[Part]:
    parts: list[Part] = []
    dummy = out.dialect.dummy_signature
    readable = False
    for block in message.content:
        if type(block) is ToolCall:
            part = _call(out, block)
            signature = block.thought_signature
        elif type(block) is TextContent:
            part, signature = {"text": block.text}, block.text_signature
        else:
            assert type(block) is ThinkingContent
            part, signature = {"text": block.thinking, "thought": True}, block.thinking_signature
        if signature is not None and not is_base64(signature):
            # GEM-12: "Base64 decoding failed", however genuine the rest of it is.
            out.tell("signature-dropped", index, "it is not base64, as every signature of this protocol is")
            signature = None
        if type(block) is ToolCall:
            if signature is None and dummy is not None:
                signature = dummy  # GEM-11, GEM-20: the first call of a content needs one; for all turns alike
            dummy = None
        elif signature is None and not part["text"].strip():
            continue  # GEM-03; with a signature an empty text is a legal carrier (GEM-19)
        if signature is not None:
            part["thoughtSignature"] = signature
        readable = readable or "thought" not in part
        parts.append(part)
    if parts and not readable:
        # GEM-03 asks for parts, and nobody says that thoughts count: gemini-cli takes them all out of its history.
        out.tell("thinking-dropped", index, "an answer of nothing but thinking may be taken for an empty one")
        return []
    return parts


def _call(out: Out, block: ToolCall) -> Part:
    call: dict[str, Any] = {"name": block.name, "args": block.arguments}
    if out.dialect.send_ids:  # GEM-13
        call["id"] = block.id
    return {"functionCall": call}


# -- results ---------------------------------------------------------------------------------------------------------


def _response(out: Out, index: int, message: ToolResultMessage, held: list[Part]) -> Part:
    content = message.content
    response: dict[str, Any] = {"name": message.tool_name}  # GEM-07: projection gave it its call's name
    if out.dialect.send_ids:
        response["id"] = message.tool_call_id
    images: list[Part] = []
    if len(content) == 1 and type(content[0]) is TextContent:
        text = content[0].text
    else:
        text = "\n".join([block.text for block in content if type(block) is TextContent])
        images = [_image(block) for block in content if type(block) is ImageContent]
    if images:
        text = text or IMAGES_BELOW
        _tell_images(out, index, message)
    # GEM-08: an object. 'Use "output" key to specify function output and "error" key to specify error details'
    # (google-genai 3.1.0, types.FunctionResponse).
    response["response"] = {"error" if message.is_error else "output": text}
    if images and out.dialect.images_in_results:
        response["parts"] = images
    else:
        held += images  # GEM-14
    return {"functionResponse": response}


def _tell_images(out: Out, index: int, message: ToolResultMessage) -> None:
    kinds = [type(block) for block in message.content]
    if not out.dialect.images_in_results:
        out.tell("image-moved", index, "this model takes no images inside a function response")
    elif TextContent not in kinds:
        out.tell("empty-filled", index, f"a result of nothing but images says {IMAGES_BELOW!r}")
    elif TextContent in kinds[kinds.index(ImageContent) :]:
        out.tell("blocks-reordered", index, "the text of a result stands before its images")


# -- both ends -------------------------------------------------------------------------------------------------------


def _open(out: Out, contents: list[Content]) -> None:
    """The user begins, whatever the first answer holds: a call may not stand first (GEM-04), and one may be added to
    the first content later."""
    if not contents or contents[0]["role"] == "user":
        return
    contents.insert(0, {"role": "user", "parts": [{"text": OPENING}]})
    out.tell("filler-inserted", 0, f"the conversation begins with the user: {OPENING!r}")


def _close(out: Out, contents: list[Content]) -> None:
    """The user has the last word (GEM-10), except where a model goes on with a text that it is given; and somebody has
    to say something (GEM-01)."""
    if contents:
        last = contents[-1]["parts"][-1]
        goes_on = out.dialect.prefill and "thought" not in last and last.get("text", "").strip()
        if contents[-1]["role"] == "user" or goes_on:
            return
    contents.append({"role": "user", "parts": [{"text": CLOSING}]})
    out.tell("filler-inserted", len(out.messages) - 1, f"the conversation ends with the user: {CLOSING!r}")


# -- tools -----------------------------------------------------------------------------------------------------------


def _declaration(out: Out, tool: ToolDefinition) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": tool.name}
    if tool.description.strip():
        entry["description"] = tool.description
    schema = tool.schema
    adapted = object_schema(schema)
    if out.dialect.json_schema:
        entry["parametersJsonSchema"] = adapted
        if adapted != schema:
            out.tell("schema-adapted", None, f"{tool.name}: parameters are an object")
        return entry
    subset = to_openapi(adapted)  # GEM-16
    if "properties" in subset:  # "should be non-empty for OBJECT type": parameters without any are left out
        entry["parameters"] = subset
    if from_openapi(entry.get("parameters")) not in (schema, {"properties": {}, **adapted}):
        out.tell("schema-adapted", None, f"{tool.name}: the target takes only a part of JSON Schema")
    return entry
