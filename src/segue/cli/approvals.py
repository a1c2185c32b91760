"""Asking the person at the terminal whether a call may run."""

from collections.abc import Callable

import msgspec

from ..tools import Allow, AllowAlways, Approval, ApprovalRequest, Deny, Edit
from ..types import ToolCall
from .keyboard import Keyboard
from .printable import escaped, flat
from .view import View

SHOWN = 8_000
"""Characters of an argument that are shown; of a longer one the middle is left out, and that is said."""

QUESTION = "may {} run? [y]es, [a]lways, [n]o (and why), [e]dit:"
ANSWERS: dict[str, Callable[[str], Approval]] = {
    "y": lambda reason: Allow(),
    "yes": lambda reason: Allow(),
    "a": lambda reason: AllowAlways(),
    "always": lambda reason: AllowAlways(),
    "n": Deny,
    "no": Deny,
}
"""What each answer means; behind a no may stand the reason, which the model is told."""
EDIT = ("e", "edit")
LEFT_OUT = "[… {:,} characters are not shown; e shows them …]"


async def ask(asked: ApprovalRequest, keyboard: Keyboard, view: View) -> Approval:
    """Ask until there is an answer."""
    call = asked.call
    _draw(call, view)
    while True:
        word, _, reason = (await keyboard.ask(QUESTION.format(call.name))).strip().partition(" ")
        if word.lower() in EDIT:
            edited = await _edited(call, keyboard, view)
            if edited is not None:
                return edited
        elif word.lower() in ANSWERS:
            approval = ANSWERS[word.lower()](reason.strip())
            view.line(
                (f"? {flat(call.name)}: {'denied' if isinstance(approval, Deny) else 'allowed'}", "dim"), indent=2
            )
            return approval


async def _edited(call: ToolCall, keyboard: Keyboard, view: View) -> Edit | None:
    """Other arguments; ``None`` if what was typed are none."""
    typed = await keyboard.ask(f"{call.name} with:", escaped(msgspec.json.encode(call.arguments).decode()))
    try:
        arguments = msgspec.json.decode(typed, type=dict)
    except msgspec.MsgspecError as error:
        view.line((f"✗ arguments are a JSON object: {error}", "red"))
        return None
    view.line((f"? {flat(call.name)}: allowed with {typed}", "dim"), indent=2)
    return Edit(arguments)


def _draw(call: ToolCall, view: View) -> None:
    """The whole call: who allows it must have seen what it does."""
    view.line(("? ", "bold yellow"), (flat(call.name), "bold yellow"), indent=2)
    for name, value in call.arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        shown = _shown(text)
        view.line((f"{flat(name)}: ", "dim"), (shown if "\n" not in shown else f"\n{shown}", ""), indent=4)


def _shown(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    return f"{text[:half]}\n{LEFT_OUT.format(len(text) - SHOWN)}\n{text[-half:]}"
