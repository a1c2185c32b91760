"""Rules about single contents and parts, and about differences between the two surfaces."""

from collections.abc import Callable, Iterator
from typing import Any

from ...dialects import GoogleGenerativeAI
from ...rules import Rule
from ...types import Model
from ..common.checks import half_characters, shown
from .shapes import IMAGE_TYPES, UNREADABLE_BY, contents, every_part, get, is_base64, kinds, many, parts, parts_with

ENCODER = "wire/google_generative_ai/encode.py"
Found = Iterator[tuple[str, str]]


def only(condition: Callable[[GoogleGenerativeAI], bool]) -> Callable[[Model], bool]:
    """Restrict a rule to models whose dialect meets the condition."""
    return lambda model: isinstance(model.dialect, GoogleGenerativeAI) and condition(model.dialect)


def _contents(body: dict[str, Any], model: Model | None) -> Found:
    if not contents(body):
        yield "contents", "no contents"


def _roles(body: dict[str, Any], model: Model | None) -> Found:
    found = contents(body)
    for index, content in enumerate(found):
        role = get(content, "role")
        if role is None and len(found) > 1:
            yield f"contents[{index}].role", "only a single content may have no role"
        elif role not in (None, "user", "model"):
            yield f"contents[{index}].role", f"the role must be user or model, not {shown(role)!r}"
        elif role == "model" and _has(content, "functionResponse"):
            yield f"contents[{index}].role", "function responses are in contents of the user"
        elif role != "model" and _has(content, "functionCall"):
            yield f"contents[{index}].role", "calls are in contents of the model"


def _has(content: Any, field: str) -> bool:
    return any(get(part, field) is not None for part in parts(content))


def _parts(body: dict[str, Any], model: Model | None) -> Found:
    named = [(f"contents[{index}]", content) for index, content in enumerate(contents(body))]
    system = get(body, "systemInstruction")
    if isinstance(system, dict):
        named.append(("systemInstruction", system))
        for at, part in enumerate(parts(system)):
            if any(kind != "text" for kind in kinds(part)):
                yield f"systemInstruction.parts[{at}]", "a system instruction has texts only"
    for path, content in named:
        if not parts(content):
            yield f"{path}.parts", "a content must have at least one part"
        for at, part in enumerate(parts(content)):
            fault = _part_fault(part)
            if fault:
                yield f"{path}.parts[{at}]", fault


def _part_fault(part: Any) -> str:
    found = kinds(part)
    if len(found) != 1:
        return f"a part must have exactly one data field, not {len(found)}"
    if found == ["text"] and part["text"] == "" and get(part, "thoughtSignature") is None:
        return "an empty text without a signature"
    return ""


def _objects(body: dict[str, Any], model: Model | None) -> Found:
    fields = {"functionCall": "args", "functionResponse": "response"}
    for path, name, held in parts_with(body, *fields):
        field = fields[name]
        value = get(held, field)
        if value is not None and not isinstance(value, dict):
            yield f"{path}.{name}.{field}", f"must be an object, not {type(value).__name__}"
        elif value is None and isinstance(held, dict) and name == "functionResponse":
            yield f"{path}.{name}.{field}", "a response is required"


def _inline_data(body: dict[str, Any], model: Model | None) -> Found:
    inside = [
        (f"{path}.functionResponse.parts[{at}]", "inlineData", get(part, "inlineData"))
        for path, _, held in parts_with(body, "functionResponse")
        for at, part in enumerate(many(get(held, "parts")))
        if get(part, "inlineData") is not None
    ]
    for path, _, held in [*parts_with(body, "inlineData"), *inside]:
        data, label = get(held, "data"), get(held, "mimeType")
        if not isinstance(label, str) or "/" not in label:
            yield f"{path}.inlineData.mimeType", "data must have a media type"
        if not isinstance(data, str) or not data:
            yield f"{path}.inlineData.data", "there is no data"
        elif not is_base64(data):
            yield f"{path}.inlineData.data", "not base64, or incomplete"
    for path, _, held in parts_with(body, "fileData"):
        if not isinstance(get(held, "fileUri"), str) or not get(held, "fileUri"):
            yield f"{path}.fileData.fileUri", "a file must have an address"


def _image_types(body: dict[str, Any], model: Model | None) -> Found:
    for path, _, held in parts_with(body, "inlineData"):
        label = get(held, "mimeType")
        if isinstance(label, str) and label.startswith("image/") and label not in IMAGE_TYPES:
            yield f"{path}.inlineData.mimeType", f"{shown(label)!r} is not png, jpeg, webp, heic or heif"


def _half_characters(body: dict[str, Any], model: Model | None) -> Found:
    return half_characters(body)


def _signatures(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        signature = get(part, "thoughtSignature")
        if signature is not None and not (isinstance(signature, str) and is_base64(signature)):
            yield f"{path}.thoughtSignature", "not base64, or incomplete"


def _names(body: dict[str, Any], model: Model | None) -> Found:
    for path, name, held in parts_with(body, "functionCall", "functionResponse"):
        if isinstance(held, dict) and not get(held, "name"):
            yield f"{path}.{name}.name", "a name is missing"


def _ids(body: dict[str, Any], model: Model | None) -> Found:
    for path, name, held in parts_with(body, "functionCall", "functionResponse"):
        if get(held, "id") is not None:
            yield f"{path}.{name}.id", "an id, which Vertex does not accept here"


def _images(body: dict[str, Any], model: Model | None) -> Found:
    for path, name, held in parts_with(body, "functionResponse"):
        if many(get(held, "parts")):
            yield f"{path}.{name}.parts", "parts in a function response, which models before Gemini 3 do not accept"


# -- the two surfaces ------------------------------------------------------------------------------------------------


def surfaces(model: Model | None) -> list[str]:
    """The surface of a model; both without a model."""
    if model is not None and isinstance(model.dialect, GoogleGenerativeAI):
        return [model.dialect.surface]
    return list(UNREADABLE_BY)


def unreadable_files(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        uri = get(get(part, "fileData"), "fileUri")
        for surface in surfaces(model):
            if isinstance(uri, str) and uri.startswith(UNREADABLE_BY[surface]):
                yield f"{path}.fileData.fileUri", f"the {surface} surface cannot read {UNREADABLE_BY[surface]}"


RULES: tuple[Rule, ...] = (
    Rule(
        number="GEM-01",
        title="contents is not empty; a system instruction alone is not enough",
        answers="GenerateContentRequest.contents: contents is not specified",
        source="public logs of many clients; ai.google.dev/api/generate-content, 2026",
        prevented_by=ENCODER,
        check=_contents,
    ),
    Rule(
        number="GEM-02",
        title="the role is user or model; calls have the role model and function responses the role user",
        answers="Please use a valid role: user, model.",
        source="BerriAI/litellm#22003, the-open-agent/openagent#1666, 2026-02",
        prevented_by=ENCODER,
        check=_roles,
    ),
    Rule(
        number="GEM-03",
        title="every content has parts, every part has exactly one data field, and only signed texts are empty",
        answers="required oneof field 'data' must have one initialized field",
        source="vercel/ai#3775, genkit-ai/genkit#3816, router-for-me/CLIProxyAPI#1292, 2024-2026; on Vertex "
        "'it has an empty text parameter', obsidian-smart-composer#218",
        prevented_by="projection/passes/text.py",
        check=_parts,
    ),
    Rule(
        number="GEM-08",
        title="args of a call and response of a function response are objects",
        answers="Invalid JSON payload received. Proto field is not repeating, cannot start list.",
        source="google/adk-js#347, microsoft/vscode-copilot-chat#2745, preset-io/agor#496, 2026; google-genai 3.1.0",
        prevented_by=ENCODER,
        check=_objects,
    ),
    Rule(
        number="GEM-12",
        title="a thought signature is complete base64",
        answers="Invalid value at thought_signature (TYPE_BYTES), Base64 decoding failed",
        source="google-gemini/gemini-cli#14368, crmne/ruby_llm#521, 2025-12 to 2026-03",
        prevented_by=ENCODER,
        check=_signatures,
    ),
    Rule(
        number="GEM-13",
        title="on Vertex, calls and function responses have no id",
        answers='Invalid JSON payload received. Unknown name "id" at function_call: Cannot find field.',
        source="pydantic/pydantic-ai#5081, vercel/ai#15664, looplj/axonhub#874, until 2026-07; the Gemini API has the "
        "field (google-genai 3.1.0, models.py), and Gemini CLI 0.61 sends it for gemini-2.5, 2026-11",
        prevented_by=ENCODER,
        check=_ids,
        only=only(lambda dialect: not dialect.send_ids and dialect.surface == "vertex"),
    ),
    Rule(
        number="GEM-14",
        title="before Gemini 3, function responses have no images",
        answers="Unable to submit request because `function_response.parts` is not supported for this model.",
        source="google-gemini/gemini-cli#19436, 2026-02",
        prevented_by=ENCODER,
        check=_images,
        only=only(lambda dialect: not dialect.images_in_results),
    ),
    Rule(
        number="GEM-17",
        title="calls and function responses have a name",
        answers="GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.",
        source="langflow-ai/langflow#9437, 2025-08",
        prevented_by="projection/passes/names.py",
        check=_names,
    ),
    Rule(
        number="GEM-26",
        title="data is complete base64 with a media type, and a file has an address",
        answers="Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed",
        source="error text as for signatures (GEM-12); google-genai 3.1.0, types.Blob and FileData, 2026-11",
        prevented_by=ENCODER,
        check=_inline_data,
    ),
    Rule(
        number="GEM-26b",
        title="an image is of a type that the API reads",
        answers="Unsupported MIME type: image/gif",
        source="microsoft/vscode#286628, Mai-with-u/MaiBot#1435, until 2026-01; ai.google.dev, 'Image understanding'",
        prevented_by=ENCODER,
        check=_image_types,
    ),
    Rule(
        number="GEM-28",
        title="there are no half characters",
        answers="Invalid JSON payload received. Unexpected token.",
        source="Protocol Buffers accept UTF-8 only (protobuf.dev, JSON mapping); wording not seen, 2026-11",
        prevented_by="projection/passes/text.py",
        check=_half_characters,
    ),
)
