"""What a request says besides its conversation, and which of its fields are not read.

Fields: the types of google-genai 3.1.0 (2026-11), in both spellings. Whether an answer is streamed is in the path.
"""

from typing import Any

from ..common.asked import Asked, as_dict
from ..common.coverage import Each, Fields, Kinds, Left, Object
from ..common.requests import HOSTED, SHOWN_AS_TEXT, RequestForm
from .options import BUDGETS
from .parts import user_block
from .schema import from_openapi
from .server_parts import is_kept
from .shapes import get, snake

_MODES = {"AUTO": "auto", "NONE": "none", "ANY": "required"}
_JSON = "application/json"
_AS_TEXT = Left(SHOWN_AS_TEXT)


def _fields(*names: str, others: Left = Left(), **of: Any) -> Fields:  # noqa: B008, Left is frozen
    """The fields of an object in both spellings."""
    every: dict[str, Any] = dict.fromkeys(names) | of
    return Fields(others=others, **({snake(name): spec for name, spec in every.items()} | every))


_BLOB = Kinds(
    lambda blob: str(get(blob, "mimeType")).startswith("image/"),  # images have no names
    {True: _fields("mimeType", "data", displayName=Left())},
    _fields("mimeType", "data", "displayName"),
)
_FILE = Kinds(
    lambda file: user_block({"fileData": file}, "").type,
    {
        "file": _fields("mimeType", "fileUri", "displayName"),
        "image": _fields("mimeType", "fileUri", displayName=Left()),
    },
    _AS_TEXT,
)
_RESPONSE = _fields(
    "id", "name", "response", parts=Each(_fields(inlineData=_BLOB, fileData=_FILE)), willContinue=Left()
)
_CONTENT = Kinds(
    lambda content: content.get("role"),
    {
        "model": _fields(
            "role",
            parts=Each(
                Kinds(
                    is_kept,
                    {True: Fields(others=None)},
                    _fields("text", "thought", "thoughtSignature", functionCall=_fields("id", "name", "args")),
                )
            ),
        )
    },
    _fields(
        "role",
        parts=Each(_fields("text", inlineData=_BLOB, fileData=_FILE, functionResponse=_RESPONSE, others=_AS_TEXT)),
    ),
)
_FUNCTION = _fields("name", "description", "parameters", "parametersJsonSchema")

FIELDS = _fields(
    "model",
    "labels",
    contents=Each(_CONTENT),
    systemInstruction=_fields("role", parts=Each(_fields("text", others=_AS_TEXT))),
    tools=Each(_fields(functionDeclarations=Each(_FUNCTION), others=Left(HOSTED, present=True))),
    toolConfig=_fields(functionCallingConfig=_fields("mode", "allowedFunctionNames")),
    generationConfig=_fields(
        "maxOutputTokens",
        "temperature",
        "topP",
        "stopSequences",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        thinkingConfig=_fields("thinkingBudget", "thinkingLevel", "includeThoughts"),
        candidateCount=Left(harmless=(1,)),
        responseModalities=Left(harmless=(["TEXT"],)),
        frequencyPenalty=Left(harmless=(0,)),
        presencePenalty=Left(harmless=(0,)),
        responseLogprobs=Left(harmless=(False,)),
    ),
)


def _options(body: Object, asked: Asked) -> None:
    config, path = as_dict(get(body, "generationConfig")), "generationConfig"
    asked.limit(get(config, "maxOutputTokens"), f"{path}.maxOutputTokens")
    asked.number("temperature", get(config, "temperature"), f"{path}.temperature")
    asked.number("top_p", get(config, "topP"), f"{path}.topP")
    asked.stops(get(config, "stopSequences"), f"{path}.stopSequences")
    asked.metadata(get(body, "labels"), "labels")
    _read_thinking(as_dict(get(config, "thinkingConfig")), f"{path}.thinkingConfig", asked)
    _read_format(config, path, asked)
    _read_choice(as_dict(get(as_dict(get(body, "toolConfig")), "functionCallingConfig")), asked)


def _read_thinking(config: Object, path: str, asked: Asked) -> None:
    """``includeThoughts`` asks for what segue always asks for; without thoughts there is no level to read."""
    asked.budget(get(config, "thinkingBudget"), f"{path}.thinkingBudget", BUDGETS)
    asked.effort(get(config, "thinkingLevel"), f"{path}.thinkingLevel")
    if get(config, "includeThoughts") is True and "reasoning" not in asked.options:
        asked.set("reasoning", "medium")
    elif get(config, "includeThoughts") is False and asked.options.get("reasoning", "off") != "off":
        asked.leave(f"{path}.includeThoughts", "thoughts are part of the answer")


def _read_format(config: Object, path: str, asked: Asked) -> None:
    kind = get(config, "responseMimeType")
    schema, older = get(config, "responseJsonSchema"), get(config, "responseSchema")
    if schema is not None:
        asked.schema(schema, f"{path}.responseJsonSchema")
    elif older is not None:
        asked.schema(from_openapi(older), f"{path}.responseSchema")
    elif kind == _JSON:
        asked.schema({"type": "object"}, f"{path}.responseMimeType")
    if kind not in (None, _JSON, "text/plain"):
        asked.leave(f"{path}.responseMimeType", "segue has no such form")


def _read_choice(config: Object, asked: Asked) -> None:
    mode, names = get(config, "mode"), get(config, "allowedFunctionNames")
    path = "toolConfig.functionCallingConfig"
    if names:
        if mode == "ANY" and isinstance(names, list) and len(names) == 1:
            asked.tool(names[0], f"{path}.allowedFunctionNames")
            return
        asked.leave(f"{path}.allowedFunctionNames", "a choice names one tool or none")
    if mode is not None and mode != "MODE_UNSPECIFIED":
        asked.mode(mode, f"{path}.mode", _MODES)


REQUEST_FORM = RequestForm(fields=FIELDS, options=_options)
