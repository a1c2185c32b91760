"""Rules about single contents and parts: what each must hold, and what each of the two surfaces knows."""

from collections.abc import Callable, Iterator
from typing import Any

from ...dialects import GoogleGenerativeAI
from ...rules import Rule
from ...types import Model
from .shapes import contents, every_part, get, is_base64, kinds, many, parts

ENCODER = "wire/google_generative_ai/encode.py"
Found = Iterator[tuple[str, str]]


def only(holds: Callable[[GoogleGenerativeAI], bool]) -> Callable[[Model], bool]:
    """Whether a rule concerns a model, by its dialect."""
    return lambda model: isinstance(model.dialect, GoogleGenerativeAI) and holds(model.dialect)


def _contents(body: dict[str, Any], model: Model | None) -> Found:
    if not contents(body):
        yield "contents", ""


def _roles(body: dict[str, Any], model: Model | None) -> Found:
    found = contents(body)
    for index, content in enumerate(found):
        role = get(content, "role")
        if role is None and len(found) > 1:
            yield f"contents[{index}].role", "only a lone content may go without a role"
        elif role not in (None, "user", "model"):
            yield f"contents[{index}].role", f"the role is user or model, not {role!r}"


def _parts(body: dict[str, Any], model: Model | None) -> Found:
    named = [(f"contents[{index}]", content) for index, content in enumerate(contents(body))]
    system = get(body, "systemInstruction")
    if isinstance(system, dict):
        named.append(("systemInstruction", system))
    for path, content in named:
        if not parts(content):
            yield f"{path}.parts", "a content has at least one part"
        for at, part in enumerate(parts(content)):
            fault = _part_fault(part)
            if fault:
                yield f"{path}.parts[{at}]", fault


def _part_fault(part: Any) -> str:
    found = kinds(part)
    if len(found) != 1:
        return f"a part holds exactly one kind of data, not {len(found)}"
    if found == ["text"] and part["text"] == "" and get(part, "thoughtSignature") is None:
        return "an empty text, and no signature that it could carry"
    return ""


def _objects(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        for name, field in (("functionCall", "args"), ("functionResponse", "response")):
            held = get(part, name)
            value = get(held, field)
            if value is not None and not isinstance(value, dict):
                yield f"{path}.{name}.{field}", f"an object, not {type(value).__name__}"
            elif value is None and isinstance(held, dict) and name == "functionResponse":
                yield f"{path}.{name}.{field}", "a response is required"


def _signatures(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        signature = get(part, "thoughtSignature")
        if signature is not None and not (isinstance(signature, str) and is_base64(signature)):
            yield f"{path}.thoughtSignature", "not base64, or cut short"


def _names(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        for name in ("functionCall", "functionResponse"):
            held = get(part, name)
            if isinstance(held, dict) and not get(held, "name"):
                yield f"{path}.{name}.name", ""


def _ids(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        for name in ("functionCall", "functionResponse"):
            if get(get(part, name), "id") is not None:
                yield f"{path}.{name}.id", ""


def _images(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        if many(get(get(part, "functionResponse"), "parts")):
            yield f"{path}.functionResponse.parts", ""


# -- the two surfaces ------------------------------------------------------------------------------------------------

# How the address of a file begins that one surface cannot read.
UNREADABLE_BY = {"vertex": "https://generativelanguage.googleapis.com/", "gemini": "gs://"}


def surfaces(model: Model | None) -> list[str]:
    """Which surface answers; without a model, either."""
    known = model is not None and isinstance(model.dialect, GoogleGenerativeAI)
    return [model.dialect.surface] if known else list(UNREADABLE_BY)  # type: ignore[union-attr]


def unreadable_files(body: dict[str, Any], model: Model | None) -> Found:
    for path, part in every_part(body):
        uri = get(get(part, "fileData"), "fileUri")
        for surface in surfaces(model):
            if isinstance(uri, str) and uri.startswith(UNREADABLE_BY[surface]):
                yield f"{path}.fileData.fileUri", f"the {surface} surface cannot read {UNREADABLE_BY[surface]}"


RULES: tuple[Rule, ...] = (
    Rule(
        number="GEM-01",
        title="contents is not empty; a system instruction alone is no request",
        answers="GenerateContentRequest.contents: contents is not specified",
        source="public logs of many clients; ai.google.dev/api/generate-content, 2026",
        prevented_by=ENCODER,
        check=_contents,
    ),
    Rule(
        number="GEM-02",
        title="the role is user or model; function responses are the user's",
        answers="Please use a valid role: user, model.",
        source="BerriAI/litellm#22003, the-open-agent/openagent#1666, 2026-02",
        prevented_by=ENCODER,
        check=_roles,
    ),
    Rule(
        number="GEM-03",
        title="every content has parts, every part exactly one kind of data, and no text is empty unless it is signed",
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
        title="a thought signature is whole base64",
        answers="Invalid value at thought_signature (TYPE_BYTES), Base64 decoding failed",
        source="google-gemini/gemini-cli#14368, crmne/ruby_llm#521, 2025-12 to 2026-03",
        prevented_by=ENCODER,
        check=_signatures,
    ),
    Rule(
        number="GEM-13",
        title="calls and function responses carry no id on Vertex",
        answers='Invalid JSON payload received. Unknown name "id" at function_call: Cannot find field.',
        source="pydantic/pydantic-ai#5081, vercel/ai#15664, looplj/axonhub#874, until 2026-07; the Gemini API has the "
        "field (google-genai 3.1.0, models.py), and Gemini CLI 0.61 sends it for gemini-2.5, 2026-11",
        prevented_by=ENCODER,
        check=_ids,
        only=only(lambda dialect: not dialect.send_ids and dialect.surface == "vertex"),
    ),
    Rule(
        number="GEM-14",
        title="no images inside a function response before Gemini 3",
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
)
