"""Rules about how items belong together."""

from ...rules import Rule
from ...types import Model
from .rules_items import ENCODER, PROBED, REPLAY
from .walk import Body, Found, has_state, items, made_by_model, of_kind, text

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def _not_empty(body: Body, model: Model | None) -> Found:
    if not body.get("input") and not has_state(body):
        yield "input", "there is nothing to answer"


def _paired(body: Body, model: Model | None) -> Found:
    """Calls on the server may be answered here, so orphans are certain only without state."""
    answered = {text(item, "call_id") for _, item in of_kind(body, *_OUTPUTS)}
    made: set[str] = set()
    for path, kind, item in items(body):
        call_id = text(item, "call_id")
        if kind in _CALLS:
            made.add(call_id)
            if call_id not in answered:
                yield path, f"no output of {call_id!r}"
        elif kind in _OUTPUTS and call_id and call_id not in made and not has_state(body):
            yield path, f"no call {call_id!r} stands before"


def _followed(body: Body, model: Model | None) -> Found:
    sent = list(items(body))
    for at, (path, kind, _) in enumerate(sent):
        if kind != "reasoning":
            continue
        follower = next((entry for entry in sent[at + 1 :] if entry[1] != "reasoning"), None)
        if follower is None or not made_by_model(follower[1], follower[2]):
            yield path, "no item of the same answer follows"


def _stateless(body: Body, model: Model | None) -> Found:
    if body.get("store") is not False:
        return
    for path, item in of_kind(body, "reasoning", "item_reference"):
        if not item.get("encrypted_content"):
            yield path, "nothing is stored under this id"


HISTORY: tuple[Rule, ...] = (
    Rule(
        number="OAR-01",
        title="there is an input",
        answers="One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.",
        source=PROBED,
        prevented_by=ENCODER,
        check=_not_empty,
    ),
    Rule(
        number="OAR-04",
        title="each call has an output, and each output a call",
        answers="No tool output found for function call …. / No tool call found for function call output ….",
        source="CLIProxyAPI#2368, continue#10092 and 15 more, vscode#320060, oh-my-pi#106, 2026",
        prevented_by="projection/passes/tool_interactions.py",
        check=_paired,
    ),
    Rule(
        number="OAR-08",
        title="reasoning is followed by the item that it led to",
        answers="Item 'rs_…' of type 'reasoning' was provided without its required following item.",
        source="continue#8933, openai-node#1567, vercel/ai#7099 and #8379, seen until 2026",
        prevented_by=REPLAY,
        check=_followed,
    ),
    Rule(
        number="OAR-09",
        title="without a store, reasoning comes with its encrypted content and nothing is referred to",
        answers="Item with id '…' not found. Items are not persisted when `store` is set to false.",
        source="continue#9101, vercel/ai#7543, oh-my-pi#41, langchain#38372, seen until 2026",
        prevented_by=REPLAY,
        check=_stateless,
    ),
)
