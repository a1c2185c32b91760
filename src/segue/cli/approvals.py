"""Asks the user at the terminal whether a call may run."""

from collections.abc import Callable

import msgspec

from ..tools import Allow, AllowAlways, Approval, ApprovalRequest, Deny, Edit
from ..types import ToolCall
from .keyboard import Keyboard
from .printable import escape_json, one_line
from .turn_view import TurnView

MAX_SHOWN = 8_000
"""Characters of an argument that are shown. The middle of a longer one is replaced by ``LEFT_OUT``."""

QUESTION = "may {} run? [y]es, [a]lways, [n]o (and why), [e]dit:"
ANSWERS: dict[str, Callable[[str], Approval]] = {
    "y": lambda reason: Allow(),
    "yes": lambda reason: Allow(),
    "a": lambda reason: AllowAlways(),
    "always": lambda reason: AllowAlways(),
    "n": Deny,
    "no": Deny,
}
"""The approval for each answer. A reason may follow a no; the model gets it."""
EDIT = ("e", "edit")
LEFT_OUT = "[… {:,} characters are not shown; e shows them …]"


async def ask(request: ApprovalRequest, keyboard: Keyboard, view: TurnView) -> Approval:
    """Show a call and ask until there is a valid answer."""
    call = request.call
    _draw_call(call, view)
    while True:
        answer, _, reason = (await keyboard.ask(QUESTION.format(call.name))).strip().partition(" ")
        if answer.lower() in EDIT:
            edited = await _ask_arguments(call, keyboard, view)
            if edited is not None:
                return edited
        elif answer.lower() in ANSWERS:
            approval = ANSWERS[answer.lower()](reason.strip())
            verdict = "denied" if isinstance(approval, Deny) else "allowed"
            view.line((f"? {one_line(call.name)}: {verdict}", "dim"), indent=2)
            return approval


async def _ask_arguments(call: ToolCall, keyboard: Keyboard, view: TurnView) -> Edit | None:
    """Let the user edit the arguments; ``None`` if the result is not a JSON object."""
    typed = await keyboard.ask(f"{call.name} with:", escape_json(msgspec.json.encode(call.arguments).decode()))
    try:
        arguments = msgspec.json.decode(typed, type=dict)
    except msgspec.MsgspecError as error:
        view.line((f"✗ arguments must be a JSON object: {error}", "red"))
        return None
    view.line((f"? {one_line(call.name)}: allowed with {typed}", "dim"), indent=2)
    return Edit(arguments)


def _draw_call(call: ToolCall, view: TurnView) -> None:
    """Show all arguments: the user must see what a call does before allowing it."""
    view.line(("? ", "bold yellow"), (one_line(call.name), "bold yellow"), indent=2)
    for name, value in call.arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        shown = _without_middle(text)
        view.line((f"{one_line(name)}: ", "dim"), (shown if "\n" not in shown else f"\n{shown}", ""), indent=4)


def _without_middle(text: str) -> str:
    if len(text) <= MAX_SHOWN:
        return text
    half = MAX_SHOWN // 2
    return f"{text[:half]}\n{LEFT_OUT.format(len(text) - MAX_SHOWN)}\n{text[-half:]}"
