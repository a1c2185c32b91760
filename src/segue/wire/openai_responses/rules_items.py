"""Rules about single items and their parts."""

from typing import Any

from ...rules import Rule
from ...types import Model
from ..common.checks import arguments_fault, repeated, shown
from ..common.images import data_fault
from .shapes import (
    ID_PREFIXES,
    MAX_ID,
    OUTPUTS,
    OUTPUTS_OF,
    PARTS_OF_INPUT,
    PARTS_OF_OUTPUT,
    PARTS_OF_RESULT,
    PHASES,
    ROLES,
    kind_of,
)
from .walk import Body, Found, all_parts, items, objects, of_kind, parts, text

ENCODER = "wire/openai_responses/encode.py"
REPLAY = "wire/openai_responses/replay.py"
PROBED = "measured by a third party against the live API (gpt-5.6-terra), 2026-09"
SDK = "SDK openai 3.49.0 (types), 2026-11"

_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
# SDK: kinds whose id is required. Codex sends three of them without (codex-rs/protocol/src/models.rs, 2026-11):
# web_search_call, local_shell_call, and reasoning with its encrypted content.
_NEED_ID = (
    "reasoning",
    "image_generation_call",
    "code_interpreter_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
)
_IMAGES = ("image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif")


def trigger_is_last(body: Body, model: Model | None) -> Found:
    sent = list(items(body))
    for path, kind, _ in sent[:-1]:
        if kind == "compaction_trigger":
            yield path, "a compaction_trigger must be the last item"


def _parts_by_role(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "message"):
        role = shown(item.get("role"))
        allowed = PARTS_OF_OUTPUT if role == "assistant" else PARTS_OF_INPUT
        for where, part in parts(item, "content", path):
            if role in ROLES and shown(part.get("type")) not in allowed:
                yield f"{where}.type", f"{shown(part.get('type'))!r} is not allowed in a message of the role {role}"


def _some_parts(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "message"):
        if item.get("content") == []:
            yield f"{path}.content", "an empty list of parts"


def _call_ids(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, *OUTPUTS_OF, *OUTPUTS):
        if len(text(item, "call_id")) > MAX_ID:
            yield f"{path}.call_id", f"an id of {len(text(item, 'call_id'))} characters, at most {MAX_ID}"
        elif item.get("call_id") == "":
            yield f"{path}.call_id", "an empty string"


def _item_ids(body: Body, model: Model | None) -> Found:
    for path, kind, item in items(body):
        item_id = item.get("id")
        if kind == "item_reference" and item_id == "":
            yield f"{path}.id", "an empty string"
        elif item_id is None:
            if kind in _NEED_ID and not item.get("encrypted_content"):
                yield path, f"a {kind} must have its id"
        elif isinstance(item_id, str) and len(item_id) > MAX_ID:
            yield f"{path}.id", f"an id of {len(item_id)} characters, at most {MAX_ID}"
        elif not isinstance(item_id, str) or not item_id.startswith(ID_PREFIXES.get(kind, "")):
            yield f"{path}.id", f"{shown(item_id)!r} does not begin with {ID_PREFIXES.get(kind, '')!r}"


def _single_items(body: Body, model: Model | None) -> Found:
    return repeated(((f"{path}.id", item.get("id")) for path, _, item in items(body)), "the item")


def _reasoning_shape(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "reasoning"):
        if model is not None and model.dialect.own_reasoning == "none":
            yield path, "the model does not reason"
        if not isinstance(item.get("summary"), list):
            yield f"{path}.summary", "the summary must be an array; it may be empty"
        if item.get("content"):
            yield f"{path}.content", "the reasoning text is not accepted in a request"


def _phases(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "message"):
        phase = item.get("phase")
        if phase is None:
            continue
        if item.get("role") != "assistant":
            yield f"{path}.phase", "a phase in a message that is not an answer"
        elif shown(phase) not in PHASES:
            yield f"{path}.phase", f"{shown(phase)!r} is not a phase"


def _outputs(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, *_RESULTS):
        output = item.get("output")
        if isinstance(output, str):
            continue
        if not isinstance(output, list) or not output:
            yield f"{path}.output", "must be a string or a list that is not empty"
            continue
        for where, part in objects(output, f"{path}.output"):
            if shown(part.get("type")) not in PARTS_OF_RESULT:
                yield f"{where}.type", f"{shown(part.get('type'))!r} is not allowed in a result"


def _files(body: Body, model: Model | None) -> Found:
    for path, part in all_parts(body):
        if part.get("type") != "input_file":
            continue
        data, url = part.get("file_data"), part.get("file_url")
        if isinstance(url, str) and url and not url.lower().startswith(("https://", "http://")):
            yield f"{path}.file_url", "must be an http URL"
        if data is None:
            if not (part.get("file_id") or url):
                yield path, "a file must have file_data, file_id or file_url"
            continue
        label, found, encoded = data.partition(";base64,") if isinstance(data, str) else ("", "", "")
        if not found or not data.startswith("data:"):
            yield f"{path}.file_data", "not a data URL in base64"
        elif fault := data_fault(encoded, label.removeprefix("data:")):
            yield f"{path}.file_data", fault
        if not part.get("filename"):
            yield f"{path}.filename", "file_data requires a filename"


def _arguments(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, *_CALLS):
        if kind_of(item) == "custom_tool_call":
            fault, name = "" if isinstance(item.get("input"), str) else "must be a string", "input"
        else:
            fault, name = arguments_fault(item.get("arguments")), "arguments"
        if fault:
            yield f"{path}.{name}", fault
    calls = {text(item, "call_id"): kind for _, kind, item in items(body) if kind in OUTPUTS_OF}
    for path, kind, item in items(body):
        called = calls.get(text(item, "call_id")) if kind in OUTPUTS else None
        if called is not None and kind not in OUTPUTS_OF[called]:
            yield f"{path}.type", f"the output of a {called} must be a {OUTPUTS_OF[called][0]}"


def _images(body: Body, model: Model | None) -> Found:
    screens = [(f"{path}.output", item.get("output")) for path, item in of_kind(body, "computer_call_output")]
    for path, part in (*all_parts(body), *((path, screen) for path, screen in screens if isinstance(screen, dict))):
        if part.get("type") in ("input_image", "computer_screenshot") and (fault := _image_fault(part)):
            yield f"{path}.image_url", fault


def _image_fault(part: dict[str, Any]) -> str:
    url = part.get("image_url")
    if url is None:
        return "" if part.get("file_id") else "an image must have an image_url or a file_id"
    if not isinstance(url, str) or not url.lower().startswith(("https://", "http://", "data:")):
        return "must be an http URL or a data URL"
    if not url.lower().startswith("data:"):
        return ""
    label, found, data = url[5:].partition(";base64,")
    if label.lower() not in _IMAGES:
        return f"{shown(label)!r} is not png, jpeg, webp or gif"
    return data_fault(data, label) if found else "not base64"


SHAPES: tuple[Rule, ...] = (
    Rule(
        number="OAR-03",
        title="A message has only parts that its role allows",
        answers="Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        source=PROBED,
        prevented_by=ENCODER,
        check=_parts_by_role,
    ),
    Rule(
        number="OAR-03b",
        title="A list of parts is not empty",
        answers="Missing required parameter: 'input[].content[0]'",
        source="source of bifrost, 2026",
        prevented_by=ENCODER,
        check=_some_parts,
    ),
    Rule(
        number="OAR-05",
        title="A call_id has 1 to 64 characters",
        answers="Invalid 'input[].call_id': string too long. Expected a string with maximum length 64 / empty string. "
        "Expected a string with minimum length 1",
        source="AnswerDotAI/fastllm#45, 2026",
        prevented_by="projection/passes/ids.py",
        check=_call_ids,
    ),
    Rule(
        number="OAR-06",
        title="An item's id has at most 64 characters and the prefix of its kind",
        answers="Invalid 'input[].id': '…'. Expected an ID that begins with 'fc'.",
        source="oh-my-pi#284, hermes-agent#43820, github/app#499, 2026; " + SDK,
        prevented_by=REPLAY,
        check=_item_ids,
    ),
    Rule(
        number="OAR-07",
        title="No two items have the same id",
        answers="Duplicate item found with id …. Remove duplicate items from your input and try again.",
        source="earendil-works/pi#5149 and #5151, continue#10723, OpenRouterTeam/ai-sdk-provider#254, 2026",
        prevented_by=REPLAY,
        check=_single_items,
    ),
    Rule(
        number="OAR-11",
        title="A reasoning item has a summary, which may be empty, and no content; it is for models that reason",
        answers="Invalid 'input[].content': array too long. Expected an array with maximum length 0 / missing required "
        "field `summary`",
        source="querymt#976 and newo-ether/Agora#141, 2026-09; cockpit-tools#2012, zai-org/feedback#682; " + SDK,
        prevented_by=REPLAY,
        check=_reasoning_shape,
        by_model=True,
    ),
    Rule(
        number="OAR-12",
        title="Only assistant messages have a phase",
        answers="Unknown parameter: 'input[].phase'.",
        source=PROBED + "; " + SDK,
        prevented_by=ENCODER,
        check=_phases,
    ),
    Rule(
        number="OAR-13",
        title="The output of a call is a string or a list of texts, images and files",
        answers="Missing required parameter: 'input[].content[0]'",
        source=SDK + "; bifrost (source), 2026",
        prevented_by=ENCODER,
        check=_outputs,
    ),
    Rule(
        number="OAR-13b",
        title="A file has an id or a URL, or base64 data with a filename",
        answers="Invalid file data: 'input[].output[].file_data'. Expected a base64-encoded data URL with a valid file",
        source="pydantic-ai (recorded answers), 2026",
        prevented_by=ENCODER,
        check=_files,
    ),
    Rule(
        number="OAR-17",
        title="Arguments are a string with a JSON object; an output has the kind of its call",
        answers="No tool call found for function call output with call_id ….",
        source=SDK + "; other arguments are refused by hosts of the protocol, as in chat completions (OAC-10)",
        prevented_by=ENCODER,
        check=_arguments,
    ),
    Rule(
        number="OAR-19",
        title="Images are png, jpeg, webp or gif in base64 with the right media type, or have a URL",
        answers="Invalid 'input[].content[].image_url'. Expected a base64-encoded data URL with an image MIME type, "
        "but got empty base64-encoded bytes.",
        source="opencode#23983, 2026-04; " + SDK + " (codes of ResponseError)",
        prevented_by=ENCODER,
        check=_images,
    ),
)
