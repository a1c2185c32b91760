"""What the model is told of a call that did not give a result of its own: what happened, and how to go on."""

NOT_RUN = "This call was not run: {}."
AGAIN = f"{NOT_RUN} Make the call again with arguments that fit the schema of the tool."
UNKNOWN_TOOL = "there is no tool called {}"
MISFIT = "its arguments do not fit: {}"
DENIED = "the user denied it"
NOBODY = "the tool needs the approval of a person, and there is nobody who could be asked"
NOT_ASKED = "the tool needs the approval of a person, who could not be asked ({})"
EDITED_MISFIT = "the user changed its arguments, and they do not fit: {}"
EDITED = "The user changed the arguments of this call; it was run with {}"

CANCELLED = "This call was not run: the turn was cancelled before it started."
CANCELLED_RUNNING = "The turn was cancelled while this call ran; whether it had an effect is not known."
CANCELLED_STILL = "The turn was cancelled while this call ran. It could not be stopped and may still have an effect."
CLOSED = "This call was not run: the session was closed before it started."
TIMEOUT = "The tool did not finish within {:g} seconds and was stopped; whether it had an effect is not known."
TIMEOUT_STILL = "The tool did not finish within {:g} seconds. It could not be stopped and may still have an effect."


def unknown(name: str, known: list[str]) -> str:
    """There is no such tool; which there are."""
    told = UNKNOWN_TOOL.format(name)
    if not known:
        return NOT_RUN.format(f"{told}, and no other")
    more = f" and {len(known) - 50} more" if len(known) > 50 else ""
    return NOT_RUN.format(f"{told}; the tools are {', '.join(known[:50])}{more}")


def denied(reason: str) -> str:
    """Somebody said no."""
    return NOT_RUN.format(f"{DENIED}: {reason}" if reason else DENIED)
