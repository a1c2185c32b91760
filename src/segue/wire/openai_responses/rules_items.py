"""Rules about single items and their parts."""

from typing import Any

from ...rules import Rule
from ...types import Model
from .shapes import (
    ID_PREFIXES,
    MAX_ID,
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
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
# SDK: kinds whose id is required.
_NEED_ID = (
    "reasoning",
    "image_generation_call",
    "code_interpreter_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "web_search_call",
    "local_shell_call",
)
_IMAGES = ("image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif")


def trigger_is_last(body: Body, model: Model | None) -> Found:
    sent = list(items(body))
    for path, kind, _ in sent[:-1]:
        if kind == "compaction_trigger":
            yield path, "a compaction_trigger is the last item"


def _parts_by_role(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "message"):
        role = item.get("role")
        allowed = PARTS_OF_OUTPUT if role == "assistant" else PARTS_OF_INPUT
        for where, part in parts(item, "content", path):
            if str(role) in ROLES and part.get("type") not in sorted(allowed):
                yield f"{where}.type", f"{part.get('type')!r} does not stand in a message of the {role}"


def _call_ids(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, *_CALLS, *_OUTPUTS):
        if len(text(item, "call_id")) > MAX_ID:
            yield f"{path}.call_id", f"{len(text(item, 'call_id'))} characters"


def _item_ids(body: Body, model: Model | None) -> Found:
    for path, kind, item in items(body):
        given = item.get("id")
        if given is None:
            if kind in _NEED_ID:
                yield path, f"a {kind} needs its id"
        elif isinstance(given, str) and len(given) > MAX_ID:
            yield f"{path}.id", f"{len(given)} characters"
        elif not isinstance(given, str) or not given.startswith(ID_PREFIXES.get(kind, "")):
            yield f"{path}.id", f"{given!r} does not begin with {ID_PREFIXES.get(kind, '')!r}"


def _single_items(body: Body, model: Model | None) -> Found:
    seen: set[str] = set()
    for path, _, item in items(body):
        given = text(item, "id")
        if given and given in seen:
            yield f"{path}.id", f"an item {given!r} stands before"
        seen.add(given)


def _reasoning_shape(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "reasoning"):
        if model is not None and model.dialect.own_reasoning == "none":
            yield path, "the model does not reason"
        if not isinstance(item.get("summary"), list):
            yield f"{path}.summary", "a summary is an array, if an empty one"
        if item.get("content"):
            yield f"{path}.content", "the reasoning itself is not taken back"


def _phases(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, "message"):
        phase = item.get("phase")
        if phase is None:
            continue
        if item.get("role") != "assistant":
            yield f"{path}.phase", "only messages of the assistant have a phase"
        elif phase not in sorted(PHASES):
            yield f"{path}.phase", f"no phase is called {phase!r}"


def _outputs(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, *_OUTPUTS):
        output = item.get("output")
        if isinstance(output, str):
            continue
        if not isinstance(output, list) or not output:
            yield f"{path}.output", "a string, or a list with something in it"
            continue
        for where, part in objects(output, f"{path}.output"):
            if part.get("type") not in sorted(PARTS_OF_RESULT):
                yield f"{where}.type", f"{part.get('type')!r} does not stand in a result"
            elif part["type"] == "input_file":
                yield from _file(where, part)


def _file(path: str, part: dict[str, Any]) -> Found:
    data = part.get("file_data")
    if data is None:
        return
    if not isinstance(data, str) or not data.startswith("data:"):
        yield f"{path}.file_data", "not a data URL"
    if not part.get("filename"):
        yield f"{path}.filename", "data needs a filename"


def _arguments(body: Body, model: Model | None) -> Found:
    for path, item in of_kind(body, *_CALLS):
        name = "arguments" if kind_of(item) == "function_call" else "input"
        if not isinstance(item.get(name), str):
            yield f"{path}.{name}", "a string"
    calls = {text(item, "call_id"): kind_of(item) for _, item in of_kind(body, *_CALLS)}
    for path, item in of_kind(body, *_OUTPUTS):
        made = calls.get(text(item, "call_id"))
        if made is not None and kind_of(item) != f"{made}_output":
            yield f"{path}.type", f"the output of a {made} is a {made}_output"


def _images(body: Body, model: Model | None) -> Found:
    for path, part in all_parts(body):
        url = part.get("image_url")
        if part.get("type") != "input_image" or url is None:
            continue
        where = f"{path}.image_url"
        if not isinstance(url, str):
            yield where, "a URL as a string"
        elif url.startswith("data:") and not url.lower().startswith(tuple(f"data:{kind};" for kind in _IMAGES)):
            yield where, f"{url[5:40].split(';')[0]!r} is not png, jpeg, webp or gif"
        elif url.startswith("data:") and ";base64," not in url[:200]:
            yield where, "not base64"


SHAPES: tuple[Rule, ...] = (
    Rule(
        number="OAR-03",
        title="parts of a message are those of its role",
        answers="Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        source=PROBED,
        prevented_by=ENCODER,
        check=_parts_by_role,
    ),
    Rule(
        number="OAR-05",
        title="a call_id has at most 64 characters",
        answers="Invalid 'input[].call_id': string too long. Expected a string with maximum length 64",
        source="AnswerDotAI/fastllm#45, 2026",
        prevented_by="projection/passes/ids.py",
        check=_call_ids,
    ),
    Rule(
        number="OAR-06",
        title="an item's id has at most 64 characters and begins with its kind",
        answers="Invalid 'input[].id': '…'. Expected an ID that begins with 'fc'.",
        source="oh-my-pi#284, hermes-agent#43820, github/app#499, 2026; " + SDK,
        prevented_by=REPLAY,
        check=_item_ids,
    ),
    Rule(
        number="OAR-07",
        title="no two items have the same id",
        answers="Duplicate item found with id …. Remove duplicate items from your input and try again.",
        source="earendil-works/pi#5149 and #5151, continue#10723, OpenRouterTeam/ai-sdk-provider#254, 2026",
        prevented_by=REPLAY,
        check=_single_items,
    ),
    Rule(
        number="OAR-11",
        title="a reasoning item has a summary and no content, and the model reasons",
        answers="Invalid 'input[].content': array too long. Expected an array with maximum length 0",
        source="a comment in the source of bifrost, 2026; " + SDK,
        prevented_by=REPLAY,
        check=_reasoning_shape,
    ),
    Rule(
        number="OAR-12",
        title="only messages of the assistant have a phase",
        answers="Unknown parameter: 'input[].phase'.",
        source=PROBED + "; " + SDK,
        prevented_by=ENCODER,
        check=_phases,
    ),
    Rule(
        number="OAR-13",
        title="the output of a call is a string or a list of texts, images and files",
        answers="Missing required parameter: 'input[].content[0]' / Invalid file data: 'input[].output[].file_data'.",
        source=SDK + "; bifrost (source) and pydantic-ai (recorded answers), 2026",
        prevented_by=ENCODER,
        check=_outputs,
    ),
    Rule(
        number="OAR-17",
        title="arguments are a string, and an output is of the kind of its call",
        answers="No tool call found for function call output with call_id ….",
        source=SDK,
        prevented_by=ENCODER,
        check=_arguments,
    ),
    Rule(
        number="OAR-19",
        title="images are png, jpeg, webp or gif",
        answers="unsupported_image_media_type / invalid_base64_image",
        source=SDK + " (codes of ResponseError)",
        prevented_by="nobody: images are sent as they are stored",
        check=_images,
    ),
)
