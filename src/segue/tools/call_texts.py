"""Texts that the model gets for a call without a result of its own: what happened, and what it can do."""

NOT_RUN = "This call was not run: {}."
TRY_AGAIN = f"{NOT_RUN} Make the call again with arguments that fit the schema of the tool."
UNKNOWN_TOOL = "there is no tool called {}"
INVALID_ARGUMENTS = "its arguments do not fit: {}"
DENIED = "the user denied it"
NO_APPROVE = "the tool needs the approval of a person, and there is nobody who could be asked"
NO_ANSWER = "the tool needs the approval of a person, who could not be asked ({})"
INVALID_EDIT = "the user changed its arguments, and they do not fit: {}"
EDITED = "The user changed the arguments of this call; it was run with {}"

CANCELLED = "This call was not run: the turn was cancelled before it started."
CANCELLED_RUNNING = "The turn was cancelled while this call ran; whether it had an effect is not known."
CANCELLED_STILL = "The turn was cancelled while this call ran. It could not be stopped and may still have an effect."
CLOSED = "This call was not run: the session was closed before it started."
TIMEOUT = "The tool did not finish within {:g} seconds and was stopped; whether it had an effect is not known."
TIMEOUT_STILL = "The tool did not finish within {:g} seconds. It could not be stopped and may still have an effect."

MAX_NAMES = 50
"""Names of tools that are listed when a tool is unknown."""


def unknown_tool(name: str, known: list[str]) -> str:
    """The text for a call of an unknown tool, with the names of the tools that exist."""
    text = UNKNOWN_TOOL.format(name)
    if not known:
        return NOT_RUN.format(f"{text}, and no other")
    more = f" and {len(known) - MAX_NAMES} more" if len(known) > MAX_NAMES else ""
    return NOT_RUN.format(f"{text}; the tools are {', '.join(known[:MAX_NAMES])}{more}")


def denied(reason: str) -> str:
    """The text for a call that the user denied."""
    return NOT_RUN.format(f"{DENIED}: {reason}" if reason else DENIED)
