"""Rules about relations between items."""

from ...rules import Rule
from ...types import Model
from ..common.checks import repeated, shown
from .rules_items import ENCODER, PROBED, REPLAY, SDK
from .shapes import OUTPUTS, OUTPUTS_OF
from .walk import Body, Found, call_id, has_state, items, made_by_model, of_kind, text


def _not_empty(body: Body, model: Model | None) -> Found:
    if not body.get("input") and not has_state(body):
        yield "input", "there is no input"


def _paired(body: Body, model: Model | None) -> Found:
    """Find calls and outputs without a partner. With state on the server, the call of an output may be there."""
    answered = {call_id(kind, item) for _, kind, item in items(body) if kind in OUTPUTS}
    made: set[str] = set()
    for path, kind, item in items(body):
        called = call_id(kind, item)
        if kind in OUTPUTS_OF:
            # The output of the older local shell may name the item instead of the call.
            ids = {called, text(item, "id")} if kind == "local_shell_call" else {called}
            made |= ids
            if answered.isdisjoint(ids) and (called or kind != "tool_search_call"):
                yield path, f"no output for {shown(called)!r}"
        elif kind in OUTPUTS and called and called not in made and not _has_more(body):
            yield path, f"no call {shown(called)!r} before it"


def _has_more(body: Body) -> bool:
    """Whether the server has items that are not in the body."""
    return has_state(body) or any(of_kind(body, "item_reference"))


def _approved(body: Body, model: Model | None) -> Found:
    asked = {text(item, "id") for _, item in of_kind(body, "mcp_approval_request")}
    for path, item in of_kind(body, "mcp_approval_response"):
        if text(item, "approval_request_id") not in asked and not _has_more(body):
            yield f"{path}.approval_request_id", "no request for approval has this id"


def _followed(body: Body, model: Model | None) -> Found:
    waiting: list[str] = []  # paths of reasoning items without a following item so far
    for path, kind, item in items(body):
        if kind == "reasoning":
            waiting.append(path)
            continue
        if not made_by_model(kind, item) and kind != "item_reference":
            yield from ((place, "no item of the same answer follows") for place in waiting)
        waiting = []
    yield from ((place, "no item of the same answer follows") for place in waiting)


def _single_calls(body: Body, model: Model | None) -> Found:
    for kinds, what in ((OUTPUTS_OF, "a call with the id"), (OUTPUTS, "an output of the call")):
        named = ((path, call_id(kind, item)) for path, kind, item in items(body) if kind in kinds)
        yield from repeated(((f"{path}.call_id", called) for path, called in named), what)


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
        number="OAR-04b",
        title="The answer to a request for approval has its request",
        answers="(refused; its words were not recorded)",
        source=SDK + ": the id of the request that is answered; as the output of a call (OAR-04)",
        prevented_by=REPLAY,
        check=_approved,
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
