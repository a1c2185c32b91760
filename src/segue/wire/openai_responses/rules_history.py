"""Rules about relations between items."""

from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from .rules_items import ENCODER, PROBED, REPLAY
from .walk import Body, Found, has_state, items, made_by_model, of_kind, text

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def _not_empty(body: Body, model: Model | None) -> Found:
    if not body.get("input") and not has_state(body):
        yield "input", "there is no input"


def _paired(body: Body, model: Model | None) -> Found:
    """Find calls and outputs without a partner. With state on the server, the call of an output may be there."""
    answered = {text(item, "call_id") for _, item in of_kind(body, *_OUTPUTS)}
    made: set[str] = set()
    for path, kind, item in items(body):
        call_id = text(item, "call_id")
        if kind in _CALLS:
            made.add(call_id)
            if call_id not in answered:
                yield path, f"no output for {shown(call_id)!r}"
        elif kind in _OUTPUTS and call_id and call_id not in made and not has_state(body):
            yield path, f"no call {shown(call_id)!r} before it"


def _followed(body: Body, model: Model | None) -> Found:
    waiting: list[str] = []  # paths of reasoning items without a following item so far
    for path, kind, item in items(body):
        if kind == "reasoning":
            waiting.append(path)
            continue
        if not made_by_model(kind, item):
            yield from ((place, "no item of the same answer follows") for place in waiting)
        waiting = []
    yield from ((place, "no item of the same answer follows") for place in waiting)


def _single_calls(body: Body, model: Model | None) -> Found:
    for kinds, what in ((_CALLS, "a call with the id"), (_OUTPUTS, "an output of the call")):
        named = ((path, item) for path, kind, item in items(body) if kind in kinds)
        yield from repeated(((f"{path}.call_id", item.get("call_id")) for path, item in named), what)


def _stateless(body: Body, model: Model | None) -> Found:
    if body.get("store") is not False:
        return
    for path, item in of_kind(body, "reasoning", "item_reference"):
        if not item.get("encrypted_content"):
            yield path, "no item is stored with this id"


HISTORY: tuple[Rule, ...] = (
    Rule(
        number="OAR-01",
        title="There is an input",
        answers="One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
        source=PROBED,
        prevented_by=ENCODER,
        check=_not_empty,
    ),
    Rule(
        number="OAR-04",
        title="Each call has an output, and each output a call",
        answers="No tool output found for function call …. / No tool call found for function call output ….",
        source="CLIProxyAPI#2368, continue#10092 and 15 more, vscode#320060, oh-my-pi#106, 2026",
        prevented_by="projection/passes/tool_interactions.py",
        check=_paired,
    ),
    Rule(
        number="OAR-08",
        title="Reasoning is followed by an item of the same answer",
        answers="Item 'rs_…' of type 'reasoning' was provided without its required following item.",
        source="continue#8933, openai-node#1567, vercel/ai#7099 and #8379, seen until 2026",
        prevented_by=REPLAY,
        check=_followed,
    ),
    Rule(
        number="OAR-09",
        title="Without a store, reasoning has its encrypted content, and there are no references",
        answers="Item with id '…' not found. Items are not persisted when `store` is set to false.",
        source="continue#9101, vercel/ai#7543, oh-my-pi#41, langchain#38372, seen until 2026",
        prevented_by=REPLAY,
        check=_stateless,
    ),
    Rule(
        number="OAR-20",
        title="Each call_id has only one call and one output in the whole request",
        answers="Duplicate function_call_output for call_id '…'. Each function_call must have exactly one matching "
        "function_call_output / Duplicate 'call_id': …",
        source="hermes-agent#102629 and pi#9057, 2026-09",
        prevented_by="projection/passes/ids.py",
        check=_single_calls,
    ),
)
